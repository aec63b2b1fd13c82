//! Writing and deleting: in one transaction that compares what is stored, and under a lock looks for the lock.

use groundstate_postgres::ends_session;
use groundstate_postgres::tokio_postgres::types::Type;
use groundstate_postgres::tokio_postgres::{self, Client, IsolationLevel, Transaction};
use groundstate_statemgr::{Error, ErrorKind, Expect, Op, Result, Version, WriteOptions};

use crate::database::{Parameter, take};
use crate::failure::{lacks_table, of_statement};
use crate::holder::Blocker;
use crate::locking::{Held, free, take_all};
use crate::statements::{OWN, TAKE_FOR_TRANSACTION};
use crate::store::{Inner, digest, version};

/// PostgreSQL takes no message and no field of 1 GiB; what is left is for the rest of the message.
const LONGEST: usize = (1 << 30) - (64 << 10);
/// Rows that come and go between two statements are looked for again.
const ROUNDS: usize = 8;
/// A connection that carried more than this is closed.
const LARGE: usize = 32 << 20;

/// What a transaction is for.
enum Change<'a> {
    Write(&'a str),
    Delete,
}

/// The row as a transaction finds it, which stays so until its end.
struct Row {
    id: i64,
    /// Of what is stored; of nothing, where the row has no data.
    version: Option<Version>,
}

