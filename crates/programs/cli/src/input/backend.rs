//! Backends, and what a command ends with that one of them has refused.

use std::path::Path;
use std::sync::Arc;

use groundstate_backends::{BackendsError, Disagreement, LockMaintenance, Purpose};
use groundstate_common::shell_word;
use groundstate_statemgr::ErrorKind;

use crate::input::environment::Environment;
use crate::input::remote::warn;
use crate::input::stack;
use crate::report::error::{Failure, Kind, Result, chain};

/// A backend with its workspaces, whatever names it.
pub(crate) fn backend(argument: &Path, purpose: Purpose) -> Result<groundstate_backends::Location> {
    open(argument, purpose, Environment::of_process())
}

/// The same where the workspace of the command line is not meant.
pub(crate) fn destination(argument: &Path) -> Result<groundstate_backends::Location> {
    open(argument, Purpose::Change, Environment::of_process().without_workspace())
}

fn open(
    argument: &Path,
    purpose: Purpose,
    environment: Environment,
) -> Result<groundstate_backends::Location> {
    let text = argument.to_str().ok_or_else(|| {
        Failure::new(
            Kind::Usage,
            format!("{} is not valid UTF-8, so it is not the address of a state", argument.display()),
        )
    })?;
    if stack::address(argument).is_some() || stack::is_only_project(argument) {
        let message = "this command is for Terraform workspaces; Pulumi has stacks instead";
        return Err(Failure::new(Kind::Usage, message).hint(
            "`groundstate stacks list` shows the stacks, `groundstate help stacks` what can be done with them",
        ));
    }
    let place = Environment::registry().place(text, environment.chosen(), &environment.context(purpose));
    let place = place.map_err(|error| match argument.is_dir() {
        true => elsewhere(argument, error),
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
            BackendsError::Read { source, .. } => failure(Kind::of_io(source)),
            BackendsError::SmallFile { .. } => failure(Kind::NoState),
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
            error => {
                failure(Kind::of_cause(error).filter(|kind| *kind != Kind::NoState).unwrap_or(Kind::Usage))
            }
        }
    }
}

fn disagrees(failure: Failure, purpose: Purpose, disagreement: &Disagreement) -> Failure {
    const TRUST: &str =
        "`--trust-directory` takes what `.terraform` records; use it for your own directories only";
    match disagreement {
        Disagreement::StateStore(_) | Disagreement::UnknownRecord(_) => failure,
        Disagreement::NotEvaluated { leads_elsewhere, .. } => {
            let failure = failure.hint("give variables with `--var NAME=VALUE` or `--var-file FILE`");
            match purpose {
                Purpose::Read if *leads_elsewhere => failure.hint(TRUST),
                Purpose::Read => failure,
                Purpose::Change => {
                    failure.hint("or name the state itself: its file, or an address such as s3://BUCKET/KEY")
                }
            }
        }
        Disagreement::NeverInitialised(_) | Disagreement::Changed(_) => {
            let failure = failure.hint("run `terraform init` there");
            let failure = match disagreement {
                Disagreement::Changed(Some(_)) => failure.hint(
                    "if the block has variables, `--var NAME=VALUE` and `--var-file FILE` give their values",
                ),
                _ => failure,
            };
            match (purpose, disagreement) {
                (Purpose::Change, _) => failure,
                (_, Disagreement::NeverInitialised(_)) => {
                    failure.hint("`--trust-directory` reads the file of the local backend")
                }
                _ => failure.hint(TRUST),
            }
        }
        _ => failure.hint("run `terraform init` there").hint(TRUST),
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
        ErrorKind::NotFound => Kind::NoState,
        ErrorKind::Denied => Kind::Denied,
        _ => Kind::Unreachable,
    }
}

/// What looks after digests and second locks, where a backend has such a thing.
pub(crate) fn maintenance(
    place: &groundstate_backends::Location,
    lacking: &str,
) -> Result<Arc<dyn LockMaintenance>> {
    place.opened.maintenance.clone().ok_or_else(|| {
        let message = format!("{} {lacking}", place.opened.backend);
        Failure::new(Kind::Usage, message).hint("that is for states in S3 with a table of DynamoDB")
    })
}

/// An error and its causes. The refusal of a lock says everything itself: its causes repeat the holder in other words.
pub(crate) fn told(error: &groundstate_statemgr::Error) -> String {
    match error.holder() {
        Some(_) if error.kind() == ErrorKind::Locked => error.to_string(),
        _ => chain(error),
    }
}

/// The failure for what a backend says.
pub(crate) fn refused(error: &groundstate_statemgr::Error) -> Failure {
    let failure = Failure::new(kind_of(error.kind()), told(error));
    match error.holder() {
        Some(_) => failure.hint("wait with `--lock-timeout 5m`"),
        None => failure,
    }
}

/// The failure for a working directory whose backend cannot be opened.
pub(crate) fn elsewhere(directory: &Path, error: BackendsError) -> Failure {
    match error {
        BackendsError::NotBuiltIn { kind, known } | BackendsError::Unknown { kind, known } => {
            let shown = directory.display();
            let message = format!(
                "the state of {shown} is kept by the backend {kind:?}, which is not among those that are built in: {known}"
            );
            Failure::new(Kind::NoState, message).hint(fetch(directory))
        }
        error => {
            let is_foreign = matches!(
                &error,
                BackendsError::Disagreement {
                    disagreement: Disagreement::StateStore(_) | Disagreement::UnknownRecord(_),
                    ..
                }
            );
            let failure = Failure::from(error);
            if is_foreign { failure.hint(fetch(directory)) } else { failure }
        }
    }
}

/// The advice for a directory whose state only its own product can reach.
fn fetch(directory: &Path) -> String {
    let directory = directory.display().to_string();
    format!(
        "fetch it with `terraform -chdir={} state pull > FILE` and name FILE instead",
        shell_word(&directory)
    )
}
