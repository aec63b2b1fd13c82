//! `groundstate diff`: what differs in meaning between two states.

use groundstate_state_edit::{ChangeKind, Diff, DiffValue, Entry, FieldChange, Subject};

use crate::input::terraform::{TerraformState, load};
use crate::report::differences::{Difference, Field, Kind};
use crate::report::error::Result;
use crate::report::json;
use crate::report::progress::working;

/// Compares two states.
pub(crate) fn diff(before: &TerraformState, after: &TerraformState, reveal: bool) -> Result<Vec<Difference>> {
    // The texts are gone before the models are compared.
    let (before, after) = (load(before)?.file, load(after)?.file);
    let _working = working("comparing");
    Ok(differences(&groundstate_state_edit::diff(&before, &after), reveal))
}

/// The differences of two states of Terraform.
pub(crate) fn differences(diff: &Diff, reveal: bool) -> Vec<Difference> {
    diff.entries.iter().map(|entry| difference(entry, reveal)).collect()
}

fn difference(entry: &Entry, reveal: bool) -> Difference {
    let kind = match &entry.subject {
        Subject::Document => "document",
        Subject::Output(_) => "output",
        Subject::Resource(_) => "resource",
        Subject::Instance(_) => "instance",
        Subject::Current(_) => "object",
        Subject::Deposed(..) => "deposed_object",
        _ => "check",
    };
    let members: Vec<(&'static str, String)> = match &entry.subject {
        Subject::Document => Vec::new(),
        Subject::Output(name) => vec![("name", name.to_string())],
        Subject::Deposed(address, key) => {
            vec![("address", address.to_string()), ("deposed_key", key.as_str().to_owned())]
        }
        Subject::Check { address, .. } => vec![("address", address.clone())],
        other => vec![("address", other.to_string())],
    };
    let sign = match entry.kind {
        ChangeKind::Added => Kind::Added,
        ChangeKind::Removed => Kind::Removed,
        _ => Kind::Changed,
    };
    Difference {
        subject: entry.subject.to_string(),
        kind,
        members: members.into_iter().map(|(name, text)| (name, json::string(&text))).collect(),
        sign,
        fields: entry.fields.iter().map(|change| field(change, reveal)).collect(),
    }
}

fn field(change: &FieldChange, reveal: bool) -> Field {
    let value = |value: &DiffValue| match reveal {
        true => Some(value.reveal().to_owned()),
        false => value.plain().map(str::to_owned),
    };
    Field {
        path: change.path.clone(),
        before: change.before.as_ref().map(value),
        after: change.after.as_ref().map(value),
    }
}
