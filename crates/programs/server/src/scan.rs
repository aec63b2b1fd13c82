//! Contents of versions as streams of blocks, for readers on threads of their own.

use std::io::{self, Read};

use bytes::{Buf, Bytes};
use groundstate_pulumi_service::Export;
use groundstate_versioned::Reader;
use tokio::sync::mpsc;

use crate::app::App;
use crate::problem::{Problem, ProblemType};
use crate::store_problem::store_problem;

/// Parts of a content that wait to be read at a time.
const WAITING: usize = 2;
/// From how many bytes on a content is read in turn with others: a value in it may be that large, and is in memory then.
const LARGE: u64 = 1 << 20;

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

/// What is read: a version of a document, or the state of a stack, which may be in a bucket.
pub(crate) enum Content {
    Version(Box<Reader>),
    Stack(Export),
}

impl Content {
    /// Its size in bytes.
    fn size(&self) -> u64 {
        match self {
            Self::Version(reader) => reader.version().size,
            Self::Stack(export) => export.size(),
        }
    }

    async fn next_part(&mut self) -> groundstate_versioned::Result<Option<Bytes>> {
        match self {
            Self::Version(reader) => reader.next_part().await,
            Self::Stack(export) => export.next_part().await,
        }
    }
}

impl From<Reader> for Content {
    fn from(reader: Reader) -> Self {
        Self::Version(Box::new(reader))
    }
}

impl From<Export> for Content {
    fn from(export: Export) -> Self {
        Self::Stack(export)
    }
}

/// Lets `read` read a content on a thread of its own, part by part, so that the content is never in memory as a whole.
///
/// # Errors
///
/// Those of the store, and a defect in `read`.
pub(crate) async fn scan<T: Send + 'static>(
    app: &App,
    reader: impl Into<Content>,
    read: impl FnOnce(&mut dyn Read) -> T + Send + 'static,
) -> Result<T, Problem> {
    let mut content = reader.into();
    let _permit = match content.size() {
        ..LARGE => None,
        _ => Some(app.analysis().await?),
    };
    let (sender, parts) = mpsc::channel(WAITING);
    let reading = tokio::task::spawn_blocking(move || read(&mut Parts { parts, rest: Bytes::new() }));
    let mut failed = None;
    loop {
        let (piece, is_last) = match content.next_part().await {
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
        Some(error) => Err(store_problem(&error)),
        None => Ok(outcome),
    }
}

/// The problem of a thread that ended without an answer.
pub(crate) fn defect() -> Problem {
    Problem::new(ProblemType::Internal, "the state could not be analysed; the log of the server says why")
}
