//! What an entry does, in words.

use groundstate_pulumi_journal::{Entry, EntryKind, Target};
use groundstate_pulumi_snapshot::Snapshot;

use crate::report::text::count;

/// The name of the resource that an entry is about, if it says so itself or the base does.
pub(super) fn subject(entry: &Entry, base: Option<&Snapshot>) -> Option<String> {
    let own = entry.state.as_deref().or(entry.operation.as_ref().map(|operation| &*operation.resource));
    let own = own.map(|resource| resource.urn.to_string());
    own.or_else(|| {
        entry.targets().find_map(|target| match target {
            Target::Old(index) => resource(base?, index),
            Target::New(_) => None,
        })
    })
}

/// What it does to the snapshot.
pub(super) fn effect(entry: &Entry, base: Option<&Snapshot>) -> String {
    let mut effects = Vec::new();
    let subject = subject(entry, base);
    let named = |target: Target| name(target, base, subject.as_deref());
    match entry.kind {
        EntryKind::Begin => effects.push(match &entry.operation {
            Some(operation) => format!("{} is pending", operation.kind),
            None => "begins".to_owned(),
        }),
        EntryKind::Failure => effects.push("failed, nothing changes".to_owned()),
        EntryKind::Success => {
            effects.extend(entry.state.as_ref().map(|_| "adds the state".to_owned()));
            effects.extend(entry.removed.map(|target| format!("removes {}", named(target))));
            effects.extend(entry.deleted.map(|target| format!("marks {} as to be deleted", named(target))));
            let pending = entry.pending_replacement;
            effects.extend(
                pending.map(|target| format!("marks {} as deleted before its replacement", named(target))),
            );
        }
        EntryKind::RefreshSuccess => effects.extend(entry.removed.map(|target| match entry.state {
            Some(_) => format!("replaces {} in its place", named(target)),
            None => format!("removes {}", named(target)),
        })),
        EntryKind::Outputs => {
            effects.extend(entry.removed.map(|target| format!("replaces {} in its place", named(target))));
        }
        EntryKind::Write => {
            let resources = entry.new_snapshot.as_ref().map_or(0, |snapshot| snapshot.resources.len());
            effects.push(format!("the base is another one, with {}", count(resources, "resource")));
        }
        EntryKind::SecretsManager => {
            let provider = entry.secrets_provider.as_ref();
            let kind = provider.map_or_else(|| "none".to_owned(), |provider| provider.kind.to_string());
            effects.push(format!("secrets are encrypted by {kind}"));
        }
        EntryKind::RebuiltBaseState => effects.push("what there is becomes the base".to_owned()),
        EntryKind::ExtensionParameterize => {
            let reference = entry.extension_ref.as_ref().map(ToString::to_string).unwrap_or_default();
            effects.push(format!("adds the extension {reference}"));
        }
        EntryKind::Snippets => effects.push(format!("there are {} snippets", entry.snippets.len())),
        _ => effects.push("is not known".to_owned()),
    }
    if effects.is_empty() {
        effects.push("ends, nothing changes".to_owned());
    }
    effects.join(", ")
}

/// The state that is meant; its name only if that is not the entry's own subject.
fn name(target: Target, base: Option<&Snapshot>, subject: Option<&str>) -> String {
    match target {
        Target::Old(index) => match base.and_then(|base| resource(base, index)) {
            Some(urn) if subject != Some(&*urn) => format!("{urn}, {index} of the base"),
            _ => format!("{index} of the base"),
        },
        Target::New(operation) => format!("what operation {operation} recorded"),
    }
}

fn resource(base: &Snapshot, index: u64) -> Option<String> {
    let index = usize::try_from(index).ok()?;
    base.resources.get(index).map(|resource| resource.urn.to_string())
}
