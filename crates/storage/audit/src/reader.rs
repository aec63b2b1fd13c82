//! Reading entries.

use std::collections::BTreeSet;

use crate::batch;
use crate::entry::{Entry, Record};
use crate::error::Result;
use crate::location::{Location, segment_name};
use crate::op::Op;

const OP: Op = Op::Read;

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

    /// The newest records that are wanted, at most `count`, in the order in which they happened; with the number in the log, if
    /// the record is in the chain already. Lines that are not entries are left out: [`verify`](crate::verify) reports them.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn newest(
        &self,
        count: usize,
        is_wanted: &(dyn Fn(&Record) -> bool + Sync),
    ) -> Result<Vec<(Option<u64>, Record)>> {
        // Batches first: what is moved meanwhile is then read twice, and not never.
        let mut waiting = self.waiting().await?;
        let (numbers, _) = self.location.segments(OP).await?;
        let mut found = Vec::new();
        for number in numbers.into_iter().rev() {
            let entries = self.segment(number).await?;
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
        Ok(found)
    }

    /// What no segment has yet, by time.
    async fn waiting(&self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for name in self.location.batches(OP).await?.0 {
            let Some(blob) = self.location.get(OP, &name.to_string()).await? else { continue };
            records.extend(batch::decode(&blob.bytes).into_iter().flat_map(|batch| batch.records));
        }
        records.sort_by_key(|record| record.time);
        Ok(records)
    }

    async fn segment(&self, number: u64) -> Result<Vec<Entry>> {
        let Some(blob) = self.location.get(OP, &segment_name(number)).await? else { return Ok(Vec::new()) };
        let text = String::from_utf8_lossy(&blob.bytes);
        Ok(text.lines().skip(1).filter_map(|line| Entry::parse(line).ok()).collect())
    }
}
