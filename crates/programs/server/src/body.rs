//! Reading and throwing away the bodies of requests.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt;

use crate::limits::Limits;
use crate::problem::{Problem, ProblemType};

/// The length that the client announces, if it does.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The next piece of a body; none behind the last one.
///
/// # Errors
///
/// If the client went away, or sent something that is no body.
pub(crate) async fn next_piece(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Ok(frame)) => {
                // Trailers are not data.
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Some(Err(_)) => return Err(Problem::new(ProblemType::BadRequest, "the body ended too early")),
        }
    }
}

/// A whole body of at most `limit` bytes.
///
/// # Errors
///
/// If it is larger, or ends too early.
pub(crate) async fn small(headers: &HeaderMap, body: &mut Body, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || Problem::new(ProblemType::TooLarge, format!("the body has more than {limit} bytes"));
    if announced(headers).is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let mut all = BytesMut::new();
    while let Some(piece) = next_piece(body).await? {
        if all.len() + piece.len() > limit {
            return Err(too_large());
        }
        all.extend_from_slice(&piece);
    }
    Ok(all.freeze())
}

/// Reads what is left of a refused body, up to a limit, so that the client reads the answer and not a reset.
pub(crate) async fn drain(headers: &HeaderMap, mut body: Body, limits: &Limits) {
    // A client that waits for `100 Continue` sends nothing until the body is read.
    if headers.get(EXPECT).is_some() {
        return;
    }
    let mut left = limits.drained_bytes;
    let reading = async {
        while let Ok(Some(piece)) = next_piece(&mut body).await {
            let Some(less) = left.checked_sub(piece.len() as u64) else { return };
            left = less;
        }
    };
    // The body may come slowly, and the answer does not wait for it for ever.
    if tokio::time::timeout(limits.drained_for, reading).await.is_err() {
        tracing::debug!("a refused body was not read to its end");
    }
}
