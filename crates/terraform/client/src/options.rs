//! How a state is found, and what else a client needs to know.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groundstate_backends::{Context, Location, Purpose, Registry, Variables};
use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{TokioSleeper, WorkspaceName};
use tokio::task::spawn_blocking;

use crate::client::Client;
use crate::error::Error;

/// How a state is found, and how its lock is taken.
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    registry: Registry,
    /// Those of this process if nothing is given.
    variables: Option<Variables>,
    directory: PathBuf,
    workspace: Option<WorkspaceName>,
    trusts_directories: bool,
    pub(crate) lock_timeout: Option<Duration>,
    who: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// The environment of this process, its working directory, all backends of the features, and no wait for a lock.
    pub fn new() -> Self {
        Self {
            registry: Registry::standard(),
            directory: PathBuf::new(),
            workspace: None,
            trusts_directories: false,
            lock_timeout: None,
            who: None,
            variables: None,
        }
    }

    /// Another workspace than the one that is selected, or that the address names.
    pub fn workspace(mut self, workspace: WorkspaceName) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Where relative paths begin.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// Has these variables count as the environment: credentials, regions, `TF_WORKSPACE`, and the default of [`Options::who`].
    /// The environment of the process is not read then; otherwise it is read as often as the state is looked for.
    pub fn variables(mut self, variables: Variables) -> Self {
        self.variables = Some(variables);
        self
    }

    /// Opens states by this registry, which may have backends of your own.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Takes what `.terraform` records for true although the configuration does not confirm it, as `--trust-directory` does.
    pub fn trusts_directories(mut self, yes: bool) -> Self {
        self.trusts_directories = yes;
        self
    }

    /// Waits so long for a lock that another process holds.
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = Some(timeout);
        self
    }

    /// Takes locks in this name, `user@host`. The default has the user of the variable `USER` or `USERNAME` and the host of
    /// `HOSTNAME` or `COMPUTERNAME`, each `unknown` where neither is set.
    pub fn who(mut self, who: impl Into<String>) -> Self {
        self.who = Some(who.into());
        self
    }

    /// The name that locks are taken in.
    pub(crate) fn holder(&self) -> String {
        self.who.clone().unwrap_or_else(|| {
            // What is not UTF-8 ends each command before this name is needed.
            let variables = self.environment().unwrap_or_default();
            let first = |names: [&str; 2]| {
                let found =
                    names.into_iter().find_map(|name| variables.get(name).filter(|text| !text.is_empty()));
                found.unwrap_or("unknown").to_owned()
            };
            format!("{}@{}", first(["USER", "USERNAME"]), first(["HOSTNAME", "COMPUTERNAME"]))
        })
    }

    /// What counts as the environment.
    fn environment(&self) -> Result<Variables, Error> {
        match &self.variables {
            Some(variables) => Ok(variables.clone()),
            None => Ok(Variables::of_environment(std::env::vars_os())?),
        }
    }

    /// Finds the state that a text names: a file, a directory in which `terraform init` or `tofu init` ran, or an address such as
    /// `s3://bucket/key`. No request is sent to a cloud.
    ///
    /// # Errors
    ///
    /// [`Error::Location`].
    pub async fn open(self, state: &str) -> Result<Client, Error> {
        // What a client only reads needs less of a directory than what it changes, so that is checked for each.
        let location = self.locate(state, Purpose::Read).await?;
        Ok(Client::new(self, state, location))
    }

    /// Finds the state for a purpose; a thread of its own looks at the files of a directory.
    pub(crate) async fn locate(&self, state: &str, purpose: Purpose) -> Result<Location, Error> {
        let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
            .variables(self.environment()?)
            .directory(&self.directory)
            .purpose(purpose)
            .trusts_directories(self.trusts_directories);
        let (registry, workspace, state) = (self.registry.clone(), self.workspace.clone(), state.to_owned());
        let found = spawn_blocking(move || registry.place(&state, workspace.as_ref(), &context)).await;
        Ok(found.map_err(|error| Error::Runtime(std::io::Error::other(error)))??)
    }
}
