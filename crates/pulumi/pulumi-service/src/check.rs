//! Comparing what is stored of updates with its checksums, and the names of stacks with the stacks.

use std::collections::HashSet;

use groundstate_blobs::ListOptions;
use groundstate_pulumi_journal::{DecodeOptions, decode_entry};
use groundstate_versioned::{Head, ListFilter, Name};
use groundstate_wal::{ErrorKind as WalKind, JournalStore as _};

use crate::append::Appended;
use crate::checkpoint::Header;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{BatchCheck, Summary, numbers_of_batch};
use crate::op::Op;
use crate::parts::{Part, Parts};
use crate::path::{NAMES, StackPath};
use crate::record::{Holder, NameRecord, PreviewRecord, StackRecord, UpdateRequest};
use crate::small::read_json;
use crate::stack::holder;
use crate::stacks::{RECORDS, Stacks};
use crate::update::read_sealed;

const OP: Op = Op::Check;
/// How often a blob is read again that its update replaced meanwhile.
const ATTEMPTS: usize = 8;

/// Damage of what is stored of a stack beside its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateFinding {
    /// The full name of the stack, or its id where that is not known.
    pub stack: String,
    /// The blob, by its key, or the document.
    pub place: String,
    /// The problem.
    pub problem: String,
}

/// Amount that was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedUpdates {
    /// Number of updates.
    pub updates: u64,
    /// Bytes of checkpoints, events and small documents that were read. Journals are not counted.
    pub bytes: u64,
}

/// Takes findings one by one, so that none is kept in memory.
pub type UpdateReport<'a> = dyn FnMut(UpdateFinding) + 'a;

/// Result of comparing one blob.
enum Compared {
    /// It is as its writer stored it, or was removed meanwhile.
    Whole,
    /// It is damaged.
    Damaged(String),
    /// It was replaced while it was read.
    Replaced,
}

/// One walk through the updates of a stack.
struct Walk<'a, 'r> {
    stacks: &'a Stacks,
    id: &'a str,
    /// How findings call it.
    stack: String,
    contents: bool,
    checked: &'a mut CheckedUpdates,
    report: &'a mut UpdateReport<'r>,
}

impl Stacks {
    /// Compares what is stored of updates with its checksums: what clients said, previews, leases, checkpoints, journals and events; and the
    /// names of stacks with the stacks. Without `contents` the texts of checkpoints, journals and events are not read. Nothing is changed, and
    /// a few megabytes are in memory at a time, with the numbers of the entries of one journal.
    ///
    /// # Errors
    ///
    /// Errors of the store. Damage is reported, not an error.
    pub async fn check(&self, contents: bool, report: &mut UpdateReport<'_>) -> Result<CheckedUpdates> {
        self.check_names(report).await?;
        self.check_records(report).await?;
        let (mut checked, mut page) = (CheckedUpdates::default(), None);
        loop {
            let listed = self.blobs().list("", &ListOptions::default().delimited().page(page)).await;
            let listed = listed.map_err(|error| Error::of_blobs(OP, "stacks", error))?;
            for folder in listed.prefixes {
                let id = folder.trim_end_matches('/');
                let record = self.readable::<StackRecord>(id, &self.record_name(id)).await?;
                let stack = record.map_or_else(|| id.to_owned(), |(record, _)| record.path.to_string());
                Walk { stacks: self, id, stack, contents, checked: &mut checked, report }.run().await?;
            }
            page = listed.next;
            if page.is_none() {
                return Ok(checked);
            }
        }
    }

