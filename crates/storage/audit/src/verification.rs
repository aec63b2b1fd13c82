//! Verifying a log: each line by its hash, each entry by the one before it, the end by the head and by a checkpoint.

use std::fmt;

use crate::batch::{self, Batch};
use crate::checkpoint::Checkpoint;
use crate::entry::{Entry, InvalidLine};
use crate::error::Result;
use crate::hash::Hash;
use crate::head::{Head, StoredHead};
use crate::location::{BatchName, HEAD, Location, segment_name};
use crate::op::Op;
use crate::retention;
use crate::segment::{Marks, Opening, mark, newest};

const OP: Op = Op::Verify;
/// How many findings are listed; the first ones say what happened.
const FINDINGS: usize = 100;

groundstate_common::worded! {
    /// What is wrong with a place in a log.
    pub enum Rule => as_str {
        /// It is of a version that this program does not read.
        Format = "format",
        /// It is not what this program writes.
        Damaged = "damaged",
        /// Its hash is not that of its content.
        Edited = "edited",
        /// It does not follow the entry before it.
        Order = "order",
        /// Entries or segments are not there.
        Missing = "missing",
        /// An entry is there twice.
        Repeated = "repeated",
        /// The end of the log is not there.
        Truncated = "truncated",
        /// The log has another entry than a checkpoint says.
        Rewritten = "rewritten",
        /// The beginning is not there, and no entry says that it was removed.
        Unsigned = "unsigned",
        /// An object does not belong to the log.
        Foreign = "foreign",
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub rule: Rule,
    /// The object, by its name behind the prefix.
    pub object: String,
    /// The line in it, from 1, if it is about one.
    pub line: Option<u64>,
    /// The number of the entry that should be there, if it is about one.
    pub sequence: Option<u64>,
    /// What was found.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.object)?;
        self.line.iter().try_for_each(|line| write!(f, ":{line}"))?;
        self.sequence.iter().try_for_each(|sequence| write!(f, ": entry {sequence}"))?;
        write!(f, ": {}", self.message)
    }
}

/// What verification found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many segments were read.
    pub segments: u64,
    /// How many entries of the chain were read.
    pub entries: u64,
    /// How many records wait to be chained.
    pub waiting: u64,
    /// What stands before the first entry that is kept.
    pub start: Checkpoint,
    /// How far the chain goes. Only that of an intact log is worth keeping.
    pub checkpoint: Checkpoint,
    /// What is wrong, the first one first; at most a hundred.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Verifies a log, while servers write it or not.
///
/// With `since`, the log must have the entry that the checkpoint names, with its hash.
///
/// # Errors
///
/// Those of the store: whatever is wrong with the log itself is a [`Finding`].
pub async fn verify(location: &Location, since: Option<Checkpoint>) -> Result<Report> {
    // In this order: a batch that is moved while this runs is then in the segments.
    let (names, foreign) = location.batches(OP).await?;
    let mut batches = Vec::new();
    for name in names {
        if let Some(blob) = location.get(OP, &name.to_string()).await? {
            batches.push((name, batch::decode(&blob.bytes)));
        }
    }
    let head = location.head(OP).await?;
    let (numbers, foreign_segments) = location.segments(OP).await?;
    let mut chain = Verification::new(&head, since, !numbers.is_empty());
    // Those before the first are being removed.
    let first = chain.next_segment;
    for number in numbers.into_iter().filter(|number| *number >= first) {
        let name = segment_name(number);
        // One that is removed meanwhile is before the start by now; what follows tells.
        let Some(blob) = location.get(OP, &name).await? else { continue };
        chain.segment(number, &name, &blob.bytes);
    }
    chain.end();
    chain.batches(batches);
    for object in foreign.into_iter().chain(foreign_segments) {
        chain.find(Rule::Foreign, &object, "it is no object of an audit log");
    }
    Ok(chain.report)
}

/// Where verification is.
struct Verification {
    report: Report,
    head: Option<Head>,
    since: Option<Checkpoint>,
    /// The number of the segment that comes next.
    next_segment: u64,
    /// The hash of the line before; nothing if it could not be read.
    last_line: Option<Hash>,
    /// Where processes are; nothing before the first segment of a log whose beginning was removed: it tells.
    marks: Option<Marks>,
    /// How many lines could not be read: records that are missing may have been in them.
    unreadable: u64,
    /// Whether an entry says that what is before the start was removed.
    is_signed_off: bool,
    /// The object and the line that are read.
    at: (String, u64),
}

