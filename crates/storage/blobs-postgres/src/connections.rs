//! Statements on one table, whichever connection carries them.

use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::Timestamp;
use groundstate_postgres::tokio_postgres::types::{FromSql, ToSql, Type};
use groundstate_postgres::tokio_postgres::{self, Row};
use groundstate_postgres::{Pool, Pooled, Settings, was_created_meanwhile};

use crate::error::{failed, of_statement};

/// A connection that carried more than this is closed: its buffers stay as large as they ever were.
const LARGE: usize = 32 << 20;

/// Another client may create the table in a way that takes no lock, so its attempt may get in the way.
const ATTEMPTS_TO_CREATE: usize = 5;

pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The connections of a store, and how its errors name the table.
#[derive(Clone)]
pub(crate) struct Connections {
    pool: Pool,
    place: String,
    columns: &'static str,
}

impl Connections {
    /// For a table that `place` names, with these columns.
    pub(crate) fn open(
        settings: &Settings,
        most: usize,
        place: String,
        columns: &'static str,
    ) -> Result<Self> {
        let pool = Pool::open(settings, most).map_err(|error| failed(Op::Open, &place, error))?;
        Ok(Self { pool, place, columns })
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// A connection for statements that have no key.
    pub(crate) async fn get(&self, op: Op) -> Result<Pooled> {
        self.pool.get().await.map_err(|error| failed(op, &self.place, error))
    }

    /// Carries a statement out; `sent` is the size of what goes with it.
    pub(crate) async fn rows(
        &self,
        op: Op,
        place: &str,
        sql: &str,
        parameters: &[Parameter<'_>],
        sent: usize,
    ) -> Result<Vec<Row>> {
        let client = self.get(op).await?;
        let outcome = client.query_typed(sql, parameters).await;
        let received = outcome.iter().flatten().map(Row::raw_size_bytes).sum();
        if sent.max(received) > LARGE {
            client.close();
        }
        outcome.map_err(|error| self.of_statement(op, place, error))
    }

    /// Carries a statement out, and counts the rows it changed.
    pub(crate) async fn count(
        &self,
        op: Op,
        place: &str,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<u64> {
        let count = self.get(op).await?.execute_typed(sql, parameters).await;
        count.map_err(|error| self.of_statement(op, place, error))
    }

    /// Creates the table of this name in SQL, by these statements, unless it exists.
    pub(crate) async fn create(&self, table: &str, statements: &str) -> Result<()> {
        const OP: Op = Op::Create;
        let client = self.get(OP).await?;
        let failed = |error| self.of_statement(OP, &self.place, error);
        let mut attempts = 0;
        loop {
            let exists = "SELECT to_regclass($1) IS NOT NULL";
            let row = client.query_typed_one(exists, &[(&table, Type::TEXT)]).await;
            if field(OP, &self.place, &row.map_err(failed)?, 0)? {
                return Ok(());
            }
            attempts += 1;
            match client.batch_execute(statements).await {
                Err(error) if attempts < ATTEMPTS_TO_CREATE && was_created_meanwhile(&error) => {}
                Err(error) => return Err(failed(error)),
                Ok(()) => return Ok(()),
            }
        }
    }

    /// The error for a statement that failed.
    pub(crate) fn of_statement(&self, op: Op, place: &str, error: tokio_postgres::Error) -> Error {
        let writes = matches!(op, Op::Write | Op::Delete | Op::Create);
        of_statement(op, place, writes, self.columns, error)
    }
}

impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

/// A column of a row that a statement returned.
pub(crate) fn field<'a, T: FromSql<'a>>(op: Op, place: &str, row: &'a Row, column: usize) -> Result<T> {
    row.try_get(column).map_err(|error| {
        Error::new(ErrorKind::Corrupt, op, place).because("the row is not one of a blob").with_source(error)
    })
}

/// The time that is so many microseconds after the beginning of 1970.
pub(crate) fn time(micros: i64) -> Option<Timestamp> {
    let nanos = u32::try_from(micros.rem_euclid(1_000_000) * 1000).unwrap_or_default();
    Timestamp::from_unix(micros.div_euclid(1_000_000), nanos).ok()
}

/// Which bytes of a content to ask for: the offset, and how many, so that their sum fits the server's type. No content is longer.
pub(crate) fn window(range: &std::ops::Range<u64>) -> (u64, i32, i32) {
    const MOST: u64 = (1 << 30) - 1;
    let signed = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
    let start = range.start.min(MOST);
    let len = range.end.saturating_sub(range.start).min(MOST);
    (start, signed(start) + 1, signed(len))
}
