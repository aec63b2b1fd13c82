//! Where the values of options come from, one after the other.

use std::ffi::OsString;
use std::path::Path;

use super::effective::Config;
use super::error::{ConfigError, Origin, Problem};
use super::layers::Layers;

/// Values of options. What is added later wins: add a file, then the environment, then arguments.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub(crate) layers: Layers,
}

impl Sources {
    /// No values: every option has its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the text of a file. Relative paths in it begin at the folder of the file.
    ///
    /// # Errors
    ///
    /// Everything that is wrong in it, with lines and columns.
    pub fn file(mut self, path: &Path, text: &str) -> Result<Self, ConfigError> {
        self.layers.add_file(path, text)?;
        Ok(self)
    }

    /// Reads a file and adds it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, and those of [`file`](Self::file).
    pub fn read_file(self, path: &Path) -> Result<Self, ConfigError> {
        let failed = |why: String| {
            let message = format!("cannot read the configuration {}: {why}", path.display());
            ConfigError::of(Problem::new(None, message))
        };
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not valid UTF-8".to_owned()))?;
        self.file(path, &text)
    }

    /// Adds variables of the environment, of which those count that begin with `GROUNDSTATE_` and name an option.
    ///
    /// # Errors
    ///
    /// Everything that is wrong in them.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let variables: Vec<(OsString, OsString)> = variables.into_iter().collect();
        let mut texts = variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str())));
        self.layers.add_variables(&mut texts)?;
        Ok(self)
    }

    /// Adds an argument: what it is called on the command line, the name of the option, the value. Values of one argument that is
    /// given several times are one list, where the option takes a list.
    ///
    /// # Errors
    ///
    /// If there is no such option, or the value is not one of it.
    pub fn argument(mut self, argument: &str, option: &str, value: &str) -> Result<Self, ConfigError> {
        self.layers.add_argument(argument, option, value)?;
        Ok(self)
    }

    /// Adds `NAME=VALUE`, an option of any name.
    ///
    /// # Errors
    ///
    /// Those of [`argument`](Self::argument), and if there is no `=`.
    pub fn setting(self, argument: &str, setting: &str) -> Result<Self, ConfigError> {
        match setting.split_once('=') {
            Some((name, value)) => self.argument(argument, name.trim(), value.trim()),
            None => {
                let origin = Origin::Argument(argument.to_owned());
                let problem = Problem::new(origin, "the setting has no value");
                Err(ConfigError::of(problem.hint("write it as NAME=VALUE, as in limits.state=64MiB")))
            }
        }
    }

    /// What the values come to. Nothing but the file that `store_file` names is read; `variable` looks up variables that tell
    /// where the directories of the user are.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the values, alone and together.
    pub fn build(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Config, ConfigError> {
        Config::of(&self.layers, variable)
    }
}
