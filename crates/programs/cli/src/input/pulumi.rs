//! Reads a deployment of any version, and explains why it cannot be.

use std::borrow::Cow;
use std::sync::Arc;

use groundstate_common::shell_command;
use groundstate_pulumi_deployment::{
    CiphertextCheck, DecodeOptions, DeploymentFile, Envelope, Place, PropertyError, ReadError, UNREADABLE,
    decode, decode_map, decode_value, salvage_map, salvage_value,
};
use groundstate_pulumi_snapshot::{Properties, PropertyValue, Resource, Snapshot, StoredValue};

use crate::input::packed;
use crate::input::source::Source;
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::line_span::LineSpan;
use crate::report::output::{Messages, count};

/// A deployment and the text it was read from.
#[derive(Debug)]
pub(crate) struct Loaded<'s> {
    pub(crate) file: DeploymentFile,
    pub(crate) text: Cow<'s, [u8]>,
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

/// A value that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// The index of its resource, unless that is the resource of a pending operation.
    pub(crate) resource: Option<usize>,
    /// The member of the resource that holds it.
    pub(crate) member: &'static str,
    /// What it is, and why it cannot be read.
    pub(crate) text: String,
}

/// Puts a mark in place of each value that cannot be read, for commands that show the rest, and tells what they are.
pub(crate) fn settle(file: &mut DeploymentFile) -> Vec<Unreadable> {
    let Some(snapshot) = file.snapshot.as_mut() else { return Vec::new() };
    let resources = snapshot.resources.iter_mut().enumerate().map(|(at, resource)| (Some(at), resource));
    let operations = snapshot.pending_operations.iter_mut().map(|operation| (None, &mut operation.resource));
    let mut out = Vec::new();
    for (index, resource) in resources.chain(operations) {
        out.extend(settle_one(index, resource));
    }
    out
}

fn settle_one(index: Option<usize>, shared: &mut Arc<Resource>) -> Vec<Unreadable> {
    let mut out = Vec::new();
    let mut report = |member: &'static str, faults: &[PropertyError], more: usize| {
        let unreadable = |text| Unreadable { resource: index, member, text };
        let text = |error: &PropertyError| format!("{}: cannot read {member}.{error}", shared.urn);
        out.extend(faults.iter().map(text).map(unreadable));
        if more > 0 {
            out.push(unreadable(format!(
                "{}: cannot read {} of {member}",
                shared.urn,
                count(more, "more value")
            )));
        }
    };
    let mut map = |member: &'static str, properties: &Properties| {
        let raw = properties.as_raw().filter(|raw| decode_map(raw).is_err())?;
        let salvaged = salvage_map(raw, CiphertextCheck::Unchecked).ok()?;
        report(member, &salvaged.faults, salvaged.more);
        Some(Properties::Map(salvaged.value))
    };
    let (inputs, outputs) = (map("inputs", &shared.inputs), map("outputs", &shared.outputs));
    let trigger = match &shared.replacement_trigger {
        Some(StoredValue::Raw(raw)) if decode_value(raw).is_err() => {
            salvage_value(raw, CiphertextCheck::Unchecked).ok().map(|salvaged| {
                report("replacementTrigger", &salvaged.faults, salvaged.more);
                salvaged.value.unwrap_or_else(|| PropertyValue::String(UNREADABLE.into()))
            })
        }
        _ => None,
    };
    if inputs.is_some() || outputs.is_some() || trigger.is_some() {
        let resource = Arc::make_mut(shared);
        resource.inputs = inputs.unwrap_or_else(|| std::mem::take(&mut resource.inputs));
        resource.outputs = outputs.unwrap_or_else(|| std::mem::take(&mut resource.outputs));
        resource.replacement_trigger =
            trigger.map(StoredValue::Value).or_else(|| resource.replacement_trigger.take());
    }
    out
}

/// Says what cannot be read, and that this is a finding.
pub(crate) fn told<'u>(unreadable: impl Iterator<Item = &'u Unreadable>, name: &str) -> Outcome {
    let mut messages = Messages::stderr();
    let mut outcome = Outcome::Clean;
    for one in unreadable {
        messages.warning(&one.text);
        outcome = Outcome::Found(Kind::Findings);
    }
    if outcome != Outcome::Clean {
        messages.note(&format!(
            "`{}` shows where they are, `{}` removes them",
            shell_command("groundstate check", &[name]),
            shell_command("groundstate repair", &[name])
        ));
    }
    outcome
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
    pub(crate) place: Place,
}

/// What keeps a text from being read.
pub(crate) fn faults(error: &ReadError) -> Vec<Fault> {
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
