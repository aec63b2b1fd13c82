//! The conformance suite on databases of a server.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_conformance::{Address, BoxFuture, Harness, TestStore};
use groundstate_statemgr_pg::statemgr::{Backend, Error, ErrorKind, Op, Result, StateStore, WorkspaceName};
use groundstate_statemgr_pg::{PgBackend, PgSettings};
use groundstate_testkit::server_of_peer;
use tokio::runtime::Runtime;

use crate::support::Place;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads can be started"));

struct Databases;

#[async_trait]
impl Harness for Databases {
    fn name(&self) -> String {
        "a table of PostgreSQL".to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let place = Place::new().await;
        let missing = || Error::new(ErrorKind::Unavailable, Op::Other("find"), "a server");
        Ok(Arc::new(Table(place.ok_or_else(missing)?)))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        PgBackend::open(&PgSettings::new(address, &|_| None)?)?.store(&WorkspaceName::default_name())
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(300)
    }
}

struct Table(Place);

#[async_trait]
impl TestStore for Table {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.0.store()))
    }

    fn address(&self) -> Address {
        Address::At(self.0.conn_str())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        self.0.backend().prepare().await?;
        let sql = "INSERT INTO terraform_remote_state.states (name, data) VALUES ('default', '')";
        Ok(self.0.other().await.batch_execute(sql).await.is_ok())
    }

    async fn open_without_container(&self) -> Result<Option<Arc<dyn StateStore>>> {
        let conn_str = self.0.conn_str().replace(&self.0.database, "none_such");
        let settings = PgSettings::new(&conn_str, &|_| None)?;
        PgBackend::open(&settings)?.store(&WorkspaceName::default_name()).map(Some)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(self.0.backend())))
    }
}

mod suite {
    groundstate_conformance::suite!(optional super::harness());
}

fn harness() -> Option<Databases> {
    server_of_peer("postgres", "GROUNDSTATE_PG").map(|_| Databases)
}