impl Verification {
    fn new(head: &StoredHead, since: Option<Checkpoint>, has_segments: bool) -> Self {
        let believed = head.head();
        let start = believed.map(|head| head.start).unwrap_or_default();
        let report =
            Report { segments: 0, entries: 0, waiting: 0, start, checkpoint: start, findings: Vec::new() };
        let mut verification = Self {
            report,
            head: believed,
            since,
            next_segment: believed.map_or(1, |head| head.first_segment),
            last_line: Some(start.hash),
            marks: (start.count == 0).then(Marks::new),
            unreadable: 0,
            is_signed_off: start.count == 0,
            at: (HEAD.to_owned(), 1),
        };
        match head {
            StoredHead::Absent if has_segments => {
                verification.find(
                    Rule::Missing,
                    HEAD,
                    "the head is missing, so an end that is cut off cannot be told",
                );
            }
            StoredHead::Damaged => {
                verification.find(Rule::Damaged, HEAD, "the head is not as it was written")
            }
            StoredHead::Absent | StoredHead::Valid(..) => {}
        }
        if let Some(since) = since.filter(|since| since.count < start.count) {
            let message =
                format!("entry {} of the checkpoint was removed, verify with a later one", since.count);
            verification.find(Rule::Missing, HEAD, message);
        }
        verification
    }

    fn find(&mut self, rule: Rule, object: &str, message: impl Into<String>) {
        self.push(Finding {
            rule,
            object: object.to_owned(),
            line: None,
            sequence: None,
            message: message.into(),
        });
    }

    /// A finding at the line that is read.
    fn find_here(&mut self, rule: Rule, sequence: Option<u64>, message: impl Into<String>) {
        let (object, line) = (self.at.0.clone(), Some(self.at.1));
        self.push(Finding { rule, object, line, sequence, message: message.into() });
    }

    fn find_invalid(&mut self, sequence: Option<u64>, error: &InvalidLine) {
        self.find_here(rule_of(error), sequence, error.to_string());
    }

    fn push(&mut self, finding: Finding) {
        if self.report.findings.len() < FINDINGS {
            self.report.findings.push(finding);
        }
    }

    fn segment(&mut self, number: u64, name: &str, bytes: &[u8]) {
        if number != self.next_segment {
            let message = match number.saturating_sub(1) {
                last if last == self.next_segment => format!("segment {last} is missing"),
                last => format!("segments {} to {last} are missing", self.next_segment),
            };
            self.find(Rule::Missing, &segment_name(self.next_segment), message);
        }
        self.next_segment = number.saturating_add(1);
        self.report.segments += 1;
        self.at = (name.to_owned(), 0);
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split('\n').peekable();
        let first = lines.next().unwrap_or_default();
        self.at.1 = 1;
        if lines.peek().is_none() {
            self.find_here(Rule::Damaged, None, "its first line has no end");
        }
        self.opening(number, first);
        while let Some(line) = lines.next() {
            self.at.1 += 1;
            match lines.peek() {
                Some(_) => self.line(line),
                None if line.is_empty() => {}
                None => {
                    self.line(line);
                    self.find_here(Rule::Damaged, None, "its last line has no end");
                }
            }
        }
    }

    fn opening(&mut self, number: u64, line: &str) {
        let opening = match Opening::parse(line) {
            Ok(opening) => opening,
            Err(error) => {
                self.find_invalid(None, &error);
                self.last_line = None;
                return;
            }
        };
        let next = self.report.checkpoint.count.saturating_add(1);
        if opening.header.number != number {
            let message = format!("it is segment {} under the name of another", opening.header.number);
            self.find_here(Rule::Order, None, message);
        }
        if opening.header.first != next {
            self.gap(opening.header.first, "the segment");
        }
        if self.last_line.is_some_and(|last| last != opening.previous) {
            self.find_here(Rule::Order, Some(next), "the segment does not follow the entry before it");
        }
        match &self.marks {
            Some(marks) if newest(marks.clone()) != opening.header.runs => {
                let message = "the segment does not know the processes of the segments before it";
                self.find_here(Rule::Order, Some(next), message);
                self.marks = Some(opening.header.runs);
            }
            Some(_) => {}
            None => self.marks = Some(opening.header.runs),
        }
        self.report.checkpoint =
            Checkpoint { count: opening.header.first.saturating_sub(1), hash: opening.previous };
        self.compare();
        self.last_line = Some(opening.hash);
    }

    /// The number is not the next one.
    fn gap(&mut self, found: u64, what: &str) {
        let next = self.report.checkpoint.count.saturating_add(1);
        if found > next {
            let last = found - 1;
            let message = match last == next {
                true => format!("entry {next} is missing, {what} begins with entry {found}"),
                false => format!("entries {next} to {last} are missing, {what} begins with entry {found}"),
            };
            self.find_here(Rule::Missing, Some(next), message);
        } else {
            let message = format!("{what} begins with entry {found}, which was there before");
            self.find_here(Rule::Repeated, Some(next), message);
        }
    }

