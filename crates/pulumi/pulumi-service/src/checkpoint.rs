//! Checkpoints of an update whose client sends no journal: whole ones, and differences to the one before.

use bytes::{BufMut as _, Bytes, BytesMut};
use groundstate_blobs::sealed::{seal, unseal};
use groundstate_blobs::{BlobVersion, GetOptions, Precondition, PutOptions};
use groundstate_common::hex;
use groundstate_json::RawJson;
use groundstate_pulumi_protocol::{Edit, apply_delta, sha256, verify_sha256};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::bucket::check_provider;
use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::lease::LeaseToken;
use crate::op::Op;
use crate::room::{OF_CHECKPOINT, Slot};
use crate::update::Update;

const OP: Op = Op::Save;

/// A checkpoint that a client sends.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CheckpointUpload<'a> {
    /// The deployment, around which the service writes the envelope.
    Whole {
        /// The version of the deployment.
        version: u64,
        /// Its features.
        features: &'a [String],
        /// The deployment, whose bytes stay.
        deployment: &'a RawJson,
    },
    /// The whole text, envelope and all, whose bytes stay.
    Verbatim {
        /// The number of the save, from 1.
        sequence: u64,
        /// The deployment with its envelope.
        text: &'a [u8],
    },
    /// What changes of the text before.
    Delta {
        /// The number of the save, from 1.
        sequence: u64,
        /// The changes.
        edits: &'a [Edit],
        /// The SHA-256 of the result in lower-case hexadecimal.
        sha256: &'a str,
    },
}

/// The last checkpoint of an update.
pub(crate) struct StoredCheckpoint {
    last: LastCheckpoint,
    pub(crate) text: Bytes,
    /// The memory that the text takes.
    pub(crate) slot: Slot,
}

/// What the next checkpoint has to fit.
#[derive(Clone)]
pub(crate) struct LastCheckpoint {
    header: Header,
    version: BlobVersion,
}

/// The line in front of the text of a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    sequence: u64,
    sha256: String,
}

/// The line as it is stored, under a seal.
#[derive(Serialize, Deserialize)]
struct Sealed {
    format: u64,
    sequence: u64,
    sha256: String,
}

/// The line as releases before seals stored it, which is format 1. They knew no other members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unsealed {
    sequence: u64,
    sha256: String,
}

/// Format of sealed lines.
const FORMAT: u64 = 2;

impl Header {
    fn encode(&self) -> serde_json::Result<String> {
        let Self { sequence, sha256 } = self.clone();
        Ok(seal(&serde_json::to_string(&Sealed { format: FORMAT, sequence, sha256 })?))
    }

    /// Reads the line at the beginning of a checkpoint. The text follows.
    ///
    /// # Errors
    ///
    /// Returns the reason if the line is damaged or of a later release.
    pub(crate) fn split(bytes: &[u8]) -> Result<(Self, &[u8]), String> {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("it has no first line")?;
        let (line, text) = bytes.split_at(end + 1);
        Ok((Self::read(line)?, text))
    }

    fn read(line: &[u8]) -> Result<Self, String> {
        let damaged = |error: &dyn std::fmt::Display| format!("its first line is damaged: {error}");
        let Some(object) = unseal(line).map_err(|error| damaged(&error))? else {
            let Unsealed { sequence, sha256 } =
                serde_json::from_slice(line).map_err(|error| damaged(&error))?;
            return Ok(Self { sequence, sha256 });
        };
        let Sealed { format, sequence, sha256 } =
            serde_json::from_slice(&object).map_err(|error| damaged(&error))?;
        match format {
            FORMAT => Ok(Self { sequence, sha256 }),
            _ => Err(format!("it has the format {format}, and this release knows {FORMAT}")),
        }
    }

    /// Begins the digest of a text.
    pub(crate) fn hash(text: &[u8]) -> Sha256 {
        Sha256::new_with_prefix(text)
    }

    /// Returns `true` if the text with this digest is that of the checkpoint.
    pub(crate) fn is_of(&self, hash: Sha256) -> bool {
        hex(&hash.finalize()) == self.sha256
    }
}

impl Update {
    /// Stores a checkpoint. When this returns, it is durable, and will count however the update ends. Sent again, it changes nothing.
    ///
    /// # Errors
    ///
    /// `Conflict` for a difference that does not fit what is stored, upon which clients send the whole; `Invalid` for what is no
    /// deployment, `LeaseLost`, and those of the store.
    pub async fn save(&self, token: &LeaseToken, upload: CheckpointUpload<'_>) -> Result<()> {
        self.admit(OP, token).await?;
        let live = self.stack.stacks.live();
        // A difference needs the text before, all others only its number and digest.
        let known = match upload {
            CheckpointUpload::Delta { .. } => None,
            _ => live.checkpoint(&self.id),
        };
        let is_known = known.is_some();
        let stored = match known {
            Some(last) => self.store_next(Some(&last), None, upload).await,
            None => self.store_behind_stored(upload).await,
        };
        let stored = match stored {
            // Another node has stored one since.
            Err(error) if is_known && error.kind() == ErrorKind::Conflict => {
                live.keep_checkpoint(&self.id, None);
                self.store_behind_stored(upload).await
            }
            stored => stored,
        };
        if let Some(last) = stored? {
            live.keep_checkpoint(&self.id, Some(last));
        }
        // A node that ended the update in between may not have seen it.
        self.leased(OP, token).await.map(drop)
    }

