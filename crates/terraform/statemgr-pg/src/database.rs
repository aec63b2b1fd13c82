//! What all workspaces of a backend share: connections for single statements, and the names in them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use groundstate_postgres::tokio_postgres::types::{FromSql, ToSql, Type};
use groundstate_postgres::tokio_postgres::{self, Client, Row};
use groundstate_postgres::{Pool, Pooled, Session, ends_session};
use groundstate_statemgr::{Error, ErrorKind, LockInfo, Op, Result};

use crate::config::PgSettings;
use crate::failure::{failed, lacks_table, of_statement};
use crate::holder::{Blocker, Document, Session as Holding, judge};
use crate::keys::creation_keys;
use crate::schema;
use crate::statements::{HOLDERS, Statements, TERMINATE};

/// Connections for reading, and for writing without a lock.
const CONNECTIONS: usize = 4;

pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A database with a table of states.
pub(crate) struct Database {
    pub(crate) settings: PgSettings,
    pub(crate) statements: Statements,
    pub(crate) creation: [i64; 2],
    pool: Pool,
    place: String,
    is_prepared: AtomicBool,
}

impl Database {
    pub(crate) fn open(settings: &PgSettings) -> Result<Self> {
        let pool = Pool::open(&settings.connection, CONNECTIONS);
        Ok(Self {
            pool: pool.map_err(|error| failed(Op::Other("open"), settings, error))?,
            place: settings.to_string(),
            statements: Statements::on(settings),
            creation: creation_keys(settings),
            settings: settings.clone(),
            is_prepared: AtomicBool::new(false),
        })
    }

    /// A connection for a statement, or for a transaction that ends before it is given up.
    pub(crate) async fn connection(&self, op: Op) -> Result<Pooled> {
        self.pool.get().await.map_err(|error| failed(op, self, error))
    }

    /// A connection that is the caller's alone.
    pub(crate) async fn session(&self, op: Op) -> Result<Session> {
        Session::connect(&self.settings.connection).await.map_err(|error| failed(op, self, error))
    }

    /// Creates what is missing, once.
    pub(crate) async fn prepare(&self, op: Op) -> Result<()> {
        if self.is_prepared.load(Ordering::Relaxed) {
            return Ok(());
        }
        let client = self.connection(op).await?;
        schema::create(&client, &self.settings, op).await?;
        schema::create_locks(&client, &self.settings).await;
        self.is_prepared.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// That the tables may be missing after all.
    pub(crate) fn forget_preparation(&self) {
        self.is_prepared.store(false, Ordering::Relaxed);
    }

    /// Carries a statement out that reads. Where there is no table yet, there is nothing in it.
    pub(crate) async fn query(&self, op: Op, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        let client = self.connection(op).await?;
        match client.query_typed(sql, parameters).await {
            Err(error) if lacks_table(&error) && !self.settings.skip_table => Ok(Vec::new()),
            outcome => outcome.map_err(|error| of_statement(op, self, false, error)),
        }
    }

    /// The names of the rows but `default`.
    pub(crate) async fn names(&self, op: Op) -> Result<Vec<String>> {
        let rows = self.query(op, &self.statements.list, &[]).await?;
        let names = rows.iter().map(|row| self.field::<Option<String>>(op, row, 0));
        // A name may be missing in a row that another program wrote.
        names.filter_map(Result::transpose).collect()
    }

    /// The number of a workspace's row, if it has one.
    pub(crate) async fn row(&self, op: Op, workspace: &str) -> Result<Option<i64>> {
        let rows = self.query(op, &self.statements.row, &[(&workspace, Type::TEXT)]).await?;
        rows.first().map(|row| self.field(op, row, 0)).transpose()
    }

    /// Which session keeps others from locking a workspace.
    pub(crate) async fn blocker(&self, op: Op, workspace: &str) -> Result<Option<Blocker>> {
        let row = self.row(op, workspace).await?;
        let keys: Vec<i64> = row.into_iter().chain(self.creation).collect();
        let rows = self.query(op, HOLDERS, &[(&keys, Type::INT8_ARRAY)]).await?;
        let mut sessions = Vec::new();
        for row in &rows {
            sessions.push(Holding {
                key: self.field(op, row, 0)?,
                process: self.field(op, row, 1)?,
                role: self.field(op, row, 2)?,
                application: self.field(op, row, 3)?,
                address: self.field(op, row, 4)?,
            });
        }
        if sessions.is_empty() {
            return Ok(None);
        }
        let documents = self.documents(op, &sessions).await?;
        Ok(judge(workspace, row, &sessions, &documents))
    }

    async fn documents(&self, op: Op, sessions: &[Holding]) -> Result<Vec<Document>> {
        let processes: BTreeSet<i32> = sessions.iter().map(|session| session.process).collect();
        let processes: Vec<i32> = processes.into_iter().collect();
        let client = self.connection(op).await?;
        let states = &self.settings.table;
        let parameters: [Parameter<'_>; 2] = [(states, Type::TEXT), (&processes, Type::INT4_ARRAY)];
        let rows = match client.query_typed(&self.statements.documents, &parameters).await {
            Ok(rows) => rows,
            // Locks are without documents then; the session is still known.
            Err(error) if !ends_session(&error) => return Ok(Vec::new()),
            Err(error) => return Err(of_statement(op, self, false, error)),
        };
        let mut documents = Vec::new();
        for row in &rows {
            let document: String = self.field(op, row, 2)?;
            // What cannot be read is as good as no document.
            if let Ok(info) = LockInfo::parse(document.as_bytes()) {
                let (workspace, process) = (self.field(op, row, 0)?, self.field(op, row, 1)?);
                documents.push(Document { workspace, process, info });
            }
        }
        Ok(documents)
    }

    /// Ends a session of the server, with all that it holds.
    pub(crate) async fn terminate(&self, op: Op, process: i32) -> Result<()> {
        let client = self.connection(op).await?;
        let ended = client.query_typed_one(TERMINATE, &[(&process, Type::INT4)]).await;
        let ended = ended.map_err(|error| of_statement(op, self, false, error)).map_err(|error| {
            let is_denied = error.kind() == ErrorKind::Denied;
            let step = format!(
                "have its owner or a member of pg_signal_backend run `SELECT pg_terminate_backend({process})`"
            );
            let message =
                format!("process {process} of the server holds it, and this role may not end it; {step}");
            if is_denied {
                Error::new(error.kind(), op, self).because(message).with_source(error)
            } else {
                error
            }
        })?;
        // False says that there is no such process any more.
        ended.try_get::<_, bool>(0).map(drop).map_err(|error| of_statement(op, self, false, error))
    }

    /// A column of a row.
    pub(crate) fn field<'a, T: FromSql<'a>>(&self, op: Op, row: &'a Row, column: usize) -> Result<T> {
        row.try_get(column).map_err(|error| {
            let error = Error::new(ErrorKind::Corrupt, op, self).with_source(error);
            error.because("the table is not one of states, it needs the columns id, name and data")
        })
    }
}

/// Takes a key for the session, or for the transaction, or says that it is held.
pub(crate) async fn take(client: &Client, sql: &str, key: i64) -> Result<bool, tokio_postgres::Error> {
    client.query_typed_one(sql, &[(&key, Type::INT8)]).await?.try_get(0)
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({self})")
    }
}
