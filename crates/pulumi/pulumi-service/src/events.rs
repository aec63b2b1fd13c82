//! The events of an update: stored as they come, in any order and any number of times, read in the order of their numbers.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::{GetOptions, ListOptions, PutOptions};
use groundstate_common::hex;
use groundstate_json::RawJson;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::lease::LeaseToken;
use crate::op::Op;
use crate::update::Update;

const OP: Op = Op::Events;
/// How many batches are read at a time.
const PARALLEL: usize = 8;
/// From how many bytes on a page is complete, whatever was asked for.
const PAGE_BYTES: usize = 16 << 20;
/// Bytes in memory for a stored byte: the batch, its events, and the page that is made of them.
const EACH: u64 = 3;

/// Beginning of the last line of a batch: the SHA-256 of the lines before it.
const SUM: &str = "sum\t";

/// An event of an engine, as its client sent it.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its number in the update, from 0.
    pub sequence: u64,
    /// Its JSON.
    pub text: RawJson,
}

/// A part of the events of an update.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EventPage {
    /// The events, in the order of their numbers.
    pub events: Vec<Event>,
    /// From which number on there may be more.
    pub next: Option<u64>,
}

/// What is kept of a summary: what an update changed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    changes: BTreeMap<String, u64>,
}

impl Update {
    /// Stores events. Those of a batch that is sent again are stored once. They tell of the update, and decide nothing, so the lease is checked as this
    /// process knows it.
    ///
    /// # Errors
    ///
    /// `LeaseLost`, and those of the store.
    pub async fn store_events(
        &self,
        token: &LeaseToken,
        events: &[Event],
        changes: Option<&BTreeMap<String, u64>>,
    ) -> Result<()> {
        self.admit(OP, token).await?;
        let first = events.iter().map(|event| event.sequence).min();
        let last = events.iter().map(|event| event.sequence).max();
        let (Some(first), Some(last)) = (first, last) else { return Ok(()) };
        let mut text = String::new();
        for event in events {
            // A line for each: what is compact has no line breaks.
            text.push_str(&format!("{}\t{}\n", event.sequence, event.text.as_str()));
        }
        text.push_str(&format!("{SUM}{}\n", hex(&Sha256::digest(text.as_bytes()))));
        let what = format!("events/{first:016}-{last:016}");
        self.put_bytes(OP, &what, Bytes::from(text), &PutOptions::default()).await?;
        if let Some(changes) = changes {
            let summary = Summary { changes: changes.clone() };
            self.put(OP, "summary", &summary, &PutOptions::default()).await?;
        }
        Ok(())
    }

    pub(crate) async fn summary(&self, op: Op) -> Result<Option<BTreeMap<String, u64>>> {
        Ok(self.get::<Summary>(op, "summary").await?.map(|(summary, _)| summary.changes))
    }

