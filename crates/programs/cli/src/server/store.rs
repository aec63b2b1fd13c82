//! The store of a server, found as the server finds it.

use std::sync::Arc;

use groundstate_audit::{AuditLog, Event, Location, Outcome};
use groundstate_blobs::{BlobStore, Context, Retry, RetryPolicy};
use groundstate_common::{OsIds, SystemClock};
use groundstate_server::AUDIT_PREFIX;
use groundstate_server::config::{ConfigError, Sources, StorePlace};
use groundstate_server::edge::{OpenError, OpenedStore};
use groundstate_statemgr::TokioSleeper;

use crate::args::ServerStoreArgs;
use crate::input::environment::Environment;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::messages::Messages;
use crate::session::who::who;

/// An open store.
pub(super) struct ServerStore {
    pub(super) store: Arc<dyn BlobStore>,
    pub(super) context: Context,
    /// The store without secrets, as it is shown.
    pub(super) place: String,
}

/// Whether the command makes a store that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It does.
    Change,
    /// It reads, so there has to be one.
    Read,
}

impl ServerStore {
    pub(super) fn open(at: &ServerStoreArgs, usage: Use) -> Result<Self> {
        let place = place(at)?;
        let shown = place.to_string();
        match &place {
            StorePlace::Memory => {
                let message = "a store in memory is there for the process of the server alone";
                return Err(Failure::new(Kind::Usage, message).hint("name a directory or a URL with `--store`"));
            }
            StorePlace::Directory(path) if usage == Use::Read && !path.is_dir() => {
                let failure = Failure::new(Kind::NoState, format!("there is no store at {shown}"));
                return Err(failure.hint("name the store of the server with `--store`, or its configuration with `--config`"));
            }
            _ => {}
        }
        let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
        let variables = Environment::of_process().variables;
        let variable = |name: &str| variables.get(name).map(str::to_owned);
        let runtime = runtime()?;
        let guard = runtime.enter();
        let opened = OpenedStore::open(&place, &context, &variable).map_err(|error| failed(&error));
        drop(guard);
        let OpenedStore { store, notes, .. } = opened?;
        notes.iter().for_each(|note| Messages::stderr().warning(note));
        let store: Arc<dyn BlobStore> = Arc::new(Retry::new(store, RetryPolicy::default(), context.clone()));
        Ok(Self { store, context, place: shown })
    }

    /// Where the audit log is.
    pub(super) fn audit(&self) -> Result<Location> {
        Location::new(Arc::clone(&self.store), AUDIT_PREFIX)
            .map_err(|error| Failure::new(Kind::NoState, chain(&error)))
    }

    /// Records what the command did, and returns when that is durable.
    pub(super) fn record(&self, action: &'static str, object: &str, reason: &str) -> Result<()> {
        let refused = |error: groundstate_audit::Error| Failure::new(Kind::NoState, chain(&error));
        let actor = actor();
        // The node is the machine, as in the documents of locks.
        let node = actor.rsplit_once('@').map_or("", |(_, host)| host).to_owned();
        let (log, recorder) = AuditLog::open(self.audit()?, &node, self.context.clone()).map_err(refused)?;
        let event = Event::new(actor, action, object, Outcome::Done).reason(reason);
        let recording = async move { log.record(event).await };
        let (recorded, ()) = runtime()?.block_on(async { tokio::join!(recording, recorder.run()) });
        recorded.map_err(refused)
    }
}

/// Who runs the command, as the audit log and tokens name them.
pub(super) fn actor() -> String {
    format!("user:{}", who())
}

fn place(at: &ServerStoreArgs) -> Result<StorePlace> {
    let sources = || -> Result<Sources, ConfigError> {
        let mut sources = Sources::new();
        if let Some(file) = &at.config {
            sources = sources.read_file(file)?;
        }
        sources = sources.environment(std::env::vars_os())?;
        if let Some(store) = &at.store {
            sources = sources.argument("--store", "store", store)?;
        }
        Ok(sources)
    };
    let variables = Environment::of_process().variables;
    let variable = |name: &str| variables.get(name).map(str::to_owned);
    let config = sources().and_then(|sources| sources.build(&variable));
    config.map(|config| config.store).map_err(|error| invalid(&error))
}

/// The failure of a configuration: all that is wrong with it.
fn invalid(error: &ConfigError) -> Failure {
    let mut problems = error.problems().iter();
    let Some(first) = problems.next() else { return Failure::new(Kind::Usage, error.to_string()) };
    let failure = first.hint.iter().fold(Failure::new(Kind::Usage, first.to_string()), |failure, hint| {
        failure.hint(hint.clone())
    });
    failure.details(problems.map(ToString::to_string))
}

fn failed(error: &OpenError) -> Failure {
    Failure::new(Kind::NoState, chain(error))
}
