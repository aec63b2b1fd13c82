//! The record of `init`: `.terraform/terraform.tfstate`.

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use super::agreement::Disagreement;
use crate::error::BackendsError;

/// The newest version of the file.
const VERSION: u64 = 3;

/// Members of the file. Releases before 0.9 kept more than the backend in it.
const MEMBERS: [&str; 7] =
    ["version", "terraform_version", "serial", "lineage", "backend", "remote", "modules"];

/// A backend as `init` recorded it.
#[derive(Clone)]
pub(super) struct Recorded {
    pub(super) kind: String,
    pub(super) options: Map<String, Value>,
    pub(super) hash: Option<u64>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The content of the file.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The backend; `None` if the state is in the directory.
    pub(super) backend: Option<Recorded>,
    /// Why the file says nothing about the place of the state: it has members that are not known.
    pub(super) foreign: Option<Disagreement>,
}

impl Record {
    /// Reads the file of a directory.
    ///
    /// # Errors
    ///
    /// [`BackendsError::WorkingDirectory`] for content that `init` does not write.
    pub(super) fn parse(directory: &Path, file: &Path, text: &str) -> Result<Self, BackendsError> {
        let wrong = |why: &str| BackendsError::WorkingDirectory {
            path: file.to_owned(),
            directory: directory.to_owned(),
            why: why.to_owned(),
        };
        let Ok(settings) = serde_json::from_str::<Value>(text) else { return Err(wrong("it is not JSON")) };
        if settings.get("version").and_then(Value::as_u64).is_some_and(|version| version > VERSION) {
            return Err(wrong("its version is later than 3"));
        }
        let foreign = foreign(&settings);
        // Before 0.9 the remote storage stood in a member of its own.
        let backend =
            ["backend", "remote"].iter().find_map(|name| settings.get(name).filter(|b| b.is_object()));
        let Some(backend) = backend else { return Ok(Self { backend: None, foreign }) };
        let kind = match backend.get("type") {
            None | Some(Value::Null) => return Ok(Self { backend: None, foreign }),
            Some(Value::String(kind)) if kind.is_empty() => return Ok(Self { backend: None, foreign }),
            Some(Value::String(kind)) => kind.clone(),
            Some(_) => return Err(wrong("the type of the backend is not a text")),
        };
        let options = match backend.get("config") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(options)) => options.clone(),
            Some(_) => return Err(wrong("the options of the backend are not an object")),
        };
        let hash = backend.get("hash").and_then(Value::as_u64);
        Ok(Self { backend: Some(Recorded { kind, options, hash }), foreign })
    }
}

/// A state store, or a member that a later release has added: the state may be anywhere.
fn foreign(settings: &Value) -> Option<Disagreement> {
    let store = settings.get("state_store").filter(|store| !store.is_null());
    if let Some(store) = store {
        let name = store.get("type").and_then(Value::as_str).unwrap_or_default();
        return Some(Disagreement::StateStore(name.to_owned()));
    }
    let added = |of: Option<&Value>, known: &[&str]| {
        let mut members = of.and_then(Value::as_object).into_iter().flatten();
        members
            .find(|(name, value)| !value.is_null() && !known.contains(&name.as_str()))
            .map(|(name, _)| name.clone())
    };
    let inside = |name: &str| {
        added(settings.get(name), &["type", "config", "hash"]).map(|member| format!("{name}.{member}"))
    };
    let member = added(Some(settings), &MEMBERS).or_else(|| inside("backend")).or_else(|| inside("remote"));
    member.map(Disagreement::UnknownRecord)
}
