//! A Pulumi deployment: reads any version of it, and explains why it cannot be.

use std::borrow::Cow;
use std::ops::Deref;

use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, Envelope, ReadError, SourcePos, decode};
use groundstate_pulumi_snapshot::Snapshot;

use crate::input::packed;
use crate::input::source::Source;
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::{Failure, Kind, Result};
use crate::report::line_span::LineSpan;

/// A deployment that has been found, but not read.
#[derive(Debug)]
pub(crate) struct PulumiState(Source);

impl PulumiState {
    pub(crate) fn new(source: Source) -> Self {
        Self(source)
    }
}

impl Deref for PulumiState {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.0
    }
}

/// A deployment and the text it was read from.
#[derive(Debug)]
pub(crate) struct Loaded<'s> {
    pub(crate) file: DeploymentFile,
    pub(crate) text: Cow<'s, [u8]>,
}

/// Reads a deployment.
pub(crate) fn load(source: &PulumiState) -> Result<Loaded<'_>> {
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
pub(crate) fn envelope(file: &DeploymentFile) -> &'static str {
    match file.envelope {
        Envelope::Checkpoint(_) => "checkpoint",
        _ => "export",
    }
}

/// One thing that keeps a text from being read.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The code, unless the version or the features are what is refused.
    pub(crate) code: Option<String>,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) help: Option<&'static str>,
    pub(crate) urn: Option<String>,
    pub(crate) place: SourcePos,
}

/// What keeps a text from being read.
pub(crate) fn faults(error: &ReadError) -> Vec<Fault> {
    let refused = |detail: String, help: &'static str, place: &SourcePos| {
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
            let fault = |problem: &groundstate_pulumi_deployment::Problem| Fault {
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
    if let Some(failure) = packed::damage(text, name) {
        return failure;
    }
    let kind = match error {
        ReadError::Empty => {
            return Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
        }
        ReadError::NotDeployment(_) => Kind::NotState,
        _ => Kind::Unusable,
    };
    let faults = faults(error);
    let spans = LineSpan::of_places(text, faults.iter().map(|fault| &fault.place));
    let diagnostics = faults.iter().zip(spans).map(|(fault, span)| Diagnostic {
        code: fault.code.clone(),
        detail: fault.detail.clone(),
        place: Some(span),
        address: fault.urn.clone(),
        help: fault.help.map(str::to_owned),
        ..Diagnostic::new(Severity::Error, fault.title.as_str(), name)
    });
    Failure::of(kind, diagnostics.collect())
}
