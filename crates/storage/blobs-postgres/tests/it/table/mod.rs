//! The table of this project's own.

mod creation;
mod memory;
mod pooler;
mod rows;
mod settings;
mod together;

use std::sync::Arc;

use groundstate_blobs_postgres::blobs::BlobStore;
use groundstate_blobs_postgres::{TableBlobs, TableSettings};
use groundstate_common::{IdSource, OsIds};
use groundstate_testkit::server_of_peer;
use tokio_postgres::Client;

use crate::harness::Harness;

/// A table of the server that no other test has.
pub(crate) struct Place {
    pub(crate) server: String,
    pub(crate) table: String,
}

impl Place {
    /// If there is a server. The table is not there yet.
    pub(crate) fn new() -> Option<Self> {
        let server = server_of_peer("postgres", "GROUNDSTATE_PG")?;
        Some(Self { server, table: format!("o_{:x}", OsIds.number().unwrap()) })
    }

    /// A client of its own.
    pub(crate) fn open(&self, more: &str) -> TableBlobs {
        open(&format!("{}&table={}{more}", self.server, self.table))
    }

    /// A connection of another program.
    pub(crate) async fn other(&self) -> Client {
        crate::server::connect(&self.server).await
    }
}

pub(crate) fn open(url: &str) -> TableBlobs {
    TableBlobs::open(&TableSettings::parse(url, &|_| None).unwrap()).unwrap()
}

/// Tables of a server that a guard keeps up, made by a client that goes away.
fn harness_at<Guard: Send + Sync + 'static>(server: String, guard: Guard) -> Harness {
    Harness::new(Arc::new(move |name| {
        let _ = &guard;
        let store = open(&format!("{server}&connections=4&table={}", name.replace('-', "_")));
        // Clients are opened outside of any runtime; the connection ends with this one, and the store opens another.
        let create = || tokio::runtime::Runtime::new().unwrap().block_on(store.create_table());
        std::thread::scope(|scope| scope.spawn(create).join().unwrap())?;
        Ok(Arc::new(store) as Arc<dyn BlobStore>)
    }))
}

fn harness() -> Option<Harness> {
    server_of_peer("postgres", "GROUNDSTATE_PG").map(|server| harness_at(server, ()))
}

mod suite {
    groundstate_conformance::blob_suite!(optional super::harness());
}
