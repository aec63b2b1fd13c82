//! Values of a deployment that cannot be read, for commands that show the rest.

use std::sync::Arc;

use groundstate_pulumi_deployment::{
    CiphertextCheck, DeploymentFile, PropertyError, UNREADABLE, decode_map, decode_value, salvage_map,
    salvage_value,
};
use groundstate_pulumi_snapshot::{Properties, PropertyValue, Resource, StoredValue};

use crate::input::remote::command_on;
use crate::report::error::{Kind, Outcome};
use crate::report::messages::Messages;
use crate::report::text::count;

/// A value that cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// The index of its resource, unless that is the resource of a pending operation.
    pub(super) resource: Option<usize>,
    /// The member of the resource that holds it.
    pub(super) member: &'static str,
    /// What it is, and why it cannot be read.
    pub(super) text: String,
}

/// Puts a mark in place of each value that cannot be read, for commands that show the rest, and tells what they are.
pub(super) fn settle(file: &mut DeploymentFile) -> Vec<Unreadable> {
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
pub(super) fn told<'u>(unreadable: impl Iterator<Item = &'u Unreadable>, name: &str) -> Outcome {
    let mut messages = Messages::stderr();
    let mut outcome = Outcome::Clean;
    for one in unreadable {
        messages.warning(&one.text);
        outcome = Outcome::Found(Kind::Findings);
    }
    if outcome != Outcome::Clean {
        messages.note(&format!(
            "`{}` shows where they are, `{}` removes them",
            command_on("groundstate check", name),
            command_on("groundstate repair", name)
        ));
    }
    outcome
}
