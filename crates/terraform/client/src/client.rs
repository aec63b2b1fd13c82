//! The client of one state.

use std::fmt;
use std::sync::Arc;

use groundstate_backends::{Location, Purpose};
use groundstate_common::{OsIds, SystemClock};
use groundstate_state_edit::Editor;
use groundstate_statefile::{
    DecodeOptions, Document, EncodeOptions, File, decode, encode, list, outputs, version,
};
use groundstate_statemgr::{
    AbandonedLocks, Decision, LockGuard, Manager, ManagerOptions, Persisted, StateStore, Stored,
    TokioSleeper, Waiting,
};
use groundstate_states::RawJson;
use groundstate_states::addr::AbsResourceInstance;

use crate::error::Error;
use crate::options::Options;
use crate::outputs::Outputs;

/// Finds the state that a text names, as [`Options::open`] does with what [`Options::new`] says.
///
/// # Errors
///
/// [`Error::Location`].
pub async fn open(state: &str) -> Result<Client, Error> {
    Options::new().open(state).await
}

/// One state. Each call reads what is stored now; nothing is kept in between.
pub struct Client {
    options: Options,
    /// What the user named, to be looked at anew before a change.
    argument: String,
    location: Location,
}

impl Client {
    pub(crate) fn new(options: Options, argument: &str, location: Location) -> Self {
        Self { options, argument: argument.to_owned(), location }
    }

    /// Where the state is: its backend with all workspaces, the settings, and the workspace that is meant.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The store, for what this client does not do.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when there can be no such state.
    pub fn store(&self) -> Result<Arc<dyn StateStore>, Error> {
        Ok(self.location.opened.backend.store(&self.location.workspace)?)
    }

    /// The root outputs. Where a store reads ranges, only the part of the state that has them is read.
    ///
    /// # Errors
    ///
    /// [`Error::NoState`], [`Error::Read`], [`Error::Store`].
    pub async fn outputs(&self) -> Result<Outputs, Error> {
        if let Some(ranged) = &self.location.opened.outputs
            && let Some(found) = ranged.outputs(&self.location.workspace, None).await?
        {
            return Ok(Outputs::new(found));
        }
        let (place, stored) = self.read().await?;
        if let Ok(found) = outputs(stored.bytes.as_slice(), None) {
            return Ok(Outputs::new(found));
        }
        // Another format, or a defect: the whole reader upgrades the one and says what the other is.
        Ok(Outputs::of(&decoded(place, &stored.bytes)?.state))
    }

    /// The addresses of all instances, in the order of `terraform state list`.
    ///
    /// # Errors
    ///
    /// [`Error::NoState`], [`Error::Read`], [`Error::Store`].
    pub async fn resources(&self) -> Result<Vec<AbsResourceInstance>, Error> {
        let (place, stored) = self.read().await?;
        match list(stored.bytes.as_slice(), false) {
            Ok(listing) => Ok(listing.iter().map(|listed| listed.address()).collect()),
            Err(_) => Ok(document(place, stored.bytes)?.instances().collect()),
        }
    }

    /// One attribute of an instance by its path, such as `tags.Name`; nothing if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::NoState`], [`Error::Read`], [`Error::Store`].
    pub async fn attribute(
        &self,
        address: &AbsResourceInstance,
        path: &str,
    ) -> Result<Option<RawJson>, Error> {
        let (place, stored) = self.read().await?;
        Ok(document(place, stored.bytes)?.attribute(address, path))
    }

    /// The whole state of any version, as a model.
    ///
    /// # Errors
    ///
    /// [`Error::NoState`], [`Error::Read`], [`Error::Store`].
    pub async fn state(&self) -> Result<File, Error> {
        let (place, stored) = self.read().await?;
        decoded(place, &stored.bytes)
    }

