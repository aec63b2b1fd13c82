//! The STATE argument of commands that change it: a place that is opened with a manager.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_backends::{Purpose, local_path};
use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{Manager, ManagerOptions, StateStore, WorkspaceName};
use groundstate_statemgr_fs::{Backup, FsOptions, FsStore};
use groundstate_statemgr_wal::journal_folder;

use crate::input::packed::PackedStore;
use crate::input::paths;
use crate::input::place::{Located, Remote, locate};
use crate::input::source::{is_standard, not_found};
use crate::report::error::{Failure, Kind, Result};
use crate::session::backup_store::BackupStore;
use crate::session::who::who;

/// A state that can be locked and written.
#[derive(Debug)]
pub(crate) struct ManagedState {
    /// The state as messages name it.
    pub(crate) name: String,
    /// What names it in a command.
    pub(crate) argument: PathBuf,
    pub(crate) manager: Arc<Manager>,
    /// What stands between the manager and a state that is not in a file.
    pub(crate) backup_store: Option<Arc<BackupStore>>,
    /// Where a run may have left a journal of its changes.
    pub(crate) changes: Option<PathBuf>,
}

/// Where a state is, before anything is opened.
#[derive(Clone, Debug)]
pub(crate) struct StateArg {
    name: String,
    argument: PathBuf,
    at: At,
}

#[derive(Clone, Debug)]
enum At {
    File { path: PathBuf, exists: bool },
    Remote(Box<Remote>),
}

impl StateArg {
    /// Finds the place that an argument names, whether something is stored there or not.
    pub(crate) fn at(argument: &Path) -> Result<Self> {
        Self::find(argument, false, Purpose::Change)
    }

    /// The same for commands that need a state to be there. Whether there is one elsewhere than in a file shows when it
    /// is read.
    pub(crate) fn existing(argument: &Path) -> Result<Self> {
        Self::there(Self::find(argument, true, Purpose::Change)?, argument)
    }

    /// The same for commands that change nothing.
    pub(crate) fn to_read(argument: &Path) -> Result<Self> {
        Self::there(Self::find(argument, true, Purpose::Read)?, argument)
    }

    fn there(found: Self, argument: &Path) -> Result<Self> {
        if found.exists() {
            return Ok(found);
        }
        Err(not_found(argument, &io::ErrorKind::NotFound.into()))
    }

    fn find(argument: &Path, must_exist: bool, purpose: Purpose) -> Result<Self> {
        if is_standard(argument) {
            return Err(Failure::new(
                Kind::Usage,
                "standard input is not a place that can be locked or written",
            )
            .hint("name the state's file or directory"));
        }
        match locate(argument, must_exist, purpose)? {
            Located::File(path) => Self::file(path),
            Located::Remote(remote) => {
                Ok(Self { name: remote.name.clone(), argument: argument.to_owned(), at: At::Remote(remote) })
            }
        }
    }

