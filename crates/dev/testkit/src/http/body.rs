//! The body of an answer, which may end before its declared length, or never.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::{Answer, Flow};

/// The bytes of an answer, and how they are sent.
pub(super) struct AnswerBody {
    bytes: Bytes,
    left: Option<u64>,
    flow: Flow,
    /// How often the connection gets a turn to send what it has before it is closed.
    turns: u8,
    pause: Option<Pin<Box<Sleep>>>,
}

impl AnswerBody {
    pub(super) fn of(answer: &Answer) -> Self {
        let bytes = match answer.flow {
            Flow::Cut(after) => answer.body.slice(..after.min(answer.body.len())),
            _ => answer.body.clone(),
        };
        let left = match answer.flow {
            Flow::Whole | Flow::Cut(_) => Some(answer.body.len() as u64),
            Flow::Endless | Flow::Drip(_) => answer.declared,
        };
        Self { bytes, left, flow: answer.flow, turns: 8, pause: None }
    }

    /// What is sent again and again, after the pause that goes before it.
    fn again(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        if let Flow::Drip(time) = self.flow {
            let pause = self.pause.get_or_insert_with(|| Box::pin(sleep(time)));
            std::task::ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        Poll::Ready(self.bytes.clone())
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let bytes = match self.flow {
            Flow::Endless | Flow::Drip(_) => std::task::ready!(self.again(context)),
            Flow::Whole | Flow::Cut(_) => std::mem::take(&mut self.bytes),
        };
        if !bytes.is_empty() {
            self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if !matches!(self.flow, Flow::Cut(_)) {
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
        self.bytes.is_empty() && !matches!(self.flow, Flow::Cut(_))
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