    async fn store_behind_stored(&self, upload: CheckpointUpload<'_>) -> Result<Option<LastCheckpoint>> {
        let stored = self.checkpoint(OP).await?;
        let (last, text) = stored.as_ref().map(|stored| (&stored.last, &stored.text)).unzip();
        self.store_next(last, text, upload).await
    }

    /// Stores the checkpoint that comes next; none if it is stored already, or was overtaken.
    async fn store_next(
        &self,
        last: Option<&LastCheckpoint>,
        text: Option<&Bytes>,
        upload: CheckpointUpload<'_>,
    ) -> Result<Option<LastCheckpoint>> {
        let Some((header, text)) = self.next(last, text, upload)? else { return Ok(None) };
        let mut bytes = BytesMut::new();
        let line =
            header.encode().map_err(|error| self.stack.error(ErrorKind::Internal, OP).with_source(error))?;
        bytes.put_slice(line.as_bytes());
        bytes.put_slice(&text);
        let expected = last.map_or(Precondition::Absent, |last| Precondition::Version(last.version.clone()));
        let options = PutOptions::expecting(expected);
        let version = self.put_bytes(OP, "checkpoint", bytes.freeze(), &options).await?;
        Ok(Some(LastCheckpoint { header, version }))
    }

    /// The checkpoint that comes next; none if it is stored already, or was overtaken.
    fn next(
        &self,
        stored: Option<&LastCheckpoint>,
        text_before: Option<&Bytes>,
        upload: CheckpointUpload<'_>,
    ) -> Result<Option<(Header, Bytes)>> {
        let last = stored.map_or(0, |stored| stored.header.sequence);
        let conflict = |why: String| self.stack.error(ErrorKind::Conflict, OP).because(why);
        let (sequence, text) = match upload {
            CheckpointUpload::Whole { version, features, deployment } => {
                (last, deployment::assemble(version, features, deployment))
            }
            // Others came after it.
            CheckpointUpload::Verbatim { sequence, .. } if sequence < last => return Ok(None),
            CheckpointUpload::Verbatim { sequence, text } => (sequence, Bytes::copy_from_slice(text)),
            CheckpointUpload::Delta { sequence, sha256, .. } if sequence == last => {
                return match stored.is_some_and(|stored| stored.header.sha256 == sha256) {
                    true => Ok(None),
                    false => Err(conflict(format!("save {sequence} is stored with another content"))),
                };
            }
            CheckpointUpload::Delta { sequence, edits, sha256: expected } => {
                // The first save is no difference: there is nothing that it could be to.
                let Some(before) = text_before.filter(|_| last.checked_add(1) == Some(sequence)) else {
                    return Err(conflict(format!(
                        "the last save is {last}, and the difference is for {sequence}"
                    )));
                };
                let limit = self.stack.stacks.options().state_bytes;
                let text = apply_delta(before, edits, limit)
                    .and_then(|text| verify_sha256(&text, expected).map(|()| text))
                    .map_err(|error| conflict(error.to_string()))?;
                (sequence, text.into())
            }
        };
        self.check_export(&text)?;
        let sha256 = sha256(&text);
        if stored.is_some_and(|stored| stored.header.sequence == sequence && stored.header.sha256 == sha256) {
            return Ok(None);
        }
        Ok(Some((Header { sequence, sha256 }, text)))
    }

    /// Checks that a text is an export. What could not be counted could not become a version, and the update could never end.
    fn check_export(&self, text: &[u8]) -> Result<()> {
        deployment::check(OP, self.stack.path(), text)?;
        if self.stack.bucket().is_some() {
            check_provider(OP, self.stack.path(), text)?;
        }
        Counts::of(OP, self.stack.path(), text).map(drop)
    }

    /// The size of the last checkpoint; none if there is none.
    pub(crate) async fn checkpoint_size(&self, op: Op) -> Result<Option<u64>> {
        let stacks = &self.stack.stacks;
        let key = stacks.blob_key(op, self.stack.path(), &self.key_text("checkpoint"))?;
        let meta = stacks.blobs().head(&key).await;
        let meta = meta.map_err(|error| Error::of_blobs(op, self.stack.path(), error))?;
        Ok(meta.map(|meta| meta.size))
    }

    pub(crate) async fn checkpoint(&self, op: Op) -> Result<Option<StoredCheckpoint>> {
        let stacks = &self.stack.stacks;
        let Some(size) = self.checkpoint_size(op).await? else { return Ok(None) };
        let slot = stacks.take_room(op, self.stack.path(), size, OF_CHECKPOINT)?;
        let key = stacks.blob_key(op, self.stack.path(), &self.key_text("checkpoint"))?;
        let blob = stacks.blobs().get(&key, &GetOptions::default()).await;
        let Some(blob) = blob.map_err(|error| Error::of_blobs(op, self.stack.path(), error))? else {
            return Ok(None);
        };
        let damaged = || {
            let failure = self.stack.error(ErrorKind::Corrupt, op);
            failure.because(format!("the checkpoint of the update {} is damaged", self.id))
        };
        let (header, text) = Header::split(&blob.bytes).map_err(|why| damaged().with_source(why))?;
        let text = blob.bytes.slice_ref(text);
        if !header.is_of(Header::hash(&text)) {
            return Err(damaged());
        }
        Ok(Some(StoredCheckpoint {
            last: LastCheckpoint { header, version: blob.version().clone() },
            text,
            slot,
        }))
    }
}
