//! A server that the environment names, and what other programs do with it.

use std::sync::Arc;

use groundstate_blobs_postgres::blobs::BlobStore;
use groundstate_blobs_postgres::{PostgresBlobs, PostgresSettings};
use groundstate_common::{IdSource, OsIds};
use groundstate_testkit::server_of_peer;
use tokio_postgres::{Client, NoTls};

use crate::harness::Harness;

/// A table of the server that no other test has.
pub(crate) struct Place {
    pub(crate) server: String,
    pub(crate) table: String,
}

impl Place {
    /// If there is a server.
    pub(crate) fn new() -> Option<Self> {
        let server = server_of_peer("postgres", "GROUNDSTATE_PG")?;
        Some(Self { server, table: format!("t_{:x}", OsIds.number().unwrap()) })
    }

    pub(crate) fn url(&self, more: &str) -> String {
        format!("{}&table={}{more}", self.server, self.table)
    }

    /// A client of its own.
    pub(crate) fn open(&self, more: &str) -> PostgresBlobs {
        open(&self.url(more))
    }

    /// The same, with the table.
    pub(crate) async fn create(&self) -> PostgresBlobs {
        let store = self.open("");
        store.create_table().await.unwrap();
        store
    }

    /// A connection of another program.
    pub(crate) async fn other(&self) -> Client {
        connect(&self.server).await
    }

    /// Writes as the original does.
    pub(crate) async fn write_as_other(&self, client: &Client, key: &str, base64: &str) {
        let sql = format!(
            "INSERT INTO {t} (key, data) VALUES ($1, $2::text::json) ON CONFLICT (key) DO UPDATE SET data = $2::text::json, updated_at = now()",
            t = self.table
        );
        client.execute(&sql, &[&key, &format!("{{\"data\":\"{base64}\"}}")]).await.unwrap();
    }
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(crate) fn open(url: &str) -> PostgresBlobs {
    PostgresBlobs::open(&PostgresSettings::from_url(url, &|_| None).unwrap()).unwrap()
}

pub(crate) fn harness() -> Option<Harness> {
    let server = server_of_peer("postgres", "GROUNDSTATE_PG")?;
    Some(Harness::new(Arc::new(move |name| {
        let store = open(&format!("{server}&table={}", name.replace('-', "_")));
        // Clients are opened outside of any runtime; the connection ends with this one, and the store opens another.
        let create = || tokio::runtime::Runtime::new().unwrap().block_on(store.create_table());
        std::thread::scope(|scope| scope.spawn(create).join().unwrap())?;
        Ok(Arc::new(store) as Arc<dyn BlobStore>)
    })))
}
