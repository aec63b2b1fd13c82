//! Where an argument leads: to a file, or to a place that a back end keeps.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_backends::{
    BackendsError, Disagreement, LockMaintenance, PlaceUrl, Purpose, Registry, local_path,
};
use groundstate_statemgr::{Backend, ErrorKind, StateStore, WorkspaceName};

use crate::input::workdir::{self, Environment};
use crate::report::error::{Failure, Kind, Result};
use crate::report::output::Messages;
use crate::session::locked::chain;

/// What an argument stands for.
#[derive(Debug)]
pub(crate) enum Located {
    /// A file, or a path at which there is none.
    File(PathBuf),
    Remote(Box<Remote>),
}

/// A state that is not in a file.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    /// The state as messages name it.
    pub(crate) name: String,
    pub(crate) place: groundstate_backends::Place,
    pub(crate) store: Arc<dyn StateStore>,
    /// What to write into commands that are to name it.
    pub(crate) argument: String,
}

impl Remote {
    pub(crate) fn new(place: groundstate_backends::Place, argument: &str) -> Result<Self> {
        warn(&place);
        let store = place.opened.backend.store(&place.workspace).map_err(BackendsError::from)?;
        let argument = match argument.split_once('?') {
            // Options may be secrets.
            Some((url, _)) if PlaceUrl::is_url(argument) => format!("{url}?…"),
            _ => argument.to_owned(),
        };
        Ok(Self { name: store.to_string(), place, store, argument })
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.place.opened.backend
    }

    /// Where files go that belong to this state: the working directory that named it, or the present one.
    pub(crate) fn folder(&self) -> &Path {
        self.place.directory.as_deref().unwrap_or(Path::new(""))
    }

    /// The path that a copy of this state would have in that folder.
    pub(crate) fn copy(&self) -> PathBuf {
        let last = self.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or("terraform.tfstate");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let mut name: String = last.chars().map(plain).collect();
        let workspace: String = self.place.workspace.as_str().chars().map(plain).collect();
        if !self.place.workspace.is_default() && !name.contains(&workspace) {
            name.push('.');
            name.push_str(&workspace);
        }
        self.folder().join(name)
    }
}

/// Shows what a user should know of the settings of a place, each line once in a run.
fn warn(place: &groundstate_backends::Place) {
    static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    for warning in &place.opened.warnings {
        if shown.insert(warning.clone()) {
            Messages::stderr().warning(warning);
        }
    }
}

/// Finds out where an argument leads, which nothing but the working directory is read for.
pub(crate) fn locate(argument: &Path, must_exist: bool, purpose: Purpose) -> Result<Located> {
    let environment = Environment::of_process();
    if is_place(argument) {
        return of_place(argument, &environment, must_exist, purpose);
    }
    if let Some(workspace) = environment.chosen().filter(|workspace| !workspace.is_default()) {
        let (place, workspace) = (argument.display().to_string(), workspace.to_string());
        return Err(BackendsError::NoWorkspaces { place, workspace }.into());
    }
    Ok(Located::File(argument.to_owned()))
}

/// The same for an argument beside the place that the command is about: `--workspace` does not mean it.
pub(crate) fn locate_beside(argument: &Path) -> Result<Located> {
    if is_place(argument) {
        let environment = Environment::of_process().without_workspace();
        return of_place(argument, &environment, true, Purpose::Read);
    }
    Ok(Located::File(argument.to_owned()))
}

/// Whether an argument names a directory or a backend, and not a file.
pub(crate) fn is_place(argument: &Path) -> bool {
    argument.to_str().is_some_and(PlaceUrl::is_url) || argument.is_dir()
}

fn of_place(
    argument: &Path,
    environment: &Environment,
    must_exist: bool,
    purpose: Purpose,
) -> Result<Located> {
    let Some(url) = argument.to_str().filter(|text| PlaceUrl::is_url(text)) else {
        return workdir::locate(argument, environment, must_exist, purpose);
    };
    let registry = Registry::standard();
    let place = registry.place(url, environment.chosen(), &environment.context(purpose))?;
    if place.settings.kind() == "local" {
        return Ok(Located::File(local_path(&place.settings, &place.workspace, Path::new(""))?));
    }
    Ok(Located::Remote(Box::new(Remote::new(place, url)?)))
}

/// A backend with its workspaces, whatever names it.
pub(crate) fn backend(argument: &Path, purpose: Purpose) -> Result<groundstate_backends::Place> {
    open(argument, purpose, Environment::of_process())
}

