//! What `init` and `workspace select` leave behind in a working directory, and whether its configuration says the same.

mod agreement;
mod configuration;
mod files;
mod hash;
mod literal;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use groundstate_statemgr::WorkspaceName;
use serde_json::{Map, Value};

use crate::error::BackendsError;
use crate::settings::Settings;
use agreement::Recorded;
use configuration::Blocks;
use files::{SELECTION, SETTINGS, SmallFiles};

pub use agreement::Disagreement;
pub use configuration::{ConfigurationFile, ConfigurationFiles};

/// Variables of the environment, by their names. Programs fill it; `Debug` shows none of the values.
#[derive(Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

/// How the names of variables begin that Terraform, OpenTofu, their backends and the clients of clouds read.
const READ: [&str; 18] = [
    "TF_",
    "GROUNDSTATE_",
    "AWS_",
    "ARM_",
    "AZURE_",
    "GOOGLE_",
    "PG",
    "BAO_",
    "VAULT_",
    "CLOUDSDK_",
    "GCE_METADATA_",
    "STORAGE_EMULATOR_",
    "IDENTITY_",
    "SYSTEM_",
    "ACTIONS_ID_TOKEN_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

impl Variables {
    /// The variables of an environment, such as `std::env::vars_os()`.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Variable`] for one that a backend may read and whose value is not UTF-8: without it another state might be
    /// meant. What nothing here reads is left out.
    pub fn of_environment(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, BackendsError> {
        let mut known = BTreeMap::new();
        for (name, value) in variables {
            let Ok(name) = name.into_string() else { continue };
            let upper = name.to_ascii_uppercase();
            match value.into_string() {
                Ok(value) => drop(known.insert(name, value)),
                Err(_) if READ.iter().any(|begin| upper.starts_with(begin)) => {
                    return Err(BackendsError::Variable { name });
                }
                Err(_) => {}
            }
        }
        Ok(Self(known))
    }

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

/// What a place is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing is written.
    Read,
    /// A state is written, or a lock.
    Change,
}

/// A directory in which Terraform or OpenTofu runs: its backend, and the workspace that is selected.
///
/// A stranger may have written it, so nothing of it counts before [`check`](Self::check) has compared what `init` recorded with the
/// configuration.
///
/// ```
/// use groundstate_backends::{Purpose, Variables, WorkingDirectory};
///
/// # let folder = tempfile::tempdir()?;
/// let directory = WorkingDirectory::read(folder.path(), &Variables::none())?;
/// directory.check(Purpose::Change, false)?;
/// assert_eq!(directory.settings().kind(), "local");
/// assert!(directory.workspace()?.is_default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WorkingDirectory {
    root: PathBuf,
    data: PathBuf,
    settings: Settings,
    selected: Selected,
    /// Whether configuration and record agree; what cannot be read of the configuration stands here too.
    agreement: Result<Option<Disagreement>, BackendsError>,
}

/// The text that names the workspace, which is not checked before it is asked for.
#[derive(Clone, Debug)]
enum Selected {
    Variable(String),
    File(PathBuf, String),
}

impl WorkingDirectory {
    /// Reads which backend `init` chose, without one the local one, which workspace is selected, and what the configuration
    /// says of the backend.
    ///
    /// `TF_DATA_DIR` says where `.terraform` is instead, and `TF_WORKSPACE` which workspace is meant.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Read`], [`BackendsError::SmallFile`], and [`BackendsError::WorkingDirectory`] for what is not `init`'s.
    pub fn read(root: &Path, variables: &Variables) -> Result<Self, BackendsError> {
        let moved = variables.get("TF_DATA_DIR");
        let data = root.join(moved.unwrap_or(".terraform"));
        // Where the user says where the files are, links may not leave that place.
        let files = SmallFiles::within(if moved.is_some() { &data } else { root })?;
        let text = |name: &str, limit| match &files {
            Some(files) => files.text(&data.join(name), limit),
            None => Ok(None),
        };
        let recorded = match text("terraform.tfstate", SETTINGS)? {
            Some(text) => recorded(root, &data.join("terraform.tfstate"), &text)?,
            None => None,
        };
        let selected = match variables.get("TF_WORKSPACE") {
            Some(name) => Selected::Variable(name.to_owned()),
            None => {
                let text = text("environment", SELECTION)?.unwrap_or_default();
                Selected::File(data.join("environment"), text.trim().to_owned())
            }
        };
        let (blocks, unread) = match configuration::read(root) {
            Ok(blocks) => (blocks, None),
            Err(error) => (Blocks::default(), Some(error)),
        };
        let (disagreement, origins) = agreement::compare(recorded.as_ref(), &blocks);
        let settings = recorded.map_or_else(
            || Settings::new("local"),
            |recorded| Settings::new(recorded.kind).with_all(&recorded.options).with_origins(origins),
        );
        let agreement = unread.map_or(Ok(disagreement), Err);
        Ok(Self { root: root.to_owned(), data, settings, selected, agreement })
    }

    /// Refuses a directory whose configuration does not say what `init` recorded. With `trust`, what `init` recorded
    /// is used for reading nevertheless, and for changes where no block contradicts it.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Disagreement`]; without `trust`, [`BackendsError::Untrusted`] for a configuration that cannot be read.
    pub fn check(&self, purpose: Purpose, trust: bool) -> Result<(), BackendsError> {
        let disagreement = match &self.agreement {
            Ok(None) => return Ok(()),
            Ok(Some(disagreement)) => disagreement,
            Err(_) if trust => return Ok(()),
            Err(error) => {
                return Err(BackendsError::Untrusted {
                    directory: self.root.clone(),
                    why: groundstate_common::with_causes(error).to_string(),
                });
            }
        };
        let is_contradicted =
            matches!(disagreement, Disagreement::NeverInitialised(_) | Disagreement::Changed(_));
        if trust && (purpose == Purpose::Read || !is_contradicted) {
            return Ok(());
        }
        let (directory, disagreement) = (self.root.clone(), disagreement.clone());
        Err(BackendsError::Disagreement { directory, disagreement, purpose })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where `.terraform` is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The backend, as `init` recorded it.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The selected workspace.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Workspace`] when the variable is no name, [`BackendsError::Selection`] when the file is none.
    pub fn workspace(&self) -> Result<WorkspaceName, BackendsError> {
        match &self.selected {
            Selected::Variable(name) => Ok(WorkspaceName::parse(name)?),
            Selected::File(_, name) if name.is_empty() => Ok(WorkspaceName::default_name()),
            // What stands there may be the text of any file.
            Selected::File(path, name) => {
                WorkspaceName::parse(name).map_err(|_| BackendsError::Selection { path: path.clone() })
            }
        }
    }
}

/// The backend that a file of `init` has, if it has one.
fn recorded(directory: &Path, file: &Path, text: &str) -> Result<Option<Recorded>, BackendsError> {
    let wrong = |why: &str| BackendsError::WorkingDirectory {
        path: file.to_owned(),
        directory: directory.to_owned(),
        why: why.to_owned(),
    };
    let Ok(settings) = serde_json::from_str::<Value>(text) else { return Err(wrong("it is not JSON")) };
    // Before 0.9 the remote storage stood in a member of its own.
    let backend = ["backend", "remote"].iter().find_map(|name| settings.get(name).filter(|b| b.is_object()));
    let Some(backend) = backend else { return Ok(None) };
    let kind = match backend.get("type") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(kind)) if kind.is_empty() => return Ok(None),
        Some(Value::String(kind)) => kind.clone(),
        Some(_) => return Err(wrong("the type of the backend is not a text")),
    };
    let options = match backend.get("config") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(options)) => options.clone(),
        Some(_) => return Err(wrong("the options of the backend are not an object")),
    };
    Ok(Some(Recorded { kind, options, hash: backend.get("hash").and_then(Value::as_u64) }))
}
