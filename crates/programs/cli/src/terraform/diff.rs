//! `groundstate diff`: what differs in meaning between two states.

use groundstate_state_edit::{ChangeKind, Diff, DiffValue, Entry, FieldChange, SubjectNames};

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
    let SubjectNames { kind, name, address, deposed_key, .. } = entry.subject.names();
    let members = [("name", name), ("address", address), ("deposed_key", deposed_key)];
    let sign = match entry.kind {
        ChangeKind::Added => Kind::Added,
        ChangeKind::Removed => Kind::Removed,
        _ => Kind::Changed,
    };
    Difference {
        subject: entry.subject.to_string(),
        kind,
        members: members.into_iter().filter_map(|(name, text)| Some((name, json::string(&text?)))).collect(),
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
