//! The body of an answer, which may end before its declared length.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// The bytes of an answer, whole or cut off.
pub(super) struct AnswerBody {
    bytes: Bytes,
    declared: u64,
    /// How often the connection gets a turn to send what it has before it is closed.
    turns: u8,
}

impl AnswerBody {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { declared: bytes.len() as u64, bytes, turns: 0 }
    }

    pub(super) fn cut(bytes: Bytes, after: usize) -> Self {
        Self { declared: bytes.len() as u64, bytes: bytes.slice(..after.min(bytes.len())), turns: 8 }
    }

    fn is_cut(&self) -> bool {
        self.turns > 0
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            self.declared -= bytes.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if !self.is_cut() {
            return Poll::Ready(None);
        }
        // An error at once would throw away what waits to be written.
        self.turns -= 1;
        if self.turns == 0 {
            return Poll::Ready(Some(Err(io::Error::other("the answer is cut off"))));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty() && !self.is_cut()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.declared)
    }
}
