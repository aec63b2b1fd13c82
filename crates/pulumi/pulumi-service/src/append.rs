//! Versions of other histories: appended as they were, each once.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use groundstate_blobs::{Precondition, PutOptions};
use groundstate_common::{Timestamp, hex};
use groundstate_versioned::{Content, Head, Step, Version, VersionOptions};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::gate;
use crate::op::Op;
use crate::record::{UpdateRequest, UpdateResult, VersionNote, VersionSource};
use crate::stack::{Stack, number};
use crate::traced;
use crate::update::Update;

const OP: Op = Op::Append;
/// The longest key in bytes.
const LONGEST_KEY: usize = 256;
/// How often it is tried while other clients change the stack.
const ATTEMPTS: usize = 16;
/// How many versions are looked through at a time.
const PAGE: usize = 100;

/// A version of another history. `Debug` shows neither its state nor its configuration.
#[derive(Clone)]
#[non_exhaustive]
pub struct OldVersion {
    /// What tells it from all others, 1 to 256 bytes. A version whose key is known is not appended again.
    pub key: String,
    /// What made it: `update`, `refresh`, `destroy`, `import`, `rename`.
    pub kind: String,
    /// How that ended.
    pub result: UpdateResult,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// The message of the update.
    pub message: String,
    /// What its client said of its surroundings.
    pub environment: BTreeMap<String, String>,
    /// The configuration, as clients send it; secrets in it are encrypted.
    pub config: Option<Box<RawValue>>,
    /// How many resources were created, updated and so on.
    pub changes: BTreeMap<String, u64>,
    /// The state behind it, as an export; none if it left none, so that the state before stays.
    pub state: Option<Bytes>,
    /// What it was where it comes from.
    pub source: VersionSource,
}

impl OldVersion {
    /// A version of this key and kind, without a state.
    pub fn new(key: impl Into<String>, kind: impl Into<String>, result: UpdateResult) -> Self {
        Self {
            key: key.into(),
            kind: kind.into(),
            result,
            started: Timestamp::UNIX_EPOCH,
            ended: Timestamp::UNIX_EPOCH,
            message: String::new(),
            environment: BTreeMap::new(),
            config: None,
            changes: BTreeMap::new(),
            state: None,
            source: VersionSource::default(),
        }
    }
}

impl fmt::Debug for OldVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OldVersion")
            .field("key", &self.key)
            .field("kind", &self.kind)
            .field("result", &self.result)
            .field("started", &self.started)
            .field("ended", &self.ended)
            .field("message", &self.message)
            .field("environment", &self.environment.keys())
            .field("config_bytes", &self.config.as_ref().map(|config| config.get().len()))
            .field("changes", &self.changes)
            .field("state_bytes", &self.state.as_ref().map(Bytes::len))
            .field("source", &self.source)
            .finish()
    }
}

/// What became of a version of another history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendedVersion {
    /// The number that it has in this history.
    pub version: u64,
    /// The id of its update.
    pub update: String,
    /// Whether this call appended it, and not an earlier one with its key.
    pub is_new: bool,
}

/// Which version a key has become, so that it need not be looked for. The history itself is what counts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Appended {
    version: u64,
}

impl Stack {
    /// Appends a version of another history, which becomes the last one and the state of the stack. Its bytes stay, as those of an import do. A
    /// second call with the key of an earlier one appends nothing, and gives the version that that one has appended, whatever else it says.
    ///
    /// # Errors
    ///
    /// `Invalid` for a key that is empty or too long, for what is no export and for a stack in a bucket, `Running`, and those of the store.
    pub async fn append(&self, old: &OldVersion, by: &str) -> Result<AppendedVersion> {
        Box::pin(traced::on_stack(OP, self, async {
            let appended = self.appending(old, by).await?;
            traced::version(appended.version);
            Ok(appended)
        }))
        .await
    }