    /// Changes the state: takes the lock, lets `work` edit what is stored, and writes it under the next serial, with every byte
    /// as it was that the edit does not touch. An edit without effect writes nothing. The lock is prolonged meanwhile, and
    /// released also when `work` fails.
    ///
    /// [`Editor::to_file`] is the state as it will be stored, [`Outputs::of`] has its outputs, and [`Editor::preview`] what is
    /// different, so `work` can look before it decides.
    ///
    /// If the future is dropped, the lock may stay; `groundstate unlock` or `terraform force-unlock` frees it.
    ///
    /// # Errors
    ///
    /// What `work` fails with: nothing is written then. [`Error::Store`] when another process holds the lock or has written
    /// meanwhile; [`Error::Location`] when the directory may be read and not changed. After [`Error::LockLost`] and
    /// [`Error::Release`] the change is stored.
    pub async fn change<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Editor<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let location = self.options.locate(&self.argument, Purpose::Change).await?;
        let store = location.opened.backend.store(&location.workspace).map_err(Error::from)?;
        let options = ManagerOptions::default().who(self.options.holder());
        let manager = Arc::new(Manager::new(store, Arc::new(SystemClock), Arc::new(OsIds), options));
        let info = manager.lock_info("groundstate-client").map_err(Error::from)?;
        let waiting = match self.options.lock_timeout {
            Some(timeout) => Waiting::up_to(timeout, &SystemClock, &TokioSleeper),
            None => Waiting::not_at_all(),
        };
        let locker = Arc::<Manager>::clone(&manager);
        let guard = LockGuard::acquire(locker, info, waiting, Arc::new(AbandonedLocks::new()));
        let guard = guard.await.map_err(Error::from)?;
        let change = manager.operate(|editor| work(editor).map(Decision::Store).map_err(Failure::Work));
        let (done, kept) = guard.hold_during(change, &SystemClock, &TokioSleeper).await;
        let released = guard.release().await;
        let (value, persisted) = match done {
            Ok(done) => done,
            Err(Failure::Work(error)) => return Err(error),
            Err(Failure::Store(error)) => return Err(Error::Store(error).into()),
        };
        if persisted == Persisted::Written {
            kept.map_err(Error::LockLost)?;
            released.map_err(Error::Release)?;
        }
        Ok(value)
    }

    /// What is stored, and what messages call the store.
    async fn read(&self) -> Result<(String, Stored), Error> {
        let store = self.store()?;
        let place = store.to_string();
        match store.read().await? {
            Some(stored) => Ok((place, stored)),
            None => Err(Error::NoState { place }),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("location", &self.location).finish_non_exhaustive()
    }
}

impl fmt::Display for Client {
    /// The workspace and the store, which names the file or object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workspace = &self.location.workspace;
        match self.store() {
            Ok(store) => write!(f, "{workspace} in {store}"),
            Err(_) => write!(f, "{workspace} in {}", self.location.opened.backend),
        }
    }
}

/// How an operation fails: by itself, or by what the store says.
enum Failure<E> {
    Work(E),
    Store(groundstate_statemgr::Error),
}

impl<E> From<groundstate_statemgr::Error> for Failure<E> {
    fn from(error: groundstate_statemgr::Error) -> Self {
        Self::Store(error)
    }
}

fn decoded(place: String, text: &[u8]) -> Result<File, Error> {
    decode(text, &DecodeOptions::default()).map_err(|source| Error::Read { place, source })
}

/// The document of a state; one of an older format is upgraded in memory.
fn document(place: String, text: Vec<u8>) -> Result<Document, Error> {
    let opened = match version(&text) {
        Ok(4) => Document::open(text),
        _ => {
            let file = decoded(place.clone(), &text)?;
            // It is only read, so what format 4 has no room for is lost nowhere.
            let upgraded = encode(&file, &EncodeOptions::default().allow_loss(true));
            Document::open(upgraded.unwrap_or(text))
        }
    };
    opened.map_err(|source| Error::Read { place, source })
}
