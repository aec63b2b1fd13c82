//! Outputs of large states without the rest of them: only the beginning is fetched, piece by piece.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{Blob, BlobStore, ErrorKind as BlobErrorKind, GetOptions, Key};
use groundstate_statefile::{END, ScanError, leading_outputs};
use groundstate_statemgr::{Op, Result, WorkspaceName};
use groundstate_states::OutputValue;

use crate::azure::AzureBackend;
use crate::backend::ObjectBackend;
use crate::failure::failed;

/// What is fetched at first. Outputs stand before resources, so it is all there is to read of most states.
const FIRST: u64 = 64 * 1024;

/// How much more there is after each piece that was not enough.
const GROWTH: u64 = 4;

/// How often to begin again because of a write in between.
const ATTEMPTS: usize = 3;

/// Outputs of states that are not read as a whole.
#[async_trait]
pub trait RangedOutputs: std::fmt::Debug + Send + Sync + 'static {
    /// The outputs of a workspace's state, or the one with this name, in the order of their names.
    ///
    /// `None` where the state has to be read as a whole: it is not of format 4, or encrypted, or damaged before the end of its
    /// outputs, or there is none, or a digest has to be compared. What follows the outputs is neither fetched nor checked.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::read`](groundstate_statemgr::StateStore::read).
    async fn outputs(
        &self,
        workspace: &WorkspaceName,
        name: Option<&str>,
    ) -> Result<Option<Vec<(String, OutputValue)>>>;
}

#[async_trait]
impl RangedOutputs for ObjectBackend {
    async fn outputs(
        &self,
        workspace: &WorkspaceName,
        name: Option<&str>,
    ) -> Result<Option<Vec<(String, OutputValue)>>> {
        let store = self.open(workspace)?;
        if store.digests.is_some() {
            return Ok(None);
        }
        read(store.blobs(), store.key(), name).await
    }
}

#[cfg(feature = "aws")]
#[async_trait]
impl RangedOutputs for crate::s3::S3Backend {
    async fn outputs(
        &self,
        workspace: &WorkspaceName,
        name: Option<&str>,
    ) -> Result<Option<Vec<(String, OutputValue)>>> {
        self.objects().outputs(workspace, name).await
    }
}

#[async_trait]
impl RangedOutputs for AzureBackend {
    async fn outputs(
        &self,
        workspace: &WorkspaceName,
        name: Option<&str>,
    ) -> Result<Option<Vec<(String, OutputValue)>>> {
        let store = self.open(workspace)?;
        read(store.blobs(), store.key(), name).await
    }
}

async fn read(
    blobs: &Arc<dyn BlobStore>,
    key: &Key,
    name: Option<&str>,
) -> Result<Option<Vec<(String, OutputValue)>>> {
    if !blobs.capabilities().ranges {
        return Ok(None);
    }
    for _ in 0..ATTEMPTS {
        match read_once(blobs, key, name).await {
            Err(error) if error.kind() == BlobErrorKind::PreconditionFailed => {}
            outcome => {
                let place = format!("{blobs}/{key}");
                return outcome.map_err(|error| failed(Op::ReadOutputs, place, error));
            }
        }
    }
    Ok(None)
}

/// Fetches one content piece by piece until its outputs are in what was fetched.
async fn read_once(
    blobs: &Arc<dyn BlobStore>,
    key: &Key,
    name: Option<&str>,
) -> Result<Option<Vec<(String, OutputValue)>>, groundstate_blobs::Error> {
    let mut text: Vec<u8> = Vec::new();
    let mut first: Option<Blob> = None;
    let mut tail: Option<Vec<u8>> = None;
    loop {
        let start = text.len() as u64;
        let end = start.saturating_mul(GROWTH).max(FIRST);
        let mut options = GetOptions::default().range(start..end);
        if let Some(first) = &first {
            options = options.if_match(first.version());
        }
        let Some(piece) = blobs.get(key, &options).await? else { return Ok(None) };
        // A service that knows no ranges has sent it all.
        text.truncate(usize::try_from(piece.range.start).unwrap_or(usize::MAX));
        text.extend_from_slice(&piece.bytes);
        let is_whole = text.len() as u64 >= piece.meta.size;
        let is_empty = piece.bytes.is_empty();
        let first = first.get_or_insert(piece);
        if tail.is_none() {
            tail = Some(read_end(blobs, key, first, is_whole.then_some(&text[..])).await?);
        }
        match leading_outputs(Begun { rest: &text, is_whole }, tail.as_deref().unwrap_or_default(), name) {
            Ok(found) => return Ok(Some(found)),
            Err(ScanError::Io(_)) if !is_whole && !is_empty => {}
            Err(_) => return Ok(None),
        }
    }
}

/// The end of the content that the first piece belongs to; nothing if the store has another one by now.
async fn read_end(
    blobs: &Arc<dyn BlobStore>,
    key: &Key,
    first: &Blob,
    whole: Option<&[u8]>,
) -> Result<Vec<u8>, groundstate_blobs::Error> {
    if let Some(text) = whole {
        return Ok(text.get(text.len().saturating_sub(END)..).unwrap_or_default().to_vec());
    }
    let size = first.meta.size;
    let options =
        GetOptions::default().range(size.saturating_sub(END as u64)..size).if_match(first.version());
    Ok(blobs.get(key, &options).await?.map(|piece| piece.bytes.to_vec()).unwrap_or_default())
}

/// A document of which the beginning is there. Reading on gives an error instead of an end.
struct Begun<'t> {
    rest: &'t [u8],
    is_whole: bool,
}

impl io::Read for Begun<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() && !self.is_whole {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the rest is not fetched yet"));
        }
        self.rest.read(buffer)
    }
}
