//! The versions of a document.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt};
use groundstate_blobs::{GetOptions, ListOptions};

use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::ids::VersionId;
use crate::layout::{BLOCK, DataKey, RecordKey};
use crate::op::Op;
use crate::record::{self, LONGEST_LINE};
use crate::version::Version;

/// How many records are read at a time.
const PARALLEL: usize = 8;
/// How many versions a page has at most.
const PAGE: usize = 1000;

/// A part of a document's history, the newest version first.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct VersionPage {
    /// The versions.
    pub versions: Vec<Version>,
    /// The numbers of versions that the history should have, but whose records are missing from the store.
    pub missing: Vec<u64>,
    /// The versions whose records are damaged, each with what is wrong with it.
    pub damaged: Vec<(u64, String)>,
    /// The number before which the history goes on, if it does.
    pub next: Option<u64>,
}

impl VersionPage {
    /// The largest number of a version that should be in the page and cannot be read.
    pub fn unreadable(&self) -> Option<u64> {
        let damaged = self.damaged.iter().map(|(number, _)| number);
        self.missing.iter().chain(damaged).max().copied()
    }
}

/// The keys of the records of one number: that of the version, and those of versions that were not accepted.
type Candidates = BTreeMap<u64, Vec<RecordKey>>;

impl Document {
    /// Lists versions, the newest first: those with numbers below `before`, at most `limit` of them, which counts as
    /// 1 if it is 0, and never more than 1000.
    ///
    /// It costs a small read for each version, and a list for each hundred.
    ///
    /// # Errors
    ///
    /// Errors of [`head`](Self::head).
    pub async fn versions(&self, before: Option<u64>, limit: usize) -> Result<VersionPage> {
        const OP: Op = Op::History;
        let head = self.load(OP).await?.head;
        let mut numbers = kept(&head, before);
        let wanted: Vec<u64> = numbers.by_ref().take(limit.clamp(1, PAGE)).collect();
        let next = numbers.next().map(|next| next + 1);
        let mut page = VersionPage { next, ..VersionPage::default() };
        let mut keys = Vec::new();
        let mut chain = Chain::new(self, &head);
        for number in wanted {
            match chain.key(OP, number).await? {
                Some(key) => keys.push(key),
                None => page.missing.push(number),
            }
        }
        let reads = stream::iter(keys).map(|key| async move { (key.number, self.read_line(OP, &key).await) });
        let read: Vec<_> = reads.buffered(PARALLEL).collect().await;
        for (number, version) in read {
            match version {
                Ok(Some(version)) => page.versions.push(version),
                Ok(None) => page.missing.push(number),
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    page.damaged.push((number, error.message().to_owned()))
                }
                Err(error) => return Err(error),
            }
        }
        Ok(page)
    }

    /// The version of this number.
    ///
    /// # Errors
    ///
    /// `NotKept` if the history does not have it, `Corrupt` for a record that is damaged or missing, and those of
    /// [`head`](Self::head).
    pub async fn version(&self, number: u64) -> Result<Version> {
        let head = self.load(Op::Read).await?.head;
        self.version_of(Op::Read, &head, number).await
    }

    /// The version of this number, as a head has it.
    pub(crate) async fn version_of(&self, op: Op, head: &Head, number: u64) -> Result<Version> {
        if let Some(last) = head.last().filter(|last| last.number == number) {
            return Ok(last.clone());
        }
        let key = self.record_of(op, head, number).await?;
        self.read_line(op, &key).await?.ok_or_else(|| self.lost(op, number))
    }

    /// The id of the version of this number, as a head has it.
    pub(crate) async fn version_id(&self, op: Op, head: &Head, number: u64) -> Result<VersionId> {
        match head.last().filter(|last| last.number == number) {
            Some(last) => Ok(last.id.clone()),
            None => Ok(self.record_of(op, head, number).await?.id),
        }
    }

    async fn record_of(&self, op: Op, head: &Head, number: u64) -> Result<RecordKey> {
        if !head.keeps(number) {
            let error = Error::new(ErrorKind::NotKept, op, self.place());
            return Err(error.because(format!("the history does not have version {number}")));
        }
        Chain::new(self, head).key(op, number).await?.ok_or_else(|| self.lost(op, number))
    }

    pub(crate) fn lost(&self, op: Op, number: u64) -> Error {
        let error = Error::new(ErrorKind::Corrupt, op, self.place());
        error.because(format!("version {number}: its record is missing")).next_step("restore another version")
    }

    /// What the first line of a record says; none if there is no such record.
    pub(crate) async fn read_line(&self, op: Op, record: &RecordKey) -> Result<Option<Version>> {
        let key = self.key(op, &self.layout().record(record))?;
        let options = GetOptions::default().range(0..LONGEST_LINE);
        let blob = self.store().get(&key, &options).await.map_err(|error| self.failed(op, error))?;
        let Some(blob) = blob else { return Ok(None) };
        let damaged = |problem: String| {
            let error = Error::new(ErrorKind::Corrupt, op, self.place());
            error.because(format!("version {}: its record is damaged: {problem}", record.number))
        };
        let (version, _) = record::read_line(&blob.bytes, self.name()).map_err(damaged)?;
        if RecordKey::of(&version) != *record {
            return Err(damaged("it is of another version".to_owned()));
        }
        Ok(Some(version))
    }

    /// The records of a block of numbers.
    async fn block(&self, op: Op, block: u64) -> Result<Candidates> {
        let (mut found, mut page) = (Candidates::new(), None);
        loop {
            let options = ListOptions::default().page(page);
            let listed = self.store().list(&self.layout().block(block), &options).await;
            let listed = listed.map_err(|error| self.failed(op, error))?;
            for blob in listed.blobs {
                if let Some(DataKey::Record(record)) = self.layout().parse(&blob.name) {
                    found.entry(record.number).or_default().push(record);
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(found);
            }
        }
    }
}

