//! A lock with its document beside it, for one operation or for longer.

use std::fs::{self, File};
use std::path::PathBuf;

use groundstate_common::Timestamp;
use groundstate_statemgr::{LockId, LockInfo};

use crate::digest::of_bytes;
use crate::document::Document;
use crate::file_lock::FileLock;
use crate::openers::{Openers, openers};
use crate::process::Process;
use crate::state_path::StatePath;

/// A locked state file. Dropping it removes the document and unlocks.
#[derive(Debug)]
pub(crate) struct HeldLock {
    pub(crate) file_lock: FileLock,
    place: StatePath,
    documents: Vec<PathBuf>,
}

impl HeldLock {
    /// A lock without a document yet.
    pub(crate) fn new(place: &StatePath, file_lock: FileLock) -> Self {
        Self { file_lock, place: place.clone(), documents: Vec::new() }
    }

    /// Leaves the document, with this process in it.
    pub(crate) fn sign(&mut self, info: &LockInfo, brief: bool) -> std::io::Result<()> {
        self.documents = self.place.documents();
        let document = Document { info: info.clone(), process: Some(Process::this(brief)) };
        document.write(&self.documents)
    }

    /// A lock for one operation of an unlocked client. Terraform finds a document beside it and waits.
    pub(crate) fn brief(place: &StatePath, file_lock: FileLock, operation: &str, now: Timestamp) -> Self {
        let mut held_lock = Self::new(place, file_lock);
        let seed = format!("{now:?} {operation} {:?} {place}", Process::this(true));
        let digits = of_bytes(seed.as_bytes());
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..32]];
        let info = LockInfo {
            id: LockId::new(&parts.join("-")),
            operation: operation.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: now,
            path: place.given().display().to_string(),
            ..LockInfo::default()
        };
        // Without it a Terraform that comes by gives up where it would have waited a moment.
        drop(held_lock.sign(&info, true));
        held_lock
    }

    pub(crate) fn file(&self) -> &File {
        self.file_lock.file()
    }

    /// Removes the file if there is nothing in it and it was not there before, as Terraform does.
    fn remove_if_unused(&self) {
        let is_empty = self.file().metadata().is_ok_and(|meta| meta.len() == 0);
        let is_ours = self.file_lock.created() && self.file_lock.is_in_place().unwrap_or(false);
        if is_empty && is_ours && openers(self.file()) == Openers::None {
            // An empty file is not a state either.
            drop(fs::remove_file(self.place.target()));
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.remove_if_unused();
        // As the last thing: a Terraform that meets the lock without a document gives up instead of waiting.
        Document::remove(&self.documents);
    }
}
