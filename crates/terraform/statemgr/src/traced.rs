//! The spans of operations on states, backends and their history, for what implements them.
//!
//! A span has the operation, the place and, once they are known, the workspace, the version, the lock and the kind of a
//! failure: never the content of a state, the text of an error, or what a lock document says beside its id.

use std::fmt::Display;
use std::future::Future;

use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, debug_span};

use crate::backend::WorkspaceName;
use crate::error::Result;
use crate::holder::{LockGrant, LockHolder};
use crate::lock_info::LockId;
use crate::op::Op;
use crate::store::{Stored, Version, WriteOptions};

/// Reading what is stored.
///
/// # Errors
///
/// Those of the work, as with all that follow.
pub async fn read(
    store: &(impl Display + Sync + ?Sized),
    work: impl Future<Output = Result<Option<Stored>>> + Send,
) -> Result<Option<Stored>> {
    let found = |span: &Span, stored: &Option<Stored>| {
        span.record("found", stored.is_some());
        if let Some(stored) = stored {
            span.record("bytes", stored.bytes.len());
            text(span, "version", &stored.version);
        }
    };
    run(state(Op::Read, store), work, found).await
}

/// Writing so many bytes.
///
/// # Errors
///
/// Those of the work.
pub async fn write(
    store: &(impl Display + Sync + ?Sized),
    bytes: usize,
    options: &WriteOptions,
    work: impl Future<Output = Result<Version>> + Send,
) -> Result<Version> {
    let span = state(Op::Write, store);
    span.record("bytes", bytes);
    conditions(&span, options);
    run(span, work, |span, version| text(span, "version", version)).await
}

/// Deleting what is stored.
///
/// # Errors
///
/// Those of the work.
pub async fn delete(
    store: &(impl Display + Sync + ?Sized),
    options: &WriteOptions,
    work: impl Future<Output = Result<()>> + Send,
) -> Result<()> {
    let span = state(Op::Delete, store);
    conditions(&span, options);
    run(span, work, |_, ()| {}).await
}

/// Taking the lock of this id, or prolonging it.
///
/// # Errors
///
/// Those of the work.
pub async fn grant(
    op: Op,
    store: &(impl Display + Sync + ?Sized),
    id: &LockId,
    work: impl Future<Output = Result<LockGrant>> + Send,
) -> Result<LockGrant> {
    let span = state(op, store);
    text(&span, "lock", id);
    let granted = |span: &Span, grant: &LockGrant| {
        if grant.id != *id {
            text(span, "granted", &grant.id);
        }
        if let Some(token) = grant.fence {
            span.record("fence", token.get());
        }
        if let Some(end) = grant.expires {
            text(span, "expires", end);
        }
    };
    run(span, work, granted).await
}

/// Releasing the lock of this id, by its holder or by force.
///
/// # Errors
///
/// Those of the work.
pub async fn release(
    op: Op,
    store: &(impl Display + Sync + ?Sized),
    id: &LockId,
    work: impl Future<Output = Result<()>> + Send,
) -> Result<()> {
    let span = state(op, store);
    text(&span, "lock", id);
    run(span, work, |_, ()| {}).await
}

/// Looking up the holder of the lock.
///
/// # Errors
///
/// Those of the work.
pub async fn holder(
    store: &(impl Display + Sync + ?Sized),
    work: impl Future<Output = Result<Option<LockHolder>>> + Send,
) -> Result<Option<LockHolder>> {
    let found = |span: &Span, holder: &Option<LockHolder>| {
        span.record("found", holder.is_some());
        if let Some(holder) = holder {
            text(span, "lock", &holder.id);
        }
    };
    run(state(Op::FindHolder, store), work, found).await
}

/// An operation of a [`Backend`](crate::Backend) or a [`History`](crate::History), on a workspace if it has one.
///
/// # Errors
///
/// Those of the work.
pub async fn backend<T>(
    op: Op,
    place: &(impl Display + Sync + ?Sized),
    workspace: Option<&WorkspaceName>,
    work: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    let span =
        debug_span!("backend", op = op.as_str(), place = place.to_string(), workspace = Empty, error = Empty);
    if let Some(workspace) = workspace {
        text(&span, "workspace", workspace);
    }
    run(span, work, |_, _| {}).await
}

/// An operation of a manager, by a verb such as `persist`; the operations of its store are steps of it.
///
/// # Errors
///
/// Those of the work.
pub async fn manager<T>(
    op: &'static str,
    manager: &(impl Display + Sync + ?Sized),
    work: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    run(manager_span(op, manager), work, |_, _| {}).await
}

pub(crate) fn manager_span(op: &'static str, manager: &(impl Display + ?Sized)) -> Span {
    debug_span!(
        "manager",
        op,
        place = manager.to_string(),
        serial = Empty,
        lineage = Empty,
        lock = Empty,
        outcome = Empty,
        error = Empty,
    )
}

fn state(op: Op, store: &(impl Display + ?Sized)) -> Span {
    debug_span!(
        "state",
        op = op.as_str(),
        place = store.to_string(),
        lock = Empty,
        granted = Empty,
        fence = Empty,
        expires = Empty,
        expected = Empty,
        attempt = Empty,
        found = Empty,
        bytes = Empty,
        version = Empty,
        error = Empty,
    )
}

fn conditions(span: &Span, options: &WriteOptions) {
    text(span, "expected", &options.expect);
    if let Some(token) = options.fence {
        span.record("fence", token.get());
    }
}

/// Does the work in the span, and adds what its outcome tells.
pub(crate) async fn run<T>(
    span: Span,
    work: impl Future<Output = Result<T>> + Send,
    answer: impl FnOnce(&Span, &T) + Send,
) -> Result<T> {
    let outcome = work.instrument(span.clone()).await;
    match &outcome {
        Ok(value) => answer(&span, value),
        Err(error) => {
            span.record("error", debug(error.kind()));
        }
    }
    outcome
}

/// Records a text, which a subscriber then shows as one, whatever characters another program has put into it.
pub(crate) fn text(span: &Span, field: &'static str, value: impl Display) {
    if !span.is_disabled() {
        span.record(field, value.to_string());
    }
}
