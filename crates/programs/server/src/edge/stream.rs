//! A socket whose client may not stop reading, and which is closed so that the client gets the last answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::activity::Activity;

/// How long, and for how many bytes, a client is listened to after the last answer. A socket that is closed while bytes of the client are
/// unread makes the system of the client throw the answer away.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1 << 20;

/// A socket with the time limits of a server.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    stream: S,
    activity: Arc<Activity>,
    write_timeout: Duration,
    /// Runs while a write waits for the client.
    waiting: Option<Pin<Box<Sleep>>>,
    closing: Closing,
}

#[derive(Debug)]
enum Closing {
    No,
    Lingering { until: Pin<Box<Sleep>>, bytes: usize },
    Done,
}

impl<S> Guarded<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>, write_timeout: Duration) -> Self {
        Self { stream, activity, write_timeout, waiting: None, closing: Closing::No }
    }

    /// Ends a wait that takes too long.
    fn limited<T>(
        waiting: &mut Option<Pin<Box<Sleep>>>,
        limit: Duration,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            *waiting = None;
            return result;
        }
        let timer = waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.activity.bytes_came();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let result = Pin::new(&mut this.stream).poll_write(cx, bytes);
        Self::limited(&mut this.waiting, this.write_timeout, cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        Self::limited(&mut this.waiting, this.write_timeout, cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let result = Pin::new(&mut this.stream).poll_flush(cx);
        Self::limited(&mut this.waiting, this.write_timeout, cx, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.closing {
                Closing::No => {
                    ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
                    this.closing = Closing::Lingering { until: Box::pin(sleep(LINGER)), bytes: 0 };
                }
                Closing::Lingering { until, bytes } => {
                    let mut space = [0; 8192];
                    let mut buffer = ReadBuf::new(&mut space);
                    let is_over = until.as_mut().poll(cx).is_ready() || *bytes > LINGER_BYTES;
                    if !is_over {
                        let read = ready!(Pin::new(&mut this.stream).poll_read(cx, &mut buffer));
                        let came = buffer.filled().len();
                        if read.is_ok() && came > 0 {
                            *bytes += came;
                            continue;
                        }
                    }
                    this.closing = Closing::Done;
                }
                Closing::Done => return Poll::Ready(Ok(())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::{Guarded, LINGER};
    use crate::edge::activity::Activity;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_reading_ends_the_write() {
        let (mut client, server) = duplex(16);
        let mut server = Guarded::new(server, Arc::new(Activity::new(true)), Duration::from_secs(30));
        let start = Instant::now();
        let error = server.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!((error.kind(), start.elapsed()), (std::io::ErrorKind::TimedOut, Duration::from_secs(30)));

        // One that reads slowly does not.
        let (_, server) = (client.read_exact(&mut [0; 16]).await.unwrap(), &mut server);
        let reads = async {
            for _ in 0..8 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                client.read_exact(&mut [0; 8]).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(server.write_all(&[0; 64]), reads);
        written.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_close_waits_for_the_client_but_not_for_long() {
        let (client, server) = duplex(16);
        let mut server = Guarded::new(server, Arc::new(Activity::new(true)), Duration::from_secs(30));
        let start = Instant::now();
        server.shutdown().await.unwrap();
        assert_eq!(start.elapsed(), LINGER);
        drop(client);

        let (mut client, server) = duplex(16);
        let mut server = Guarded::new(server, Arc::new(Activity::new(true)), Duration::from_secs(30));
        let sends = async {
            client.write_all(&[0; 64]).await.unwrap();
            drop(client);
        };
        let start = Instant::now();
        let (closed, ()) = tokio::join!(server.shutdown(), sends);
        closed.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