/// The same where the workspace of the command line is not meant.
pub(crate) fn destination(argument: &Path) -> Result<groundstate_backends::Place> {
    open(argument, Purpose::Change, Environment::of_process().without_workspace())
}

fn open(argument: &Path, purpose: Purpose, environment: Environment) -> Result<groundstate_backends::Place> {
    let text = argument.to_str().ok_or_else(|| {
        Failure::new(Kind::Usage, format!("{} is not text, so it names no place", argument.display()))
    })?;
    let place = Registry::standard().place(text, environment.chosen(), &environment.context(purpose));
    let place = place.map_err(|error| match argument.is_dir() {
        true => workdir::elsewhere(argument, error),
        false => error.into(),
    })?;
    warn(&place);
    Ok(place)
}

impl From<BackendsError> for Failure {
    fn from(error: BackendsError) -> Self {
        let failure = |kind| Self::new(kind, chain(&error));
        match &error {
            BackendsError::Scheme { .. } => failure(Kind::NoState)
                .hint("fetch the state and pass it on with `-`, if it is kept somewhere else"),
            BackendsError::NotBuiltIn { .. } => failure(Kind::NoState)
                .hint("fetch the state with `terraform state pull > FILE` and name FILE instead"),
            BackendsError::Read { .. } | BackendsError::SmallFile { .. } => failure(Kind::NoState),
            BackendsError::Disagreement { purpose, disagreement, .. } => {
                disagrees(failure(Kind::NoState), *purpose, disagreement)
            }
            BackendsError::Untrusted { .. } | BackendsError::Configuration { .. } => {
                failure(Kind::NoState).hint("`--trust-directory` takes what `.terraform` records")
            }
            BackendsError::Selection { .. } => failure(Kind::Usage)
                .hint("select another one with `terraform workspace select`, or name one with `--workspace`"),
            BackendsError::WorkingDirectory { .. } => {
                failure(Kind::NotState).hint("run `terraform init` there, or name a state file")
            }
            BackendsError::Workspace(_) => failure(Kind::Usage)
                .hint("select another one with `terraform workspace select`, or name one with `--workspace`"),
            BackendsError::Backend(store) => failure(kind_of(store.kind())),
            _ => failure(Kind::Usage),
        }
    }
}

fn disagrees(failure: Failure, purpose: Purpose, disagreement: &Disagreement) -> Failure {
    let failure = failure.hint("run `terraform init` there");
    let is_contradicted =
        matches!(disagreement, Disagreement::NeverInitialised(_) | Disagreement::Changed(_));
    match purpose {
        Purpose::Read if matches!(disagreement, Disagreement::NeverInitialised(_)) => {
            failure.hint("`--trust-directory` reads the file of the local backend")
        }
        Purpose::Change if is_contradicted => failure,
        _ => failure.hint(
            "`--trust-directory` takes what `.terraform` records; use it for your own directories only",
        ),
    }
}

/// How a command ends that a store has refused.
pub(crate) fn kind_of(kind: ErrorKind) -> Kind {
    match kind {
        ErrorKind::Locked => Kind::Locked,
        ErrorKind::Conflict | ErrorKind::LineageMismatch | ErrorKind::LockLost => Kind::Conflict,
        ErrorKind::NotReleased => Kind::LockNotKept,
        ErrorKind::Corrupt => Kind::Unusable,
        ErrorKind::Unsupported | ErrorKind::Invalid => Kind::Usage,
        _ => Kind::NoState,
    }
}

/// What looks after digests and second locks, where a back end has such a thing.
pub(crate) fn maintenance(
    place: &groundstate_backends::Place,
    lacking: &str,
) -> Result<Arc<dyn LockMaintenance>> {
    place.opened.maintenance.clone().ok_or_else(|| {
        let message = format!("{} {lacking}", place.opened.backend);
        Failure::new(Kind::Usage, message).hint("that is for states in S3 with a table of DynamoDB")
    })
}

/// The failure for what a back end says.
pub(crate) fn refused(error: &groundstate_statemgr::Error) -> Failure {
    let failure = Failure::new(kind_of(error.kind()), chain(error));
    match error.holder() {
        Some(_) => failure.hint("wait with `--lock-timeout 5m`; `groundstate locks` shows who has it"),
        None => failure,
    }
}

/// Reads the name of a workspace.
pub(crate) fn workspace_name(text: &str) -> Result<WorkspaceName, String> {
    WorkspaceName::parse(text).map_err(|error| error.to_string())
}
