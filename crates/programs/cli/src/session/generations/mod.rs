//! Backups of a state: its content before each of the last operations, newest first.
//!
//! A backup belongs to one state. Those of a state in a file are in a hidden directory beside it, which has its name; those of
//! other states are in the user's state directory, under the name of the place and a note of it. A backup has a name of its own
//! while the write is under way, and gets its number when the write has succeeded. `docs/design/0032` says why.

mod home;
mod name;
mod prune;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_common::{Clock, IdSource, OsIds, SystemClock, Timestamp};
use groundstate_durable::parent;
use sha2::{Digest, Sha256};

pub(crate) use home::{private_directory, state_home};
pub(crate) use name::Generation;
use name::Pending;

use crate::input::location::StateLocation;
use crate::input::paths;
use crate::input::remote::{Located, Remote};
use crate::report::error::{Failure, Kind, Result};
use crate::session::files;

/// Name of the note that says of which place backups are.
const NOTE: &str = "place";
/// How long a pending backup of what is stored anyway may belong to a process on another machine.
const FOREIGN: u64 = 3600;

/// The backups of one state.
#[derive(Clone, Debug)]
pub(crate) struct Generations {
    directory: PathBuf,
    /// The place in words, which tells it from every other one.
    pub(crate) place: String,
    /// The state, if it is in a file.
    file: Option<PathBuf>,
}

impl Generations {
    pub(crate) fn of(found: &StateLocation) -> Self {
        match found.located() {
            Located::File(path, _) => Self::beside(path),
            Located::Remote(remote) => Self::elsewhere(remote),
        }
    }

    /// Backups of a state in a file.
    fn beside(path: &Path) -> Self {
        let target = paths::follow(path).unwrap_or_else(|_| path.to_owned());
        let target = std::path::absolute(&target).unwrap_or(target);
        let folder = fs::canonicalize(parent(&target)).unwrap_or_else(|_| parent(&target).to_owned());
        let file = folder.join(target.file_name().unwrap_or_default());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix('.').unwrap_or(&name);
        // Shown as the state is named.
        let directory = parent(path).join("");
        let shown = if target.file_name() == path.file_name() { directory } else { folder };
        let hidden = format!(".{name}.groundstate-backups");
        let directory = if shown.as_os_str().is_empty() { PathBuf::from(hidden) } else { shown.join(hidden) };
        Self { directory, place: file.display().to_string(), file: Some(file) }
    }

    /// Backups of a state that is not in a file.
    fn elsewhere(remote: &Remote) -> Self {
        let place = place_of(remote);
        let digest = hex(&Sha256::digest(place.as_bytes())[..8]);
        let copy = remote.copy();
        let name = copy.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().take(60).collect();
        let directory = match state_home() {
            Some(home) => home.join("backups"),
            // Without a home, where copies of such states have always been.
            None => remote.folder().join(".groundstate-backups"),
        };
        Self { directory: directory.join(format!("{name}-{digest}")), place, file: None }
    }

