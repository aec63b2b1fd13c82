//! Contents of versions as streams of blocks, for readers on threads of their own.

use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use bytes::{Buf, Bytes};
use groundstate_pulumi_service::Export;
use groundstate_statefile::{Block, Blocks};
use groundstate_versioned::Reader;
use tokio::sync::mpsc;

use crate::app::App;
use crate::budget::{Account, Refused};
use crate::problem::{Problem, ProblemType};
use crate::store_problem::store_problem;

/// Parts of a content that wait to be read at a time.
const WAITING: usize = 2;
/// How much of a content is in memory at a time: parts that wait, and the block that is read.
const IN_MEMORY: u64 = 16 << 20;
/// From how many bytes on a content is read in turn with others: a value in it may be that large, and is in memory then.
const LARGE: u64 = 1 << 20;

/// A content that a blocking reader gets part by part. It is charged as it is read.
pub(crate) struct Input {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
    meter: Arc<Meter>,
    /// Note of each opening brace.
    per_brace: u64,
    /// Bytes that were charged for the value that is read.
    window: u64,
}

impl Input {
    /// Account that a reader charges.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }
}

/// Account that a reader charges for what it keeps.
pub(crate) struct Meter {
    account: Account,
    /// Why the reader got no more.
    refused: OnceLock<Refused>,
}

impl Meter {
    fn charge(&self, bytes: u64) -> io::Result<()> {
        self.account.take(bytes).map_err(|refused| {
            self.refused.get_or_init(|| refused);
            refused.into()
        })
    }

    /// Takes memory for a value of this text. Tells whether there is some.
    pub(crate) fn admit(&self, text: &[u8]) -> bool {
        /// Copies of the text, and what a value takes that is made of it.
        const PER_BYTE: u64 = 4;
        const PER_MARK: u64 = 128;
        let marks = text.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count() as u64;
        self.charge(PER_BYTE * text.len() as u64 + PER_MARK * marks).is_ok()
    }
}

/// The parts as blocks of a document. A block that is asked for without one that is given back lies beside others: the value that is read is larger than
/// one.
impl Blocks for &mut Input {
    fn next(&mut self, mut spent: Block) -> io::Result<Block> {
        if spent.bytes.is_empty() {
            // What is at hand grows, and is copied as it does.
            let needed = 3 * spent.start as u64;
            let missing = needed.saturating_sub(self.window);
            self.meter.charge(missing)?;
            self.window += missing;
        }
        spent.fill(&mut Piecewise(self))?;
        Ok(spent)
    }
}

/// The input as a reader that counts what is kept.
pub(crate) struct Piecewise<'a>(pub(crate) &'a mut Input);

impl Read for Piecewise<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = &mut *self.0;
        while input.rest.is_empty() {
            match input.parts.blocking_recv() {
                Some(part) => input.rest = part?,
                None => return Ok(0),
            }
        }
        let size = input.rest.len().min(buffer.len());
        let read = buffer.get_mut(..size).unwrap_or_default();
        input.rest.copy_to_slice(read);
        if input.per_brace > 0 {
            let braces = read.iter().filter(|byte| **byte == b'{').count() as u64;
            input.meter.charge(braces.saturating_mul(input.per_brace))?;
        }
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

/// Parts of a content that a reader keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// For each byte of the content: texts that may be as long as it is.
    pub(crate) per_byte: u64,
    /// For each opening brace.
    pub(crate) per_brace: u64,
}

/// Lets `read` read a content on a thread of its own, part by part, so that the content is never in memory as a whole.
///
/// # Errors
///
/// Errors of the store, a defect in `read`, and `busy` if there is no memory for what is kept.
pub(crate) async fn scan<T: Send + 'static>(
    app: &App,
    account: &Account,
    reader: impl Into<Content>,
    kept: Kept,
    read: impl FnOnce(&mut Input) -> T + Send + 'static,
) -> Result<T, Problem> {
    let mut content = reader.into();
    account.take_first(content.size().min(IN_MEMORY)).await?;
    account.take(content.size().saturating_mul(kept.per_byte))?;
    let account = account.clone();
    let _permit = match content.size() {
        ..LARGE => None,
        _ => Some(app.analysis().await?),
    };
    let (sender, parts) = mpsc::channel(WAITING);
    let reading = tokio::task::spawn_blocking(move || {
        let (rest, per_brace) = (Bytes::new(), kept.per_brace);
        let meter = Arc::new(Meter { account, refused: OnceLock::new() });
        let mut input = Input { parts, rest, meter, per_brace, window: 0 };
        let outcome = read(&mut input);
        (outcome, input.meter.refused.get().copied())
    });
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
    let (outcome, refused) = reading.await.map_err(|_| defect())?;
    match (failed, refused) {
        (Some(error), _) => Err(store_problem(&error)),
        (None, Some(refused)) => Err(refused.into()),
        (None, None) => Ok(outcome),
    }
}

/// Runs work on a thread that answers no requests, where large values are dropped too.
///
/// # Errors
///
/// Returns a defect if the work panics.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|_| defect())
}

/// The problem of a thread that ended without an answer.
pub(crate) fn defect() -> Problem {
    Problem::new(ProblemType::Internal, "the state could not be analysed; the log of the server says why")
}
