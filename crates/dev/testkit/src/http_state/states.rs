//! The states by their paths, and the locks on them.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::digest::md5_hex;

#[derive(Default)]
pub(super) struct States(BTreeMap<String, Place>);

/// A state and its lock.
#[derive(Default)]
pub(super) struct Place {
    pub(super) state: Option<Bytes>,
    /// The document of the holder, as it was sent.
    pub(super) lock: Option<Bytes>,
    /// The ids that have been released.
    pub(super) released: BTreeSet<String>,
}

impl States {
    pub(super) fn place(&mut self, path: &str) -> &mut Place {
        self.0.entry(path.to_owned()).or_default()
    }
}

impl Place {
    /// The id of the lock in force.
    pub(super) fn holder(&self) -> Option<String> {
        id_in(self.lock.as_ref()?)
    }

    /// The mark by which conditions name what is stored.
    pub(super) fn e_tag(&self) -> Option<String> {
        self.state.as_ref().map(|state| format!("\"{}\"", md5_hex(state)))
    }
}

/// The id that a document of a lock has.
pub(super) fn id_in(document: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(document).ok()?;
    Some(document.get("ID")?.as_str().filter(|id| !id.is_empty())?.to_owned())
}
