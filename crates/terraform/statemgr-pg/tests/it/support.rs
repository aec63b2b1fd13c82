//! Databases of a server that the environment names, and what other programs do with them.

use std::sync::{Arc, Mutex};

use groundstate_common::{IdSource, OsIds};
use groundstate_statemgr_pg::statemgr::{LockId, LockInfo, StateStore, WorkspaceName};
use groundstate_statemgr_pg::{PgBackend, PgSettings, PgStore};
use groundstate_testkit::server_of_peer;
use tokio_postgres::{Client, NoTls};

/// The key that Terraform holds while it creates a workspace.
pub(crate) const OF_TERRAFORM: i64 = -1;
/// The key that OpenTofu from 1.10 on holds then, for the default schema and table.
pub(crate) const OF_OPENTOFU: i64 = -3_797_183_428;

/// Databases that no test uses just now. Making and dropping one takes longer than most tests.
static FREE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A database of its own, since advisory locks are those of the database. When this value is dropped, it is emptied for another test.
pub(crate) struct Place {
    server: String,
    pub(crate) database: String,
}

impl Place {
    /// If there is a server.
    pub(crate) async fn new() -> Option<Self> {
        let server = server_of_peer("postgres", "GROUNDSTATE_PG")?;
        let free = FREE.lock().unwrap().pop();
        if let Some(database) = free {
            return Some(Self { server, database });
        }
        let database = format!("s_{:x}", OsIds.number().unwrap());
        connect(&server).await.batch_execute(&format!("CREATE DATABASE {database}")).await.unwrap();
        Some(Self { server, database })
    }

    /// How Terraform connects to it.
    pub(crate) fn conn_str(&self) -> String {
        self.server.replace("/postgres?", &format!("/{}?", self.database))
    }

    pub(crate) fn settings(&self) -> PgSettings {
        PgSettings::new(&self.conn_str(), &|_| None).unwrap()
    }

    /// A client of its own.
    pub(crate) fn backend(&self) -> PgBackend {
        PgBackend::open(&self.settings()).unwrap()
    }

    /// A client of the state of `default`.
    pub(crate) fn store(&self) -> PgStore {
        self.backend().open_store(&WorkspaceName::default_name())
    }

    /// A connection of another program.
    pub(crate) async fn other(&self) -> Client {
        connect(&self.conn_str()).await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (conn_str, database) = (self.conn_str(), self.database.clone());
        // What drops it may be in a runtime, which cannot wait for another one on its own thread.
        let empty = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { connect(&conn_str).await.batch_execute(EMPTY).await })
        };
        if matches!(std::thread::spawn(empty).join(), Ok(Ok(()))) {
            FREE.lock().unwrap().push(database);
        }
    }
}

/// Ends all other sessions, and drops what they made.
const EMPTY: &str = "\
    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid(); \
    DO $$ DECLARE name text; BEGIN \
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$' LOOP \
    EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP; END $$; \
    DROP SEQUENCE IF EXISTS public.global_states_id_seq CASCADE";

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(crate) fn info(id: &str) -> LockInfo {
    LockInfo {
        id: LockId::new(id),
        who: format!("{id}@here"),
        operation: "OperationTypeApply".to_owned(),
        ..LockInfo::default()
    }
}

/// The number of the row of a workspace.
pub(crate) async fn row(client: &Client, workspace: &str) -> i64 {
    let sql = "SELECT id FROM terraform_remote_state.states WHERE name = $1";
    client.query_one(sql, &[&workspace]).await.unwrap().get(0)
}

/// Takes a key as the originals do.
pub(crate) async fn take(client: &Client, key: i64) -> bool {
    client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await.unwrap().get(0)
}

/// Releases it.
pub(crate) async fn free(client: &Client, key: i64) -> bool {
    client.query_one("SELECT pg_advisory_unlock($1)", &[&key]).await.unwrap().get(0)
}

/// The processes of the server that hold a key.
pub(crate) async fn holders(client: &Client, key: i64) -> Vec<i32> {
    let sql = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
               AND classid::bigint = (($1::bigint >> 32) & 4294967295) AND objid::bigint = ($1::bigint & 4294967295)";
    client.query(sql, &[&key]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// What is stored, as text.
pub(crate) async fn stored(store: &Arc<dyn StateStore>) -> Option<String> {
    store.read().await.unwrap().map(|stored| String::from_utf8(stored.bytes).unwrap())
}
