//! `PgStore`: implements `StateStore` on one row of the table.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::hex;
use groundstate_postgres::tokio_postgres::types::Type;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Op, Result,
    StateStore, Stored, Version, WorkspaceName, WriteOptions, traced,
};
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;
use tracing::{Instrument, Span};

use crate::database::Database;
use crate::locking::Held;

/// A client of the state of one workspace.
///
/// - Reading needs no lock, and no table: where there is none, there is no state.
/// - A write replaces the state that it expects and no other, in one transaction; under a lock, on the session that holds it.
/// - States are text to PostgreSQL, so bytes that are not UTF-8 are refused as `Invalid`.
/// - Dropping the client ends the session of its lock, and so releases it.
pub struct PgStore(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) database: Arc<Database>,
    pub(crate) workspace: String,
    /// The lock that this client holds. Operations on its session take turns.
    pub(crate) held: Mutex<Option<Held>>,
    place: String,
}

impl PgStore {
    pub(crate) fn new(database: Arc<Database>, name: &WorkspaceName) -> Self {
        let place = format!("{database}/{name}");
        let workspace = name.as_str().to_owned();
        Self(Arc::new(Inner { database, workspace, held: Mutex::new(None), place }))
    }
}

impl Inner {
    pub(crate) async fn read_now(&self, op: Op) -> Result<Option<Stored>> {
        let sql = &self.database.statements.read;
        let rows = self.database.query(op, sql, &[(&self.workspace, Type::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let data: Option<&str> = self.database.field(op, row, 0)?;
        match data {
            None | Some("") => {
                tracing::warn!(place = %self, "the row of the workspace has no data, so there is no state");
                Ok(None)
            }
            Some(data) => Ok(Some(Stored::new(data.as_bytes().to_vec(), digest(data)))),
        }
    }

    pub(crate) fn invalid(&self, op: Op, why: &str) -> Error {
        Error::new(ErrorKind::Invalid, op, self).because(why)
    }
}

/// The version of a state: the SHA-256 of its text, which the server computes too.
pub(crate) fn digest(data: &str) -> Version {
    version(&hex(&Sha256::digest(data.as_bytes())))
}

/// The version that these digits of the server are.
pub(crate) fn version(digits: &str) -> Version {
    Version::new(&format!("sha256:{digits}"))
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl fmt::Display for PgStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PgStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgStore({self})")
    }
}

#[async_trait]
impl StateStore for PgStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::none().locking(Exclusion::Global).conditional_write().force_unlock().holder().delete()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        traced::read(self, self.0.read_now(Op::Read)).await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        traced::write(self, bytes.len(), options, self.0.replace(&bytes, options)).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        traced::delete(self, options, self.0.remove(options)).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        let (inner, asked) = (Arc::clone(&self.0), info.clone());
        let work = async {
            // It goes on when the caller gives up: a lock that was taken is then held under its id, and not on its way.
            let taken = tokio::spawn(async move { inner.take(&asked).await }.instrument(Span::current()));
            taken
                .await
                .unwrap_or_else(|error| Err(Error::new(ErrorKind::Internal, OP, self).with_source(error)))
        };
        traced::grant(OP, self, &info.id, work).await
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self).because("the lock lasts as long as its session"))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::Unlock, self, id, self.0.release(id)).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::ForceUnlock, self, id, self.0.end_holder(id)).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        traced::holder(self, self.0.holder(Op::FindHolder)).await
    }

    fn lock_name(&self) -> String {
        format!("the advisory lock of {self}")
    }
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn versions_are_digests_of_the_text() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest("").as_str(), empty);
        assert_ne!(digest("ä"), digest("a"));
    }
}
