//! Bodies: of a request, which has to come fast enough, and of an answer, which is counted.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

/// What is known of the body of a request while the request is worked on.
#[derive(Debug, Default)]
pub(super) struct Arrival {
    bytes: AtomicU64,
    too_slow: AtomicBool,
    ended: AtomicBool,
    changed: Notify,
}

impl Arrival {
    /// How many bytes have come.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether the body took too long.
    pub(super) fn was_too_slow(&self) -> bool {
        self.too_slow.load(Ordering::Acquire)
    }

    /// Returns when no more of the body will come, or be wanted.
    pub(super) async fn ended(&self) {
        while !self.ended.load(Ordering::Acquire) {
            self.changed.notified().await;
        }
    }

    /// No more of the body will come.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        // There is one that waits, and it may not have begun to.
        self.changed.notify_one();
    }
}

/// The body takes too long to arrive.
#[derive(Debug)]
pub(super) struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body takes too long to arrive")
    }
}

impl StdError for TooSlow {}

/// How fast a body has to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The longest pause.
    pub(super) pause: Duration,
    /// The bytes a second on the average, after the first pause.
    pub(super) rate: Option<u64>,
}

impl Pace {
    /// Until when the next bytes have to come, where so many came since the start.
    fn deadline(self, start: Instant, now: Instant, bytes: u64) -> Instant {
        let pause = now + self.pause;
        match self.rate {
            None => pause,
            Some(rate) => {
                let earned = Duration::from_millis(bytes.saturating_mul(1000) / rate.max(1));
                let average = start.checked_add(self.pause.saturating_add(earned)).unwrap_or(pause);
                pause.min(average)
            }
        }
    }
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct Arriving<B> {
    body: B,
    arrival: Arc<Arrival>,
    pace: Pace,
    start: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<B> Arriving<B> {
    pub(super) fn new(body: B, arrival: Arc<Arrival>, pace: Pace) -> Self {
        let start = Instant::now();
        let timer = Box::pin(sleep_until(pace.deadline(start, start, 0)));
        Self { body, arrival, pace, start, timer }
    }
}

impl<B> Body for Arriving<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn StdError + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    let came = data.len() as u64;
                    let bytes = this.arrival.bytes.fetch_add(came, Ordering::Relaxed) + came;
                    let deadline = this.pace.deadline(this.start, Instant::now(), bytes);
                    this.timer.as_mut().reset(deadline);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => {
                this.arrival.end();
                Poll::Ready(None)
            }
            Poll::Pending if this.timer.as_mut().poll(cx).is_ready() => {
                this.arrival.too_slow.store(true, Ordering::Release);
                Poll::Ready(Some(Err(Box::new(TooSlow))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Arriving<B> {
    fn drop(&mut self) {
        self.arrival.end();
    }
}

/// The body of an answer; what is to be done at its end is done when it is dropped.
pub(super) struct Sending<B> {
    body: B,
    bytes: u64,
    at_end: Option<Box<dyn FnOnce(u64) + Send>>,
}

impl<B> Sending<B> {
    /// A body, and what to do with the number of bytes once it is sent, or will never be.
    pub(super) fn new(body: B, at_end: impl FnOnce(u64) + Send + 'static) -> Self {
        Self { body, bytes: 0, at_end: Some(Box::new(at_end)) }
    }
}

impl<B> fmt::Debug for Sending<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl<B: Body + Unpin> Body for Sending<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.bytes += data.remaining() as u64;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Sending<B> {
    fn drop(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};
    use tokio::time::{Instant, sleep, timeout};

    use super::{Arrival, Arriving, Pace, Sending};

    /// A body whose pieces come after these pauses, each with so many bytes.
    fn pieces(pauses: &'static [(u64, usize)]) -> axum::body::Body {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
        drop(tokio::spawn(async move {
            for (seconds, bytes) in pauses {
                sleep(Duration::from_secs(*seconds)).await;
                if sender.send(vec![0; *bytes].into()).await.is_err() {
                    return;
                }
            }
        }));
        let stream = futures_util::stream::unfold(receiver, async |mut receiver| {
            let piece = receiver.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(piece), receiver))
        });
        axum::body::Body::from_stream(stream)
    }

    const PACE: Pace = Pace { pause: Duration::from_secs(30), rate: Some(1000) };

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_is_too_long_ends_the_body() {
        let arrival = Arc::new(Arrival::default());
        let body =
            Arriving::new(pieces(&[(29, 100_000), (29, 100_000), (31, 1)]), Arc::clone(&arrival), PACE);
        let start = Instant::now();
        let error = body.collect().await.unwrap_err();
        assert_eq!(error.to_string(), "the body takes too long to arrive");
        assert_eq!((start.elapsed().as_secs(), arrival.bytes()), (29 + 29 + 30, 200_000));
        assert!(arrival.was_too_slow());
        arrival.ended().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_ends_the_body_and_a_steady_stream_does_not() {
        let arrival = Arc::new(Arrival::default());
        let trickle = Arriving::new(pieces(&[(20, 1), (20, 1), (20, 1)]), Arc::clone(&arrival), PACE);
        let start = Instant::now();
        assert!(trickle.collect().await.is_err());
        assert_eq!(start.elapsed().as_secs(), 30);

        let arrival = Arc::new(Arrival::default());
        let steady =
            Arriving::new(pieces(&[(20, 20_000), (20, 20_000), (20, 20_000)]), Arc::clone(&arrival), PACE);
        assert_eq!(steady.collect().await.unwrap().to_bytes().len(), 60_000);
        assert!(!arrival.was_too_slow());
        arrival.ended().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_not_wanted_any_more_has_ended() {
        let arrival = Arc::new(Arrival::default());
        let body = Arriving::new(pieces(&[(1000, 1)]), Arc::clone(&arrival), PACE);
        assert!(timeout(Duration::from_secs(5), arrival.ended()).await.is_err());
        drop(body);
        arrival.ended().await;
    }

    #[tokio::test]
    async fn the_bytes_of_an_answer_are_told_at_its_end() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let body =
            Sending::new(Full::new(Bytes::from_static(b"four")), move |bytes| sender.send(bytes).unwrap());
        assert_eq!(body.collect().await.unwrap().to_bytes().len(), 4);
        assert_eq!(receiver.await, Ok(4));
    }
}