    /// The state in this very file, whatever workspace the command line names.
    pub(crate) fn file(path: PathBuf) -> Result<Self> {
        paths::follow(&path).map_err(|error| Failure::unreadable(&path, &error))?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::of_path(path, true)),
            Ok(metadata) => {
                let (path, why) = (path.display(), paths::special(&metadata));
                let message =
                    format!("{path} is not a regular file, so it cannot be locked or written: {why}");
                Err(Failure::new(Kind::Usage, message))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::of_path(path, false)),
            Err(error) => Err(Failure::unreadable(&path, &error)),
        }
    }

    fn of_path(path: PathBuf, exists: bool) -> Self {
        Self { name: path.display().to_string(), argument: path.clone(), at: At::File { path, exists } }
    }

    /// The state as messages name it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The path of the state, or that of its copies, with this behind its name.
    pub(crate) fn with_suffix(&self, suffix: &str) -> PathBuf {
        let path = match &self.at {
            At::File { path, .. } => path.clone(),
            At::Remote(remote) => remote.copy(),
        };
        with_suffix(&path, suffix)
    }

    /// Whether there is a state, as far as that is known without asking anybody.
    pub(crate) fn exists(&self) -> bool {
        match &self.at {
            At::File { exists, .. } => *exists,
            At::Remote(_) => true,
        }
    }

    /// The place, if the state is not in a file.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match &self.at {
            At::File { .. } => None,
            At::Remote(remote) => Some(remote),
        }
    }

    /// Opens the place. Nothing is read, locked or written yet. Where the state is compressed, it is read and written as
    /// if it were not.
    pub(crate) fn open(self, backup: Backup, locking: bool) -> Result<ManagedState> {
        self.open_with(backup, locking, |store| Arc::new(PackedStore::new(store)))
    }

    /// The same for what handles the very bytes that are stored.
    pub(crate) fn open_raw(self, backup: Backup, locking: bool) -> Result<ManagedState> {
        self.open_with(backup, locking, |store| store)
    }

    fn open_with(
        self,
        backup: Backup,
        locking: bool,
        wrap: impl FnOnce(Arc<dyn StateStore>) -> Arc<dyn StateStore>,
    ) -> Result<ManagedState> {
        let changes = match &self.at {
            At::File { path, .. } => Some(journal_folder(path)),
            At::Remote(_) => None,
        };
        let (store, backup_store): (Arc<dyn StateStore>, _) = match self.at {
            At::File { path, .. } => {
                // Versions are digests here, and every write expects one: tokens would add nothing but a file.
                let options = FsOptions::new().backup(backup).fencing(false);
                let store = FsStore::with_options(&path, options, Arc::new(SystemClock))
                    .map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
                (Arc::new(store), None)
            }
            At::Remote(remote) => {
                let backup_store = Arc::new(BackupStore::new(*remote, backup));
                (Arc::<BackupStore>::clone(&backup_store), Some(backup_store))
            }
        };
        let options = ManagerOptions::default().who(who()).locking(locking);
        let manager = Manager::new(wrap(store), Arc::new(SystemClock), Arc::new(OsIds), options);
        Ok(ManagedState {
            name: self.name,
            argument: self.argument,
            manager: Arc::new(manager),
            backup_store,
            changes,
        })
    }
}

impl ManagedState {
    /// A workspace of a back end that is open already.
    pub(crate) fn of_workspace(
        place: &groundstate_backends::Place,
        workspace: &WorkspaceName,
        argument: &Path,
        locking: bool,
    ) -> Result<Self> {
        let place = place.clone().with_workspace(workspace.clone());
        let is_local = place.settings.kind() == "local";
        let changes = journal_of(&place)?;
        let remote = Remote::new(place, &argument.to_string_lossy())?;
        let name = remote.name.clone();
        let (store, backup_store): (Arc<dyn StateStore>, _) = match is_local {
            true => (remote.store, None),
            false => {
                let copy = with_suffix(&remote.copy(), ".backup");
                let backup_store = Arc::new(BackupStore::new(remote, Backup::At(copy)));
                (Arc::<BackupStore>::clone(&backup_store), Some(backup_store))
            }
        };
        let options = ManagerOptions::default().who(who()).locking(locking);
        let manager = Manager::new(store, Arc::new(SystemClock), Arc::new(OsIds), options);
        Ok(Self { name, argument: argument.to_owned(), manager: Arc::new(manager), backup_store, changes })
    }

    /// What names it in a command that is shown.
    pub(crate) fn shown(&self) -> String {
        self.backup_store
            .as_ref()
            .map_or_else(|| self.name.clone(), |backup_store| backup_store.remote().argument.clone())
    }
}

/// Where a run may have left a journal of its changes, if the state of this place is in a file.
pub(crate) fn journal_of(place: &groundstate_backends::Place) -> Result<Option<PathBuf>> {
    if place.settings.kind() != "local" {
        return Ok(None);
    }
    let directory = place.directory.as_deref().unwrap_or(Path::new(""));
    Ok(Some(journal_folder(&local_path(&place.settings, &place.workspace, directory)?)))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
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
