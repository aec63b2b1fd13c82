//! Places in PostgreSQL.

use serde_json::{Map, Value};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, NoTls};

use super::{Store, TestBackend, fresh, server_of_peer};

/// The table of Terraform, as it creates it.
const TABLE: &str = "\
    CREATE SCHEMA IF NOT EXISTS terraform_remote_state; \
    CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint; \
    CREATE TABLE IF NOT EXISTS terraform_remote_state.states \
    (id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') PRIMARY KEY, name text UNIQUE, data text); \
    CREATE UNIQUE INDEX IF NOT EXISTS states_by_name ON terraform_remote_state.states (name)";

/// A database of its own, since locks are those of the database. It is dropped with this value.
#[derive(Debug)]
pub(super) struct Database {
    server: String,
    name: String,
}

impl TestBackend {
    /// A place in PostgreSQL, if there is a server.
    pub fn pg() -> Option<Self> {
        let server = server_of_peer("postgres", "GROUNDSTATE_PG")?;
        let name = fresh("interop").replace('-', "_");
        run(&server, &format!("CREATE DATABASE {name}"), &[]).expect("a database can be created");
        let database = Database { server, name };
        let mut settings = Map::new();
        settings.insert("conn_str".to_owned(), Value::from(database.url()));
        Some(Self { kind: "pg", settings, environment: Vec::new(), store: Store::Pg(database) })
    }

    /// Runs statements in the database of the place, and gives the first column of their rows as text.
    ///
    /// # Panics
    ///
    /// If the place is none in PostgreSQL, or the server refuses.
    pub fn sql(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Vec<String> {
        let database = match &self.store {
            Store::Pg(database) => Some(database),
            _ => None,
        };
        database.expect("the place is in PostgreSQL").query(sql, parameters)
    }
}

impl Database {
    fn url(&self) -> String {
        self.server.replace("/postgres?", &format!("/{}?", self.name))
    }

    pub(super) fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Vec<String> {
        run(&self.url(), sql, parameters).expect("the server takes the statement")
    }

    /// The state of a workspace.
    pub(super) fn state(&self, workspace: &str) -> Option<Vec<u8>> {
        let sql = "SELECT data FROM terraform_remote_state.states WHERE name = $1";
        self.query(sql, &[&workspace]).into_iter().next().map(String::into_bytes)
    }

    pub(super) fn put_state(&self, state: &[u8]) {
        self.query(TABLE, &[]);
        let text = std::str::from_utf8(state).expect("a state is text");
        let sql = "INSERT INTO terraform_remote_state.states (name, data) VALUES ('default', $1) \
                   ON CONFLICT (name) DO UPDATE SET data = $1";
        self.query(sql, &[&text]);
    }

    /// The processes of the server that hold a lock, each once.
    pub(super) fn locks(&self) -> Vec<String> {
        let sql = "SELECT DISTINCT pid::text FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        self.query(sql, &[])
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(run(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name), &[]));
    }
}

/// Runs a statement, or several without parameters, on a thread with a runtime of its own: callers may be in another one.
fn run(url: &str, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<String>, Error> {
    let work = async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let messages = tokio::spawn(connection);
        let rows = match parameters {
            [] => {
                let messages = client.simple_query(sql).await?;
                let row = |message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                };
                messages.into_iter().filter_map(row).collect()
            }
            parameters => {
                let rows = client.query(sql, parameters).await?;
                rows.iter().filter_map(|row| row.get::<_, Option<String>>(0)).collect()
            }
        };
        drop(client);
        drop(messages.await);
        Ok(rows)
    };
    std::thread::scope(|scope| {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
        let worker = scope.spawn(move || runtime().expect("a runtime can be made").block_on(work));
        worker.join().expect("the thread ends")
    })
}
