//! Stacks of a Pulumi service: which one an argument names, and what the service says as failures of a command.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groundstate_common::{shell_command, shell_word};
use groundstate_pulumi_backends::pulumi_http::protocol::{StackPath, project_name, stack_name};
use groundstate_pulumi_backends::pulumi_http::{
    Error, ErrorKind, Op, Result as ServiceResult, Service, ServiceStack, StackFilter,
};
use groundstate_pulumi_backends::{PulumiHome, ServiceChoice, ServiceLoginError};
use groundstate_pulumi_snapshot::ProjectName;
use groundstate_statemgr::TokioSleeper;
use tokio::sync::OnceCell;

use crate::input::stack_store::missing_among;
use crate::report::error::{Failure, Kind, Result, chain};

/// A stack of a service, which need not exist. Nothing is asked of the service yet.
#[derive(Clone, Debug)]
pub(crate) struct FoundService {
    pub(crate) service: Service,
    /// Its name, as the user wrote it.
    pub(crate) name: String,
    /// The project that is meant where the name has none.
    project: Option<ProjectName>,
    /// The directory or the address that names it in a command.
    pub(crate) argument: String,
    /// The command line names the stack of the directory.
    pub(crate) is_named: bool,
    stack: Arc<OnceCell<ServiceStack>>,
    /// A lock keeps others out, as the service can. By default a lock is a look: edits depend on the state that they replace.
    excludes: Arc<AtomicBool>,
}

/// A client of the service, with the token of the user's login there.
pub(crate) fn open(choice: &ServiceChoice, variable: &dyn Fn(&str) -> Option<String>) -> Result<Service> {
    let opened = choice.open(&PulumiHome::of(variable), variable, Arc::new(TokioSleeper));
    opened.map_err(|error| Failure::new(not_opened(&error), chain(&error)))
}

/// The kind of a failure to make a client of a service.
fn not_opened(error: &ServiceLoginError) -> Kind {
    match error {
        ServiceLoginError::NoToken { .. } => Kind::Denied,
        error => Kind::of_cause(error).unwrap_or(Kind::Usage),
    }
}

impl FoundService {
    pub(crate) fn new(
        service: Service,
        name: String,
        project: Option<ProjectName>,
        argument: String,
    ) -> Self {
        Self {
            service,
            name,
            project,
            argument,
            is_named: false,
            stack: Arc::default(),
            excludes: Arc::default(),
        }
    }

    /// Sets whether the command line names the stack of the directory.
    #[must_use]
    pub(crate) fn named(self, is_named: bool) -> Self {
        Self { is_named, ..self }
    }

    /// The stack: a name without an owner is that of the user's default organisation, which the service is asked for.
    pub(crate) async fn stack(&self) -> ServiceResult<&ServiceStack> {
        self.stack.get_or_try_init(|| self.resolve()).await
    }

    /// Makes every lock of this stack keep other clients out, if the service can do that.
    pub(crate) async fn lock_out_others(&self) -> ServiceResult<()> {
        self.excludes.store(self.service.can_lock_stacks().await?, Ordering::Release);
        Ok(())
    }

    /// Returns `true` if a lock keeps other clients out.
    pub(crate) fn excludes(&self) -> bool {
        self.excludes.load(Ordering::Acquire)
    }

    async fn resolve(&self) -> ServiceResult<ServiceStack> {
        let invalid = |why: String| {
            let place = format!("the stack {} of {}", self.name, self.service);
            Error::new(ErrorKind::Invalid, Op::Use, place).because(why)
        };
        let parts: Vec<&str> = self.name.split('/').collect();
        let (owner, project, stack) = match parts[..] {
            [stack] => (None, None, stack),
            [owner, stack] => (Some(owner), None, stack),
            [owner, project, stack] => (Some(owner), Some(project), stack),
            _ => return Err(invalid("its name has more than three parts".to_owned())),
        };
        let own = self.project.as_ref().map(ProjectName::as_str);
        let project = project.or(own).ok_or_else(|| {
            invalid("its name has no project".to_owned())
                .next_step("name the stack as ORGANIZATION/PROJECT/STACK")
        })?;
        let (project, stack) = (project_name(project), stack_name(stack));
        let project = project.map_err(|error| invalid(error.to_string()))?.to_string();
        let stack = stack.map_err(|error| invalid(error.to_string()))?.to_string();
        let owner = match owner {
            Some("" | "." | "..") => return Err(invalid("its organisation has no name".to_owned())),
            Some(owner) => owner.to_owned(),
            None => self.service.default_organization().await?,
        };
        Ok(self.service.stack(StackPath::new(owner, project, stack)))
    }

