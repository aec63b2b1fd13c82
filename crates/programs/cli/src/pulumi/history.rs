//! `groundstate history` of a stack: its updates, and the other copies of its state.

use std::collections::BTreeMap;

use groundstate_blobs::Key;
use groundstate_common::{Timestamp, shortened};
use groundstate_pulumi_diy::{CopySource, History, HistoryEntry, Update};

use crate::args::HistoryArgs;
use crate::input::location::StateLocation;
use crate::input::stack_history::NamedCopy;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::{columns, count};
use crate::session::stack::ManagedStack;

/// How many updates a page has.
const PAGE_SIZE: u32 = 10;

/// Characters of a message that are shown, at most.
const MAX_SHOWN: usize = 100;

/// A page of the updates, and of the copies beside them.
struct Page {
    number: usize,
    size: usize,
    history: History,
    /// The ids of the states that updates left, by their keys.
    ids: BTreeMap<Key, String>,
    /// The copies of this page that no update left.
    copies: Vec<NamedCopy>,
    copies_total: usize,
}

pub(crate) fn history(args: &HistoryArgs, found: StateLocation) -> Result {
    let managed = ManagedStack::open(found, "history", false)?;
    let number = args.page.unwrap_or(1) as usize;
    let size = args.page_size.unwrap_or(PAGE_SIZE) as usize;
    let (page, unlisted) = managed.unlocked(async |stack| {
        let history = stack.history(number, size).await.map_err(|error| managed.failure(&error))?;
        let copies = stack.copies().await;
        let is_nothing = history.total == 0 && copies.as_ref().is_ok_and(Vec::is_empty);
        if is_nothing {
            managed.existing(stack).await?;
        }
        let (copies, unlisted) = match copies {
            Ok(copies) => (copies, None),
            // The updates are shown in any case.
            Err(error) => (Vec::new(), Some(managed.failure(&error))),
        };
        Ok((Page::new(number, size, history, NamedCopy::all(copies)), unlisted))
    })?;
    let mut messages = Messages::stderr();
    for error in page.history.entries.iter().filter_map(|entry| entry.update.as_ref().err()) {
        messages.warning(&chain(error));
    }
    unlisted.iter().for_each(|failure| messages.failure(failure));
    drop(messages);
    let mut out = Output::stdout();
    match args.json {
        true => out.json(&page.json(managed.name()))?,
        false => page.print(managed.name(), &mut out)?,
    }
    out.finish()?;
    let is_damaged = page.history.entries.iter().any(|entry| entry.update.is_err());
    let outcome = if is_damaged { Outcome::Found(Kind::Findings) } else { Outcome::Clean };
    Ok(unlisted.map_or(outcome, |Failure { kind, .. }| outcome.and(kind)))
}

impl Page {
    fn new(number: usize, size: usize, history: History, copies: Vec<NamedCopy>) -> Self {
        let ids = copies.iter().map(|named| (named.copy.key.clone(), named.id.clone())).collect();
        let is_other = |named: &NamedCopy| {
            named.copy.source != CopySource::History || history.unrecorded.contains(&named.copy.key)
        };
        let mut copies: Vec<NamedCopy> = copies.into_iter().filter(is_other).collect();
        let copies_total = copies.len();
        if size > 0 {
            let skipped = number.saturating_sub(1).saturating_mul(size).min(copies_total);
            copies.drain(..skipped);
            copies.truncate(size);
        }
        Self { number, size, history, ids, copies, copies_total }
    }

    /// The id of the state that an update left; nothing if that is not kept.
    fn id(&self, entry: &HistoryEntry) -> Option<&str> {
        self.ids.get(entry.checkpoint.as_ref()?).map(String::as_str)
    }

    fn print(&self, name: &str, out: &mut Output) -> Result<()> {
        let History { entries, total, .. } = &self.history;
        if *total == 0 {
            out.line(&format!("{name} has no updates in its history"))?;
        }
        if *total > 0 && entries.is_empty() && self.copies.is_empty() {
            out.line(&format!("{name} has no page {}", self.number))?;
        }
        let rows: Vec<[String; 6]> = entries.iter().map(|entry| self.row(entry)).collect();
        columns(&rows).iter().try_for_each(|line| out.line(line))?;
        if !self.copies.is_empty() {
            out.line("")?;
            out.line("Other copies of the state:")?;
            let row = |named: &NamedCopy| {
                [named.id.clone(), time(named.copy.time), format!("{} bytes", named.copy.size)]
            };
            let rows: Vec<[String; 3]> = self.copies.iter().map(row).collect();
            columns(&rows).iter().try_for_each(|line| out.line(line))?;
        }
        let shown = self.number.saturating_mul(self.size);
        if self.size > 0 && shown < (*total).max(self.copies_total) {
            let (updates, copies) = (count(*total, "update"), count(self.copies_total, "other copy"));
            out.line("")?;
            out.line(&format!(
                "{updates} and {copies} in all: `--page {}` shows the next, `--page-size 0` all",
                self.number + 1
            ))?;
        }
        Ok(())
    }

    fn row(&self, entry: &HistoryEntry) -> [String; 6] {
        let id = self.id(entry).unwrap_or("state not kept").to_owned();
        let number = entry.number.to_string();
        match &entry.update {
            Err(_) => [number, "cannot be read".into(), String::new(), String::new(), id, String::new()],
            Ok(update) => {
                let changes = update.resource_changes.iter().flatten();
                let changes: Vec<String> = changes.map(|(kind, number)| format!("{number} {kind}")).collect();
                let message = shortened(&update.message, MAX_SHOWN);
                let changes = match (changes.is_empty(), message.is_empty()) {
                    (_, true) => changes.join(", "),
                    (true, false) => message.into_owned(),
                    (false, false) => format!("{}: {message}", changes.join(", ")),
                };
                let ended = time(seconds(update.end_time));
                [number, update.kind.clone(), update.result.clone(), ended, id, changes]
            }
        }
    }

    fn json(&self, name: &str) -> String {
        Json::document(|json| {
            json.text("state", name);
            json.raw("page", self.number);
            json.raw("page_size", self.size);
            json.raw("updates_total", self.history.total);
            json.objects("updates", &self.history.entries, |json, entry| {
                json.raw("number", entry.number);
                if let Some(id) = self.id(entry) {
                    json.text("id", id);
                }
                match &entry.update {
                    Ok(update) => members(json, update),
                    Err(error) => json.text("unreadable", &chain(error)),
                }
            });
            json.raw("copies_total", self.copies_total);
            json.objects("copies", &self.copies, |json, NamedCopy { id, copy }| {
                json.text("id", id);
                json.text("source", &copy.source.to_string());
                if let Some(time) = copy.time {
                    json.text("stored_at", &time.to_string());
                }
                json.raw("bytes", copy.size);
            });
        })
    }
}

/// What is known of an update, without configuration.
fn members(json: &mut Json, update: &Update) {
    json.text("kind", &update.kind);
    json.text("result", &update.result);
    for (name, time) in [("started_at", update.start_time), ("ended_at", update.end_time)] {
        if let Some(time) = seconds(time) {
            json.text(name, &time.to_string());
        }
    }
    json.text("message", &update.message);
    if let Some(changes) = &update.resource_changes {
        json.inner("resource_changes", |json| {
            changes.iter().for_each(|(kind, number)| json.raw(kind, number));
        });
    }
}

fn seconds(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_unix(seconds, 0).ok()
}

fn time(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "?".to_owned(), |time| time.to_string())
}
