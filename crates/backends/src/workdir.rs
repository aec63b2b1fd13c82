//! What `init` and `workspace select` leave behind in a working directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_statemgr::WorkspaceName;
use serde_json::{Map, Value};

use crate::error::BackendsError;
use crate::settings::Settings;

/// Variables of the environment, by their names. Programs fill it; `Debug` shows none of the values.
#[derive(Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// No variables at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The value of a variable that is set to something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variables").field("count", &self.0.len()).finish()
    }
}

/// A directory in which Terraform or OpenTofu runs: its back end, and the workspace that is selected.
///
/// ```
/// use groundstate_backends::{Variables, WorkingDirectory};
///
/// # let folder = tempfile::tempdir()?;
/// let directory = WorkingDirectory::read(folder.path(), &Variables::none())?;
/// assert_eq!(directory.settings().kind(), "local");
/// assert!(directory.workspace()?.is_default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorkingDirectory {
    root: PathBuf,
    data: PathBuf,
    settings: Settings,
    /// The text that names it, which is not checked before it is asked for.
    workspace: String,
}

impl WorkingDirectory {
    /// Reads which back end `init` chose, without one the local one, and which workspace is selected.
    ///
    /// `TF_DATA_DIR` says where `.terraform` is instead, and `TF_WORKSPACE` which workspace is meant.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Read`], and [`BackendsError::WorkingDirectory`] for what is not `init`'s.
    pub fn read(root: &Path, variables: &Variables) -> Result<Self, BackendsError> {
        let data = root.join(variables.get("TF_DATA_DIR").unwrap_or(".terraform"));
        let settings = backend(root, &data.join("terraform.tfstate"))?;
        let workspace = match variables.get("TF_WORKSPACE") {
            Some(name) => name.to_owned(),
            None => text(&data.join("environment"))?.unwrap_or_default().trim().to_owned(),
        };
        Ok(Self { root: root.to_owned(), data, settings, workspace })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where `.terraform` is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The back end.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The selected workspace.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Workspace`] when what is selected is no name.
    pub fn workspace(&self) -> Result<WorkspaceName, BackendsError> {
        match self.workspace.as_str() {
            "" => Ok(WorkspaceName::default_name()),
            name => Ok(WorkspaceName::parse(name)?),
        }
    }
}

fn text(path: &Path) -> Result<Option<String>, BackendsError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(BackendsError::Read { path: path.to_owned(), source }),
    }
}

fn backend(directory: &Path, file: &Path) -> Result<Settings, BackendsError> {
    let local = || Settings::new("local");
    let Some(text) = text(file)? else { return Ok(local()) };
    let wrong = |why: &str| BackendsError::WorkingDirectory {
        path: file.to_owned(),
        directory: directory.to_owned(),
        why: why.to_owned(),
    };
    let Ok(settings) = serde_json::from_str::<Value>(&text) else { return Err(wrong("it is no JSON")) };
    // Before 0.9 the remote storage stood in a member of its own.
    let backend = ["backend", "remote"].iter().find_map(|name| settings.get(name).filter(|b| b.is_object()));
    let Some(backend) = backend else { return Ok(local()) };
    let kind = match backend.get("type") {
        None | Some(Value::Null) => "local",
        Some(Value::String(kind)) if kind.is_empty() => "local",
        Some(Value::String(kind)) => kind,
        Some(_) => return Err(wrong("the type of the backend is no text")),
    };
    let none = Map::new();
    let options = match backend.get("config") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(options)) => options,
        Some(_) => return Err(wrong("the options of the backend are no object")),
    };
    Ok(Settings::new(kind).with_all(options))
}
