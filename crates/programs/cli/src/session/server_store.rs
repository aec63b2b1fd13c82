//! The store of a server, and its audit log.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Context};
use groundstate_server::audit::{self, AuditLog, Event, Location};
use groundstate_server::config::StorePlace;
use groundstate_server::edge::{OpenedStore, Opening, StoreId};
use groundstate_server::{AUDIT_PREFIX, StoreEncryption};

use crate::args::ServerArgs;
use crate::input::runtime::runtime;
use crate::input::server::{build, configured, context, note, of_encryption, sources, unusable, variable};
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::messages::Messages;
use crate::session::who;

/// The store of a server, for commands that work beside servers or without any.
#[derive(Debug)]
pub(crate) struct ServerStore {
    pub(crate) store: Arc<dyn BlobStore>,
    pub(crate) context: Context,
    /// The store as it is shown, without secrets.
    pub(crate) place: String,
}

impl ServerStore {
    /// Opens a store that a server has used, and writes nothing.
    pub(crate) fn open(args: &ServerArgs) -> Result<Self> {
        let (place, context) = (build(&sources(args)?)?.store, context());
        let opened = runtime()?.block_on(OpenedStore::open_used(&place, &context, &variable));
        Ok(Self::of(opened.map_err(|error| unusable(&error))?, &place, context))
    }

    /// Opens a store that a server has used, also where its mark is damaged or missing, with what is wrong with the mark.
    /// Encrypted blobs are decrypted.
    pub(crate) fn open_damaged(args: &ServerArgs) -> Result<(Self, Option<String>)> {
        let (config, context) = (configured(args, &sources(args)?)?, context());
        let place = &config.store;
        let opened = runtime()?.block_on(OpenedStore::open_damaged(place, &context, &variable));
        let (opened, problem) = opened.map_err(|error| unusable(&error))?;
        let mut found = Self::of(opened, place, context);
        let encryption = StoreEncryption::open_used(&config, Arc::clone(&found.store), &found.context);
        found.store = runtime()?.block_on(encryption).map_err(|error| of_encryption(&error))?.store;
        Ok((found, problem))
    }

    /// Marks the store anew.
    pub(crate) fn mark_anew(&self, args: &ServerArgs) -> Result<StoreId> {
        let place = build(&sources(args)?)?.store;
        let note = note(args, &place);
        let marking = OpenedStore::mark_anew(&*self.store, &place, &self.context, note.as_ref());
        runtime()?.block_on(marking).map_err(|error| unusable(&error))
    }

    /// Opens a store as a server does when it starts, which prepares one that is new.
    pub(crate) fn prepare(args: &ServerArgs, init: bool) -> Result<Self> {
        let (place, context) = (build(&sources(args)?)?.store, context());
        if place.is_volatile() {
            let message = "a store in memory is there for the process of its server alone";
            return Err(Failure::new(Kind::Usage, message).hint("name a directory or a URL with `--store`"));
        }
        let opened = runtime()?.block_on(async {
            let mut opened = OpenedStore::open(&place, &context, &variable)?;
            opened.check(&place, &context, &Opening::default().init(init).note(note(args, &place))).await?;
            Ok(opened)
        });
        let opened = opened.map_err(|error| unusable(&error))?;
        opened.notes.iter().for_each(|note| Messages::stderr().warning(note));
        if opened.is_new {
            let note = format!("no server has used {place} before; it is ready for one now");
            Messages::stderr().note(&note);
        }
        Ok(Self::of(opened, &place, context))
    }

    fn of(opened: OpenedStore, place: &StorePlace, context: Context) -> Self {
        Self { store: opened.store, context, place: place.to_string() }
    }

    /// Where the audit log is.
    pub(crate) fn audit_log(&self) -> Result<Location> {
        Location::new(Arc::clone(&self.store), AUDIT_PREFIX).map_err(|error| of_audit_log(&error))
    }

    /// Records what the command did, and returns when that is durable.
    pub(crate) fn record(&self, action: &'static str, object: &str, reason: &str) -> Result<()> {
        let (log, recorder) = AuditLog::open(self.audit_log()?, &node(), self.context.clone())
            .map_err(|error| of_audit_log(&error))?;
        let event = Event::new(actor(), action, object, audit::Outcome::Done);
        let event = if reason.is_empty() { event } else { event.reason(reason) };
        // The log ends with its last handle, and the recorder with it.
        let recording = async move { log.record(event).await };
        let (recorded, ()) = runtime()?.block_on(async { tokio::join!(recording, recorder.run()) });
        recorded.map_err(|error| of_audit_log(&error))
    }
}

/// The name of this machine in the audit log.
pub(crate) fn node() -> String {
    who::host().unwrap_or_else(|| "node".to_owned())
}

/// Who runs the command, as tokens and the audit log name them.
pub(crate) fn actor() -> String {
    format!("user:{}", who::who())
}

/// The failure of an operation on the audit log.
pub(crate) fn of_audit_log(error: &audit::Error) -> Failure {
    Failure::new(Kind::of_cause(error).unwrap_or(Kind::NoState), chain(error))
}
