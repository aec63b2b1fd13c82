//! Contents of versions for reading: as a stream of blocks, or as a whole model.

use std::io::{self, Read};

use bytes::{Buf, Bytes};
use groundstate_statefile::{DecodeOptions, File, ReadError, decode};
use groundstate_versioned::{Document, Head, Reader, Version};
use tokio::sync::mpsc;

use crate::caller::Access;
use crate::problem::{Problem, ProblemType};
use crate::terraform::Refusal;

/// Parts of a content that wait to be read at a time.
const WAITING: usize = 2;
/// From how many bytes on a content is read in turn with others: a value in it may be that large, and is in memory then.
const LARGE: u64 = 1 << 20;

/// A document with its head.
pub(super) struct Opened {
    pub(super) document: Document,
    pub(super) head: Head,
}

impl Opened {
    pub(super) async fn of(access: &Access) -> Result<Self, Refusal> {
        let document = access.document();
        let head = document.head().await?;
        Ok(Self { document, head })
    }

    /// The version of this number, or the present one.
    ///
    /// # Errors
    ///
    /// If the history does not have it, or there is none.
    pub(super) async fn version(&self, access: &Access, number: Option<u64>) -> Result<Version, Refusal> {
        match number {
            Some(number) => Ok(self.document.version(number).await?),
            None => match self.head.current() {
                Some(version) => Ok(version.clone()),
                None if self.head.number() > 0 => {
                    let detail = format!("{} was deleted; its history has what it was", access.path);
                    Err(Problem::new(ProblemType::NotFound, detail).into())
                }
                None => Err(super::state::never_written(&access.path).into()),
            },
        }
    }
}

/// A content that a blocking reader gets part by part.
struct Parts {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.parts.blocking_recv() {
                Some(part) => self.rest = part?,
                None => return Ok(0),
            }
        }
        let size = self.rest.len().min(buffer.len());
        self.rest.copy_to_slice(buffer.get_mut(..size).unwrap_or_default());
        Ok(size)
    }
}

/// Lets `read` read a content on a thread of its own, part by part, so that the content is never in memory as a whole.
///
/// # Errors
///
/// Those of the store, and a defect in `read`.
pub(super) async fn scan<T: Send + 'static>(
    access: &Access,
    mut reader: Reader,
    read: impl FnOnce(&mut dyn Read) -> T + Send + 'static,
) -> Result<T, Refusal> {
    let _permit = match reader.version().size {
        ..LARGE => None,
        _ => Some(access.app.analysis().await?),
    };
    let (sender, parts) = mpsc::channel(WAITING);
    let reading = tokio::task::spawn_blocking(move || read(&mut Parts { parts, rest: Bytes::new() }));
    let mut failed = None;
    loop {
        let (piece, is_last) = match reader.next_part().await {
            Ok(Some(part)) => (Ok(part), false),
            Ok(None) => break,
            Err(error) => {
                failed = Some(error);
                (Err(io::Error::other("the store failed")), true)
            }
        };
        // The reader may have seen enough.
        if sender.send(piece).await.is_err() || is_last {
            break;
        }
    }
    drop(sender);
    let outcome = reading.await.map_err(|_| defect())?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(outcome),
    }
}

/// Reads a content as a whole, and makes the model of it.
///
/// # Errors
///
/// If it is too large to be in memory, or is no state that can be read.
pub(super) async fn load(access: &Access, document: &Document, version: &Version) -> Result<File, Refusal> {
    let limit = access.app.limits().analysed_bytes;
    if version.size > limit as u64 {
        let detail = format!(
            "version {} has {} bytes, and {limit} are analysed at most",
            version.number, version.size
        );
        return Err(Problem::new(ProblemType::TooLarge, detail).into());
    }
    let permit = access.app.analysis().await?;
    let bytes = document.open(version).await?.collect(limit).await?;
    let number = version.number;
    let decoded = tokio::task::spawn_blocking(move || {
        let decoded = decode(&bytes, &DecodeOptions::default());
        drop(permit);
        decoded
    });
    decoded.await.map_err(|_| defect())?.map_err(|error| unreadable(number, &error).into())
}

/// The problem of a content that is no readable state.
pub(super) fn unreadable(number: u64, error: &ReadError) -> Problem {
    let why = match error.problems() {
        [] => "it is empty".to_owned(),
        [first, ..] => first.to_string(),
    };
    Problem::new(ProblemType::Unreadable, format!("version {number} cannot be read as a state: {why}"))
}

/// The problem of a thread that ended without an answer.
fn defect() -> Problem {
    Problem::new(ProblemType::Internal, "the state could not be analysed; the log of the server says why")
}
