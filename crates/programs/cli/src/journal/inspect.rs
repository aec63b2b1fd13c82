//! `groundstate journal inspect`: entries and what they do, and the operations that are under way.

use std::collections::BTreeMap;

use groundstate_pulumi_journal::{Entry, EntryKind, OperationId};
use groundstate_pulumi_snapshot::Snapshot;

use super::effect::{effect, subject};
use super::input::Journal;
use crate::args::InspectArgs;
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;

/// Shows a journal.
pub(super) fn run(args: &InspectArgs) -> Result {
    let mut journal = Journal::read(&args.entries)?;
    journal.entries.sort_by_key(|entry| entry.sequence);
    if let Some(torn) = &journal.torn {
        Messages::stderr().warning(torn);
    }
    let mut out = Output::stdout();
    if args.json {
        out.json(&json(&journal))?;
    } else {
        text(&journal, &mut out)?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// The bases that entries speak of: an entry may put another one in the place of the first.
fn rows(journal: &Journal) -> impl Iterator<Item = (&Entry, String, String)> {
    let first = journal.base.as_ref().and_then(|file| file.snapshot.as_ref());
    let mut base: Option<&Snapshot> = first;
    journal.entries.iter().map(move |entry| {
        match entry.kind {
            EntryKind::Write => base = entry.new_snapshot.as_deref(),
            // Which resources it has then is not known without replaying.
            EntryKind::RebuiltBaseState => base = None,
            _ => {}
        }
        (entry, subject(entry, base).unwrap_or_default(), effect(entry, base))
    })
}

/// Operations that have begun and not ended.
fn open(journal: &Journal) -> Vec<&Entry> {
    let mut begun: BTreeMap<OperationId, &Entry> = BTreeMap::new();
    for entry in journal.entries.iter().filter(|entry| entry.kind == EntryKind::Begin) {
        begun.insert(entry.operation_id, entry);
    }
    for entry in journal.entries.iter().filter(|entry| entry.kind.ends_operation()) {
        begun.remove(&entry.operation_id);
    }
    begun.into_values().collect()
}

fn text(journal: &Journal, out: &mut Output) -> Result<()> {
    let rows: Vec<[String; 5]> = rows(journal)
        .map(|(entry, subject, effect)| {
            let (sequence, operation) = (entry.sequence.to_string(), entry.operation_id.to_string());
            [sequence, operation, entry.kind.to_string(), subject, effect]
        })
        .collect();
    let head = ["SEQ", "OP", "KIND", "URN", "EFFECT"].map(str::to_owned);
    let mut widths = [0; 5];
    for row in rows.iter().chain([&head]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let [sequence, operation, kind, urn, _] = widths;
    for [seq, op, what, subject, effect] in [head].into_iter().chain(rows) {
        let line = format!("{seq:>sequence$}  {op:>operation$}  {what:<kind$}  {subject:<urn$}  {effect}");
        out.line(line.trim_end())?;
    }
    let open = open(journal);
    if open.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line("Begun and not ended:")?;
    for entry in open {
        let what = entry.operation.as_ref().map_or("a step", |operation| operation.kind.as_str());
        let subject = subject(entry, None).unwrap_or_else(|| "nothing that is named".to_owned());
        out.line(&format!("  operation {}: {what} {subject}", entry.operation_id))?;
    }
    Ok(())
}

fn json(journal: &Journal) -> String {
    Json::document(|json| {
        json.objects("entries", rows(journal), |json, (entry, subject, effect)| {
            json.raw("sequence", entry.sequence);
            json.raw("operation", entry.operation_id);
            json.text("kind", &entry.kind.to_string());
            if !subject.is_empty() {
                json.text("urn", &subject);
            }
            json.text("effect", &effect);
        });
        json.objects("open", open(journal), |json, entry| {
            json.raw("operation", entry.operation_id);
            if let Some(operation) = &entry.operation {
                json.text("type", operation.kind.as_str());
                json.text("urn", operation.resource.urn.as_str());
            }
        });
        json.raw("torn", journal.torn.is_some());
    })
}
