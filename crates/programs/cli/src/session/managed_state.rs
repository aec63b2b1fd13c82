//! A state that is opened with a manager, so that it can be locked and written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_backends::local_path;
use groundstate_common::{OsIds, SystemClock, shell_command};
use groundstate_encryption_providers::{EncryptedStore, Encryption};
use groundstate_statemgr::{Manager, ManagerOptions, StateStore, WorkspaceName};
use groundstate_statemgr_fs::Backup;
use groundstate_statemgr_wal::journal_folder;

use crate::input::encryption;
use crate::input::environment::Environment;
use crate::input::family::Family;
use crate::input::foreign;
use crate::input::location::StateLocation;
use crate::input::packed::PackedStore;
use crate::input::remote::{Located, Remote};
use crate::input::state::family_of;
use crate::input::threads::shared;
use crate::report::error::Result;
use crate::session::backup::{backup_of_migration, keeps_history};
use crate::session::backup_store::BackupStore;
use crate::session::keeper::{Keep, Keeper, KeptBackup};
use crate::session::who::who;

/// A state that can be locked and written.
#[derive(Debug)]
pub(crate) struct ManagedState {
    /// The state as messages name it.
    pub(crate) name: String,
    /// What names it in a command.
    pub(crate) argument: PathBuf,
    pub(crate) manager: Arc<Manager>,
    /// The very bytes that are stored, below what unpacks and decrypts them.
    pub(crate) raw: Arc<dyn StateStore>,
    /// What stands between the manager and a state that is not in a file.
    pub(crate) backup_store: Option<Arc<BackupStore>>,
    /// Where a run may have left a journal of its changes.
    pub(crate) changes: Option<PathBuf>,
    /// How the state is encrypted, if the manager decrypts it.
    pub(crate) encryption: Option<Encryption>,
    /// Keeper of the state before the first write.
    pub(crate) keeper: Option<Arc<Keeper>>,
}

impl ManagedState {
    /// Opens a state. Nothing is locked or written yet. Where the state is compressed or encrypted, it is read and written as
    /// if it were not; the configuration of its place says how it is encrypted.
    pub(crate) fn open(location: StateLocation, keep: Option<Keep>, locking: bool) -> Result<Self> {
        if family_of(&location) == Some(Family::Pulumi) {
            return Self::open_with(location, keep, locking, |store| Arc::new(PackedStore::new(store)));
        }
        let encryption = encryption::of_located(location.located())?;
        let opened = Self::open_with(location, keep, locking, |store| {
            let store = Arc::new(PackedStore::new(store));
            match encryption.clone() {
                Some(encryption) => Arc::new(EncryptedStore::<Arc<dyn StateStore>>::new(store, encryption)),
                None => store,
            }
        })?;
        Ok(Self { encryption, ..opened })
    }

    /// The same for what handles the very bytes that are stored.
    pub(crate) fn open_raw(location: StateLocation, keep: Option<Keep>, locking: bool) -> Result<Self> {
        Self::open_with(location, keep, locking, |store| store)
    }

    fn open_with(
        location: StateLocation,
        keep: Option<Keep>,
        locking: bool,
        wrap: impl FnOnce(Arc<dyn StateStore>) -> Arc<dyn StateStore>,
    ) -> Result<Self> {
        let (name, argument) = (location.name().to_owned(), location.argument().to_owned());
        let backup = keep.as_ref().map_or(Backup::None, Keep::backup);
        let (store, backup_store, changes): (Arc<dyn StateStore>, _, _) = match location.located() {
            Located::File(path, _) => {
                foreign::refuse_backend_record(&name, path)?;
                (location.store(backup)?, None, Some(journal_folder(path)))
            }
            Located::Remote(remote) => {
                let backup_store = Arc::new(BackupStore::new(Remote::clone(remote), backup));
                (Arc::<BackupStore>::clone(&backup_store), Some(backup_store), None)
            }
        };
        let keeper = keep.map(|keep| Arc::new(Keeper::new(Arc::clone(&store), keep)));
        let store = keeper.clone().map_or(store, |keeper| keeper);
        let options = options(locking);
        let raw = Arc::clone(&store);
        let manager = Arc::new(Manager::new(wrap(store), Arc::new(SystemClock), Arc::new(OsIds), options));
        Ok(Self { name, argument, manager, raw, backup_store, changes, encryption: None, keeper })
    }

    /// The backup of the state before the write. `None` if nothing was written, or if nothing was replaced.
    pub(crate) fn kept(&self) -> Option<KeptBackup> {
        self.keeper.as_ref().and_then(|keeper| keeper.kept())
    }

    /// Forgets the backup of an operation that was put back.
    pub(crate) fn was_put_back(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.was_put_back();
        }
    }

    /// A workspace of a backend that is open already.
    pub(crate) fn of_workspace(
        place: &groundstate_backends::Location,
        workspace: &WorkspaceName,
        argument: &Path,
        locking: bool,
    ) -> Result<Self> {
        let is_selected = Environment::of_process().chosen().is_none() && place.workspace == *workspace;
        let place = place.clone().with_workspace(workspace.clone());
        let is_local = place.settings.kind() == "local";
        let changes = journal_of(&place)?;
        let place_of_local = place.clone();
        let remote = Remote::new(place, &argument.to_string_lossy())?.chosen(!is_selected);
        let name = remote.name.clone();
        let found = match is_local {
            true => StateLocation::file(local_state(&place_of_local)?)?,
            false => StateLocation::of_remote(remote.clone(), argument),
        };
        let keep = (!keeps_history(&found)).then(|| backup_of_migration(&found));
        let opened = Self::open_raw(found, keep, locking)?;
        Ok(Self { name, argument: argument.to_owned(), changes, ..opened })
    }

    /// A command on this state with more arguments behind it, which can be pasted.
    pub(crate) fn command(&self, verb: &str, more: &[&str]) -> String {
        match &self.backup_store {
            Some(backup_store) => backup_store.remote().command(verb, more),
            None => shell_command(&format!("groundstate {verb}"), &[&[self.name.as_str()], more].concat()),
        }
    }

    /// What names it in a command that is shown.
    pub(crate) fn shown(&self) -> String {
        self.backup_store
            .as_ref()
            .map_or_else(|| self.name.clone(), |backup_store| backup_store.remote().argument.clone())
    }
}

/// Where a run may have left a journal of its changes, if the state of this place is in a file.
pub(crate) fn journal_of(place: &groundstate_backends::Location) -> Result<Option<PathBuf>> {
    if place.settings.kind() != "local" {
        return Ok(None);
    }
    Ok(Some(journal_folder(&local_state(place)?)))
}

/// The file of a state that the local backend keeps.
fn local_state(place: &groundstate_backends::Location) -> Result<PathBuf> {
    let directory = place.directory.as_deref().unwrap_or(Path::new(""));
    Ok(local_path(&place.settings, &place.workspace, directory)?)
}

/// Files beside the state that look like backups of it, the last few by their names.
pub(crate) fn backups(state: &Path) -> Vec<PathBuf> {
    let folder = state.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = state.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_backup = |other: &String| {
        other.strip_prefix(name).is_some_and(|rest| rest.ends_with(".backup") || rest == ".undone")
    };
    let mut found: Vec<String> = names.filter(is_backup).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(5);
    found.iter().map(|name| state.with_file_name(name)).collect()
}

/// How states are read and written.
fn options(locking: bool) -> ManagerOptions {
    ManagerOptions::default().who(who()).locking(locking).decode(shared())
}
