//! The spans of operations on stacks.
//!
//! A span has the operation, the bucket, the stack, the lock by its key, the version of the checkpoint, which attempt it is from the
//! second on, and the kind of a failure: never a state, a tag, a configuration or the text of an error.

use std::future::Future;

use futures_util::future::BoxFuture;
use groundstate_blobs::{BlobVersion, Key};
use tracing::field::{Empty, debug, display};
use tracing::{Instrument, Span, debug_span};

use crate::{Result, Stack};

/// Runs an operation on a stack in a span of its own.
pub(crate) fn run<'a, T: 'a>(
    op: &'static str,
    stack: &Stack,
    work: impl Future<Output = Result<T>> + Send + 'a,
) -> BoxFuture<'a, Result<T>> {
    let span = debug_span!(
        "stack",
        op,
        place = %stack.backend(),
        stack = %stack.reference(),
        lock = Empty,
        version = Empty,
        attempt = Empty,
        error = Empty,
    );
    // Boxed, since it would be in the futures of its callers more than once, and their tasks would need large stacks.
    Box::pin(async move {
        let outcome = work.instrument(span.clone()).await;
        if let Err(error) = &outcome {
            span.record("error", debug(error.kind()));
        }
        outcome
    })
}

/// Says which lock the operation at hand is about.
pub(crate) fn lock(key: &Key) {
    Span::current().record("lock", display(key));
}

/// Says which checkpoint the operation at hand has read or written.
pub(crate) fn version(version: &BlobVersion) {
    Span::current().record("version", display(version));
}

/// Says how often the operation at hand was tried.
pub(crate) fn attempt(number: u64) {
    Span::current().record("attempt", number);
}
