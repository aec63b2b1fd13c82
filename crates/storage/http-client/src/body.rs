//! The body of an answer, of which no more than a limit is read.

use std::collections::TryReserveError;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt;

use crate::error::{DeadlineExceeded, SendError, TooLarge};

/// When a request began, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    started: Instant,
    deadline: Duration,
}

impl Timer {
    pub(crate) fn new(deadline: Duration) -> Self {
        Self { started: Instant::now(), deadline }
    }

    pub(crate) fn failed(self, error: reqwest::Error) -> SendError {
        if error.is_timeout() && self.started.elapsed() >= self.deadline {
            return DeadlineExceeded { seconds: self.deadline.as_secs() }.into();
        }
        SendError::of(error)
    }
}

/// The body of an answer, of which no more than a limit is read.
pub struct LimitedBody {
    inner: reqwest::Body,
    left: u64,
    limit: u64,
    /// It declares to be larger than the limit.
    is_too_large: bool,
    timer: Timer,
}

impl LimitedBody {
    pub(crate) fn new(inner: reqwest::Body, limit: u64, is_too_large: bool, timer: Timer) -> Self {
        Self { inner, left: limit, limit, is_too_large, timer }
    }

    /// Refuses a body that declares to be larger than the limit, before any of it is read.
    ///
    /// # Errors
    ///
    /// [`TooLarge`], with the limit.
    pub fn check_declared(&self) -> Result<(), TooLarge> {
        if self.is_too_large { Err(TooLarge { limit: self.limit }) } else { Ok(()) }
    }
}

impl fmt::Debug for LimitedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedBody").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = SendError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, SendError>>> {
        if let Err(error) = self.check_declared() {
            return Poll::Ready(Some(Err(error.into())));
        }
        let frame = match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => frame,
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(self.timer.failed(error)))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => return Poll::Pending,
        };
        let length = frame.data_ref().map_or(0, |bytes| bytes.len() as u64);
        let Some(left) = self.left.checked_sub(length) else {
            return Poll::Ready(Some(Err(TooLarge { limit: self.limit }.into())));
        };
        self.left = left;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        !self.is_too_large && self.inner.is_end_stream()
    }
}

/// All of the body of an answer.
///
/// # Errors
///
/// When the rest does not arrive, or is more than the limit.
pub async fn read_whole(body: LimitedBody) -> Result<Bytes, SendError> {
    collect(body, |error| SendError::Decode(error.into())).await
}

/// All of a body. Nothing is reserved before it has arrived, and memory may not be there, which `no_room` words.
///
/// # Errors
///
/// Those of the body.
pub async fn collect<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    no_room: impl Fn(TryReserveError) -> B::Error,
) -> Result<Bytes, B::Error> {
    let mut first = Bytes::new();
    let mut rest: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if first.is_empty() && rest.is_empty() {
            first = data;
            continue;
        }
        let needed = if rest.is_empty() { first.len() + data.len() } else { data.len() };
        rest.try_reserve(needed).map_err(&no_room)?;
        rest.extend_from_slice(&std::mem::take(&mut first));
        rest.extend_from_slice(&data);
    }
    Ok(if rest.is_empty() { first } else { rest.into() })
}