    /// Reads events from a number on, at most about `limit` of them. An update that the stack never had has none.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn events(&self, from: u64, limit: usize) -> Result<EventPage> {
        let stacks = &self.stack.stacks;
        let failed = |error| Error::of_blobs(OP, self.stack.path(), error);
        let (mut names, mut page) = (Vec::new(), None);
        loop {
            let listed =
                stacks.blobs().list(&self.key_text("events/"), &ListOptions::default().page(page)).await;
            let listed = listed.map_err(failed)?;
            names.extend(listed.blobs.into_iter().map(|blob| (blob.name, blob.meta.size)));
            page = listed.next;
            if page.is_none() {
                break;
            }
        }
        let numbers = |name: &str| name.strip_prefix(&self.key_text("")).and_then(numbers_of_batch);
        let names = names.into_iter().filter_map(|(name, size)| Some((numbers(&name)?, name, size)));
        let names: Vec<_> = names.filter(|((_, last), ..)| *last >= from).collect();
        let reads = stream::iter(names).map(|((_, last), name, size)| async move {
            let slot = stacks.take_room(OP, self.stack.path(), size, EACH)?;
            let key = stacks.blob_key(OP, self.stack.path(), &name)?;
            let blob = stacks.blobs().get(&key, &GetOptions::default()).await.map_err(failed)?;
            Ok::<_, Error>((blob.map(|blob| blob.bytes).unwrap_or_default(), last, slot))
        });
        let mut reads = reads.buffered(PARALLEL);
        let mut events = BTreeMap::new();
        let (mut is_whole, mut bytes, mut slots) = (true, 0, Vec::new());
        while let Some((batch, last, slot)) = reads.try_next().await? {
            bytes += batch.len();
            slots.push(slot);
            let mut has_last = batch.is_empty();
            for line in self.lines(&batch)?.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let event = parse_event(line).ok_or_else(|| self.damaged_events())?;
                has_last |= event.sequence == last;
                if event.sequence >= from {
                    events.entry(event.sequence).or_insert(event);
                }
            }
            if !has_last {
                return Err(self.damaged_events());
            }
            if events.len() > limit || bytes > PAGE_BYTES && !events.is_empty() {
                is_whole = false;
                break;
            }
        }
        // Batches overlap only where clients number wrongly; what is behind the limit is read again for the next page.
        let events: Vec<Event> = events.into_values().take(limit.max(1)).collect();
        // Behind the highest number there is no event.
        let next = events.last().filter(|_| !is_whole).and_then(|event| event.sequence.checked_add(1));
        Ok(EventPage { events, next })
    }

    /// The lines of a batch without the last one, which has their checksum. Batches of an earlier release have none.
    fn lines<'b>(&self, batch: &'b [u8]) -> Result<&'b [u8]> {
        let lines = batch.strip_suffix(b"\n").unwrap_or(batch);
        let start = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (lines, last) = batch.split_at(start);
        let Some(sum) = last.strip_prefix(SUM.as_bytes()) else { return Ok(batch) };
        match sum.strip_suffix(b"\n") == Some(hex(&Sha256::digest(lines)).as_bytes()) {
            true => Ok(lines),
            false => Err(self.damaged_events()),
        }
    }

    fn damaged_events(&self) -> Error {
        let failure = self.stack.error(ErrorKind::Corrupt, OP);
        failure.because(format!("the events of the update {} are damaged", self.id))
    }
}

fn parse_event(line: &[u8]) -> Option<Event> {
    let (sequence, text) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    Some(Event { sequence: sequence.parse().ok()?, text: RawJson::parse_as_written(text).ok()? })
}

/// The first and the last number of the events of a batch, by the name of its blob.
pub(crate) fn numbers_of_batch(what: &str) -> Option<(u64, u64)> {
    let (first, last) = what.strip_prefix("events/")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Comparison of a batch with its checksum and its name, part by part.
#[derive(Default)]
pub(crate) struct BatchCheck {
    hash: Sha256,
    /// The line that has not ended yet.
    line: Vec<u8>,
    numbers: Option<(u64, u64)>,
    is_summed: bool,
    problem: Option<String>,
}

impl BatchCheck {
    pub(crate) fn add(&mut self, part: &[u8]) {
        for piece in part.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.problem.is_some() {
            return;
        }
        if self.is_summed {
            self.problem = Some("there are lines behind its checksum".to_owned());
        } else if let Some(sum) = line.strip_prefix(SUM.as_bytes()) {
            let expected = hex(&self.hash.clone().finalize());
            self.is_summed = sum.strip_suffix(b"\n") == Some(expected.as_bytes());
            if !self.is_summed {
                self.problem = Some("its checksum is not that of its lines".to_owned());
            }
        } else {
            self.hash.update(&line);
            match parse_event(line.strip_suffix(b"\n").unwrap_or(&line)) {
                Some(Event { sequence, .. }) => {
                    let (first, last) = self.numbers.unwrap_or((sequence, sequence));
                    self.numbers = Some((first.min(sequence), last.max(sequence)));
                }
                None => self.problem = Some("a line of it is not an event".to_owned()),
            }
        }
    }

    /// Gives what is wrong with a batch whose name has these numbers.
    pub(crate) fn end(mut self, named: (u64, u64)) -> Option<String> {
        if !self.line.is_empty() {
            self.end_line();
        }
        if self.problem.is_none() && self.numbers != Some(named) {
            let (first, last) = named;
            self.problem = Some(match self.numbers {
                Some(found) => {
                    format!(
                        "it has the events {} to {}, and its name says {first} to {last}",
                        found.0, found.1
                    )
                }
                None => "it has no events".to_owned(),
            });
        }
        self.problem
    }
}