    /// All backups, newest first.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be read, or has a note of another place.
    pub(crate) fn list(&self) -> Result<Vec<Generation>> {
        let unreadable = |error: &io::Error| Failure::unreadable(&self.directory, error);
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&error)),
        };
        self.check_place()?;
        let mut found: Vec<Generation> = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&error))?;
            let Ok(metadata) = entry.metadata() else { continue };
            found.extend(Generation::parse(entry.path(), metadata.len()).filter(|_| metadata.is_file()));
        }
        // While one is compressed it has two names; the plain one counts.
        found.sort_by(|a, b| b.number.cmp(&a.number).then(a.is_packed().cmp(&b.is_packed())));
        found.dedup_by_key(|generation| generation.number);
        Ok(found)
    }

    fn check_place(&self) -> Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        let noted = fs::read_to_string(self.directory.join(NOTE)).unwrap_or_default();
        if noted.trim_end() == self.place {
            return Ok(());
        }
        let message = format!("the backups in {} are not those of {}", self.directory.display(), self.place);
        Err(Failure::new(Kind::Conflict, message).hint("name a backup with `--from FILE`"))
    }

    /// A name for the backup of a write that is about to be made. Nothing is made yet.
    pub(crate) fn begin(self, operation: &str, restored: Option<u64>) -> PendingBackup {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
        let operation = operation.chars().map(plain).collect();
        let what = Pending { process: std::process::id(), operation, restored };
        // Randomness keeps two writes of one process apart; without it, the time does.
        let id = OsIds.uuid().unwrap_or_else(|_| SystemClock.now().nanos().to_string());
        let path = self.directory.join(what.name(&id));
        PendingBackup { generations: self, what, path, keep: false }
    }

    /// Creates the directory, with its note.
    fn create(&self) -> io::Result<()> {
        let owner = self.file.as_ref().and_then(|file| fs::metadata(file).ok());
        private_directory(&self.directory, owner.as_ref())?;
        match &self.file {
            // No repository takes them in.
            Some(_) => put_once(&self.directory.join(".gitignore"), b"*\n"),
            None => put_once(&self.directory.join(NOTE), format!("{}\n", self.place).as_bytes()),
        }
    }

    /// Settles what killed processes have left: a backup of what is stored no longer gets its number, since its write was made.
    pub(crate) fn settle(&self, stored: &[u8]) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(what) = name.to_str().and_then(Pending::parse) else { continue };
            if is_alive(what.process) {
                continue;
            }
            let path = entry.path();
            match fs::read(&path) {
                Ok(bytes) if bytes == stored || bytes.is_empty() => {
                    let age = entry.metadata().and_then(|meta| meta.modified()).ok();
                    let age = age.and_then(|time| time.elapsed().ok()).unwrap_or_default();
                    if age.as_secs() > FOREIGN {
                        drop(fs::remove_file(path));
                    }
                }
                Ok(_) => drop(self.number(&path, &what, "unknown")),
                Err(_) => {}
            }
        }
    }

    /// Gives a backup its number.
    fn number(&self, pending: &Path, what: &Pending, after: &str) -> io::Result<(u64, PathBuf)> {
        let newest = |entries: fs::ReadDir| {
            let parsed = entries.flatten().filter_map(|entry| Generation::parse(entry.path(), 0));
            parsed.map(|generation| generation.number).max().unwrap_or_default()
        };
        let mut number = newest(fs::read_dir(&self.directory)?) + 1;
        let time = now();
        loop {
            let path = self.directory.join(name::name(number, time, what, after));
            // Another process may take the same number under another name, but not while the state is locked.
            match fs::hard_link(pending, &path) {
                Ok(()) => {
                    fs::remove_file(pending)?;
                    return Ok((number, path));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                // A file system without links.
                Err(_) if !path.exists() => {
                    fs::rename(pending, &path)?;
                    return Ok((number, path));
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The backup of a write that has not succeeded yet. Dropping it removes the file, unless it is kept.
#[derive(Debug)]
pub(crate) struct PendingBackup {
    generations: Generations,
    what: Pending,
    path: PathBuf,
    keep: bool,
}

impl PendingBackup {
    /// The file that the backup is written to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes room for the file: called before the write.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        self.generations.create()
    }

    /// Leaves the file, since it is not known whether the write was made. The next change settles it.
    pub(crate) fn leave(&mut self) {
        self.keep = true;
    }

    /// The write has succeeded: gives the backup its number, and removes those beyond the limits. Returns `None` if the write
    /// replaced nothing.
    pub(crate) fn promote(&mut self, after: &str) -> io::Result<Option<(u64, PathBuf)>> {
        if fs::symlink_metadata(&self.path).is_err() {
            return Ok(None);
        }
        // What killed processes have left is older.
        if self.has_leftovers() {
            self.generations.settle(&fs::read(&self.path)?);
        }
        let promoted = self.generations.number(&self.path, &self.what, after)?;
        if let Ok(all) = self.generations.list() {
            prune::prune(&all, &prune::Limits::of_environment());
        }
        Ok(Some(promoted))
    }

    fn has_leftovers(&self) -> bool {
        let Ok(entries) = fs::read_dir(&self.generations.directory) else { return false };
        entries.flatten().any(|entry| {
            entry.path() != self.path && entry.file_name().to_str().and_then(Pending::parse).is_some()
        })
    }
}

impl Drop for PendingBackup {
    fn drop(&mut self) {
        if !self.keep {
            // Nothing is lost with it: what it is a copy of is stored.
            drop(fs::remove_file(&self.path));
        }
        // Fails if there are backups.
        if self.generations.list().is_ok_and(|all| all.is_empty()) && !self.keep {
            for name in [".gitignore", NOTE] {
                drop(fs::remove_file(self.generations.directory.join(name)));
            }
            drop(fs::remove_dir(&self.generations.directory));
        }
    }
}

/// The backup to go back to: that of the newest change which is not undone yet.
///
/// An undo is an operation as well, so its backup stands before the one that it restored. Going back once more means the state
/// before that one.
pub(crate) fn candidate(all: &[Generation]) -> Option<&Generation> {
    let mut at = all.first()?;
    loop {
        let Some(restored) = at.restored else { return Some(at) };
        at = all.iter().find(|other| other.number < restored)?;
    }
}

/// The place of a state that is not in a file, with the server or endpoint that its name leaves out.
fn place_of(remote: &Remote) -> String {
    let settings = &remote.place.settings;
    let option =
        |name: &str| settings.options().get(name).and_then(|value| value.as_str()).map(str::to_owned);
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut at: Vec<String> = Vec::new();
    let endpoints = settings.options().get("endpoints").and_then(|all| all.get("s3")?.as_str());
    at.extend(option("endpoint").or_else(|| endpoints.map(str::to_owned)));
    at.extend(
        ["storage_account_name", "storage_custom_endpoint", "environment"]
            .iter()
            .filter_map(|name| option(name)),
    );
    if at.is_empty() && (settings.kind() == "s3" || remote.name.contains("s3://")) {
        at.extend(
            ["AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL"]
                .iter()
                .find_map(|name| variable(name)),
        );
    }
    let name = match remote.place.workspace.is_default() {
        true => remote.identity(),
        false => format!("{} (workspace {})", remote.identity(), remote.place.workspace),
    };
    let one_line = |text: String| text.replace(char::is_control, "\u{fffd}");
    if at.is_empty() {
        return one_line(name);
    }
    // Addresses of endpoints may hold passwords, so the note has their digest.
    one_line(format!("{name} at {}", hex(&Sha256::digest(at.join("\n").as_bytes())[..8])))
}

/// Beginning of the digest of a state, in hexadecimal digits.
pub(crate) fn short_digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now() -> Timestamp {
    SystemClock.now()
}

/// Puts a small file where none is.
fn put_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(()),
        Err(_) => files::put(path, bytes),
    }
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let Ok(process) = i32::try_from(process) else { return false };
    // A process of another user is alive too.
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), None) != Err(nix::errno::Errno::ESRCH)
}

#[cfg(not(unix))]
fn is_alive(process: u32) -> bool {
    process == std::process::id()
}

#[cfg(test)]
mod tests;
