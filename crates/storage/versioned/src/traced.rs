//! The spans of operations on documents.
//!
//! A span has the operation, the place, the document and, once they are known, the number of a version, its size, the token of a lock, the
//! revision of the head and how often a step was evaluated: never a content, a note, the document of a lock or the text of an error.

use std::future::Future;

use tracing::field::Empty;
use tracing::{Instrument, Span, debug_span};

use crate::document::Document;
use crate::error::Result;
use crate::op::Op;
use crate::stepping::Stepped;
use crate::version::Version;

/// Runs work on a document in a span of its own.
pub(crate) async fn run<T>(op: Op, document: &Document, work: impl Future<Output = Result<T>>) -> Result<T> {
    let span = debug_span!(
        "document",
        op = op.as_str(),
        place = %document.store(),
        document = document.name().as_str(),
        revision = Empty,
        version = Empty,
        size = Empty,
        token = Empty,
        attempt = Empty,
        error = Empty,
    );
    finish(span, work).await
}

/// Runs work on a store of documents in a span of its own.
pub(crate) async fn run_on_all<T>(
    op: Op,
    place: &impl std::fmt::Display,
    prefix: &str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let span = debug_span!("documents", op = op.as_str(), %place, prefix, count = Empty, error = Empty);
    finish(span, work).await
}

async fn finish<T>(span: Span, work: impl Future<Output = Result<T>>) -> Result<T> {
    let outcome = work.instrument(span.clone()).await;
    if let Err(error) = &outcome {
        span.record("error", tracing::field::debug(error.kind()));
    }
    outcome
}

/// Records what a step left.
pub(crate) fn stepped(stepped: &Stepped, attempt: usize) {
    let span = Span::current();
    span.record("revision", stepped.head.revision).record("attempt", attempt);
    if let Some(lock) = &stepped.lock {
        span.record("token", lock.token);
    }
    if let Some(of_step) = &stepped.version {
        version(of_step);
    }
}

/// Records which version is read.
pub(crate) fn version(version: &Version) {
    Span::current().record("version", version.number).record("size", version.size);
}

/// Records how many entries a page has.
pub(crate) fn count(count: usize) {
    Span::current().record("count", count);
}
