//! The writer that users hold: it hands requests to the thread.

use std::sync::Arc;

use crate::store::is_batch;
use crate::{Ack, Cursor, Epoch, Error, ErrorKind, JournalWriter, Op, Record, Result};
use async_trait::async_trait;

use super::group::{Line, Request};
use crate::traced;

/// A writer of a journal in a folder.
#[derive(Debug)]
pub(crate) struct FsWriter {
    pub(crate) target: Arc<str>,
    pub(crate) line: Line,
}

impl FsWriter {
    fn closed<T>(&self, op: Op) -> Result<T> {
        Err(Error::new(ErrorKind::Closed, op, &self.target))
    }
}

#[async_trait]
impl JournalWriter for FsWriter {
    fn position(&self) -> Option<Cursor> {
        self.line.position()
    }

    async fn begin(&self, base: &Record) -> Result<Epoch> {
        let work = async {
            let answer = self.line.ask(|sender| Request::Begin(base.clone(), sender)).await;
            answer.unwrap_or_else(|| self.closed(Op::Begin))
        };
        traced::begin(&*self.target, base, work).await
    }

    async fn append(&self, batch: &[Record]) -> Result<Ack> {
        const OP: Op = Op::Append;
        if !is_batch(batch) {
            let error = Error::new(ErrorKind::Invalid, OP, &self.target);
            return Err(error.because("the batch is too long, split it"));
        }
        let work = async {
            let answer = self.line.ask(|sender| Request::Append(batch.to_vec(), sender)).await;
            answer.unwrap_or_else(|| self.closed(OP))
        };
        traced::append(&*self.target, batch, work).await
    }

    async fn clear(&self) -> Result<()> {
        let work = async { self.line.ask(Request::Clear).await.unwrap_or_else(|| self.closed(Op::Clear)) };
        traced::end(Op::Clear, &*self.target, work).await
    }

    async fn close(&self) -> Result<()> {
        let work = async { self.line.ask(Request::Close).await.unwrap_or(Ok(())) };
        traced::end(Op::Close, &*self.target, work).await
    }
}
