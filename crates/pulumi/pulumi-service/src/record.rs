//! What is kept of a stack, of an update and of a version, as JSON.

use std::collections::BTreeMap;
use std::fmt;

use groundstate_common::Timestamp;
use groundstate_versioned::VersionOptions;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::deployment::Counts;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::path::StackPath;

/// What is kept of a stack beside its versions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StackRecord {
    pub(crate) path: StackPath,
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) created: Timestamp,
    /// The data key, wrapped by the key of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<WrappedDataKey>,
    /// Whether its state, history and tags are in a bucket.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_bucket: bool,
}

impl StackRecord {
    /// The record of a new stack.
    pub(crate) fn new(path: &StackPath, tags: BTreeMap<String, String>, created: Timestamp) -> Self {
        Self { path: path.clone(), tags, created, key: None, in_bucket: false }
    }
}

/// The data key of a stack as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WrappedDataKey {
    /// What wrapped it, as the wrapping service says.
    pub(crate) by: String,
    /// The wrapped key, in base64.
    pub(crate) wrapped: String,
}

/// What the document of a name says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NameRecord {
    pub(crate) stack: String,
}

/// What the client said of an update when it created it. Stored once, never changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UpdateRequest {
    /// What it is: `update`, `preview`, `refresh`, `destroy`.
    pub kind: String,
    /// Whether it changes nothing.
    pub preview: bool,
    /// Who created it.
    pub author: String,
    /// When it was created, which is before it starts.
    pub created: Timestamp,
    /// What the client says of the program.
    #[serde(default)]
    pub program: Program,
    /// The message of the update.
    #[serde(default)]
    pub message: String,
    /// What the client says of its surroundings.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The configuration, as the client sent it; secrets in it are encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Box<RawValue>>,
    /// What it was where it came from, if it never ran here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<VersionSource>,
}

/// What a version was where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VersionSource {
    /// Its number there.
    pub version: u64,
    /// Who made it, by what the client that appended it says; empty if it does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

impl VersionSource {
    /// A version of this number, made by this user.
    pub fn new(version: u64, author: impl Into<String>) -> Self {
        Self { version, author: author.into() }
    }
}

/// The program of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The project.
    pub name: String,
    /// The runtime.
    pub runtime: String,
    /// The entry point.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub main: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What holds the lock of a stack, as the document of the lock.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "holder", rename_all = "kebab-case")]
pub(crate) enum Holder {
    /// An update that a client runs.
    Update(Running),
    /// A node that finishes an update whose client has gone.
    Settle(Running),
    /// A node that gives the stack another name.
    Rename { from: StackPath, to: StackPath },
    /// A node that works in the bucket of the stack under the lock of this id, or has only to release it.
    Bucket { lock: String, place: String },
    /// A client that keeps others out without an update. The lock in the bucket of the stack has the same ID.
    Lock(LockRecord),
}

/// A lock that a client holds without an update.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LockRecord {
    pub(crate) author: String,
    pub(crate) started: Timestamp,
    /// The bucket of the stack by its `Display`, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    /// The user who cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cancelled: Option<String>,
}

/// What an update has in the bucket of its stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunningInBucket {
    /// The bucket, by its `Display`.
    pub(crate) place: String,
    /// What the bucket knows the state by that the update began with; none until its lock is held there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
}

/// An update that runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Its id.
    pub(crate) update: String,
    pub(crate) kind: String,
    pub(crate) author: String,
    pub(crate) started: Timestamp,
    /// The version of the journal; none if the client sends checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) journal: Option<u32>,
    /// The SHA-256 of the lease token.
    pub(crate) token: String,
    /// The version of the engine, such as `v3.259.0`; may be empty.
    #[serde(default)]
    pub(crate) engine: String,
    /// Who cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cancelled: Option<String>,
    /// What it has in the bucket, for a stack in one. The lock there has the id of the update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bucket: Option<RunningInBucket>,
}

/// A preview that was started. It has no lock, since it changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PreviewRecord {
    pub(crate) token: String,
    pub(crate) expires: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<UpdateResult>,
}

/// How an update ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateResult {
    /// It did what was asked for.
    Succeeded,
    /// It did not, or not all of it.
    Failed,
}

/// What is kept with each version of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VersionNote {
    /// The update that made it; none for the version that a stack begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<String>,
    /// What made it: `update`, `refresh`, `destroy`, `import`, `rename`, or `create`.
    pub kind: String,
    /// How it ended.
    pub result: UpdateResult,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// How many resources there are.
    pub resources: u64,
    /// Whether there is anything but a lone root stack.
    #[serde(default)]
    pub in_use: bool,
    /// How many operations are pending.
    #[serde(default)]
    pub pending: u64,
    /// How many resources were created, updated and so on.
    #[serde(default)]
    pub changes: BTreeMap<String, u64>,
    /// Why it failed, where the client did not say: a lease that was over, who cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl UpdateRequest {
    /// An update of this kind; a `preview` changes nothing.
    pub fn new(kind: impl Into<String>, author: impl Into<String>, created: Timestamp) -> Self {
        let kind = kind.into();
        let preview = kind == "preview";
        let (program, environment) = (Program::default(), BTreeMap::new());
        let (author, message) = (author.into(), String::new());
        Self { kind, preview, author, created, program, message, environment, config: None, source: None }
    }
}

impl VersionNote {
    /// A note of what was done, how it ended, and when it began and ended.
    pub fn new(kind: &str, result: UpdateResult, started: Timestamp, ended: Timestamp) -> Self {
        Self {
            update: None,
            kind: kind.to_owned(),
            result,
            started,
            ended,
            resources: 0,
            in_use: false,
            pending: 0,
            changes: BTreeMap::new(),
            reason: None,
        }
    }

    pub(crate) fn counted(mut self, counts: &Counts) -> Self {
        (self.resources, self.in_use, self.pending) = (counts.resources, counts.in_use, counts.pending);
        self
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { resources: self.resources, pending: self.pending, in_use: self.in_use }
    }

    /// The note of a version. Versions without one, or with one of a later release, have counts of zero.
    pub(crate) fn of(version: &groundstate_versioned::Version) -> Self {
        let note = version.note.as_ref().and_then(|note| serde_json::from_str(note.as_str()).ok());
        note.unwrap_or_else(|| Self::new("update", UpdateResult::Succeeded, version.time, version.time))
    }

    pub(crate) fn to_note(&self, op: Op, place: impl fmt::Display) -> Result<groundstate_versioned::Note> {
        let text = serde_json::to_string(self)
            .map_err(|error| Error::new(ErrorKind::Internal, op, &place).with_source(error))?;
        groundstate_versioned::Note::parse(&text).map_err(|error| Error::of_document(op, place, error))
    }

    pub(crate) fn options(&self, op: Op, place: impl fmt::Display, by: &str) -> Result<VersionOptions> {
        Ok(VersionOptions::default().by(by).note(self.to_note(op, place)?))
    }
}
