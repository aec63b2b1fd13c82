//! The spans of operations on stacks.
//!
//! A span has the operation, the store, the stack, the update and, once it is known, the number of a version: never a state, an entry, a
//! configuration, a token or the text of an error.
//!
//! Callers box these futures: each would be in those of its callers more than once, and their tasks would need large stacks.

use std::future::Future;

use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, debug_span};

use crate::error::Result;
use crate::op::Op;
use crate::stack::Stack;
use crate::update::Update;

/// Runs work on a stack in a span of its own.
pub(crate) async fn on_stack<T>(op: Op, stack: &Stack, work: impl Future<Output = Result<T>>) -> Result<T> {
    finish(span(op, stack), work).await
}

/// Runs work on an update in a span of its own.
pub(crate) async fn on_update<T>(
    op: Op,
    update: &Update,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let span = span(op, update.stack());
    span.record("update", update.id());
    finish(span, work).await
}

/// Records which version was made, or will be.
pub(crate) fn version(number: u64) {
    Span::current().record("version", number);
}

fn span(op: Op, stack: &Stack) -> Span {
    debug_span!(
        "stack",
        op = op.as_str(),
        place = %stack.stacks.blobs(),
        stack = %stack.path(),
        update = Empty,
        version = Empty,
        error = Empty,
    )
}

async fn finish<T>(span: Span, work: impl Future<Output = Result<T>>) -> Result<T> {
    let outcome = work.instrument(span.clone()).await;
    if let Err(error) = &outcome {
        span.record("error", debug(error.kind()));
    }
    outcome
}
