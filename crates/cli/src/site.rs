//! The STATE argument of commands that change it: a place that is opened with a manager.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{Manager, ManagerOptions};
use groundstate_statemgr_fs::{Backup, FsOptions, FsStore};

use crate::error::{Failure, Kind, Result};
use crate::source::{is_standard, not_found};
use crate::who::who;
use crate::workdir::{self, Environment};

/// A state that can be locked and written.
#[derive(Debug)]
pub(crate) struct Site {
    /// The state as messages name it.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) manager: Arc<Manager>,
}

/// Where a state is, before anything is opened.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    name: String,
    path: PathBuf,
    exists: bool,
}

impl Found {
    /// Finds the place that an argument names, whether something is stored there or not.
    pub(crate) fn at(argument: &Path) -> Result<Self> {
        if is_standard(argument) {
            return Err(Failure::new(
                Kind::Usage,
                "standard input is no place that can be locked or written",
            )
            .hint("name the state's file or directory"));
        }
        let metadata = match fs::metadata(argument) {
            Ok(metadata) => metadata,
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && !argument.to_string_lossy().contains("://") =>
            {
                return Ok(Self::new(argument.to_owned(), false));
            }
            Err(error) => return Err(not_found(argument, &error)),
        };
        if !metadata.is_dir() {
            return Self::file(argument.to_owned());
        }
        Self::file(workdir::state_path(argument, &Environment::of_process())?)
    }

    /// The same for commands that need a state to be there.
    pub(crate) fn existing(argument: &Path) -> Result<Self> {
        let found = Self::at(argument)?;
        if found.exists {
            return Ok(found);
        }
        if argument.is_dir() {
            workdir::state_file(argument, &Environment::of_process())?;
        }
        Err(not_found(argument, &io::ErrorKind::NotFound.into()))
    }

    fn file(path: PathBuf) -> Result<Self> {
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::new(path, true)),
            Ok(_) => {
                let message =
                    format!("{} is no regular file, so it cannot be locked or written", path.display());
                Err(Failure::new(Kind::Usage, message))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::new(path, false)),
            Err(error) => Err(Failure::unreadable(&path, &error)),
        }
    }

    fn new(path: PathBuf, exists: bool) -> Self {
        Self { name: path.display().to_string(), path, exists }
    }

    /// The path of the state with this behind its name.
    pub(crate) fn with_suffix(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    }

    pub(crate) fn exists(&self) -> bool {
        self.exists
    }

    /// Opens the place. Nothing is read, locked or written yet.
    pub(crate) fn open(self, backup: Backup, locking: bool) -> Result<Site> {
        // Versions are digests here, and every write expects one: tokens would add nothing but a file.
        let options = FsOptions::new().backup(backup).fencing(false);
        let store = FsStore::with_options(&self.path, options, Arc::new(SystemClock))
            .map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
        let options = ManagerOptions::default().who(who()).locking(locking);
        let manager = Manager::new(Arc::new(store), Arc::new(SystemClock), Arc::new(OsIds), options);
        Ok(Site { name: self.name, path: self.path, manager: Arc::new(manager) })
    }
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
