//! Journals that no engine would write, but that keep all rules: replayers must agree on them too.

use std::sync::Arc;

use groundstate_pulumi_journal::{Entry, EntryKind, OperationId, Target};
use groundstate_pulumi_snapshot::{Extension, Operation, OperationType, Resource, Snapshot};

use crate::base::{RESOURCE, secrets_provider, urn, version};
use crate::dice::Dice;
use crate::engine::{Outcome, same, show};
use crate::naive::{Replay, naive};

/// Replays an invented journal by the replayer and by the naive one.
pub(crate) fn check(dice: &Dice<'_>, replay: &Replay, log: &mut Vec<String>) -> Outcome<u64> {
    let length = 1 + dice.roll(5);
    let base = Snapshot::new((0..length).map(|number| resource(&format!("b{number}"), 0)));
    let entries = entries(dice, base.resources.len());
    log.push(format!("base: {}", show(&base)));
    log.extend(entries.iter().map(|entry| format!("  {entry}")));
    for end in 0..=entries.len() {
        let mut arrived = entries[..end].to_vec();
        for last in (1..arrived.len()).rev() {
            arrived.swap(last, dice.roll(last + 1));
        }
        let (found, right) = (replay(&base, &arrived)?, naive(None, &base, &arrived)?);
        same(&found, &right).map_err(|error| format!("the first {end} entries: {error}"))?;
    }
    Ok(entries.len() as u64)
}

fn resource(name: &str, number: usize) -> Resource {
    let mut resource = Resource::new(urn(name, RESOURCE, None), RESOURCE);
    resource.custom = true;
    resource.outputs = version(number).into();
    resource
}

/// What is there to speak of.
#[derive(Default)]
struct Known {
    old: usize,
    /// Operations whose states are still there.
    new: Vec<u64>,
    next: u64,
}

fn entries(dice: &Dice<'_>, old: usize) -> Vec<Arc<Entry>> {
    let mut known = Known { old, ..Known::default() };
    let mut entries: Vec<Entry> = Vec::new();
    for _ in 0..2 + dice.roll(12) {
        known.next += 1;
        let operation = known.next;
        let sequence = entries.len() as u64 + 1;
        match dice.roll(12) {
            0..=6 => {
                entries.push(begin(dice, sequence, operation));
                if !dice.chance(15) {
                    entries.push(end(dice, &mut known, sequence + 1, operation));
                }
            }
            7 => {
                let mut outputs = Entry::new(EntryKind::Outputs, sequence, operation);
                outputs.removed = target(dice, &known);
                let state = resource(&format!("o{operation}"), operation as usize);
                outputs.state = outputs.removed.map(|_| Arc::new(state));
                entries.push(outputs);
            }
            8 => {
                let mut secrets = Entry::new(EntryKind::SecretsManager, sequence, 0);
                secrets.secrets_provider = Some(Box::new(secrets_provider("journal")));
                entries.push(secrets);
            }
            9 => {
                let mut extension = Entry::new(EntryKind::ExtensionParameterize, sequence, operation);
                extension.extension_ref = Some("journal".into());
                extension.extension = Some(Box::new(Extension::default()));
                entries.push(extension);
                // It is used, so its loss would show.
                entries.push(begin(dice, sequence + 1, operation));
                let mut user = Entry::new(EntryKind::Success, sequence + 2, operation);
                let mut state = resource(&format!("e{operation}"), 0);
                state.extension_ref = Some("journal".into());
                user.state = Some(Arc::new(state));
                entries.push(user);
                known.new.push(operation);
            }
            _ if known.new.is_empty() => {
                entries.push(Entry::new(EntryKind::RebuiltBaseState, sequence, 0));
                // What was removed is not counted, so indexes are used with care from here on.
                known.old = 0;
            }
            _ => {
                // What is new goes again, so that the base can be rebuilt later.
                for new in std::mem::take(&mut known.new) {
                    known.next += 1;
                    let mut gone = Entry::new(EntryKind::Success, entries.len() as u64 + 1, known.next);
                    gone.removed = Some(Target::New(OperationId::new(new)));
                    entries.push(gone);
                }
            }
        }
    }
    entries.into_iter().map(Arc::new).collect()
}

fn begin(dice: &Dice<'_>, sequence: u64, operation: u64) -> Entry {
    let kinds = [OperationType::Creating, OperationType::Updating, OperationType::Deleting];
    let mut entry = Entry::new(EntryKind::Begin, sequence, operation);
    let kind = dice.pick(&kinds).filter(|_| dice.chance(70)).cloned();
    entry.operation = kind.map(|kind| Operation::new(resource(&format!("n{operation}"), 0), kind));
    entry
}

fn end(dice: &Dice<'_>, known: &mut Known, sequence: u64, operation: u64) -> Entry {
    let kinds = [EntryKind::Success, EntryKind::Success, EntryKind::RefreshSuccess, EntryKind::Failure];
    let kind = kinds[dice.roll(4)];
    let mut entry = Entry::new(kind, sequence, operation);
    entry.removed = target(dice, known).filter(|_| kind == EntryKind::RefreshSuccess || dice.chance(40));
    if kind == EntryKind::Success {
        entry.deleted = target(dice, known).filter(|_| dice.chance(30));
        entry.pending_replacement = target(dice, known).filter(|_| dice.chance(30));
    }
    if dice.chance(60) && (kind != EntryKind::RefreshSuccess || entry.removed.is_some()) {
        entry.state = Some(Arc::new(resource(&format!("n{operation}"), operation as usize)));
    }
    if kind == EntryKind::Success && entry.state.is_some() {
        known.new.push(operation);
    }
    if let (Some(Target::New(gone)), true) = (entry.removed, kind != EntryKind::Failure)
        && (kind == EntryKind::Success || entry.state.is_none())
    {
        known.new.retain(|new| *new != gone.get());
    }
    entry
}

/// A state that can be spoken of; rarely an unrecorded one.
fn target(dice: &Dice<'_>, known: &Known) -> Option<Target> {
    match dice.roll(10) {
        0..=4 if known.old > 0 => Some(Target::Old(dice.roll(known.old) as u64)),
        9 => Some(Target::New(OperationId::new(9999))),
        _ => dice.pick(&known.new).map(|new| Target::New(OperationId::new(*new))),
    }
}
