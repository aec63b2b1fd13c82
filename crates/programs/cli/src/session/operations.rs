//! The log of operations: what this command has done to states on this machine.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use groundstate_common::{Clock, IdSource, OsIds, SystemClock};
use serde_json::Value;

use crate::report::error::{Failure, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::session::generations::{private_directory, state_home};
use crate::session::who::who;

const FILE: &str = "log.jsonl";
/// The log before the present one.
const OLDER: &str = "log.1.jsonl";
/// Size at which a new log is begun.
const MAX_BYTES: u64 = 4 << 20;

/// A state that an operation has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The run of the command. What one run did to several states has one ID.
    pub(crate) id: String,
    pub(crate) time: String,
    pub(crate) who: String,
    pub(crate) operation: String,
    /// The place in words, which tells it from every other one.
    pub(crate) place: String,
    /// The argument that names the state in a command.
    pub(crate) argument: String,
    /// If `true`, the operation moved resources between states, so they go back together.
    pub(crate) is_joint: bool,
    /// The number of the backup. `None` if there is none, or if it has no number.
    pub(crate) backup: Option<u64>,
    /// The backup that the user named.
    pub(crate) file: Option<String>,
    /// What an undo restored: a backup, a snapshot of the history or a version.
    pub(crate) restored: Option<String>,
    /// Beginning of the digest of what was stored.
    pub(crate) after: String,
    /// The version that the place gave it.
    pub(crate) version: String,
    /// If `true`, nothing was stored there before.
    pub(crate) created: bool,
}

/// The ID of this run.
fn this_run() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let id = OsIds.uuid().unwrap_or_default();
        id.split('-').next().unwrap_or_default().to_owned()
    })
}

impl Entry {
    /// An entry of this run, now.
    pub(crate) fn new(operation: &str, place: &str, argument: &str) -> Self {
        Self {
            id: this_run().to_owned(),
            time: SystemClock.now().to_string(),
            who: who(),
            operation: operation.to_owned(),
            place: place.to_owned(),
            argument: argument.to_owned(),
            ..Self::default()
        }
    }

    fn line(&self) -> String {
        let mut line = Json::object(|json| {
            json.text("id", &self.id);
            json.text("time", &self.time);
            json.text("who", &self.who);
            json.text("operation", &self.operation);
            json.text("place", &self.place);
            json.text("argument", &self.argument);
            json.raw("joint", self.is_joint);
            json.raw("created", self.created);
            if let Some(backup) = self.backup {
                json.raw("backup", backup);
            }
            let optional = [("file", &self.file), ("restored", &self.restored)];
            for (name, value) in
                optional.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)))
            {
                json.text(name, value);
            }
            json.text("after", &self.after);
            json.text("version", &self.version);
        });
        line.push('\n');
        line
    }

    /// Reads a line. Returns `None` for one that a crash has cut off.
    fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let flag = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or_default();
        Some(Self {
            id: text("id")?,
            time: text("time")?,
            who: text("who").unwrap_or_default(),
            operation: text("operation")?,
            place: text("place")?,
            argument: text("argument").unwrap_or_default(),
            is_joint: flag("joint"),
            backup: value.get("backup").and_then(Value::as_u64),
            file: text("file"),
            restored: text("restored"),
            after: text("after").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            created: flag("created"),
        })
    }

    /// Adds the entry to the log, or warns. Without a home there is no log.
    pub(crate) fn record(&self) {
        let Some(home) = state_home() else { return };
        if let Err(error) = self.append_to(&home) {
            Messages::stderr()
                .warning(&format!("the operation is not in the log of `groundstate log`: {error}"));
        }
    }

    fn append_to(&self, home: &Path) -> io::Result<()> {
        private_directory(home, None)?;
        let path = home.join(FILE);
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.len() > MAX_BYTES) {
            fs::rename(&path, home.join(OLDER))?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // One call, so that lines of two processes do not mix.
        options.open(path)?.write_all(self.line().as_bytes())
    }
}

/// All entries, newest first. Lines that cannot be read are left out.
///
/// # Errors
///
/// Returns an error if a log cannot be read. A missing one is empty.
pub(crate) fn entries() -> Result<Vec<Entry>> {
    let Some(home) = state_home() else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for path in [home.join(OLDER), home.join(FILE)] {
        all.extend(read(&path)?);
    }
    all.reverse();
    Ok(all)
}

fn read(path: &PathBuf) -> Result<Vec<Entry>> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).lines().filter_map(Entry::parse).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::unreadable(path, &error)),
    }
}

/// The other state of an operation that moved resources between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partner {
    pub(crate) entry: Entry,
    /// If `true`, the operation wrote the other state before this one.
    pub(crate) was_first: bool,
}

/// Finds the other state of the operation that gave the state at `place` this backup. Returns `None` if the operation changed one
/// state.
pub(crate) fn partner(entries: &[Entry], place: &str, backup: u64) -> Option<Partner> {
    let at = entries.iter().position(|entry| entry.place == place && entry.backup == Some(backup))?;
    partner_of(entries, at)
}

/// Finds the other state of the newest operation on the state at `place`.
pub(crate) fn newest_partner(entries: &[Entry], place: &str) -> Option<Partner> {
    partner_of(entries, entries.iter().position(|entry| entry.place == place)?)
}

fn partner_of(entries: &[Entry], at: usize) -> Option<Partner> {
    let own = entries.get(at).filter(|own| own.is_joint)?;
    let is_other = |other: &&Entry| other.id == own.id && other.is_joint && other.place != own.place;
    let other = entries.iter().position(|other| is_other(&other))?;
    // The newest entry comes first.
    Some(Partner { entry: entries.get(other)?.clone(), was_first: other > at })
}

#[cfg(test)]
mod tests {
    use super::{Entry, newest_partner, partner, read};

    #[test]
    fn entries_are_read_as_they_were_written_and_a_torn_line_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let mut entry = Entry::new("state-mv", "/a \"b\"", "./a");
        entry.append_to(&home).unwrap();
        entry.backup = Some(7);
        entry.restored = Some("3".to_owned());
        entry.append_to(&home).unwrap();
        let path = home.join("log.jsonl");
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"id\":\"torn");
        std::fs::write(&path, text).unwrap();
        let found = read(&path).unwrap();
        assert_eq!((found.len(), &found[1]), (2, &entry));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn both_states_of_a_move_are_found_by_either() {
        let entry = |place: &str, is_joint: bool, backup: u64| Entry {
            backup: Some(backup),
            is_joint,
            ..Entry::new("state-mv", place, place)
        };
        let all = [entry("a", true, 4), entry("b", true, 9), entry("c", false, 1)];
        let found = partner(&all, "a", 4).unwrap();
        assert_eq!((&*found.entry.place, found.was_first), ("b", true));
        let found = partner(&all, "b", 9).unwrap();
        assert_eq!((&*found.entry.place, found.was_first), ("a", false));
        assert_eq!(newest_partner(&all, "a").unwrap().entry.place, "b");
        assert_eq!(partner(&all, "a", 5), None);
        assert_eq!(partner(&all, "c", 1), None);
    }
}
