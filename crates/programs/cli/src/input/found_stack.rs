//! A stack that a command works on as a whole, and what backends of stacks say as failures of the command.

use std::path::Path;
use std::sync::Arc;

use groundstate_blobs::Error as BlobError;
use groundstate_common::{shell_command, shell_word};
use groundstate_pulumi_backends::OpenedStore;
#[cfg(feature = "http")]
use groundstate_pulumi_backends::pulumi_http::Service;
use groundstate_pulumi_diy::{Backend as Bucket, Error, ErrorKind, LockConflict, Op, Stack, StackRef};
#[cfg(feature = "http")]
use groundstate_pulumi_snapshot::ProjectName;

use crate::input::environment::Environment;
use crate::input::remote::warn_once;
#[cfg(feature = "http")]
use crate::input::service::FoundService;
use crate::input::stack::{self, context};
use crate::input::stack_store::{StackPlace, missing, warn};
use crate::report::error::{Failure, Kind, Result};

/// A stack of a Pulumi backend, which need not exist. Nothing is asked of the store yet.
pub(crate) struct FoundStack {
    pub(crate) opened: Arc<OpenedStore>,
    pub(crate) place: StackPlace,
    /// The directory or the address that names it in a command.
    pub(crate) argument: String,
    /// The command line names the stack of the directory.
    pub(crate) is_named: bool,
}

/// A stack, where it is: in a bucket, or in a service.
pub(crate) enum FoundPlace {
    Bucket(FoundStack),
    #[cfg(feature = "http")]
    Service(FoundService),
}

impl FoundPlace {
    /// Finds the stack that an argument names: a directory, or an address with the stack behind `#`.
    pub(crate) fn at(argument: &Path) -> Result<Self> {
        let environment = Environment::of_process();
        if let Some(text) = stack::address(argument) {
            return stack::found_at_address(text, &environment);
        }
        if argument.is_dir() {
            return stack::found_in_directory(argument, &environment);
        }
        let message = format!("{} is neither a directory nor the address of a stack", argument.display());
        Err(Failure::new(Kind::Usage, message).hint(
            "name a directory with a Pulumi.yaml, or write 'pulumi+URL#organization/PROJECT/STACK' with the URL of `pulumi login`",
        ))
    }

    /// The stack that an argument names, if it names one where Pulumi keeps it.
    pub(crate) fn meant(argument: &Path) -> Result<Option<Self>> {
        let is_stack = stack::address(argument).is_some()
            || argument.is_dir() && stack::is_project(argument, &Environment::of_process())?;
        if is_stack { Self::at(argument).map(Some) } else { Ok(None) }
    }

    #[cfg(feature = "http")]
    pub(crate) fn of_service(
        service: Service,
        stack: String,
        project: Option<ProjectName>,
        argument: String,
        is_named: bool,
    ) -> Self {
        Self::Service(FoundService::new(service, stack, project, argument).named(is_named))
    }

    /// The stack in a bucket, where only one has what `command` is for; `instead` says what to do with one of a service.
    #[cfg_attr(
        not(feature = "http"),
        expect(unused_variables, reason = "without services all are in buckets")
    )]
    pub(crate) fn bucket(self, command: &str, instead: &str) -> Result<FoundStack> {
        match self {
            Self::Bucket(found) => Ok(found),
            #[cfg(feature = "http")]
            Self::Service(found) => Err(stack::for_buckets(&found, command, instead)),
        }
    }
}

impl FoundStack {
    /// Another stack of the same backend.
    pub(crate) fn named(&self, stack: &str) -> Self {
        let mut place = self.place.clone();
        stack.clone_into(&mut place.stack);
        let (argument, is_named) = match self.argument.split_once('#') {
            Some((backend, _)) => (format!("{backend}#{stack}"), false),
            None => (self.argument.clone(), true),
        };
        Self { opened: Arc::clone(&self.opened), place, argument, is_named }
    }

    /// Opens its bucket. Nothing is written.
    pub(crate) async fn open(&self) -> Result<Stack> {
        warn_once(&self.opened.notes);
        let bucket = self.place.bucket(&self.opened.store).await.map_err(|error| self.failure(&error))?;
        warn(bucket.warnings());
        let reference = self.reference(&bucket)?;
        self.place.stack(&bucket, &reference).await.map_err(|error| self.failure(&error))
    }

