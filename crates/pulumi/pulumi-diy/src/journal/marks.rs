//! Which checkpoints the journal of a stack is about: those that its update began with or wrote.

use bytes::Bytes;
use groundstate_blobs::{DeleteOptions, GetOptions, Key, PutOptions};
use groundstate_common::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::stack::Stack;
use crate::{Error, ErrorKind, Op, Result};

/// The digests of checkpoints. Any other checkpoint is the work of another program, on which the journal must not be put.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Marks {
    checkpoints: Vec<String>,
}

impl Marks {
    /// Those of a new journal.
    pub(super) async fn begin(stack: &Stack, document: &[u8]) -> Result<Self> {
        let mut marks = Self::default();
        marks.add(stack, document).await?;
        Ok(marks)
    }

    /// Those that are stored; none if there are none.
    pub(super) async fn read(stack: &Stack) -> Result<Self> {
        let (key, place) = place(stack)?;
        let got = stack.backend().store().get(&key, &GetOptions::default()).await;
        let Some(blob) = got.map_err(|error| Error::from_store(Op::Recover, &place, error))? else {
            return Ok(Self::default());
        };
        serde_json::from_slice(&blob.bytes)
            .map_err(|error| Error::new(ErrorKind::Corrupt, Op::Recover, place).with_source(error))
    }

    /// Whether there are any.
    pub(super) async fn exist(stack: &Stack) -> Result<bool> {
        let (key, place) = place(stack)?;
        let head = stack.backend().store().head(&key).await;
        Ok(head.map_err(|error| Error::from_store(Op::Recover, place, error))?.is_some())
    }

    /// Whether the journal is about this checkpoint.
    pub(super) fn have(&self, document: &[u8]) -> bool {
        self.checkpoints.contains(&digest(document))
    }

    /// Adds a checkpoint before it is written.
    pub(super) async fn add(&mut self, stack: &Stack, document: &[u8]) -> Result<()> {
        let (key, place) = place(stack)?;
        self.checkpoints.push(digest(document));
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::new(ErrorKind::Internal, Op::Record, &place).with_source(error))?;
        let put = stack.backend().store().put(&key, Bytes::from(text), &PutOptions::default()).await;
        put.map(drop).map_err(|error| Error::from_store(Op::Record, place, error))
    }

    /// Removes what is stored.
    pub(super) async fn remove(&self, stack: &Stack) -> Result<()> {
        let (key, place) = place(stack)?;
        let deleted = stack.backend().store().delete(&key, &DeleteOptions::default()).await;
        deleted.map(drop).map_err(|error| Error::from_store(Op::Remove, place, error))
    }
}

fn place(stack: &Stack) -> Result<(Key, String)> {
    let name = stack.backend().layout().marks(stack.reference());
    Ok((stack.backend().key(Op::Recover, &name)?, stack.backend().place(&name)))
}

/// The SHA-256 by which checkpoints are known again.
pub(crate) fn digest(document: &[u8]) -> String {
    hex(&Sha256::digest(document))
}
