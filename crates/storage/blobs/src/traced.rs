//! The spans of operations on blobs. [`Retry`](crate::Retry) opens them, and stores that do without it.
//!
//! A span has the operation, the place, the key and, once they are known, versions, lease, attempts and the kind of a failure:
//! never the content of a blob, its metadata or the text of an error.

use std::fmt::Display;
use std::future::Future;

use tracing::field::Empty;
use tracing::{Instrument, Span, debug_span};

use crate::blob::{Blob, BlobMeta, Page};
use crate::error::Result;
use crate::key::Key;
use crate::lease::LeaseId;
use crate::op::Op;
use crate::options::{DeleteOptions, GetOptions, ListOptions, PutOptions};
use crate::version::BlobVersion;

/// A `get`.
///
/// # Errors
///
/// Those of the work.
pub async fn get(
    store: &(impl Display + Sync + ?Sized),
    key: &Key,
    options: &GetOptions,
    work: impl Future<Output = Result<Option<Blob>>> + Send,
) -> Result<Option<Blob>> {
    let span = span(Op::Read, store, key.as_str(), options.lease.as_ref());
    if let Some(range) = &options.range {
        text(&span, "range", format_args!("{}..{}", range.start, range.end));
    }
    let found = |span: &Span, blob: &Option<Blob>| {
        span.record("found", blob.is_some());
        if let Some(blob) = blob {
            version(span, blob.version());
        }
    };
    run(span, work, found).await
}

/// A `head`.
///
/// # Errors
///
/// Those of the work.
pub async fn head(
    store: &(impl Display + Sync + ?Sized),
    key: &Key,
    work: impl Future<Output = Result<Option<BlobMeta>>> + Send,
) -> Result<Option<BlobMeta>> {
    let found = |span: &Span, meta: &Option<BlobMeta>| {
        span.record("found", meta.is_some());
        if let Some(meta) = meta {
            version(span, &meta.version);
        }
    };
    run(span(Op::LookAt, store, key.as_str(), None), work, found).await
}

/// A `put`.
///
/// # Errors
///
/// Those of the work.
pub async fn put(
    store: &(impl Display + Sync + ?Sized),
    key: &Key,
    options: &PutOptions,
    work: impl Future<Output = Result<BlobVersion>> + Send,
) -> Result<BlobVersion> {
    let span = span(Op::Write, store, key.as_str(), options.lease.as_ref());
    text(&span, "expected", &options.precondition);
    run(span, work, version).await
}

/// A `delete`.
///
/// # Errors
///
/// Those of the work.
pub async fn delete(
    store: &(impl Display + Sync + ?Sized),
    key: &Key,
    options: &DeleteOptions,
    work: impl Future<Output = Result<bool>> + Send,
) -> Result<bool> {
    let span = span(Op::Delete, store, key.as_str(), options.lease.as_ref());
    text(&span, "expected", &options.precondition);
    let found = |span: &Span, was_there: &bool| {
        span.record("found", was_there);
    };
    run(span, work, found).await
}

/// A `list`. The span has the prefix as its key.
///
/// # Errors
///
/// Those of the work.
pub async fn list(
    store: &(impl Display + Sync + ?Sized),
    prefix: &str,
    _: &ListOptions,
    work: impl Future<Output = Result<Page>> + Send,
) -> Result<Page> {
    let found = |span: &Span, page: &Page| {
        span.record("count", page.blobs.len() + page.prefixes.len());
    };
    run(span(Op::List, store, prefix, None), work, found).await
}

/// An operation of [`Leases`](crate::Leases), such as [`Op::Lease`].
///
/// # Errors
///
/// Those of the work.
pub async fn lease<T>(
    op: Op,
    store: &(impl Display + Sync + ?Sized),
    key: &Key,
    id: Option<&LeaseId>,
    work: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    run(span(op, store, key.as_str(), id), work, |_, _| {}).await
}

fn span(op: Op, store: &(impl Display + Sync + ?Sized), key: &str, lease: Option<&LeaseId>) -> Span {
    debug_span!(
        "blob",
        op = op.as_str(),
        place = store.to_string(),
        key,
        lease = lease.map(LeaseId::as_str),
        range = Empty,
        expected = Empty,
        attempt = Empty,
        found = Empty,
        version = Empty,
        count = Empty,
        error = Empty,
    )
}

async fn run<T>(
    span: Span,
    work: impl Future<Output = Result<T>> + Send,
    answer: impl FnOnce(&Span, &T) + Send,
) -> Result<T> {
    let outcome = work.instrument(span.clone()).await;
    match &outcome {
        Ok(value) => answer(&span, value),
        Err(error) => {
            span.record("error", tracing::field::debug(error.kind()));
        }
    }
    outcome
}

fn version(span: &Span, version: &BlobVersion) {
    text(span, "version", version);
}

/// Records a text, which a subscriber then shows as one, whatever characters a service has put into it.
fn text(span: &Span, field: &'static str, value: impl Display) {
    if !span.is_disabled() {
        span.record(field, value.to_string());
    }
}
