//! Moving batches into the chain.
//!
//! Every step can be the last one of a process that is killed. What is durable then is either a batch that no segment has yet,
//! or one that a segment has already, which the marks of the segment tell: the next process goes on from there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use groundstate_blobs::BlobVersion;
use tracing::{debug, warn};

use crate::batch;
use crate::checkpoint::Checkpoint;
use crate::entry::Record;
use crate::error::{ErrorKind, Result};
use crate::head::{Head, StoredHead};
use crate::location::{BatchName, Location, Written, segment_name};
use crate::op::Op;
use crate::segment::{Marks, Segment, readable_marks};

/// From how many bytes on a segment is full, unless the program says otherwise.
const SEGMENT_BYTES: u64 = 256 * 1024;
/// How many batches are moved in one step.
const BATCHES: usize = 64;
/// How often to begin anew when other nodes chain at the same time.
const ATTEMPTS: usize = 16;
const OP: Op = Op::Chain;

/// Moves batches into the chain.
#[derive(Debug)]
pub(crate) struct Chainer {
    location: Location,
    segment_bytes: u64,
    /// The last segment, as this process has read or written it.
    tail: Option<Tail>,
}

/// The end of the chain.
#[derive(Clone, Debug)]
struct Tail {
    segment: Segment,
    /// What is stored; nothing if it is about to be created.
    version: Option<BlobVersion>,
}

/// A batch that was read.
struct Waiting {
    name: BatchName,
    records: Vec<Record>,
}

impl Chainer {
    pub(crate) fn new(location: Location) -> Self {
        Self { location, segment_bytes: SEGMENT_BYTES, tail: None }
    }

    pub(crate) fn segment_bytes(&mut self, limit: u64) {
        self.segment_bytes = limit;
    }

    /// Moves everything that waits.
    pub(crate) async fn chain_all(&mut self) -> Result<()> {
        let mut conflicts = 0;
        loop {
            // Listed before the end of the chain is read: what is listed and not in the chain is new.
            let (names, _) = self.location.batches(OP).await?;
            if names.is_empty() {
                return Ok(());
            }
            let Some(waiting) = self.read(names).await? else { continue };
            let tail = match self.tail.take() {
                Some(tail) => tail,
                None => self.find_tail().await?,
            };
            match self.step(tail, waiting).await? {
                Step::Chained => conflicts = 0,
                Step::Nothing => return Ok(()),
                Step::Conflict if conflicts < ATTEMPTS => conflicts += 1,
                Step::Conflict => {
                    let message = "other nodes chain all the time";
                    return Err(self.location.error(ErrorKind::Unavailable, OP).because(message));
                }
            }
        }
    }

    /// The first batches of those names; nothing if another node has just moved one of them.
    ///
    /// A damaged batch stays where it is, and so do those of its process behind it: verification reports it.
    async fn read(&self, names: Vec<BatchName>) -> Result<Option<Vec<Waiting>>> {
        let (mut waiting, mut damaged) = (Vec::new(), BTreeSet::new());
        for name in names {
            if waiting.len() == BATCHES {
                break;
            }
            if damaged.contains(&name.run) {
                continue;
            }
            let Some(blob) = self.location.get(OP, &name.to_string()).await? else { return Ok(None) };
            match batch::decode(&blob.bytes).ok().filter(|batch| batch.is_named(&name)) {
                Some(batch) => waiting.push(Waiting { name, records: batch.records }),
                None => {
                    warn!(batch = %name, "a batch of the audit log is damaged, it stays as it is: verify the log");
                    damaged.insert(name.run);
                }
            }
        }
        Ok(Some(waiting))
    }

