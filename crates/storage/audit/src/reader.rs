//! Reading entries.

use std::collections::BTreeSet;

use crate::batch;
use crate::entry::{Entry, Record};
use crate::error::Result;
use crate::location::{Location, segment_name};
use crate::op::Op;

const OP: Op = Op::Read;

/// What [`Reader::newest`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Newest {
    /// The records, in the order in which they happened; with the number in the log, if the record is in the chain already.
    pub records: Vec<(Option<u64>, Record)>,
    /// How many lines and batches could not be read, as far as the log was read: [`verify`](crate::verify) names them.
    pub unreadable: u64,
}

/// Reads the entries of a log, without checking how they are chained.
#[derive(Clone, Debug)]
pub struct Reader {
    location: Location,
}

impl Reader {
    /// A reader of the log there.
    pub fn new(location: Location) -> Self {
        Self { location }
    }

    /// The newest records that are wanted, at most `count`.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn newest(&self, count: usize, is_wanted: &(dyn Fn(&Record) -> bool + Sync)) -> Result<Newest> {
        // Batches first: what is moved meanwhile is then read twice, and not never.
        let (mut waiting, mut unreadable) = self.waiting().await?;
        let (numbers, _) = self.location.segments(OP).await?;
        let mut found = Vec::new();
        for number in numbers.into_iter().rev() {
            let (entries, damaged) = self.segment(number).await?;
            unreadable += damaged;
            let names: BTreeSet<_> =
                entries.iter().map(|entry| (&*entry.record.run, entry.record.number)).collect();
            waiting.retain(|record| !names.contains(&(&*record.run, record.number)));
            let wanted = entries.into_iter().rev().filter(|entry| is_wanted(&entry.record));
            found.extend(wanted.map(|entry| (Some(entry.sequence), entry.record)));
            if found.len() >= count {
                break;
            }
        }
        found.reverse();
        found.extend(waiting.into_iter().filter(|record| is_wanted(record)).map(|record| (None, record)));
        found.drain(..found.len().saturating_sub(count));
        Ok(Newest { records: found, unreadable })
    }

    /// What no segment has yet, by time, and how many batches could not be read.
    async fn waiting(&self) -> Result<(Vec<Record>, u64)> {
        let (mut records, mut unreadable) = (Vec::new(), 0);
        for name in self.location.batches(OP).await?.0 {
            let Some(blob) = self.location.get(OP, &name.to_string()).await? else { continue };
            match batch::decode(&blob.bytes) {
                Ok(batch) => records.extend(batch.records),
                Err(_) => unreadable += 1,
            }
        }
        records.sort_by_key(|record| record.time);
        Ok((records, unreadable))
    }

    /// The entries of a segment, and how many lines are none.
    async fn segment(&self, number: u64) -> Result<(Vec<Entry>, u64)> {
        let Some(blob) = self.location.get(OP, &segment_name(number)).await? else {
            return Ok((Vec::new(), 0));
        };
        let text = String::from_utf8_lossy(&blob.bytes);
        let (mut entries, mut unreadable) = (Vec::new(), 0);
        for line in text.lines().skip(1) {
            match Entry::parse(line) {
                Ok(entry) => entries.push(entry),
                Err(_) => unreadable += 1,
            }
        }
        Ok((entries, unreadable))
    }
}
