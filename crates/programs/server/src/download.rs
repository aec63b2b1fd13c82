//! Contents of versions as bodies of answers, part by part.

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use groundstate_versioned::{Error, Reader};
use tracing::error;

use crate::budget::Account;
use crate::headers::ByteRange;
use crate::problem::Problem;
use crate::terraform::Refusal;

/// How much of a content is in memory at a time: the part that is read, and the one that is sent.
const IN_MEMORY: u64 = 8 << 20;

/// What is left of a content that is sent.
struct Sending {
    reader: Reader,
    /// Bytes to leave out before the next one that is sent.
    skip: u64,
    /// Bytes to send.
    left: u64,
}

/// The body with a content, or with a part of it. The first piece is read at once, so that a content that cannot be read is an
/// error and not a body that breaks off.
///
/// # Errors
///
/// Errors of the store, and `busy` if there is no memory for it.
pub(crate) async fn download(
    account: &Account,
    reader: Reader,
    part: Option<ByteRange>,
) -> Result<Body, Refusal> {
    account.take_first(reader.version().size.min(IN_MEMORY)).await.map_err(Problem::from)?;
    let (skip, left) = part.map_or((0, reader.version().size), |part| (part.first, part.size()));
    let mut sending = Sending { reader, skip, left };
    let Some(first) = sending.next().await? else { return Ok(Body::empty()) };
    let rest = stream::try_unfold(sending, |mut sending| async move {
        match sending.next().await {
            Ok(Some(piece)) => Ok(Some((piece, sending))),
            Ok(None) => Ok(None),
            Err(failed) => {
                error!(error = %failed, "a content broke off while it was sent");
                Err(failed)
            }
        }
    });
    Ok(Body::from_stream(stream::once(async { Ok(first) }).chain(rest)))
}

impl Sending {
    /// The next piece to send; none behind the last one.
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        while self.left > 0 {
            let Some(mut piece) = self.reader.next_part().await? else { return Ok(None) };
            let skipped = piece.len().min(usize::try_from(self.skip).unwrap_or(usize::MAX));
            piece = piece.split_off(skipped);
            self.skip -= skipped as u64;
            piece.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.left -= piece.len() as u64;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }
}
