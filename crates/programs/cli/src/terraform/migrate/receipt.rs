//! The receipt of a migration: what went where, written after each state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_common::{Clock, SystemClock, Timestamp, hex};
use groundstate_json::indented;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::input::head::Head;
use crate::input::paths;
use crate::report::error::{Failure, Kind, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::session::files;

/// A receipt, and the file it is in.
#[derive(Debug)]
pub(super) struct Receipt {
    path: PathBuf,
    from: String,
    to: String,
    started: Timestamp,
    finished: Option<Timestamp>,
    states: Vec<Entry>,
    /// Where the receipt of another migration, which is finished, goes before this one takes its name.
    aside: Option<PathBuf>,
}

/// What became of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) workspace: String,
    pub(super) source: String,
    pub(super) destination: String,
    /// `copied`, `present` if it was there already, or `unknown` if it was sent and no answer came.
    pub(super) outcome: String,
    pub(super) lineage: String,
    pub(super) serial: u64,
    pub(super) sha256: String,
    pub(super) bytes: u64,
    pub(super) time: String,
}

impl Entry {
    /// The bytes as they are stored now.
    pub(super) fn new(workspace: &str, places: [&str; 2], outcome: &str, stored: &[u8]) -> Self {
        let head = Head::read(stored).unwrap_or_default();
        let [source, destination] = places.map(str::to_owned);
        Self {
            workspace: workspace.to_owned(),
            source,
            destination,
            outcome: outcome.to_owned(),
            lineage: head.lineage,
            serial: head.serial,
            sha256: digest(stored),
            bytes: stored.len() as u64,
            time: SystemClock.now().to_string(),
        }
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let number = |name: &str| value.get(name)?.as_u64();
        Some(Self {
            workspace: text("workspace")?,
            source: text("source")?,
            destination: text("destination")?,
            outcome: text("outcome")?,
            lineage: text("lineage")?,
            serial: number("serial")?,
            sha256: text("sha256")?,
            bytes: number("bytes")?,
            time: text("time")?,
        })
    }

    fn json(&self, json: &mut Json) {
        for (name, text) in [
            ("workspace", &self.workspace),
            ("source", &self.source),
            ("destination", &self.destination),
            ("outcome", &self.outcome),
            ("lineage", &self.lineage),
        ] {
            json.text(name, text);
        }
        json.raw("serial", self.serial);
        json.raw("bytes", self.bytes);
        json.text("sha256", &self.sha256);
        json.text("time", &self.time);
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The name of a finished receipt that makes room: with the time at which it was finished.
fn free_name(path: &Path, finished: &str) -> PathBuf {
    let time: String = finished.chars().filter(char::is_ascii_alphanumeric).take(15).collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = path.with_file_name(format!("{stem}.{time}.json"));
    for number in 2.. {
        if fs::symlink_metadata(&name).is_err() {
            break;
        }
        name = path.with_file_name(format!("{stem}.{time}-{number}.json"));
    }
    name
}

impl Receipt {
    /// Goes on with the receipt that an interrupted run has left, or begins a new one.
    pub(super) fn open(path: &Path, from: &str, to: &str) -> Result<Self> {
        let mut receipt = Self {
            path: path.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            started: SystemClock.now(),
            finished: None,
            states: Vec::new(),
            aside: None,
        };
        let text = match paths::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(receipt),
            Err(error) => return Err(Failure::unreadable(path, &error)),
        };
        let old: Option<Value> = serde_json::from_slice(&text).ok();
        let text = |name| old.as_ref().and_then(|old| old.get(name)).and_then(Value::as_str);
        if text("from") != Some(from) || text("to") != Some(to) {
            // One that is finished is of no use to its migration any more, and is kept under another name.
            if let (Some(_), Some(_), Some(finished)) = (text("from"), text("to"), text("finished")) {
                receipt.aside = Some(free_name(path, finished));
                return Ok(receipt);
            }
            let message = format!(
                "{} is the receipt of a migration that is not finished, or no receipt",
                path.display()
            );
            return Err(Failure::new(Kind::Usage, message).hint("name another file with `--receipt`"));
        }
        receipt.started = text("started").and_then(|time| time.parse().ok()).unwrap_or(receipt.started);
        let states = old.as_ref().and_then(|old| old.get("states")).and_then(Value::as_array);
        // What is not understood would be missing once the receipt is written again.
        let states = states.and_then(|states| states.iter().map(Entry::read).collect());
        receipt.states = states.ok_or_else(|| {
            let message = format!("{} is damaged: it has a state that cannot be read", path.display());
            Failure::new(Kind::Unusable, message)
                .hint("begin another receipt with `--receipt`; what is copied already is not copied again")
        })?;
        Ok(receipt)
    }

    /// Adds what became of a state, and writes the file. What an earlier run copied stays copied.
    pub(super) fn add(&mut self, entry: Entry) -> Result<()> {
        let same = |old: &Entry| {
            old.destination == entry.destination && old.sha256 == entry.sha256 && old.outcome == "copied"
        };
        if entry.outcome == "copied" || !self.states.iter().any(same) {
            self.states.retain(|old| old.destination != entry.destination);
            self.states.push(entry);
        }
        self.write()
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        self.finished = Some(SystemClock.now());
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        if let Some(aside) = self.aside.take() {
            fs::rename(&self.path, &aside).map_err(|error| Failure::unwritable(&aside, &error))?;
            let moved = format!("the receipt of an earlier migration is in {} now", aside.display());
            Messages::stderr().note(&moved);
        }
        files::put(&self.path, format!("{}\n", indented(&self.json(), 2)).as_bytes())
            .map_err(|error| Failure::unwritable(&self.path, &error))
    }

    pub(super) fn json(&self) -> String {
        Json::document(|json| {
            json.text("from", &self.from);
            json.text("to", &self.to);
            json.text("started", &self.started.to_string());
            if let Some(finished) = &self.finished {
                json.text("finished", &finished.to_string());
            }
            json.objects("states", &self.states, |json, entry| entry.json(json));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Receipt};

    #[test]
    fn one_with_an_entry_that_cannot_be_read_is_refused_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("receipt.json");
        Receipt::open(&path, "a", "b")
            .unwrap()
            .add(Entry::new("w", ["a/w", "b/w"], "copied", b"{}"))
            .unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        for damaged in [whole.replace("\"serial\": 0", "\"serial\": -1"), whole.replace("states", "stats")] {
            assert_ne!(damaged, whole);
            std::fs::write(&path, &damaged).unwrap();
            let error = Receipt::open(&path, "a", "b").unwrap_err();
            assert!(error.to_string().contains("receipt.json is damaged"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
        }
    }

    #[test]
    fn an_interrupted_one_is_continued_and_another_one_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("receipt.json");
        let entry = |outcome| Entry::new("dev", ["a", "b"], outcome, br#"{"serial": 3, "lineage": "l"}"#);
        let mut first = Receipt::open(&path, "here", "there").unwrap();
        let copied = entry("copied");
        first.add(copied.clone()).unwrap();
        let mut second = Receipt::open(&path, "here", "there").unwrap();
        assert_eq!(second.started, first.started);
        // It was found there, since it was copied before.
        second.add(entry("present")).unwrap();
        assert_eq!(second.states, [copied]);
        second.finish().unwrap();
        // A finished one makes room when the next one is written, and not before.
        let mut other = Receipt::open(&path, "here", "elsewhere").unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        other.add(entry("copied")).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        assert!(Receipt::open(&path, "here", "there").is_err(), "this one is not finished");
        std::fs::write(&path, "notes").unwrap();
        assert!(Receipt::open(&path, "here", "there").is_err());
    }
}