    /// The name of the stack alone, without its organization and project.
    pub(crate) fn stack_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The name of the stack as it was given, which may have an organization and a project.
    pub(crate) fn full_name(&self) -> &str {
        &self.name
    }

    /// Its place in words, which tells it from the stacks of other projects: with its owner once the service was asked for it.
    pub(crate) fn identity(&self) -> String {
        match (self.stack.get(), &self.project) {
            (Some(stack), _) => stack.to_string(),
            (None, Some(project)) if !self.name.contains('/') => {
                format!("stack {project}/{} of {}", self.name, self.service)
            }
            (None, _) => self.to_string(),
        }
    }

    /// A command on this stack, as messages show it.
    pub(crate) fn command(&self, command: &str) -> String {
        let command = shell_command(&format!("groundstate {command}"), &[&self.argument]);
        match self.is_named {
            true => format!("{command} --stack {}", shell_word(&self.name)),
            false => command,
        }
    }

    /// That the stack does not exist, with those that do.
    pub(crate) async fn missing(&self, stack: &ServiceStack) -> Failure {
        let message = format!("{stack}: {}", missing(stack).await);
        Failure::new(Kind::NoState, message).hint(format!("`{}` creates it", self.command("stacks create")))
    }

    /// What the service says, as a failure of the command.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        let failure = service_failure(error);
        match error.kind() {
            ErrorKind::Running => failure
                .hint(format!(
                    "`{}` shows which update runs; wait with `--lock-timeout 5m`",
                    self.command("locks")
                ))
                .hint(format!("if its process is gone, `{}` cancels it", self.command("unlock --force"))),
            ErrorKind::Ambiguous => {
                failure.hint(format!("`{}` shows what the service has", self.command("history")))
            }
            _ => failure,
        }
    }

    /// The same, where a stack that is missing is told with those that are there.
    pub(crate) async fn failed(&self, error: &Error, stack: &ServiceStack) -> Failure {
        match error.kind() {
            ErrorKind::NotFound => self.missing(stack).await,
            _ => self.failure(error),
        }
    }
}

impl fmt::Display for FoundService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stack {} of {}", self.name, self.service)
    }
}

/// That there is no such stack, with those that may be meant.
pub(crate) async fn missing(stack: &ServiceStack) -> String {
    let names = names(stack.service(), &StackFilter::default()).await;
    missing_among(&stack.path().to_string(), names.unwrap_or_default())
}

/// The full names of stacks.
pub(crate) async fn names(service: &Service, filter: &StackFilter) -> ServiceResult<Vec<String>> {
    let stacks = service.stacks(filter).await?;
    let path = |stack: groundstate_pulumi_backends::pulumi_http::protocol::StackSummary| {
        StackPath::new(stack.org_name, stack.project_name, stack.stack_name).to_string()
    };
    let mut names: Vec<String> = stacks.into_iter().map(path).collect();
    names.sort();
    Ok(names)
}

/// What a service says, as a failure of the command.
pub(crate) fn service_failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::Invalid => Kind::Usage,
        ErrorKind::TooLarge | ErrorKind::Unsupported => Kind::Unusable,
        ErrorKind::Running => Kind::Locked,
        ErrorKind::Exists | ErrorKind::Changed => Kind::Conflict,
        ErrorKind::HasResources => Kind::Loss,
        ErrorKind::NotFound => Kind::NoState,
        ErrorKind::NotLoggedIn | ErrorKind::Denied => Kind::Denied,
        _ => Kind::Unreachable,
    };
    let failure =
        Failure::new(kind, format!("cannot {} {}: {}", error.op(), error.target(), error.message()));
    error.step().into_iter().fold(failure, Failure::hint)
}