    /// Adds what fits into the last segment, or into the next.
    async fn step(&mut self, tail: Tail, waiting: Vec<Waiting>) -> Result<Step> {
        let Tail { segment, version } = tail.clone();
        let mut next = if segment.is_full() {
            let number = segment.opening.header.number.saturating_add(1);
            Tail {
                segment: Segment::begin(number, self.segment_bytes, segment.end, segment.marks),
                version: None,
            }
        } else {
            Tail { segment, version }
        };
        let before = next.segment.end.count;
        let mut moved = Vec::new();
        for Waiting { name, records } in in_order(waiting) {
            if next.segment.is_full() {
                break;
            }
            let first = next.segment.next_of(&name.run);
            records
                .into_iter()
                .filter(|record| record.number >= first)
                .for_each(|record| next.segment.push(record));
            moved.push(name);
        }
        if next.segment.end.count > before {
            let name = segment_name(next.segment.opening.header.number);
            match self.location.put(OP, &name, &next.segment.bytes, next.version.as_ref()).await? {
                Written::Yes(version) => next.version = Some(version),
                Written::No => return Ok(Step::Conflict),
            }
            self.raise_head(&next.segment).await?;
            debug!(count = next.segment.end.count - before, segment = %name, "entries are chained");
            self.tail = Some(next);
        } else {
            self.tail = Some(tail);
        }
        for name in &moved {
            self.location.delete(OP, &name.to_string()).await?;
        }
        Ok(if moved.is_empty() { Step::Nothing } else { Step::Chained })
    }

    async fn raise_head(&self, segment: &Segment) -> Result<()> {
        let (number, end) = (segment.opening.header.number, segment.end);
        let raised =
            |head: Head| (head.end.count < end.count).then_some(Head { segment: number, end, ..head });
        self.location.change_head(OP, raised).await
    }

    /// The last segment, or the first one that is to be.
    async fn find_tail(&self) -> Result<Tail> {
        let head = self.location.head(OP).await?;
        let mut number = match head.head() {
            Some(head) => head.segment.max(1),
            None => self.location.segments(OP).await?.0.last().copied().unwrap_or(1),
        };
        let mut found = None;
        while let Some(blob) = self.location.get(OP, &segment_name(number)).await? {
            found = Some((number, blob));
            number = number.saturating_add(1);
        }
        let Some((number, blob)) = found else {
            if number == 1 {
                // Before there is a segment, so that a head that is missing later was removed.
                self.location.create_head(OP).await?;
            }
            return self.begin(&head, number, Marks::new());
        };
        match Segment::parse(&blob.bytes) {
            Some(segment) if segment.opening.header.number == number => {
                Ok(Tail { segment, version: Some(blob.meta.version) })
            }
            _ => {
                warn!(
                    segment = number,
                    "a segment of the audit log is damaged, the next one begins: verify the log"
                );
                self.begin(&head, number.saturating_add(1), readable_marks(&blob.bytes))
            }
        }
    }

    /// The segment of this number behind what the head says: the first of a log, or the one behind a segment that is damaged
    /// or missing, which verification reports.
    fn begin(&self, head: &StoredHead, number: u64, marks: Marks) -> Result<Tail> {
        let before = match head {
            StoredHead::Valid(head, _) => head.end,
            StoredHead::Absent if number == 1 => Checkpoint::default(),
            StoredHead::Absent | StoredHead::Damaged => {
                return Err(self.location.error(ErrorKind::Corrupt, OP));
            }
        };
        Ok(Tail { segment: Segment::begin(number, self.segment_bytes, before, marks), version: None })
    }
}

enum Step {
    Chained,
    /// All that waits is damaged.
    Nothing,
    /// Another node was faster.
    Conflict,
}

/// The batches in the order of their first records' times, those of one process in the order of their numbers.
fn in_order(waiting: Vec<Waiting>) -> Vec<Waiting> {
    let mut runs: BTreeMap<String, VecDeque<Waiting>> = BTreeMap::new();
    for one in waiting {
        runs.entry(one.name.run.clone()).or_default().push_back(one);
    }
    let time = |queue: &VecDeque<Waiting>| Some(queue.front()?.records.first()?.time);
    let mut order = Vec::new();
    loop {
        let earliest = runs.iter().filter_map(|(run, queue)| Some((time(queue)?, run.clone()))).min();
        let Some(front) = earliest.and_then(|(_, run)| runs.get_mut(&run)?.pop_front()) else { return order };
        order.push(front);
    }
}