    fn line(&mut self, line: &str) {
        let next = self.report.checkpoint.count.saturating_add(1);
        let entry = match Entry::parse(line) {
            Ok(entry) => entry,
            Err(error) => {
                self.find_invalid(Some(next), &error);
                // What it was is not known, so the next line is compared with nothing.
                self.last_line = None;
                self.unreadable += 1;
                self.report.checkpoint.count = next;
                return;
            }
        };
        if entry.sequence != next {
            self.gap(entry.sequence, "the line");
        } else if self.last_line.is_some_and(|last| last != entry.previous) {
            self.find_here(Rule::Order, Some(next), "the entry does not follow the line before it");
        }
        self.count(&entry);
        self.report.entries += 1;
        self.report.checkpoint = Checkpoint { count: entry.sequence, hash: entry.hash };
        self.last_line = Some(entry.hash);
        self.compare();
        let start = self.report.start;
        self.is_signed_off |=
            entry.record.action == retention::ACTION && entry.record.object == start.to_string();
    }

    /// Compares the number that its process gave the record with the one that comes next.
    fn count(&mut self, entry: &Entry) {
        let (run, number) = (&entry.record.run, entry.record.number);
        let marks = self.marks.get_or_insert_default();
        let expected = marks.get(run).map_or(1, |mark| mark.0);
        mark(marks, entry);
        if number > expected.saturating_add(self.unreadable) {
            let message = format!("records {expected} to {} of process {run} are missing", number - 1);
            self.find_here(Rule::Missing, Some(entry.sequence), message);
        } else if number < expected {
            let message = format!("record {number} of process {run} was there before");
            self.find_here(Rule::Repeated, Some(entry.sequence), message);
        }
    }

    /// Compares where the chain is with what the head and the checkpoint say of this place.
    fn compare(&mut self) {
        let here = self.report.checkpoint;
        let differs =
            |other: Option<Checkpoint>| other.is_some_and(|other| other.count == here.count && other != here);
        if differs(self.since) {
            self.find_here(Rule::Rewritten, Some(here.count), "its hash is not the one of the checkpoint");
            self.since = None;
        }
        if differs(self.head.map(|head| head.end)) {
            self.find_here(Rule::Rewritten, Some(here.count), "its hash is not the one in the head");
            self.head = None;
        }
    }

    /// Behind the last segment.
    fn end(&mut self) {
        let count = self.report.checkpoint.count;
        let object = segment_name(self.next_segment.saturating_sub(1).max(1));
        let ends = [(self.since, "the checkpoint"), (self.head.map(|head| head.end), "the head")];
        for (end, who) in ends {
            if let Some(end) = end.filter(|end| end.count > count) {
                let message =
                    format!("the log ends with entry {count}, {who} says that there are {}", end.count);
                self.push(Finding {
                    rule: Rule::Truncated,
                    object: object.clone(),
                    line: None,
                    sequence: Some(count.saturating_add(1)),
                    message,
                });
            }
        }
        if !self.is_signed_off {
            let start = self.report.start;
            let message = format!(
                "{} entries before it are gone, and no entry says that they were removed",
                start.count
            );
            self.find(Rule::Unsigned, HEAD, message);
        }
    }

    /// What waits to be chained.
    fn batches(&mut self, batches: Vec<(BatchName, Result<Batch, InvalidLine>)>) {
        let mut last: Option<Batch> = None;
        for (name, batch) in batches {
            self.at = (name.to_string(), 1);
            let batch = match batch {
                Ok(batch) if batch.is_named(&name) => batch,
                Ok(_) => {
                    self.find_here(Rule::Order, None, "it is another batch than its name says");
                    continue;
                }
                Err(error) => {
                    self.find_invalid(None, &error);
                    continue;
                }
            };
            let follows = |last: &Batch| last.run == batch.run && last.next() == name.first;
            if last.as_ref().is_some_and(|last| follows(last) && last.hash != batch.previous) {
                self.find_here(Rule::Order, None, "it does not follow the batch before it");
            }
            self.count_batch(&name, &batch);
            last = Some(batch);
        }
    }

    fn count_batch(&mut self, name: &BatchName, batch: &Batch) {
        let marks = self.marks.get_or_insert_default();
        let expected = marks.get(&name.run).map_or(1, |mark| mark.0);
        let next = batch.next();
        if next <= expected {
            // A node moved it and was killed before it removed it.
            return;
        }
        marks.entry(name.run.clone()).or_insert(crate::segment::Mark(1, 0)).0 = next;
        self.report.waiting += next - name.first.max(expected);
        if name.first > expected {
            let message =
                format!("records {expected} to {} of process {} are missing", name.first - 1, name.run);
            self.find_here(Rule::Missing, None, message);
        }
    }
}

/// What is wrong with a line that is not one of a log.
fn rule_of(error: &InvalidLine) -> Rule {
    match error {
        InvalidLine::Format(_) => Rule::Format,
        InvalidLine::Form(_) => Rule::Damaged,
        InvalidLine::Hash => Rule::Edited,
    }
}