/// The numbers that the history has, the newest first.
fn kept(head: &Head, before: Option<u64>) -> impl Iterator<Item = u64> {
    let end = before.unwrap_or(u64::MAX).min(head.number() + 1);
    let pinned =
        head.pins.iter().rev().map(|pin| pin.number).filter(move |number| *number < head.oldest.min(end));
    (head.oldest.max(1)..end).rev().chain(pinned)
}

/// Tells the record of each version from those of versions that were not accepted.
///
/// A record is written by a client that has read the head, so its previous version is the true one, even if the
/// record itself was not accepted. The head says which its last version is and which are pinned.
struct Chain<'a> {
    document: &'a Document,
    head: &'a Head,
    blocks: BTreeMap<u64, Candidates>,
}

impl<'a> Chain<'a> {
    fn new(document: &'a Document, head: &'a Head) -> Self {
        Self { document, head, blocks: BTreeMap::new() }
    }

    /// The record of the version of this number; none if it is missing.
    async fn key(&mut self, op: Op, number: u64) -> Result<Option<RecordKey>> {
        let id = self.id(op, number).await?;
        let candidates = self.candidates(op, number).await?;
        Ok(match id {
            Some(id) => candidates.iter().find(|record| record.id == id).cloned(),
            // What followed it is missing. A single record is the one.
            None => (candidates.len() == 1).then(|| candidates.first().cloned()).flatten(),
        })
    }

    async fn id(&mut self, op: Op, number: u64) -> Result<Option<VersionId>> {
        let is_last = |last: &&Version| last.number == number;
        if let Some(last) = self.head.last().filter(is_last) {
            return Ok(Some(last.id.clone()));
        }
        if let Some(pin) = self.head.pins.iter().find(|pin| pin.number == number) {
            return Ok(Some(pin.id.clone()));
        }
        if let Some(last) = self.head.last().filter(|last| last.number == number + 1) {
            return Ok(last.previous.clone());
        }
        let next = self.candidates(op, number + 1).await?;
        let first = next.first().and_then(|record| record.previous.clone());
        Ok(first.filter(|id| next.iter().all(|record| record.previous.as_ref() == Some(id))))
    }

    async fn candidates(&mut self, op: Op, number: u64) -> Result<&[RecordKey]> {
        let block = number / BLOCK;
        if !self.blocks.contains_key(&block) {
            let candidates = self.document.block(op, block).await?;
            self.blocks.insert(block, candidates);
        }
        let of_number = self.blocks.get(&block).and_then(|candidates| candidates.get(&number));
        Ok(of_number.map_or(&[], Vec::as_slice))
    }
}