/// Why a transaction did not come to its end.
enum Stop {
    Error(Error),
    /// A statement before the commit failed: nothing has happened.
    Statement(tokio_postgres::Error),
    /// The commit failed.
    Commit(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Stop {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Statement(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Inner {
    pub(crate) async fn replace(&self, bytes: &[u8], options: &WriteOptions) -> Result<Version> {
        const OP: Op = Op::Write;
        if bytes.is_empty() {
            return Err(self.invalid(OP, "there is nothing to write, delete the state instead"));
        }
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let Some(text) = text else {
            return Err(self.invalid(
                OP,
                "it is not UTF-8 text without NUL characters, which is all that PostgreSQL keeps",
            ));
        };
        if bytes.len() > LONGEST {
            return Err(self.invalid(OP, "it is longer than the 1 GB that PostgreSQL keeps in a field"));
        }
        self.check(OP, options)?;
        let written = digest(text);
        match self.change(OP, &Change::Write(text), &options.expect).await {
            Ok(()) => Ok(written),
            // Whatever happened, this state is stored.
            Err(error) if error.kind() == ErrorKind::Ambiguous => match self.read_now(OP).await {
                Ok(Some(stored)) if stored.version == written => Ok(written),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn remove(&self, options: &WriteOptions) -> Result<()> {
        const OP: Op = Op::Delete;
        self.check(OP, options)?;
        match self.change(OP, &Change::Delete, &options.expect).await {
            Err(error) if error.kind() == ErrorKind::Ambiguous => {
                match self.database.row(OP, &self.workspace).await {
                    Ok(None) => Ok(()),
                    _ => Err(error),
                }
            }
            outcome => outcome,
        }
    }

    /// Refuses what needs a capability that is not there.
    fn check(&self, op: Op, options: &WriteOptions) -> Result<()> {
        let why = if options.force {
            "the store makes no checks that force overrides"
        } else if options.fence.is_some() {
            "the store has no tokens"
        } else {
            return Ok(());
        };
        Err(Error::unsupported(op, self).because(why))
    }

    async fn change(&self, op: Op, change: &Change<'_>, expect: &Expect) -> Result<()> {
        let mut held = self.held.lock().await;
        match held.as_mut() {
            Some(own) => self.change_under_lock(op, own, change, expect).await,
            None => {
                drop(held);
                self.change_alone(op, change, expect).await
            }
        }
    }

    async fn change_alone(&self, op: Op, change: &Change<'_>, expect: &Expect) -> Result<()> {
        if matches!(change, Change::Write(_)) {
            self.database.prepare(op).await?;
        }
        let mut client = self.database.connection(op).await?;
        let outcome = self.transact(op, &mut client, None, change, expect).await;
        if matches!(change, Change::Write(text) if text.len() > LARGE) {
            client.close();
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) if error.kind() == ErrorKind::Locked => {
                match self.database.blocker(op, &self.workspace).await? {
                    Some(Blocker::Of(holder, _)) => Err(Error::locked(op, self, Some(holder))),
                    _ => Err(error),
                }
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Statement(error)) if lacks_table(&error) => match (change, expect) {
                // Where there is no table, there is nothing to delete.
                (Change::Delete, Expect::Any | Expect::Absent) => Ok(()),
                (Change::Delete, _) => Err(self.conflict(op, expect, None)),
                (Change::Write(_), _) => {
                    self.database.forget_preparation();
                    Err(of_statement(op, self, false, error))
                }
            },
            Err(Stop::Statement(error)) => Err(of_statement(op, self, false, error)),
            Err(Stop::Commit(error)) => Err(of_statement(op, self, true, error)),
        }
    }

    async fn change_under_lock(
        &self,
        op: Op,
        own: &mut Held,
        change: &Change<'_>,
        expect: &Expect,
    ) -> Result<()> {
        let process = own.session.backend();
        let lost = || self.lock_lost(op, process);
        let mut added = Vec::new();
        if matches!(change, Change::Delete) {
            added = self.keep_after_deletion(op, own).await?;
        }
        let keys = own.keys.clone();
        let outcome = self.transact(op, &mut own.session, Some((process, &keys)), change, expect).await;
        if outcome.is_err() && !added.is_empty() && free(&own.session, &added).await.is_ok() {
            own.keys.retain(|key| !added.contains(key));
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
            // The session has ended before the commit, and with it the lock.
            Err(Stop::Statement(error)) if own.session.is_lost() || ends_session(&error) => {
                Err(lost().with_source(error))
            }
            Err(Stop::Statement(error)) => Err(of_statement(op, self, false, error)),
            Err(Stop::Commit(error)) => Err(of_statement(op, self, true, error)),
        }
    }

    /// Takes what keeps others from locking the workspace once its row is gone; which keys that were.
    async fn keep_after_deletion(&self, op: Op, own: &mut Held) -> Result<Vec<i64>> {
        let creation = self.database.creation;
        let is_created = own.keys.iter().any(|key| creation.contains(key));
        if is_created || self.database.row(op, &self.workspace).await?.is_none() {
            return Ok(Vec::new());
        }
        let process = own.session.backend();
        let taken = take_all(&own.session, &creation).await;
        if taken.map_err(|error| self.lock_lost(op, process).with_source(error))? {
            own.keys.extend(creation);
            return Ok(creation.to_vec());
        }
        let why = "another workspace of the database is being created, which keeps this one from being deleted; try again later";
        Err(Error::new(ErrorKind::Unavailable, op, self).because(why))
    }

    /// Compares and changes in one transaction, on the session of the lock if there is one: its process and its keys.
    async fn transact(
        &self,
        op: Op,
        client: &mut Client,
        lock: Option<(i32, &[i64])>,
        change: &Change<'_>,
        expect: &Expect,
    ) -> Result<(), Stop> {
        let transaction =
            client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).read_only(false);
        let transaction = transaction.start().await?;
        if let Some((process, keys)) = lock {
            let row = transaction.query_typed_one(OWN, &[(&keys, Type::INT8_ARRAY)]).await?;
            let (now, count): (i32, i64) = (row.try_get(0)?, row.try_get(1)?);
            if now != process || usize::try_from(count) != Ok(keys.len()) {
                return Err(Stop::Error(self.lock_lost(op, process)));
            }
        }
        for _ in 0..ROUNDS {
            let found = self.look(&transaction).await?;
            let stored = found.as_ref().and_then(|row| row.version.as_ref());
            if !expect.is_met_by(stored) {
                return Err(Stop::Error(self.conflict(op, expect, stored)));
            }
            if self.carry_out(op, &transaction, lock.is_some(), change, found.as_ref()).await? {
                return transaction.commit().await.map_err(Stop::Commit);
            }
        }
        Err(Stop::Error(
            Error::new(ErrorKind::Unavailable, op, self).because("its row comes and goes all the time"),
        ))
    }

    /// The row, which no other transaction changes until this one ends.
    async fn look(&self, transaction: &Transaction<'_>) -> Result<Option<Row>, Stop> {
        let sql = &self.database.statements.look_for_update;
        let Some(row) = transaction.query_typed_opt(sql, &[(&self.workspace, Type::TEXT)]).await? else {
            return Ok(None);
        };
        let (digest, has_data): (Option<String>, bool) = (row.try_get(1)?, row.try_get(2)?);
        Ok(Some(Row {
            id: row.try_get(0)?,
            version: digest.filter(|_| has_data).map(|digits| version(&digits)),
        }))
    }

    /// Changes the row; false if it came up in between.
    async fn carry_out(
        &self,
        op: Op,
        transaction: &Transaction<'_>,
        is_locked: bool,
        change: &Change<'_>,
        found: Option<&Row>,
    ) -> Result<bool, Stop> {
        let statements = &self.database.statements;
        let name: Parameter<'_> = (&self.workspace, Type::TEXT);
        match (change, found) {
            (Change::Write(text), Some(_)) => {
                transaction.execute_typed(&statements.update, &[name, (text, Type::TEXT)]).await?;
                Ok(true)
            }
            (Change::Write(text), None) => {
                Ok(transaction.execute_typed(&statements.insert, &[name, (text, Type::TEXT)]).await? > 0)
            }
            (Change::Delete, Some(row)) => {
                // Without its row, a workspace that another client has locked would not be locked any more.
                if !is_locked && !take(transaction.client(), TAKE_FOR_TRANSACTION, row.id).await? {
                    return Err(Stop::Error(Error::locked(op, self, None)));
                }
                transaction.execute_typed(&statements.delete, &[name]).await?;
                Ok(true)
            }
            (Change::Delete, None) => Ok(true),
        }
    }

    fn conflict(&self, op: Op, expect: &Expect, found: Option<&Version>) -> Error {
        let found = found.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"));
        Error::conflict(op, self, expect, found)
    }
}