    async fn appending(&self, old: &OldVersion, by: &str) -> Result<AppendedVersion> {
        if old.key.is_empty() || old.key.len() > LONGEST_KEY {
            let failure = self.error(ErrorKind::Invalid, OP);
            return Err(failure.because("the key of the version has to have 1 to 256 bytes"));
        }
        if let Some(bucket) = self.bucket() {
            let failure = self.error(ErrorKind::Invalid, OP);
            return Err(failure
                .because(format!("its history is in {bucket}, and other histories are not appended there"))
                .next_step("move the stack with `groundstate` directly into the bucket"));
        }
        let state = old.state.as_ref().map(|state| deployment::normal(OP, self.path(), state)).transpose()?;
        let counts = state.as_ref().map(|state| Counts::of(OP, self.path(), state)).transpose()?;
        // History is kept as it was, broken states too; its secrets are not.
        let state = match state {
            Some(state) => {
                let readable = gate::readable(OP, self.path(), &state)?;
                Some(self.sealed(OP, state, readable, by).await?)
            }
            None => None,
        };
        let update = self.update(&id(&old.key));
        let head = self.settled(OP).await?;
        self.current(OP, &head)?;
        if let Some((done, _)) = update.get::<Appended>(OP, "appended").await? {
            return Ok(update.appended(done.version, false));
        }
        self.check_free(OP, &head)?;
        let request = old.request(by, self.stacks.now());
        // If the request is not there yet, no version behind this head can be that of the key.
        let seen = if update.put_first(&request).await? { head.number() } else { 0 };
        let content = match state {
            Some(state) => {
                Some(self.versions_document().content(state).await.map_err(|error| self.failed(OP, error))?)
            }
            None => None,
        };
        let mut note = VersionNote::new(&old.kind, old.result, old.started, old.ended);
        note.update = Some(update.id().to_owned());
        note.changes.clone_from(&old.changes);
        let appended = self.append_behind(seen, &note, counts, content, by).await?;
        // What is not stored here is looked for in the history.
        let done = Appended { version: appended.version };
        if let Err(error) = update.put(OP, "appended", &done, &PutOptions::default()).await {
            tracing::debug!(error = %error, "the version of a key is not noted");
        }
        Ok(appended)
    }

    /// Appends a version unless one behind `seen` is that of the same update.
    async fn append_behind(
        &self,
        mut seen: u64,
        note: &VersionNote,
        counts: Option<Counts>,
        content: Option<Content>,
        by: &str,
    ) -> Result<AppendedVersion> {
        let update = self.update(note.update.as_deref().unwrap_or_default());
        for _ in 0..ATTEMPTS {
            let decide = |head: &Head| {
                self.check_free(OP, head)?;
                if head.number() != seen {
                    return Ok::<_, Error>(Step::nothing());
                }
                let before = VersionNote::of(self.current(OP, head)?);
                let counts = counts.unwrap_or_else(|| before.counts());
                let options: VersionOptions = note.clone().counted(&counts).options(OP, self.path(), by)?;
                Ok(match &content {
                    Some(content) => Step::write(content.clone(), options),
                    None => Step::restore(head.number(), options),
                })
            };
            let stepped = self.versions_document().step(decide).await;
            let stepped = stepped.map_err(|error| self.failed(OP, error))??;
            if let Some(version) = stepped.version.filter(|_| stepped.changed) {
                return Ok(update.appended(number(&version), true));
            }
            let last = stepped.head.number();
            if let Some(version) = self.version_made_by(OP, update.id(), seen, last).await? {
                return Ok(update.appended(number(&version), false));
            }
            seen = last;
        }
        Err(self.error(ErrorKind::Unavailable, OP).because("other clients change it all the time"))
    }

    /// The version that an update has made, of those behind `seen` up to `last`, both as the store numbers them.
    pub(crate) async fn version_made_by(
        &self,
        op: Op,
        update: &str,
        seen: u64,
        last: u64,
    ) -> Result<Option<Version>> {
        let mut before = last.checked_add(1);
        while let Some(from) = before.filter(|before| before.saturating_sub(1) > seen) {
            let page = self.versions_document().versions(Some(from), PAGE).await;
            let page = page.map_err(|error| self.failed(op, error))?;
            let (unreadable, mut versions) = (page.unreadable(), page.versions.into_iter());
            let found = versions.find(|version| VersionNote::of(version).update.as_deref() == Some(update));
            if found.is_some() {
                return Ok(found);
            }
            if let Some(number) = unreadable {
                return Err(self.lost_version(op, number));
            }
            before = page.next;
        }
        Ok(None)
    }
}

impl OldVersion {
    fn request(&self, by: &str, now: Timestamp) -> UpdateRequest {
        let mut request = UpdateRequest::new(&self.kind, by, now);
        request.preview = false;
        request.message.clone_from(&self.message);
        request.environment.clone_from(&self.environment);
        request.config.clone_from(&self.config);
        request.source = Some(self.source.clone());
        request
    }
}

impl Update {
    fn appended(&self, version: u64, is_new: bool) -> AppendedVersion {
        AppendedVersion { version, update: self.id().to_owned(), is_new }
    }

    /// Stores what is known of the version. Tells whether nothing was stored before.
    async fn put_first(&self, request: &UpdateRequest) -> Result<bool> {
        match self.put(OP, "request", request, &PutOptions::expecting(Precondition::Absent)).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The id of the update of a key.
fn id(key: &str) -> String {
    format!("old-{}", &hex(&Sha256::digest(key.as_bytes()))[..40])
}
