//! `groundstate diff`: what differs in meaning between two deployments.

use groundstate_pulumi_deployment::{Change, ChangeKind, FieldChange, Side, Subject};

use super::secrets;
use crate::args::DiffArgs;
use crate::input::pulumi::{PulumiState, load};
use crate::report::differences::{Difference, Field, Kind as Sign};
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Result};
use crate::report::progress::working;

/// Compares two deployments.
pub(crate) fn diff(args: &DiffArgs, before: &PulumiState, after: &PulumiState) -> Result<Vec<Difference>> {
    let (mut before, mut after) = (load(before)?.file, load(after)?.file);
    if args.reveal {
        secrets::open(&mut before)?;
        secrets::open(&mut after)?;
    }
    let _working = working("comparing");
    let diff = groundstate_pulumi_deployment::diff(&before, &after)
        .map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    Ok(differences(diff, args.reveal))
}

/// What differs, for people and programs.
pub(super) fn differences(diff: groundstate_pulumi_deployment::Diff, reveal: bool) -> Vec<Difference> {
    diff.changes.into_iter().map(|change| difference(change, reveal)).collect()
}

/// What does not show in any resource: their order, or what the deployment says of itself.
pub(super) fn reordered() -> Difference {
    let subject = "order of resources, or what the deployment says of itself".to_owned();
    Difference { subject, kind: "document", members: Vec::new(), sign: Sign::Changed, fields: Vec::new() }
}

fn difference(change: Change, reveal: bool) -> Difference {
    let subject = change.subject.to_string();
    let (kind, members) = match change.subject {
        Subject::Resource { urn, delete } => {
            let waits = delete.then(|| ("delete", "true".to_owned()));
            let urn = ("urn", crate::report::json::string(urn.as_str()));
            ("resource", std::iter::once(urn).chain(waits).collect())
        }
        Subject::Operation { urn, kind } => {
            let members = [("urn", urn.as_str()), ("operation", kind.as_str())];
            (
                "pending_operation",
                members.map(|(name, text)| (name, crate::report::json::string(text))).to_vec(),
            )
        }
        _ => ("document", Vec::new()),
    };
    let sign = match change.kind {
        ChangeKind::Added => Sign::Added,
        ChangeKind::Removed => Sign::Removed,
        _ => Sign::Changed,
    };
    let fields = change.fields.into_iter().map(|field| shown(field, reveal)).collect();
    Difference { subject, kind, members, sign, fields }
}

fn shown(field: FieldChange, reveal: bool) -> Field {
    let side = |side: Side| match reveal {
        true => side.reveal().map(str::to_owned),
        false => side.plain().map(str::to_owned),
    };
    Field { path: field.path, before: field.before.map(side), after: field.after.map(side) }
}
