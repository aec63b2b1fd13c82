//! What cases work with: clients, writers, and what they expect.

use std::sync::Arc;

use groundstate_wal::{Ack, Contents, JournalStore, JournalWriter, OpenOptions, Record, read_all};

use super::harness::TestJournal;
use crate::failure::{Answer, Step, ensure, failed};
use crate::rng::Rng;

/// The place of a case, and its random numbers.
pub(crate) struct Cx {
    pub(super) place: Arc<dyn TestJournal>,
    pub(super) seed: u64,
}

impl Cx {
    pub(super) async fn client(&self) -> Step<Arc<dyn JournalStore>> {
        self.place.open().await.succeeds("opening a client")
    }

    /// A writer of a client of its own.
    pub(super) async fn writer(&self, owner: &str) -> Step<Arc<dyn JournalWriter>> {
        let options = OpenOptions::new(owner).take_over(true);
        self.client().await?.open(&options).await.succeeds("opening for writing")
    }

    /// A writer with an epoch whose base is `base`.
    pub(super) async fn begun(&self) -> Step<Arc<dyn JournalWriter>> {
        let writer = self.writer("a").await?;
        writer.begin(&record("base")).await.succeeds("beginning an epoch")?;
        Ok(writer)
    }

    /// What another client reads.
    pub(super) async fn contents(&self) -> Step<Option<Contents>> {
        read_all(&*self.client().await?).await.succeeds("reading")
    }

    /// Fails unless another client reads exactly these records.
    pub(super) async fn holds(&self, records: &[Record]) -> Step {
        let found = self.contents().await?.map(|contents| contents.records);
        let found = found.ok_or_else(|| failed("an epoch", "none"))?;
        same(&found, records)
    }

    pub(super) fn rng(&self, part: &str) -> Rng {
        Rng::of(self.seed, part)
    }
}

pub(super) fn record(text: &str) -> Record {
    Record::from(text.as_bytes())
}

/// Texts as records.
pub(super) fn records(texts: &[&str]) -> Vec<Record> {
    texts.iter().map(|text| record(text)).collect()
}

/// Fails unless the records are these, and names the first that is not.
pub(super) fn same(found: &[Record], expected: &[Record]) -> Step {
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = differs {
        let show = |record: &Record| {
            String::from_utf8_lossy(&record.as_bytes()[..record.as_bytes().len().min(40)]).into_owned()
        };
        let expected = format!("{:?} as record {at}", show(&expected[at]));
        return Err(failed(expected, format!("{:?}", show(&found[at]))));
    }
    ensure(found.len() == expected.len(), format!("{} records", expected.len()), || found.len().to_string())
}

/// Whether the batch stands where the receipt should say.
pub(super) fn stands(receipt: Ack, first: u64, next: u64) -> Step {
    let seen = (receipt.first.get(), receipt.next.get());
    ensure(seen == (first, next), format!("a receipt for {first} up to {next}"), || format!("{seen:?}"))
}
