//! The earlier snapshots of a state, where a place keeps them.

use std::path::Path;
use std::sync::Arc;

use groundstate_backends::Purpose;
use groundstate_statemgr::{Backend, History, HistoryEntry, HistoryId};

use crate::input::backend::refused;
use crate::input::locate::locate;
use crate::input::remote::Located;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Result};

/// How many snapshots are named when none of them is meant clearly.
const MAX_NAMED: usize = 5;

/// What is kept of one state.
#[derive(Debug)]
pub(crate) struct StateHistory {
    /// The state as messages name it.
    pub(crate) name: String,
    history: Arc<dyn History>,
}

impl StateHistory {
    /// The history of the state that an argument names.
    pub(crate) fn open(argument: &Path) -> Result<Self> {
        Self::of_located(&locate(argument, false, Purpose::Read)?)
    }

    /// The history of what an argument has led to.
    pub(crate) fn of_located(located: &Located) -> Result<Self> {
        let remote = match located {
            Located::Remote(remote) => remote,
            Located::File(path, _) => return Err(nothing(&path.display().to_string())),
        };
        let history = remote.backend().history(&remote.place.workspace).map_err(|error| refused(&error))?;
        match history {
            Some(history) => Ok(Self { name: remote.name.clone(), history }),
            None => Err(nothing(&remote.name)),
        }
    }

    /// The snapshots, the newest first.
    pub(crate) fn list(&self) -> Result<Vec<HistoryEntry>> {
        runtime()?.block_on(self.history.list()).map_err(|error| refused(&error))
    }

    /// The snapshot of this id, or the only one whose id begins so.
    pub(crate) fn find(&self, id: &str) -> Result<HistoryEntry> {
        let entries = self.list()?;
        let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        let at = choose(&ids, id, &self.name)?;
        let entry = entries.into_iter().nth(at).ok_or_else(|| nothing(&self.name))?;
        self.readable(entry)
    }

    /// Refuses a snapshot that is damaged or missing.
    pub(crate) fn readable(&self, entry: HistoryEntry) -> Result<HistoryEntry> {
        let Some(reason) = &entry.unreadable else { return Ok(entry) };
        let message = format!("cannot read {} of the history of {}: {reason}", entry.id, self.name);
        Err(Failure::new(Kind::Unusable, message)
            .hint("`groundstate history` lists the snapshots; `groundstate rollback --to ID` goes back to one of them"))
    }

    pub(crate) fn read(&self, id: &HistoryId) -> Result<Vec<u8>> {
        let stored = runtime()?.block_on(self.history.read(id));
        Ok(stored.map_err(|error| refused(&error))?.bytes)
    }
}

/// The index of this id, or of the only one that begins so.
pub(crate) fn choose(ids: &[&str], id: &str, name: &str) -> Result<usize> {
    if let Some(exact) = ids.iter().position(|other| *other == id) {
        return Ok(exact);
    }
    let begins = |other: &&str| !id.is_empty() && other.starts_with(id);
    let found: Vec<&str> = ids.iter().copied().filter(begins).collect();
    match (found.as_slice(), ids.iter().position(begins)) {
        ([_], Some(at)) => Ok(at),
        ([], _) | (_, None) => {
            Err(Failure::new(Kind::NotFound, format!("there is no snapshot {id:?} in the history of {name}"))
                .hint("`groundstate history` lists them"))
        }
        (many, _) => {
            let named: Vec<&str> = many.iter().take(MAX_NAMED).copied().collect();
            let message = format!("{id:?} matches {} snapshots of {name}", many.len());
            Err(Failure::new(Kind::Usage, message)
                .hint(format!("give more of the id, such as {}", named.join(", "))))
        }
    }
}

fn nothing(name: &str) -> Failure {
    Failure::new(Kind::Usage, format!("no history is kept of {name}")).hint(
        "backends in the network keep one with the option `history`; for a file, `groundstate undo` restores the last backup",
    )
}

#[cfg(test)]
mod tests {
    use super::choose;

    fn found(id: &str) -> Result<String, String> {
        let ids = ["20261121-b", "20261121-a", "20261120-c", "20261120-c2"];
        choose(&ids, id, "s3://b/k").map(|at| ids[at].to_owned()).map_err(|failure| failure.message)
    }

    #[test]
    fn a_snapshot_is_named_by_its_id_or_by_enough_of_it() {
        for (id, expected) in
            [("20261121-a", "20261121-a"), ("20261121-b", "20261121-b"), ("20261120-c", "20261120-c")]
        {
            assert_eq!(found(id).as_deref(), Ok(expected));
        }
        assert!(found("20261121").unwrap_err().contains("matches 2 snapshots"));
        for id in ["2025", "", "20261121-abc"] {
            assert!(found(id).unwrap_err().contains("there is no snapshot"), "{id}");
        }
    }
}
