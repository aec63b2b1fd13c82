//! Stacks whose states are in a bucket that other programs use too: what such a bucket does for the service.
//!
//! The state, the history and the tags of such a stack are those of the bucket, and are read there each time. What a bucket cannot
//! hold, leases, journals and events, is in the store of the service.

mod begin;
mod edit;
mod end;
mod list;
mod provider;
mod read;
mod rename;

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::Timestamp;

use crate::error::Result;
use crate::path::StackPath;
use crate::record::{UpdateRequest, VersionNote};

pub(crate) use provider::{check_provider, names_service, no_service_secrets, with_provider};
pub use read::Export;

/// A bucket that has the stacks of one owner.
///
/// Locks have the ids that the service gives them, and every node finds a lock by its id again: what a node that died has locked,
/// another one renews and releases. Locks of other ids are those of other programs, and are never removed.
///
/// Errors are of these kinds: `Locked` while another program holds the stack, with who does in the reason; `LeaseLost` if a lock is no
/// longer held; `Conflict` if another program has changed what was read; `Corrupt` for what cannot be understood; `Unavailable` if
/// the bucket does not answer.
///
/// `Display` names the bucket, without secrets.
#[async_trait]
pub trait StackBucket: fmt::Debug + fmt::Display + Send + Sync {
    /// The names of the stacks, as project and stack, in their order; also those that the service cannot serve.
    async fn names(&self, project: Option<&str>) -> Result<Vec<(String, String)>>;

    /// Whether there is a stack. Its state is not read.
    async fn exists(&self, path: &StackPath) -> Result<bool>;

    /// The state; none if there is no such stack.
    async fn read(&self, path: &StackPath) -> Result<Option<BucketState>>;

    /// Whether a state that was read is this one. `state` is an export.
    fn holds(&self, path: &StackPath, read: &BucketState, state: &Bytes) -> bool;

    /// The tags; none for a stack that has none.
    async fn tags(&self, path: &StackPath) -> Result<BTreeMap<String, String>>;

    /// Replaces all tags.
    async fn set_tags(&self, path: &StackPath, tags: &BTreeMap<String, String>) -> Result<()>;

    /// Takes the lock of a stack, which need not exist, or takes over the one of this id. Makes good what a program that was killed has
    /// left, so that the state can be read and written from then on.
    async fn lock(&self, path: &StackPath, lock: &BucketLock) -> Result<()>;

    /// Renews the lock of this id.
    async fn renew(&self, path: &StackPath, id: &str) -> Result<()>;

    /// Releases the lock of this id, if it is there.
    async fn unlock(&self, path: &StackPath, id: &str) -> Result<()>;

    /// Makes a stack, with a state or without, under the lock of this id.
    async fn create(&self, path: &StackPath, id: &str, state: Option<&Bytes>) -> Result<()>;

    /// Replaces the state under the lock of this id, if it is still the one that was read.
    async fn save(&self, path: &StackPath, id: &str, state: &Bytes, read: &BucketState) -> Result<()>;

    /// Adds an update to the history, under the lock of this id, with the state that is stored.
    async fn record(&self, path: &StackPath, id: &str, update: &BucketUpdate) -> Result<()>;

    /// Adds an update to the history whose state is not the one that is stored, since another program has replaced it.
    async fn record_apart(&self, path: &StackPath, update: &BucketUpdate, state: &Bytes) -> Result<()>;

    /// Whether the update of this id is among the newest of the history.
    async fn is_recorded(&self, path: &StackPath, update: &str) -> Result<bool>;

    /// How many updates the history has.
    async fn updates(&self, path: &StackPath) -> Result<u64>;

    /// Updates of the history with numbers below `before`, the newest first, at most `limit` of them.
    async fn history(
        &self,
        path: &StackPath,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, BucketUpdate)>>;

    /// The state that an update of the history has left, as an export; none if there is none.
    async fn history_state(&self, path: &StackPath, number: u64) -> Result<Option<Bytes>>;

    /// Removes a stack under the lock of this id, whatever it holds.
    async fn remove(&self, path: &StackPath, id: &str) -> Result<()>;

    /// Gives a stack another name, under the locks of this id on both. Carried out again, it goes on where it was interrupted.
    async fn rename(&self, from: &StackPath, to: &StackPath, id: &str) -> Result<()>;
}

/// A lock that the service takes in a bucket.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BucketLock {
    /// Its id: that of the update, or one that is made for an edit. Letters, digits and `-`.
    pub id: String,
    /// For whom it is taken.
    pub by: String,
}

/// The state of a stack in a bucket. `Debug` shows no content.
#[derive(Clone)]
#[non_exhaustive]
pub struct BucketState {
    /// The state as an export; none for a stack that has no state yet.
    pub export: Option<Bytes>,
    /// What the bucket knows it by.
    pub token: String,
    /// The SHA-256 of the document that is stored, in lower-case hexadecimal.
    pub sha256: String,
    /// When it was last updated, if that is known.
    pub updated: Option<Timestamp>,
}

/// An update in the history of a bucket.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BucketUpdate {
    /// What was done, and how it ended.
    pub note: VersionNote,
    /// What the client said when it was created.
    pub request: UpdateRequest,
}

impl BucketLock {
    /// A lock of this id.
    pub fn new(id: impl Into<String>, by: impl Into<String>) -> Self {
        Self { id: id.into(), by: by.into() }
    }
}

impl BucketState {
    /// A state by what the bucket knows it by, and its digest.
    pub fn new(
        token: impl Into<String>,
        sha256: impl Into<String>,
        export: Option<Bytes>,
        updated: Option<Timestamp>,
    ) -> Self {
        Self { export, token: token.into(), sha256: sha256.into(), updated }
    }
}

impl BucketUpdate {
    /// An update.
    pub fn new(note: VersionNote, request: UpdateRequest) -> Self {
        Self { note, request }
    }
}

impl fmt::Debug for BucketState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.export.as_ref().map(Bytes::len);
        f.debug_struct("BucketState")
            .field("export", &bytes)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
