//! Folders where programs change states, and Terraform run in one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, Outcome};

/// A folder with nothing but a state in it, as the local backend has it.
#[derive(Debug)]
pub(crate) struct Home {
    folder: PathBuf,
}

impl Home {
    /// Makes the folder with a copy of the state.
    pub(crate) fn new(folder: PathBuf, state: &Path) -> Outcome<Self> {
        fs::create_dir_all(&folder).map_err(|source| Failure::Write { path: folder.clone(), source })?;
        let home = Self { folder };
        home.put(state)?;
        Ok(home)
    }

    /// Puts a fresh copy of the state there, and nothing else.
    pub(crate) fn put(&self, state: &Path) -> Outcome {
        let failed = |source| Failure::Write { path: self.folder.clone(), source };
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            fs::remove_file(entry.map_err(failed)?.path()).map_err(failed)?;
        }
        fs::copy(state, self.path()).map_err(failed)?;
        // What is measured next must not wait for another program's writes.
        File::open(self.path()).and_then(|file| file.sync_all()).map_err(failed)
    }

    /// The state.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    /// `terraform state` with these arguments, untouched by the user's own settings.
    pub(crate) fn terraform_state(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("terraform");
        command.arg("state").args(arguments).current_dir(&self.folder);
        command.env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        let no_settings = if cfg!(windows) { "NUL" } else { "/dev/null" };
        command.env("TF_CLI_CONFIG_FILE", no_settings).env_remove("TF_LOG").env_remove("TF_CLI_ARGS");
        command.env_remove("TF_DATA_DIR").env_remove("TF_WORKSPACE");
        command
    }
}
