//! Where the state is that a command changes or locks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_backends::Purpose;
use groundstate_common::{SystemClock, shell_command};
use groundstate_durable::special;
use groundstate_statemgr::StateStore;
use groundstate_statemgr_fs::{Backup, FsOptions, FsStore};

use crate::args::is_address;
use crate::input::locate::{is_standard, locate};
use crate::input::paths;
use crate::input::remote::{Located, Remote};
use crate::report::error::{Failure, Kind, Result};

/// Where a state is that may be locked and written. Nothing is open yet.
#[derive(Clone, Debug)]
pub(crate) struct StateLocation {
    name: String,
    argument: PathBuf,
    at: Located,
    /// Something is there, as far as that is known without asking a backend.
    exists: bool,
}

impl StateLocation {
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
            Located::File(path, directory) => Self::in_directory(path, directory),
            Located::Remote(remote) => Ok(Self::of_remote(*remote, argument)),
        }
    }

    /// A place in the network that `argument` has led to.
    pub(crate) fn of_remote(remote: Remote, argument: &Path) -> Self {
        let (name, argument) = (remote.name.clone(), argument.to_owned());
        Self { name, argument, at: Located::Remote(Box::new(remote)), exists: true }
    }

    /// The state in this very file, whatever workspace the command line names.
    pub(crate) fn file(path: PathBuf) -> Result<Self> {
        paths::follow(&path).map_err(|error| Failure::unreadable(&path, &error))?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::of_path(path, true)),
            Ok(metadata) => {
                let (path, why) = (path.display(), special(&metadata));
                let message =
                    format!("{path} is not a regular file, so it cannot be locked or written: {why}");
                Err(Failure::new(Kind::Usage, message))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::of_path(path, false)),
            Err(error) => Err(Failure::unreadable(&path, &error)),
        }
    }

    /// The state in this file, which belongs to a working directory.
    pub(crate) fn in_directory(path: PathBuf, directory: Option<PathBuf>) -> Result<Self> {
        let found = Self::file(path.clone())?;
        Ok(Self { at: Located::File(path, directory), ..found })
    }

    fn of_path(path: PathBuf, exists: bool) -> Self {
        Self {
            name: path.display().to_string(),
            argument: path.clone(),
            at: Located::File(path, None),
            exists,
        }
    }

    /// The state as messages name it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The path of the state, or that of its copies, with this behind its name.
    pub(crate) fn with_suffix(&self, suffix: &str) -> PathBuf {
        match &self.at {
            Located::File(path, _) => with_suffix(path, suffix),
            Located::Remote(remote) => with_suffix(&remote.copy(), suffix),
        }
    }

    /// Whether there is a state, as far as that is known without asking a backend.
    pub(crate) fn exists(&self) -> bool {
        self.exists
    }

    /// The place, if the state is not in a file.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match &self.at {
            Located::File(..) => None,
            Located::Remote(remote) => Some(remote),
        }
    }

    /// What names it in a command.
    pub(crate) fn argument(&self) -> &Path {
        &self.argument
    }

    /// Where the argument has led to.
    pub(crate) fn located(&self) -> &Located {
        &self.at
    }

    /// The store of the state: nothing is read, locked or written yet.
    pub(crate) fn store(&self, backup: Backup) -> Result<Arc<dyn StateStore>> {
        match &self.at {
            // Versions are digests here, and every write expects one: tokens would add nothing but a file.
            Located::File(path, _) => {
                let options = FsOptions::new().backup(backup).fencing(false);
                let store = FsStore::with_options(path, options, Arc::new(SystemClock));
                Ok(Arc::new(store.map_err(|error| Failure::new(Kind::Usage, error.to_string()))?))
            }
            Located::Remote(remote) => Ok(Arc::clone(&remote.store)),
        }
    }
}

/// The path with this behind its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether a word is an address that hardly is the name of a file.
fn names_resource(word: &str) -> bool {
    let (first, _) = word.split_once('.').unwrap_or_default();
    (first.contains('_') || matches!(first, "data" | "module") || word.contains('[')) && is_address(word)
}

/// What an argument names is not there.
pub(crate) fn not_found(argument: &Path, error: &io::Error) -> Failure {
    let failure = Failure::unreadable(argument, error);
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    if let Some(text) = argument.to_str().filter(|text| is_missing && names_resource(text)) {
        return failure
            .hint(format!("the state comes before its addresses, as in `{}`", shell_command(".", &[text])));
    }
    failure.hint("name a state file, a directory, or `-` for standard input")
}
