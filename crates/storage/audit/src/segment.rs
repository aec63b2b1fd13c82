//! Segments: the lines of the chain, as many as fit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::entry::{Entry, FORMAT, InvalidLine, Record, after_format};
use crate::hash::Hash;
use crate::seal::{seal, unseal};

/// How many processes a segment remembers. One that is forgotten had recorded nothing while this many others did.
const RUNS: usize = 1024;

/// How far the records of a process are in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark(
    /// The number of the record that comes next.
    pub(crate) u64,
    /// The number in the log of the last one.
    pub(crate) u64,
);

pub(crate) type Marks = BTreeMap<String, Mark>;

/// The first line of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    #[serde(rename = "v")]
    format: u64,
    /// The number of the segment, from 1.
    #[serde(rename = "segment")]
    pub(crate) number: u64,
    /// The number of its first entry.
    pub(crate) first: u64,
    /// From how many bytes on it is full, and the next one begins. It stands here so that all nodes agree: no entry is added to
    /// a segment that another node may take for full.
    #[serde(rename = "limit")]
    pub(crate) byte_limit: u64,
    /// Where processes were when it began.
    pub(crate) runs: Marks,
}

/// The first line of a segment with its hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) header: Header,
    /// The hash of the last entry of the segment before.
    pub(crate) previous: Hash,
    pub(crate) hash: Hash,
}

/// A segment that is being written: all that is needed to add to it.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) opening: Opening,
    pub(crate) bytes: Vec<u8>,
    /// Where processes are at its end.
    pub(crate) marks: Marks,
    pub(crate) end: Checkpoint,
    /// The hash of its last line: of the last entry, or of the first line.
    last_line: Hash,
}

impl Opening {
    /// Reads the first line of a segment, and checks its hash.
    pub(crate) fn parse(line: &str) -> Result<Self, InvalidLine> {
        after_format(line)?;
        let sealed = unseal(line).ok_or_else(|| InvalidLine::form("it does not end with its hashes"))?;
        if sealed.computed != sealed.hash {
            return Err(InvalidLine::Hash);
        }
        let json = format!("{}}}", sealed.body);
        let header: Header = serde_json::from_str(&json).map_err(InvalidLine::form)?;
        if serde_json::to_string(&header).is_ok_and(|again| again == json) {
            Ok(Self { header, previous: sealed.previous, hash: sealed.hash })
        } else {
            Err(InvalidLine::form("it is not written canonically"))
        }
    }
}

impl Segment {
    /// The segment behind the end of the one before.
    pub(crate) fn begin(number: u64, byte_limit: u64, before: Checkpoint, marks: Marks) -> Self {
        let marks = newest(marks);
        let first = before.count.saturating_add(1);
        let header = Header { format: FORMAT, number, first, byte_limit, runs: marks.clone() };
        let (mut line, hash) = seal(&serde_json::to_string(&header).unwrap_or_default(), before.hash);
        line.push('\n');
        let opening = Opening { header, previous: before.hash, hash };
        Self { opening, bytes: line.into_bytes(), marks, end: before, last_line: hash }
    }

    /// Reads a whole segment; nothing if any line of it is damaged or does not follow the one before.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let opening = Opening::parse(lines.next()?).ok()?;
        let count = opening.header.first.checked_sub(1)?;
        let mut segment = Self {
            marks: opening.header.runs.clone(),
            end: Checkpoint { count, hash: opening.previous },
            last_line: opening.hash,
            opening,
            bytes: bytes.to_vec(),
        };
        for line in lines {
            let entry = Entry::parse(line).ok()?;
            if entry.previous != segment.last_line || entry.sequence != segment.end.count.checked_add(1)? {
                return None;
            }
            segment.advance(&entry);
        }
        Some(segment)
    }

    /// What stands before its first entry.
    pub(crate) fn start(&self) -> Checkpoint {
        Checkpoint { count: self.opening.header.first.saturating_sub(1), hash: self.opening.previous }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() as u64 >= self.opening.header.byte_limit
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, record: Record) {
        let (entry, line) = Entry::chain(self.end.count.saturating_add(1), record, self.last_line);
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        self.advance(&entry);
    }

    fn advance(&mut self, entry: &Entry) {
        self.end = Checkpoint { count: entry.sequence, hash: entry.hash };
        self.last_line = entry.hash;
        mark(&mut self.marks, entry);
    }

    /// The number that comes next of a process.
    pub(crate) fn next_of(&self, run: &str) -> u64 {
        self.marks.get(run).map_or(1, |mark| mark.0)
    }
}

/// Moves the mark of the entry's process.
pub(crate) fn mark(marks: &mut Marks, entry: &Entry) {
    let next = Mark(entry.record.number.saturating_add(1), entry.sequence);
    marks.insert(entry.record.run.clone(), next);
}

/// Where processes are at the end of a segment that is damaged, as far as its lines tell.
pub(crate) fn readable_marks(bytes: &[u8]) -> Marks {
    let text = String::from_utf8_lossy(bytes);
    let mut marks =
        text.lines().next().and_then(|line| Opening::parse(line).ok()).map(|opening| opening.header.runs);
    let entries = text.lines().filter_map(|line| Entry::parse(line).ok());
    entries.for_each(|entry| mark(marks.get_or_insert_default(), &entry));
    marks.unwrap_or_default()
}

/// The marks of the processes that recorded last.
pub(crate) fn newest(mut marks: Marks) -> Marks {
    if marks.len() > RUNS {
        let mut lasts: Vec<u64> = marks.values().map(|mark| mark.1).collect();
        lasts.sort_unstable_by(|a, b| b.cmp(a));
        let oldest = lasts.get(RUNS - 1).copied().unwrap_or_default();
        marks.retain(|_, mark| mark.1 >= oldest);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::{Mark, Marks, Segment, newest};
    use crate::checkpoint::Checkpoint;
    use crate::entry::tests::record;
    use crate::hash::Hash;

    #[test]
    fn segments_are_read_as_they_were_written_and_any_change_is_found() {
        let mut segment = Segment::begin(3, 900, Checkpoint { count: 8, hash: Hash::of(b"x") }, Marks::new());
        assert!(!segment.is_full());
        segment.push(record(1));
        segment.push(record(2));
        assert!(segment.is_full());
        assert_eq!((segment.end.count, segment.next_of("r"), segment.next_of("s")), (10, 3, 1));
        let read = Segment::parse(&segment.bytes).unwrap();
        assert_eq!(
            (read.end, read.marks, read.opening),
            (segment.end, segment.marks.clone(), segment.opening.clone())
        );
        for at in 0..segment.bytes.len() {
            let mut changed = segment.bytes.clone();
            changed[at] ^= 1;
            assert!(Segment::parse(&changed).is_none(), "{at}");
        }
    }

    #[test]
    fn the_processes_that_recorded_last_are_remembered() {
        let marks: Marks = (0..1100).map(|n| (format!("r{n}"), Mark(1, n))).collect();
        let kept = newest(marks);
        assert_eq!((kept.len(), kept.contains_key("r75"), kept.contains_key("r76")), (1024, false, true));
    }
}
