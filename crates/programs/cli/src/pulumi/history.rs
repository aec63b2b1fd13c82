//! `groundstate history` of a stack: its updates, and the other copies of its state.

use std::collections::BTreeMap;

use groundstate_blobs::Key;
use groundstate_common::{Timestamp, shortened};
use groundstate_pulumi_diy::{CopySource, History, HistoryEntry, Update};

use crate::args::HistoryArgs;
use crate::input::location::StateLocation;
#[cfg(feature = "http")]
use crate::input::remote::Remote;
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
pub(super) struct Page {
    pub(super) number: usize,
    pub(super) size: usize,
    pub(super) entries: Vec<Entry>,
    /// How many updates there are on all pages.
    pub(super) total: usize,
    /// The copies of this page that no update left.
    pub(super) copies: Vec<NamedCopy>,
    pub(super) copies_total: usize,
}

/// An update that is over.
pub(super) struct Entry {
    pub(super) number: u64,
    /// What names the state that it left; nothing if that is not kept.
    pub(super) id: Option<String>,
    /// What is known of it, or why that cannot be read.
    pub(super) update: Result<Known, String>,
}

/// What is known of an update, without configuration.
pub(super) struct Known {
    pub(super) kind: String,
    pub(super) result: String,
    /// In seconds since 1970, as the end is.
    pub(super) started: i64,
    pub(super) ended: i64,
    pub(super) message: String,
    pub(super) changes: Option<BTreeMap<String, i64>>,
}

pub(crate) fn history(args: &HistoryArgs, found: StateLocation) -> Result {
    #[cfg(feature = "http")]
    if let Some(service) = found.remote().and_then(Remote::service) {
        return super::service_history::history(args, service);
    }
    let managed = ManagedStack::open(found, "history", false)?;
    let (number, size) = wanted(args);
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
    unlisted.iter().for_each(|failure| messages.failure(failure));
    drop(messages);
    let outcome = page.show(args, managed.name())?;
    Ok(unlisted.map_or(outcome, |Failure { kind, .. }| outcome.and(kind)))
}

/// The page that is asked for, and how many updates it has; 0 for all.
pub(super) fn wanted(args: &HistoryArgs) -> (usize, usize) {
    (args.page.unwrap_or(1) as usize, args.page_size.unwrap_or(PAGE_SIZE) as usize)
}

impl Page {
    fn new(number: usize, size: usize, history: History, copies: Vec<NamedCopy>) -> Self {
        let ids: BTreeMap<Key, String> =
            copies.iter().map(|named| (named.copy.key.clone(), named.id.clone())).collect();
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
        let entry = |entry: HistoryEntry| Entry {
            number: entry.number as u64,
            id: entry.checkpoint.as_ref().and_then(|key| ids.get(key)).cloned(),
            update: entry.update.map(known).map_err(|error| chain(&error)),
        };
        let entries = history.entries.into_iter().map(entry).collect();
        Self { number, size, entries, total: history.total, copies, copies_total }
    }

    /// Prints the page, and warns of what cannot be read.
    pub(super) fn show(&self, args: &HistoryArgs, name: &str) -> Result {
        let mut messages = Messages::stderr();
        for why in self.entries.iter().filter_map(|entry| entry.update.as_ref().err()) {
            messages.warning(why);
        }
        drop(messages);
        let mut out = Output::stdout();
        match args.json {
            true => out.json(&self.json(name))?,
            false => self.print(name, &mut out)?,
        }
        out.finish()?;
        let is_damaged = self.entries.iter().any(|entry| entry.update.is_err());
        Ok(if is_damaged { Outcome::Found(Kind::Findings) } else { Outcome::Clean })
    }

    fn print(&self, name: &str, out: &mut Output) -> Result<()> {
        let Self { entries, total, .. } = self;
        if *total == 0 {
            out.line(&format!("{name} has no updates in its history"))?;
        }
        if *total > 0 && entries.is_empty() && self.copies.is_empty() {
            out.line(&format!("{name} has no page {}", self.number))?;
        }
        let rows: Vec<[String; 6]> = entries.iter().map(row).collect();
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

    fn json(&self, name: &str) -> String {
        Json::document(|json| {
            json.text("state", name);
            json.raw("page", self.number);
            json.raw("page_size", self.size);
            json.raw("updates_total", self.total);
            json.objects("updates", &self.entries, |json, entry| {
                json.raw("number", entry.number);
                if let Some(id) = &entry.id {
                    json.text("id", id);
                }
                match &entry.update {
                    Ok(update) => members(json, update),
                    Err(why) => json.text("unreadable", why),
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

fn known(update: Update) -> Known {
    let Update { kind, result, message, start_time, end_time, resource_changes, .. } = update;
    Known { kind, result, started: start_time, ended: end_time, message, changes: resource_changes }
}

/// An update in a table.
fn row(entry: &Entry) -> [String; 6] {
    let id = entry.id.clone().unwrap_or_else(|| "state not kept".to_owned());
    let number = entry.number.to_string();
    match &entry.update {
        Err(_) => [number, "cannot be read".into(), String::new(), String::new(), id, String::new()],
        Ok(update) => {
            let changes = update.changes.iter().flatten();
            let changes: Vec<String> = changes.map(|(kind, number)| format!("{number} {kind}")).collect();
            let message = shortened(&update.message, MAX_SHOWN);
            let changes = match (changes.is_empty(), message.is_empty()) {
                (_, true) => changes.join(", "),
                (true, false) => message.into_owned(),
                (false, false) => format!("{}: {message}", changes.join(", ")),
            };
            let ended = time(seconds(update.ended));
            [number, update.kind.clone(), update.result.clone(), ended, id, changes]
        }
    }
}

/// What is known of an update, without configuration.
fn members(json: &mut Json, update: &Known) {
    json.text("kind", &update.kind);
    json.text("result", &update.result);
    for (name, time) in [("started_at", update.started), ("ended_at", update.ended)] {
        if let Some(time) = seconds(time) {
            json.text(name, &time.to_string());
        }
    }
    json.text("message", &update.message);
    if let Some(changes) = &update.changes {
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