    /// Finds names that lead to a stack whose record is lost.
    async fn check_names(&self, report: &mut UpdateReport<'_>) -> Result<()> {
        let mut page = None;
        loop {
            let listed = self.documents().names(&ListFilter::prefix(NAMES).page(page)).await;
            let listed = listed.map_err(|error| Error::of_document(OP, "stacks", error))?;
            for path in listed.names.iter().filter_map(StackPath::of_document) {
                let Some((name, number)) = self.readable::<NameRecord>(&path, &path.document()).await? else {
                    continue;
                };
                if !self.is_lost(&self.record_name(&name.stack)).await? {
                    continue;
                }
                let again = self.readable::<NameRecord>(&path, &path.document()).await?;
                if again.is_some_and(|(_, now)| now == number) {
                    report(UpdateFinding {
                        stack: path.to_string(),
                        place: path.document().to_string(),
                        problem: format!("it is the name of the stack {}, which is not there", name.stack),
                    });
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(());
            }
        }
    }

    /// Finds stacks that were used and that no name leads to.
    async fn check_records(&self, report: &mut UpdateReport<'_>) -> Result<()> {
        let mut page = None;
        loop {
            let listed = self.documents().names(&ListFilter::prefix(RECORDS).page(page)).await;
            let listed = listed.map_err(|error| Error::of_document(OP, "stacks", error))?;
            for document in &listed.names {
                let Some(id) = document.as_str().strip_prefix(RECORDS) else { continue };
                // A stack that is being renamed or removed is looked at again.
                if let Some(first) = self.nameless(id, document).await?
                    && self.nameless(id, document).await?.as_ref() == Some(&first)
                {
                    report(UpdateFinding {
                        stack: first.to_string(),
                        place: document.to_string(),
                        problem: format!("its name does not lead to the stack {id}"),
                    });
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(());
            }
        }
    }

    /// The name of a stack that was used, if that name does not lead to it.
    async fn nameless(&self, id: &str, document: &Name) -> Result<Option<StackPath>> {
        let Some((record, _)) = self.readable::<StackRecord>(id, document).await? else { return Ok(None) };
        // Other programs remove the stacks of buckets.
        if record.in_bucket {
            return Ok(None);
        }
        let Some(head) = self.readable_head(id).await? else { return Ok(None) };
        let is_renamed = matches!(head.recorded_lock().and_then(holder), Some(Holder::Rename { .. }));
        // One that was made and never got its name is what a crash leaves.
        if head.current().is_none() || head.number() < 2 || is_renamed {
            return Ok(None);
        }
        let name = match read_json::<NameRecord>(OP, &record.path, &self.name(&record.path)).await {
            Ok(name) => name,
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(name.is_none_or(|(name, _)| name.stack != id).then_some(record.path))
    }

    /// A small document; none for a damaged one, which the check of documents reports.
    async fn readable<T: serde::de::DeserializeOwned>(
        &self,
        place: impl std::fmt::Display,
        name: &Name,
    ) -> Result<Option<(T, u64)>> {
        match read_json(OP, place, &self.documents().document(name)).await {
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
            read => read,
        }
    }

    /// The head of the versions of a stack; none for a damaged one, which the check of documents reports.
    async fn readable_head(&self, id: &str) -> Result<Option<Head>> {
        match self.versions(id).head().await.map_err(|error| Error::of_document(OP, id, error)) {
            Ok(head) => Ok(Some(head)),
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if nothing tells of a document, not even that it was deleted.
    async fn is_lost(&self, name: &Name) -> Result<bool> {
        match self.documents().document(name).head().await {
            Ok(head) => Ok(head.last().is_none()),
            Err(error) => match Error::of_document(OP, name, error) {
                error if error.kind() == ErrorKind::Corrupt => Ok(false),
                error => Err(error),
            },
        }
    }
}

impl Walk<'_, '_> {
    async fn run(mut self) -> Result<()> {
        self.check_head().await?;
        let (prefix, mut page) = (format!("{}/", self.id), None);
        let (mut last, mut last_journal) = (String::new(), String::new());
        loop {
            let listed = self.stacks.blobs().list(&prefix, &ListOptions::default().page(page)).await;
            let listed = listed.map_err(|error| Error::of_blobs(OP, self.id, error))?;
            for blob in listed.blobs {
                let rest = blob.name.strip_prefix(&prefix).and_then(|rest| rest.split_once('/'));
                let Some((update, what)) = rest else { continue };
                if last != update {
                    update.clone_into(&mut last);
                    self.checked.updates += 1;
                }
                if !what.starts_with("journal/") {
                    self.check_blob(&blob.name, what).await?;
                } else if self.contents && last_journal != update {
                    update.clone_into(&mut last_journal);
                    self.check_journal(update).await?;
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(());
            }
        }
    }

    fn found(&mut self, place: &str, problem: impl Into<String>) {
        let (stack, place, problem) = (self.stack.clone(), place.to_owned(), problem.into());
        (self.report)(UpdateFinding { stack, place, problem });
    }

    /// Compares the lock of a stack with what is stored of its holder.
    async fn check_head(&mut self) -> Result<()> {
        let Some(head) = self.stacks.readable_head(self.id).await? else { return Ok(()) };
        let document = self.stacks.versions(self.id).to_string();
        if head.last().is_none() {
            self.found(&document, "there are updates of the stack, and the stack is not there");
        }
        if head.recorded_lock().is_some_and(|lock| holder(lock).is_none()) {
            self.found(&document, "the holder of its lock cannot be read");
        }
        Ok(())
    }

    async fn check_blob(&mut self, key: &str, what: &str) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let compared = match what {
                "request" => self.small::<UpdateRequest>(key).await?,
                "preview" => self.small::<PreviewRecord>(key).await?,
                "summary" => self.small::<Summary>(key).await?,
                "appended" => self.small::<Appended>(key).await?,
                "checkpoint" => self.checkpoint(key).await?,
                _ if what.starts_with("events/") && self.contents => self.events(key, what).await?,
                _ => return Ok(()),
            };
            match compared {
                Compared::Whole => return Ok(()),
                Compared::Damaged(problem) => {
                    self.found(&format!("{}{key}", crate::stacks::UPDATES), problem);
                    return Ok(());
                }
                Compared::Replaced => {}
            }
        }
        let error = Error::new(ErrorKind::Unavailable, OP, self.id);
        Err(error.because(format!("{key} was replaced during each of {ATTEMPTS} attempts to read it")))
    }

    async fn small<T: serde::de::DeserializeOwned>(&mut self, key: &str) -> Result<Compared> {
        let mut parts = Parts::open(self.stacks, OP, self.id, key).await?;
        let mut text = Vec::new();
        loop {
            match parts.next().await? {
                Part::Bytes(part) => text.extend_from_slice(&part),
                Part::Replaced => return Ok(Compared::Replaced),
                Part::Gone => return Ok(Compared::Whole),
                Part::End => break,
            }
        }
        self.checked.bytes += text.len() as u64;
        Ok(match read_sealed::<T>(&text) {
            Ok(_) => Compared::Whole,
            Err(problem) => Compared::Damaged(problem.to_string()),
        })
    }

    async fn checkpoint(&mut self, key: &str) -> Result<Compared> {
        let mut parts = Parts::open(self.stacks, OP, self.id, key).await?;
        let mut header = None;
        loop {
            let part = match parts.next().await? {
                Part::Bytes(part) => part,
                Part::Replaced => return Ok(Compared::Replaced),
                Part::Gone => return Ok(Compared::Whole),
                Part::End => break,
            };
            self.checked.bytes += part.len() as u64;
            let Some((_, hash)) = &mut header else {
                match Header::split(&part) {
                    Ok((read, text)) => header = Some((read, Header::hash(text))),
                    Err(problem) => return Ok(Compared::Damaged(problem)),
                }
                if !self.contents {
                    return Ok(Compared::Whole);
                }
                continue;
            };
            sha2::Digest::update(hash, &part);
        }
        let Some((header, hash)) = header else { return Ok(Compared::Damaged("it is empty".to_owned())) };
        Ok(match header.is_of(hash) {
            true => Compared::Whole,
            false => Compared::Damaged("its checksum is not that of its text".to_owned()),
        })
    }

    async fn events(&mut self, key: &str, what: &str) -> Result<Compared> {
        let mut parts = Parts::open(self.stacks, OP, self.id, key).await?;
        let Some(numbers) = numbers_of_batch(what) else {
            return Ok(Compared::Damaged("its name has not the numbers of events".to_owned()));
        };
        let mut batch = BatchCheck::default();
        loop {
            match parts.next().await? {
                Part::Bytes(part) => {
                    self.checked.bytes += part.len() as u64;
                    batch.add(&part);
                }
                Part::Replaced => return Ok(Compared::Replaced),
                Part::Gone => return Ok(Compared::Whole),
                Part::End => break,
            }
        }
        Ok(batch.end(numbers).map_or(Compared::Whole, Compared::Damaged))
    }

    /// Reads all pages of a journal. Its objects have digests, and each says where it stands among the others.
    async fn check_journal(&mut self, update: &str) -> Result<()> {
        let place = format!("{}{}/{update}/journal/", crate::stacks::UPDATES, self.id);
        let journal = self.stacks.journal_store(OP, self.id, self.id, update)?;
        let (mut seen, mut position) = (HashSet::new(), 0_u64);
        if let Err(error) = journal.check_floor().await {
            self.journal_failed(&place, error)?;
        }
        let mut next = match journal.head().await {
            Ok(head) => head.map(|head| head.start()),
            Err(error) => return self.journal_failed(&place, error),
        };
        while let Some(cursor) = next {
            let page = match journal.read(&cursor).await {
                Ok(page) => page,
                Err(error) => return self.journal_failed(&place, error),
            };
            for record in &page.records {
                match decode_entry(record.as_bytes(), &DecodeOptions::default()) {
                    Err(error) => self.found(&place, format!("record {position} is not an entry: {error}")),
                    Ok(entry) if !seen.insert(entry.sequence.get()) => {
                        self.found(&place, format!("two entries have the number {}", entry.sequence));
                    }
                    Ok(_) => {}
                }
                position += 1;
            }
            next = page.next;
        }
        Ok(())
    }

    fn journal_failed(&mut self, place: &str, error: groundstate_wal::Error) -> Result<()> {
        match error.kind() {
            // It was removed meanwhile.
            WalKind::NoEpoch => Ok(()),
            WalKind::Corrupt => {
                self.found(place, error.to_string());
                Ok(())
            }
            _ => Err(Error::of_journal(OP, self.id, error)),
        }
    }
}
