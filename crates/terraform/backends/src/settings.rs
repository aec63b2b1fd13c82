//! The type and the options of a backend, as a `backend` block has them.

use std::collections::BTreeMap;
use std::fmt;

use groundstate_common::Origin;
use serde_json::{Map, Value};

use crate::error::BackendsError;

/// What a `backend` block says: a type, and options by Terraform's names.
///
/// Options that are null count as not given. Values may be secrets, so nothing shows them: `Debug` has the names only.
///
/// ```
/// use groundstate_backends::Settings;
///
/// let settings = Settings::new("local").with("path", "prod.tfstate").with("workspace_dir", None::<String>);
/// assert_eq!(settings.text("path").unwrap(), Some("prod.tfstate"));
/// assert_eq!(format!("{settings:?}"), r#"Settings { kind: "local", options: ["path"] }"#);
/// ```
#[derive(Clone, PartialEq)]
pub struct Settings {
    kind: String,
    options: Map<String, Value>,
    /// Where options come from that are not the user's.
    origins: BTreeMap<String, Origin>,
}

impl Settings {
    /// A backend of this type, without options.
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), options: Map::new(), origins: BTreeMap::new() }
    }

    /// Sets an option; the last one of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let (name, value) = (name.into(), value.into());
        if value.is_null() {
            self.options.remove(&name);
        } else {
            self.options.insert(name, value);
        }
        self
    }

    /// Sets an option by a path such as `endpoints.s3`, whose parts are members of objects.
    #[must_use]
    pub fn with_path(mut self, path: &str, value: impl Into<Value>) -> Self {
        let Some((outer, inner)) = path.split_once('.') else { return self.with(path, value) };
        let members = self.options.entry(outer).or_insert_with(|| Value::Object(Map::new()));
        if !members.is_object() {
            *members = Value::Object(Map::new());
        }
        if let Value::Object(members) = members {
            members.insert(inner.to_owned(), value.into());
        }
        self
    }

    /// All options of a JSON object.
    #[must_use]
    pub fn with_all(self, options: &Map<String, Value>) -> Self {
        options.iter().fold(self, |settings, (name, value)| settings.with(name, value.clone()))
    }

    /// Says where the options come from that a directory has.
    #[must_use]
    pub(crate) fn with_origins(mut self, origins: BTreeMap<String, Origin>) -> Self {
        self.origins = origins;
        self
    }

    /// Where an option comes from; what no directory has is the user's.
    pub fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).copied().unwrap_or(Origin::CommandLine)
    }

    /// Refuses options of a directory that only the user sets.
    ///
    /// # Errors
    ///
    /// [`BackendsError::DirectoryOption`].
    pub fn only_from_user(&self, names: &[&str]) -> Result<(), BackendsError> {
        let found =
            names.iter().find(|name| self.options.contains_key(**name) && !self.origin(name).is_user());
        found.map_or(Ok(()), |name| {
            Err(BackendsError::DirectoryOption { kind: self.kind.clone(), name: (*name).to_owned() })
        })
    }

    /// The type, such as `s3`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The options that are given.
    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    /// An option that has to be a text; an empty one counts as not given.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Option`] when it is something else.
    pub fn text(&self, name: &str) -> Result<Option<&str>, BackendsError> {
        match self.options.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.wrong(name, "it has to be a text")),
        }
    }

    /// An option that has to be true or false, which may be written as a text.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Option`] when it is something else.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, BackendsError> {
        match self.options.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) => self.parsed_flag(name, text).map(Some),
            Some(_) => Err(self.wrong(name, "it has to be true or false")),
        }
    }

    /// A flag that is written as a text.
    pub(crate) fn parsed_flag(&self, name: &str, text: &str) -> Result<bool, BackendsError> {
        match text {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.wrong(name, "it has to be true or false")),
        }
    }

    /// Refuses options that are none of these.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Option`] with the names that there are.
    pub fn only(&self, known: &[&str]) -> Result<(), BackendsError> {
        match self.options.keys().find(|name| !known.contains(&name.as_str())) {
            Some(unknown) => {
                Err(self.wrong(unknown, format!("there is no such option, use {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    /// That an option cannot be used, and why.
    pub fn wrong(&self, name: &str, why: impl Into<String>) -> BackendsError {
        BackendsError::Option { kind: self.kind.clone(), name: name.to_owned(), why: why.into() }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.options.keys().collect();
        f.debug_struct("Settings").field("kind", &self.kind).field("options", &names).finish()
    }
}
