//! Taking the lock on a session of its own, releasing it, and ending the session of another holder.

use std::time::Duration;

use groundstate_postgres::tokio_postgres::types::Type;
use groundstate_postgres::tokio_postgres::{self, Client};
use groundstate_postgres::{Session, ends_session};
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use crate::database::{Parameter, take};
use crate::failure::of_statement;
use crate::holder::Blocker;
use crate::statements::{FREE, HOLDERS, OWN, STAY, TAKE};
use crate::store::Inner;

/// How often an attempt is made that something passing got in the way of: a program that looks whether a workspace is being created, or
/// a row that came or went.
const ATTEMPTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(20);
/// How long a session that was ended may take until its locks are free.
const ENDING: Duration = Duration::from_secs(30);

/// The lock of this client.
pub(crate) struct Held {
    pub(crate) session: Session,
    /// What the session holds: the key of the row, or those of the creation of a workspace, or all after a deletion.
    pub(crate) keys: Vec<i64>,
    pub(crate) info: LockInfo,
}

/// What came of an attempt.
enum Attempt {
    Taken(Vec<i64>),
    /// Another session has the workspace locked.
    Busy,
    /// Another session creates a workspace, or looks whether one does.
    Creating,
    /// The row came or went in between.
    Changed,
}

impl Inner {
    pub(crate) async fn take(&self, info: &LockInfo) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        if info.id.is_empty() {
            return Err(self.invalid(OP, "the lock has no id"));
        }
        let mut held = self.held.lock().await;
        if let Some(own) = held.as_ref()
            && self.is_alive(own).await
        {
            return Err(Error::locked(
                OP,
                self,
                Some(LockHolder::of(own.info.clone()).with_process(None, Some(true))),
            ));
        }
        // What is left here is a lock that was lost.
        *held = None;
        self.database.prepare(OP).await?;
        let session = self.database.session(OP).await?;
        let keys = self.acquire(&session, info).await?;
        let own = Held { session, keys, info: info.clone() };
        if !self.is_alive(&own).await {
            return Err(Error::new(ErrorKind::Unsupported, OP, self).because(
                "a pooler gives each statement another session, in which no lock lasts; connect to the server itself, or have the pooler pool sessions",
            ));
        }
        *held = Some(own);
        Ok(LockGrant::new(info.id.clone()))
    }

    /// Takes the keys, or says who has them. The document comes first, so that a client that sees the keys taken can read who took them.
    async fn acquire(&self, session: &Session, info: &LockInfo) -> Result<Vec<i64>> {
        const OP: Op = Op::Lock;
        let failed = |error| of_statement(OP, self, false, error);
        session.query_typed(STAY, &[]).await.map_err(failed)?;
        self.leave_document(session, info).await.map_err(failed)?;
        for attempt in 1..=ATTEMPTS {
            match self.attempt(session).await.map_err(|error| self.lacking(OP, error))? {
                Attempt::Taken(keys) => return Ok(keys),
                Attempt::Busy => break,
                Attempt::Creating if attempt < ATTEMPTS => tokio::time::sleep(PAUSE).await,
                Attempt::Creating | Attempt::Changed => {}
            }
        }
        self.remove_document(session).await.map_err(failed)?;
        Err(match self.database.blocker(OP, &self.workspace).await? {
            Some(Blocker::Of(holder, _)) => Error::locked(OP, self, Some(holder)),
            Some(Blocker::Elsewhere(document)) => {
                self.created_elsewhere(OP, &document.workspace, document.info)
            }
            None => Error::raced(OP, self),
        })
    }

    pub(crate) fn created_elsewhere(&self, op: Op, workspace: &str, info: LockInfo) -> Error {
        let workspace = groundstate_common::one_line(workspace).into_owned();
        Error::new(ErrorKind::Locked, op, self).because(format!(
            "while a workspace is created, others of the database cannot be locked, and {workspace} is being created by {}",
            LockHolder::of(info)
        ))
    }

    /// The error when tables vanish between their creation and their use.
    fn lacking(&self, op: Op, error: tokio_postgres::Error) -> Error {
        if crate::failure::lacks_table(&error) {
            self.database.forget_preparation();
        }
        of_statement(op, self, false, error)
    }

    /// One attempt to take the keys; those that were taken in vain are freed again.
    async fn attempt(&self, session: &Session) -> Result<Attempt, tokio_postgres::Error> {
        let (statements, name) = (&self.database.statements, &self.workspace);
        let parameters: [Parameter<'_>; 1] = [(name, Type::TEXT)];
        let row = session.query_typed_opt(&statements.lock_row, &parameters).await?;
        let Some(row) = row else { return self.attempt_to_create(session).await };
        let key: i64 = row.try_get(0)?;
        if !row.try_get::<_, bool>(1)? {
            return Ok(Attempt::Busy);
        }
        // The row may have been deleted after the statement began.
        let now = session.query_typed_opt(&statements.row, &parameters).await?;
        if now.map(|row| row.try_get::<_, i64>(0)).transpose()? != Some(key) {
            free(session, &[key]).await?;
            return Ok(Attempt::Changed);
        }
        // A creator of this workspace holds its keys until it ends, though the row exists by now.
        let creators =
            session.query_typed(HOLDERS, &[(&&self.database.creation[..], Type::INT8_ARRAY)]).await?;
        if !creators.is_empty() {
            free(session, &[key]).await?;
            return Ok(Attempt::Creating);
        }
        Ok(Attempt::Taken(vec![key]))
    }

    async fn attempt_to_create(&self, session: &Session) -> Result<Attempt, tokio_postgres::Error> {
        let keys = self.database.creation;
        if !take_all(session, &keys).await? {
            return Ok(Attempt::Creating);
        }
        let parameters: [Parameter<'_>; 1] = [(&self.workspace, Type::TEXT)];
        if session.query_typed_opt(&self.database.statements.row, &parameters).await?.is_some() {
            free(session, &keys).await?;
            return Ok(Attempt::Changed);
        }
        Ok(Attempt::Taken(keys.to_vec()))
    }

    /// Whether the session still holds the lock.
    pub(crate) async fn is_alive(&self, own: &Held) -> bool {
        !own.session.is_lost() && holds(&own.session, own).await.unwrap_or(false)
    }

    /// Puts down who is about to take the lock. Where there is no table for it, or no right, the lock is without a document.
    async fn leave_document(&self, session: &Session, info: &LockInfo) -> Result<(), tokio_postgres::Error> {
        let (table, document) = (&self.database.settings.table, info.to_json());
        let of_workspace: [Parameter<'_>; 2] = [(table, Type::TEXT), (&self.workspace, Type::TEXT)];
        let statements = &self.database.statements;
        unless_refused(session.execute_typed(&statements.forget_ended, &of_workspace).await)?;
        let mut parameters = of_workspace.to_vec();
        parameters.push((&document, Type::TEXT));
        unless_refused(session.execute_typed(&statements.document, &parameters).await)
    }

    async fn remove_document(&self, session: &Session) -> Result<(), tokio_postgres::Error> {
        let table = &self.database.settings.table;
        let parameters: [Parameter<'_>; 2] = [(table, Type::TEXT), (&self.workspace, Type::TEXT)];
        unless_refused(session.execute_typed(&self.database.statements.forget, &parameters).await)
    }

    pub(crate) async fn release(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::Unlock;
        let mut held = self.held.lock().await;
        if let Some(own) = held.take_if(|own| own.info.id == *id) {
            return self.release_own(OP, own).await;
        }
        match self.holder(OP).await? {
            Some(holder) => Err(Error::locked(OP, self, Some(holder))),
            None => Err(self.not_locked(OP)),
        }
    }

    async fn release_own(&self, op: Op, own: Held) -> Result<()> {
        let Held { session, keys, .. } = own;
        let lost = |error| self.lock_lost(op, session.backend()).with_source(error);
        self.remove_document(&session).await.map_err(lost)?;
        match free(&session, &keys).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.lock_lost(op, session.backend())),
            Err(error) => Err(lost(error)),
        }
    }

    fn not_locked(&self, op: Op) -> Error {
        Error::new(ErrorKind::NotFound, op, self).because("it is not locked")
    }

    pub(crate) fn lock_lost(&self, op: Op, process: i32) -> Error {
        Error::new(ErrorKind::LockLost, op, self).because(format!(
            "the lock was lost with the session that held it, process {process} of the server; take it again and refresh"
        ))
    }

    pub(crate) async fn holder(&self, op: Op) -> Result<Option<LockHolder>> {
        Ok(match self.database.blocker(op, &self.workspace).await? {
            Some(Blocker::Of(holder, _)) => Some(holder),
            Some(Blocker::Elsewhere(_)) | None => None,
        })
    }

    /// Ends the session that holds the lock, if the lock has this id: the id says that the caller has seen whose it is.
    pub(crate) async fn end_holder(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::ForceUnlock;
        let process = match self.database.blocker(OP, &self.workspace).await? {
            Some(Blocker::Of(holder, process)) if holder.id == *id => process,
            Some(Blocker::Of(holder, _)) => return Err(Error::locked(OP, self, Some(holder))),
            Some(Blocker::Elsewhere(_)) | None => return Err(self.not_locked(OP)),
        };
        self.database.terminate(OP, process).await?;
        let started = tokio::time::Instant::now();
        // The session ends when it comes to look, and frees its locks after that.
        while self.is_blocked_by(OP, process).await? {
            if started.elapsed() > ENDING {
                return Err(Error::new(ErrorKind::Unavailable, OP, self).because(format!(
                    "process {process} of the server was told to end and still holds the lock, look again later"
                )));
            }
            tokio::time::sleep(PAUSE).await;
        }
        let table = &self.database.settings.table;
        let parameters: [Parameter<'_>; 3] =
            [(table, Type::TEXT), (&self.workspace, Type::TEXT), (&process, Type::INT4)];
        let client = self.database.connection(OP).await?;
        // The lock is free, whatever becomes of its document.
        drop(client.execute_typed(&self.database.statements.forget_of, &parameters).await);
        Ok(())
    }

    async fn is_blocked_by(&self, op: Op, process: i32) -> Result<bool> {
        let blocker = self.database.blocker(op, &self.workspace).await?;
        Ok(matches!(blocker, Some(Blocker::Of(_, found)) if found == process))
    }
}

/// Takes keys in their order, all or none.
pub(crate) async fn take_all(client: &Client, keys: &[i64]) -> Result<bool, tokio_postgres::Error> {
    for (at, key) in keys.iter().enumerate() {
        if !take(client, TAKE, *key).await? {
            free(client, keys.get(..at).unwrap_or_default()).await?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Frees keys in the reverse order; false if one of them was not held.
pub(crate) async fn free(client: &Client, keys: &[i64]) -> Result<bool, tokio_postgres::Error> {
    let mut were_held = true;
    for key in keys.iter().rev() {
        were_held &= take(client, FREE, *key).await?;
    }
    Ok(were_held)
}

/// Whether a connection is the session that took the lock, and still holds all of it.
pub(crate) async fn holds(client: &Client, own: &Held) -> Result<bool, tokio_postgres::Error> {
    let row = client.query_typed_one(OWN, &[(&own.keys, Type::INT8_ARRAY)]).await?;
    let (process, count): (i32, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(process == own.session.backend() && usize::try_from(count) == Ok(own.keys.len()))
}

/// What the server refuses is left out; what the connection did not carry is an error.
fn unless_refused(outcome: Result<u64, tokio_postgres::Error>) -> Result<(), tokio_postgres::Error> {
    match outcome {
        Err(error) if ends_session(&error) => Err(error),
        _ => Ok(()),
    }
}
