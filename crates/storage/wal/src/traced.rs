//! The spans of operations on journals: the operation, the place, where records stand and how many there are, never a record.

use std::fmt::Display;
use std::future::Future;

use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, debug_span};

use crate::error::Result;
use crate::op::Op;
use crate::record::{Ack, Cursor, Epoch, Head, Page, Record};
use crate::store::OpenOptions;

/// Opening a journal for writing.
pub(crate) async fn open<T>(
    journal: &(impl Display + Sync + ?Sized),
    options: &OpenOptions,
    work: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    let span = span(Op::Open, journal);
    span.record("owner", options.owner.as_str());
    span.record("take_over", options.take_over);
    run(span, work, |_, _| {}).await
}

/// Adds which writer this is: the token by which older ones are told from it.
pub(crate) fn opened_as(number: u64) {
    Span::current().record("fence", number);
}

/// Looking up the epoch.
pub(crate) async fn head(
    journal: &(impl Display + Sync + ?Sized),
    work: impl Future<Output = Result<Option<Head>>> + Send,
) -> Result<Option<Head>> {
    let found = |span: &Span, head: &Option<Head>| {
        if let Some(head) = head {
            span.record("epoch", head.epoch.get());
        }
    };
    run(span(Op::Other("look at"), journal), work, found).await
}

/// Reading records.
pub(crate) async fn read(
    journal: &(impl Display + Sync + ?Sized),
    from: &Cursor,
    work: impl Future<Output = Result<Page>> + Send,
) -> Result<Page> {
    let span = span(Op::Read, journal);
    span.record("epoch", from.epoch().get());
    span.record("position", from.position().get());
    let page = |span: &Span, page: &Page| {
        span.record("records", page.records.len());
    };
    run(span, work, page).await
}

/// Beginning an epoch.
pub(crate) async fn begin(
    journal: &(impl Display + Sync + ?Sized),
    base: &Record,
    work: impl Future<Output = Result<Epoch>> + Send,
) -> Result<Epoch> {
    let span = span(Op::Begin, journal);
    span.record("bytes", base.as_bytes().len());
    let begun = |span: &Span, epoch: &Epoch| {
        span.record("epoch", epoch.get());
    };
    run(span, work, begun).await
}

/// Appending a batch, which is durable in the end.
pub(crate) async fn append(
    journal: &(impl Display + Sync + ?Sized),
    batch: &[Record],
    work: impl Future<Output = Result<Ack>> + Send,
) -> Result<Ack> {
    let span = span(Op::Append, journal);
    // The bytes are counted only for those who see them.
    if !span.is_disabled() {
        span.record("records", batch.len());
        span.record("bytes", batch.iter().map(|record| record.as_bytes().len()).sum::<usize>());
    }
    let placed = |span: &Span, ack: &Ack| {
        span.record("epoch", ack.epoch.get());
        span.record("position", ack.first.get());
    };
    run(span, work, placed).await
}

/// Ending the epoch, or the writer.
pub(crate) async fn end(
    op: Op,
    journal: &(impl Display + Sync + ?Sized),
    work: impl Future<Output = Result<()>> + Send,
) -> Result<()> {
    run(span(op, journal), work, |_, ()| {}).await
}

fn span(op: Op, journal: &(impl Display + ?Sized)) -> Span {
    debug_span!(
        "journal",
        op = op.as_str(),
        place = journal.to_string(),
        owner = Empty,
        take_over = Empty,
        fence = Empty,
        epoch = Empty,
        position = Empty,
        records = Empty,
        bytes = Empty,
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
            span.record("error", debug(error.kind()));
        }
    }
    outcome
}
