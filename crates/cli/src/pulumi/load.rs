//! Reads a deployment of any version, and explains why it cannot be.

use std::borrow::Cow;

use groundstate_deploymentfile::{DecodeOptions, DeploymentFile, Envelope, Place, ReadError, decode};
use groundstate_deployments::Snapshot;

use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Failure, Kind, Result};
use crate::source::Source;
use crate::spot::Spot;

/// A deployment and the text it was read from.
#[derive(Debug)]
pub(crate) struct Loaded<'s> {
    pub(crate) file: DeploymentFile,
    pub(super) text: Cow<'s, [u8]>,
}

/// Reads a deployment.
pub(crate) fn load(source: &Source) -> Result<Loaded<'_>> {
    let text = source.text()?;
    match decode(&text, &DecodeOptions::default()) {
        Ok(file) => Ok(Loaded { file, text }),
        Err(error) => Err(failure(&error, &source.name, &text)),
    }
}

/// The snapshot of a file; an empty one for a stack that has never been updated.
pub(crate) fn snapshot(file: &DeploymentFile) -> Cow<'_, Snapshot> {
    file.snapshot.as_ref().map_or_else(|| Cow::Owned(Snapshot::default()), Cow::Borrowed)
}

/// What people call the envelope.
pub(super) fn envelope(file: &DeploymentFile) -> &'static str {
    match file.envelope {
        Envelope::Checkpoint(_) => "checkpoint",
        _ => "export",
    }
}

/// One thing that keeps a text from being read.
#[derive(Debug)]
pub(super) struct Fault {
    /// The code, unless the version or the features are what is refused.
    pub(super) code: Option<String>,
    pub(super) title: String,
    pub(super) detail: String,
    pub(super) help: Option<&'static str>,
    pub(super) urn: Option<String>,
    pub(super) place: Place,
}

/// What keeps a text from being read.
pub(super) fn faults(error: &ReadError) -> Vec<Fault> {
    let refused = |detail: String, help: &'static str, place: &Place| {
        let (title, help, place) = (error.to_string(), Some(help), place.clone());
        vec![Fault { code: None, title, detail, help, urn: None, place }]
    };
    let newer = "update groundstate: a newer release of Pulumi wrote this";
    match error {
        ReadError::TooNew { version, place } => {
            refused(format!("version {version} is not known; versions 1 to 4 are"), newer, place)
        }
        ReadError::CheckpointVersion { version, place } => {
            refused(format!("version {version} is not known; versions 0 to 4 are"), newer, place)
        }
        ReadError::TooOld { version, place } => {
            let help = "put in the version that wrote it; exports have had one from 1 on";
            refused(format!("there is no version {version} of exports"), help, place)
        }
        ReadError::Features { place, .. } => refused("features that are not known".to_owned(), newer, place),
        _ => {
            let fault = |problem: &groundstate_deploymentfile::Problem| Fault {
                code: Some(problem.code.id()),
                title: problem.code.summary().to_owned(),
                detail: problem.detail.clone(),
                help: None,
                urn: problem.urn.clone(),
                place: problem.place.clone(),
            };
            error.problems().iter().map(fault).collect()
        }
    }
}

/// Explains why a text cannot be read.
pub(crate) fn failure(error: &ReadError, name: &str, text: &[u8]) -> Failure {
    let kind = match error {
        ReadError::Empty => {
            return Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
        }
        ReadError::NotDeployment(_) => Kind::NotState,
        _ => Kind::Unusable,
    };
    let faults = faults(error);
    let spots = Spot::of_places(text, faults.iter().map(|fault| &fault.place));
    let diagnostics = faults.iter().zip(spots).map(|(fault, spot)| Diagnostic {
        code: fault.code.clone(),
        detail: fault.detail.clone(),
        place: Some(spot),
        address: fault.urn.clone(),
        help: fault.help.map(str::to_owned),
        ..Diagnostic::new(Severity::Error, fault.title.as_str(), name)
    });
    Failure::of(kind, diagnostics.collect())
}
