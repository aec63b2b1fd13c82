//! What an implementer tells the suite: how to make a place, and how to open clients of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, SystemClock};
use groundstate_statemgr::{Backend, Error, ErrorKind, Op, Result, Sleeper, StateStore};

use crate::executor::{BoxFuture, ThreadSleeper, block_on};

/// How another process finds a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// The harness does not say. A store that claims to exclude other processes fails, because nothing shows it.
    Unknown,
    /// No other process can get there, for this reason, such as "blobs in memory". What the store claims about other processes
    /// is reported as not shown.
    Unreachable(String),
    /// What [`Harness::open_at`] needs in another process: a path, or an endpoint with a name.
    At(String),
}

/// Makes places for the cases. Implement [`name`](Self::name) and [`store`](Self::store); the rest has defaults.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// What reports call the store.
    fn name(&self) -> String;

    /// A fresh place: nothing is stored there, nothing is locked, and no other test uses it.
    ///
    /// It may clean up when it is dropped.
    ///
    /// # Errors
    ///
    /// When there is none to be had; the case counts as failed.
    async fn store(&self) -> Result<Arc<dyn TestStore>>;

    /// A client of the place that has this [`address`](TestStore::address), in another process.
    ///
    /// The suite starts the program that it runs in a second time. Nothing of the first process is there: this opens the store
    /// from the address alone.
    ///
    /// # Errors
    ///
    /// Those of opening the store.
    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        let why = "the harness has addresses, so it has to implement `Harness::open_at` as well";
        Err(Error::new(ErrorKind::Internal, Op::Other("open"), address).because(why))
    }

    /// Runs a future to its end.
    ///
    /// The suite runs everything in here, from several threads at the same time. A store that needs a runtime enters it
    /// here: `self.runtime.block_on(future)`. By default no runtime is around.
    fn block_on(&self, future: BoxFuture<'_, ()>) {
        block_on(future);
    }

    /// How long a case may take before it counts as failed.
    fn timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Texts that must not show in `Display`, `Debug` or errors of the store, such as a password in an address.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One place for one state.
///
/// Only [`open`](Self::open) has to be implemented. Each of the others makes cases possible that are reported as not
/// applicable without it.
#[async_trait]
pub trait TestStore: Send + Sync + 'static {
    /// One more client, as another process would open it: it shares nothing with the others but the place.
    ///
    /// # Errors
    ///
    /// Those of opening the store.
    async fn open(&self) -> Result<Arc<dyn StateStore>>;

    /// How another process opens the place, for stores whose locks exclude other processes.
    fn address(&self) -> Address {
        Address::Unknown
    }

    /// The clock that decides when leases end.
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    /// Lets `time` pass on that clock. Places whose clock is the machine's should have leases of a second or two.
    async fn pass(&self, time: Duration) {
        ThreadSleeper.sleep(time).await;
    }

    /// Puts zero bytes where the state would be, past the store; `false` when that cannot be done.
    ///
    /// # Errors
    ///
    /// When it can be done and did not work.
    async fn put_zero_bytes(&self) -> Result<bool> {
        Ok(false)
    }

    /// A client of a place whose container (bucket, database) does not exist, if the service tells that from an empty one.
    ///
    /// # Errors
    ///
    /// Those of opening the store.
    async fn open_without_container(&self) -> Result<Option<Arc<dyn StateStore>>> {
        Ok(None)
    }

    /// Ends the service as a power cut would, and starts it again; `false` when that cannot be done.
    ///
    /// Clients that are open may be of no use afterwards.
    ///
    /// # Errors
    ///
    /// When it can be done and did not work.
    async fn restart(&self) -> Result<bool> {
        Ok(false)
    }

    /// Has the service treat the next request so, whichever client sends it; `false` when that cannot be done.
    ///
    /// # Errors
    ///
    /// When it can be done and did not work.
    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let _ = disturbance;
        Ok(false)
    }

    /// A backend with several named states, if the store belongs to one. Each call is a client of its own.
    ///
    /// # Errors
    ///
    /// Those of opening it.
    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(None)
    }
}

/// What can happen to a request to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Disturbance {
    /// It is refused before it has any effect, as by a service that is overloaded.
    RefuseRequest,
    /// It has its effect, and the answer does not arrive.
    LoseAnswer,
}