    /// The same; nothing where no backend is yet.
    #[cfg(feature = "http")]
    pub(crate) async fn open_if_there(&self) -> Result<Option<Stack>> {
        match self.place.bucket(&self.opened.store).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // Every other error is told by it.
            _ => self.open().await.map(Some),
        }
    }

    /// Its name in a bucket that was opened.
    pub(crate) fn reference(&self, bucket: &Bucket) -> Result<StackRef> {
        self.place.reference(bucket).map_err(|error| {
            let message = format!("cannot use the stack {}: {error}", self.place.stack);
            Failure::new(Kind::Usage, message).hint(
                "name the stack as organization/PROJECT/STACK, or run this in a directory with a Pulumi.yaml",
            )
        })
    }

    /// Opens its bucket for a new stack: a database gets its table, an empty bucket its `meta.yaml`.
    pub(crate) async fn open_to_create(&self) -> Result<Stack> {
        self.opened.prepare().await.map_err(|error| stack::refused(&error))?;
        let stack = self.open().await?;
        let (store, options) = (Arc::clone(&self.opened.store), self.place.options.clone());
        let bucket = Bucket::open(store, context(), options).await.map_err(|error| self.failure(&error))?;
        Ok(bucket.stack(stack.reference()))
    }

    /// A command on this stack, as messages show it.
    pub(crate) fn command(&self, command: &str) -> String {
        let command = shell_command(&format!("groundstate {command}"), &[&self.argument]);
        match self.is_named {
            true => format!("{command} --stack {}", shell_word(&self.place.stack)),
            false => command,
        }
    }

    /// That the stack does not exist, with those that do.
    pub(crate) async fn missing(&self, stack: &Stack) -> Failure {
        let message = format!("{stack}: {}", missing(stack).await);
        Failure::new(Kind::NoState, message).hint(format!("`{}` creates it", self.command("stacks create")))
    }

    /// What its backend says, as a failure of the command.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        let failure = stack_failure(error);
        match error.kind() {
            ErrorKind::Locked => failure
                .hint(format!(
                    "`{}` shows who holds it; wait with `--lock-timeout 5m`",
                    self.command("locks")
                ))
                .hint(format!("if its holder is gone, `{}` frees it", self.command("unlock --force"))),
            ErrorKind::LockLost => failure.hint(format!(
                "nothing more was written; `{}` shows whether another process is at work",
                self.command("locks")
            )),
            ErrorKind::NotFound if error.op() == Op::Open => failure
                .hint(format!("`{}` makes what is missing, and a stack", self.command("stacks create"))),
            ErrorKind::Denied => failure.hint(
                "reading and `--dry-run` need no write permission; other commands need it on `.pulumi/`",
            ),
            _ => failure,
        }
    }
}

/// What a backend of stacks says, as a failure of the command.
pub(crate) fn stack_failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::Invalid | ErrorKind::Legacy => Kind::Usage,
        ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Broken => Kind::Unusable,
        ErrorKind::Locked => Kind::Locked,
        ErrorKind::Exists | ErrorKind::Changed | ErrorKind::LockLost => Kind::Conflict,
        ErrorKind::NotFound => Kind::NoState,
        ErrorKind::Denied => Kind::Denied,
        _ => Kind::Unreachable,
    };
    let Some(conflict) = conflict(error).filter(|_| kind == Kind::Locked) else {
        let failure = Failure::new(kind, told(error));
        return error.step().into_iter().fold(failure, Failure::hint);
    };
    // Each lock on a line of its own: its text is that of another program.
    let locks = conflict.locks().iter().map(ToString::to_string);
    Failure::new(kind, format!("cannot lock {}: another process holds it", error.target())).details(locks)
}

/// An error and its causes, without the next step. What a store said is in the error already.
fn told(error: &Error) -> String {
    let mut text = format!("cannot {} {}: {}", error.op(), error.target(), error.message());
    let first = std::error::Error::source(error);
    for cause in std::iter::successors(first, |cause| cause.source()) {
        let cause = if cause.is::<BlobError>() { continue } else { cause.to_string() };
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// The locks that stood in the way.
pub(crate) fn conflict(error: &Error) -> Option<&LockConflict> {
    let first = std::error::Error::source(error);
    std::iter::successors(first, |error| error.source()).find_map(|error| error.downcast_ref())
}
