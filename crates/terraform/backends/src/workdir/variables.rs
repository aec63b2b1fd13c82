//! Variables of the environment, and values of variables of configurations.

use std::collections::BTreeMap;
use std::ffi::OsString;

use groundstate_encryption::{ConfigurationError, Scope, SourceFile, Sources, read_variables};

use super::configuration::{ConfigurationFile, ConfigurationFiles};
use crate::error::BackendsError;

/// Variables of the environment, by their names, and values that the user gives to variables of configurations. Programs fill it;
/// `Debug` shows none of the values.
#[derive(Clone, Default)]
pub struct Variables {
    environment: BTreeMap<String, String>,
    /// In the order in which they count.
    given: Vec<Given>,
}

/// Values of variables of configurations.
#[derive(Clone)]
enum Given {
    Value(String, String),
    File(ConfigurationFile),
}

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
        Ok(Self { environment: known, given: Vec::new() })
    }

    /// No variables at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The value of a variable that is set to something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Adds the value of a variable of configurations, as `-var` gives it to the products.
    #[must_use]
    pub fn with_value(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.given.push(Given::Value(name.into(), value.into()));
        self
    }

    /// Adds a file with values of variables of configurations, as `-var-file` gives it to the products.
    #[must_use]
    pub fn with_file(mut self, file: ConfigurationFile) -> Self {
        self.given.push(Given::File(file));
        self
    }

    /// Returns the values of variables that the user gives: `TF_VAR_…`, and those that were added.
    ///
    /// # Errors
    ///
    /// Returns an error if an added file cannot be parsed.
    pub fn scope(&self) -> Result<Scope, ConfigurationError> {
        self.add_given(self.add_environment(Scope::new()))
    }

    pub(super) fn add_environment(&self, scope: Scope) -> Scope {
        let of_variables = self.environment.iter();
        let given = of_variables.filter_map(|(name, value)| Some((name.strip_prefix("TF_VAR_")?, value)));
        given.fold(scope, |scope, (name, value)| scope.text(name, value))
    }

    pub(super) fn add_given(&self, scope: Scope) -> Result<Scope, ConfigurationError> {
        self.given.iter().try_fold(scope, |scope, given| match given {
            Given::Value(name, value) => Ok(scope.text(name, value)),
            Given::File(file) => file.add_variables(scope),
        })
    }

    /// Returns the name of a variable that has options of the products with values of variables.
    pub(super) fn hidden_options(&self) -> Option<&str> {
        let has_option = |words: &str| {
            let words = words.split_whitespace().map(|word| word.trim_start_matches(['\'', '"']));
            words
                .filter_map(|word| word.strip_prefix('-'))
                .any(|word| word.trim_start_matches('-').starts_with("var"))
        };
        let mut arguments = self.environment.iter().filter(|(name, _)| {
            name.strip_prefix("TF_CLI_ARGS").is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        });
        arguments.find(|(_, words)| has_option(words)).map(|(name, _)| name.as_str())
    }

    /// All variables of the environment.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { environment: variables.into_iter().collect(), given: Vec::new() }
    }
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variables").field("count", &self.environment.len()).finish()
    }
}

impl ConfigurationFile {
    /// Adds the values of a file of variables.
    fn add_variables(&self, scope: Scope) -> Result<Scope, ConfigurationError> {
        let name = self.path.display().to_string();
        read_variables(SourceFile { name: &name, text: &self.text }, scope)
    }
}

impl ConfigurationFiles {
    /// Returns the variables and locals of the directory, with the values that the user gives.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be parsed.
    pub fn scope(&self, variables: &Variables) -> Result<Scope, ConfigurationError> {
        self.scope_with(variables, |scope| scope)
    }

    /// Reads variables for a `backend` block. A block with another value means another state, so each doubt makes values unknown.
    pub(super) fn scope_of_backend(&self, variables: &Variables) -> Scope {
        let doubted = |scope: Scope| match variables.hidden_options() {
            Some(name) => scope
                .doubted(format!("{name} has values of variables; repeat them with `--var` or `--var-file`")),
            None => scope,
        };
        self.scope_with(variables, doubted).unwrap_or_else(|error| Scope::new().doubted(error.to_string()))
    }

    fn scope_with(
        &self,
        variables: &Variables,
        doubted: impl FnOnce(Scope) -> Scope,
    ) -> Result<Scope, ConfigurationError> {
        let scope = variables.add_environment(Scope::new());
        let scope = self.variables.iter().try_fold(scope, |scope, file| file.add_variables(scope))?;
        let scope = variables.add_given(doubted(scope))?;
        let names: Vec<String> = self.sources.iter().map(|file| file.path.display().to_string()).collect();
        let files = self.sources.iter().zip(&names);
        let files: Vec<_> = files.map(|(file, name)| SourceFile { name, text: &file.text }).collect();
        Sources(&files).scope(scope)
    }
}
