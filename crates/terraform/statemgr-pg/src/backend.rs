//! `PgBackend`: the workspaces of a table.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, Error, ErrorKind, Expect, History, Op, Result, StateStore,
    WorkspaceName, WriteOptions, create_workspace, delete_workspace, traced, under_lock,
};

use crate::config::PgSettings;
use crate::database::Database;
use crate::store::PgStore;

/// The states of Terraform's backend `pg`: one row of a table for each workspace.
///
/// Schema, sequence, table and index are made by the first write or lock, as the originals make them.
#[derive(Clone)]
pub struct PgBackend {
    database: Arc<Database>,
}

impl PgBackend {
    /// A client that connects when it is first used.
    ///
    /// # Errors
    ///
    /// `Invalid` for certificates that cannot be read, `Denied` for a password file that others may read.
    pub fn open(settings: &PgSettings) -> Result<Self> {
        Ok(Self { database: Arc::new(Database::open(settings)?) })
    }

    /// Creates what is missing of schema, sequence, table and index, unless the settings skip it. The first write or lock does so too.
    ///
    /// # Errors
    ///
    /// `NotFound` for what is missing and skipped, `Denied`, `Unavailable`.
    pub async fn prepare(&self) -> Result<()> {
        self.database.prepare(Op::Other("prepare")).await
    }

    /// A client of a workspace's state.
    pub fn open_store(&self, name: &WorkspaceName) -> PgStore {
        PgStore::new(Arc::clone(&self.database), name)
    }

    async fn create_new(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
        // A row without data is a workspace to the originals, and nothing to a conditional write.
        if self.database.row(Op::CreateWorkspace, name.as_str()).await?.is_some() {
            return Err(
                Error::new(ErrorKind::Conflict, Op::CreateWorkspace, name).because("it exists already")
            );
        }
        create_workspace(&self.open_store(name), name, options).await
    }

    async fn remove(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        let store = self.open_store(name);
        match delete_workspace(&store, name, options).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if self.database.row(Op::DeleteWorkspace, name.as_str()).await?.is_none() {
                    return Err(error);
                }
                let grant = store.lock(&options.lock).await?;
                let empty = WriteOptions::expecting(Expect::Absent);
                under_lock(&grant.id, store.delete(&empty), store.unlock(&grant.id)).await
            }
            outcome => outcome,
        }
    }
}

impl fmt::Display for PgBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.database.fmt(f)
    }
}

impl fmt::Debug for PgBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgBackend({self})")
    }
}

#[async_trait]
impl Backend for PgBackend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        const OP: Op = Op::ListWorkspaces;
        let work = async {
            let names = self.database.names(OP).await?;
            let mut others: Vec<_> =
                names.iter().filter_map(|name| WorkspaceName::parse(name).ok()).collect();
            // The server sorts by the collation of the database.
            others.sort_unstable();
            Ok([vec![WorkspaceName::default_name()], others].concat())
        };
        traced::backend(OP, self, None, work).await
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.open_store(name)))
    }

    async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
        traced::backend(Op::CreateWorkspace, self, Some(name), self.create_new(name, options)).await
    }

    async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        traced::backend(Op::DeleteWorkspace, self, Some(name), self.remove(name, options)).await
    }

    fn history(&self, _: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(None)
    }
}
