//! Updates, and what is stored of them beside the versions of their stack.

use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::sealed::{seal, unseal};
use groundstate_blobs::{BlobVersion, ErrorKind as BlobKind, GetOptions, PutOptions};
use groundstate_versioned::NewLock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{BoxError, Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Holder, UpdateRequest, UpdateResult};
use crate::stack::Stack;

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStatus {
    /// It was created.
    NotStarted,
    /// It runs.
    Running,
    /// It has ended.
    Ended(UpdateResult),
}

impl Stack {
    /// A client of one update.
    pub fn update(&self, id: &str) -> Update {
        // What is no id becomes one that no update has: it stands in keys.
        Update { stack: self.clone(), id: if is_update_id(id) { id.to_owned() } else { "none".to_owned() } }
    }

    /// Creates an update. It holds nothing until it is started.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn create_update(&self, request: &UpdateRequest) -> Result<Update> {
        const OP: Op = Op::Update;
        let update = self.update(&self.stacks.new_id(OP, self.path())?);
        update.put(OP, "request", request, &PutOptions::default()).await?;
        Ok(update)
    }
}

/// Returns `true` if the text can be the ID of an update or of a lock.
pub(crate) fn is_update_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// A client of one update of a stack.
#[derive(Clone, Debug)]
pub struct Update {
    pub(crate) stack: Stack,
    pub(crate) id: String,
}

/// Reads a small document. An earlier release wrote no checksum.
pub(crate) fn read_sealed<T: DeserializeOwned>(text: &[u8]) -> Result<T, BoxError> {
    let object = unseal(text)?;
    Ok(serde_json::from_slice(object.as_deref().unwrap_or(text))?)
}

impl Update {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its stack.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// What the client said when it created it.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn request(&self) -> Result<UpdateRequest> {
        let found = self.get::<UpdateRequest>(Op::Read, "request").await?;
        found.map(|(request, _)| request).ok_or_else(|| self.missing(Op::Read))
    }

    pub(crate) fn missing(&self, op: Op) -> Error {
        self.stack.error(ErrorKind::NotFound, op).because(format!("there is no update {}", self.id))
    }

    pub(crate) fn lock(&self, op: Op, holder: &Holder, lease: Duration, by: &str) -> Result<NewLock> {
        let document = serde_json::to_vec(holder)
            .map_err(|error| self.stack.error(ErrorKind::Internal, op).with_source(error))?;
        Ok(NewLock::new(&self.id).document(document).lease(Some(lease)).by(by))
    }

    pub(crate) fn conflict(&self, op: Op, why: &str) -> Error {
        self.stack.error(ErrorKind::Conflict, op).because(format!("the update {}: {why}", self.id))
    }

    pub(crate) fn key_text(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.stack.id(), self.id)
    }

    /// Something small that belongs to the update, and its version.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        op: Op,
        what: &str,
    ) -> Result<Option<(T, BlobVersion)>> {
        let stacks = &self.stack.stacks;
        let key = stacks.blob_key(op, self.stack.path(), &self.key_text(what))?;
        let blob = stacks.blobs().get(&key, &GetOptions::default()).await;
        let Some(blob) = blob.map_err(|error| Error::of_blobs(op, self.stack.path(), error))? else {
            return Ok(None);
        };
        let damaged = || {
            let failure = self.stack.error(ErrorKind::Corrupt, op);
            failure.because(format!("what is stored of the update {} is damaged", self.id))
        };
        let value = read_sealed(&blob.bytes).map_err(|error| damaged().with_source(error))?;
        Ok(Some((value, blob.version().clone())))
    }

    pub(crate) async fn put(
        &self,
        op: Op,
        what: &str,
        value: &impl Serialize,
        options: &PutOptions,
    ) -> Result<()> {
        let text = serde_json::to_string(value)
            .map_err(|error| self.stack.error(ErrorKind::Internal, op).with_source(error))?;
        self.put_bytes(op, what, seal(&text).into(), options).await.map(drop)
    }

    pub(crate) async fn put_bytes(
        &self,
        op: Op,
        what: &str,
        bytes: Bytes,
        options: &PutOptions,
    ) -> Result<BlobVersion> {
        let stacks = &self.stack.stacks;
        let key = stacks.blob_key(op, self.stack.path(), &self.key_text(what))?;
        match stacks.blobs().put(&key, bytes, options).await {
            Ok(version) => Ok(version),
            Err(error) if error.kind() == BlobKind::PreconditionFailed => {
                Err(self.conflict(op, "another request changed it at the same time"))
            }
            Err(error) => Err(Error::of_blobs(op, self.stack.path(), error)),
        }
    }
}
