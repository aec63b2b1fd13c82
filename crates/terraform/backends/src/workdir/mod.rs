//! What `init` and `workspace select` leave behind in a working directory, and whether its configuration says the same.

mod agreement;
mod configuration;
mod files;
mod hash;
mod literal;
mod record;
mod variables;

use std::path::{Path, PathBuf};

use groundstate_statemgr::WorkspaceName;

use crate::error::BackendsError;
use crate::settings::Settings;
use configuration::Blocks;
use files::{SELECTION, SETTINGS, SmallFiles};
use record::Record;

pub use agreement::Disagreement;
pub use configuration::{ConfigurationFile, ConfigurationFiles};
pub use variables::Variables;

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
        let record = match text("terraform.tfstate", SETTINGS)? {
            Some(text) => Record::parse(root, &data.join("terraform.tfstate"), &text)?,
            None => Record::default(),
        };
        let selected = match variables.get("TF_WORKSPACE") {
            Some(name) => Selected::Variable(name.to_owned()),
            None => {
                let text = text("environment", SELECTION)?.unwrap_or_default();
                Selected::File(data.join("environment"), text.trim().to_owned())
            }
        };
        let (blocks, unread) = match configuration::read(root, variables) {
            Ok(blocks) => (blocks, None),
            Err(error) => (Blocks::default(), Some(error)),
        };
        let (disagreement, origins) = agreement::compare(record.backend.as_ref(), &blocks);
        let settings = record.backend.map_or_else(
            || Settings::new("local"),
            |recorded| Settings::new(recorded.kind).with_all(&recorded.options).with_origins(origins),
        );
        let agreement = match (record.foreign, unread) {
            (Some(foreign), _) => Ok(Some(foreign)),
            (None, Some(unread)) => Err(unread),
            (None, None) => Ok(disagreement),
        };
        Ok(Self { root: root.to_owned(), data, settings, selected, agreement })
    }

    /// Refuses a directory whose configuration does not say what `init` recorded. With `trust`, what `init` recorded
    /// is used for reading nevertheless, and for changes where no block contradicts it. A block that cannot be evaluated permits no
    /// change, and a state store permits nothing.
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
        if disagreement.permits(purpose, trust) {
            return Ok(());
        }
        let (directory, disagreement) = (self.root.clone(), disagreement.clone());
        Err(BackendsError::Disagreement { directory, disagreement, purpose })
    }

    /// Returns `true` unless the state is where the settings do not say: in a state store, or in a place that a later release records.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.agreement, Ok(Some(Disagreement::StateStore(_) | Disagreement::UnknownRecord(_))))
    }

    /// Returns why it is not known whether the block means the recorded state: a part of the block cannot be evaluated. Such a
    /// directory can be read.
    pub fn doubt(&self) -> Option<&Disagreement> {
        let disagreement = self.agreement.as_ref().ok()?.as_ref()?;
        matches!(disagreement, Disagreement::NotEvaluated { .. }).then_some(disagreement)
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
