//! A stack in a Pulumi backend, with its own operations, without and under its lock.

use std::sync::Arc;

use groundstate_pulumi_diy::{Error, ErrorKind, Guard, Op as StackOp, Stack};
use groundstate_statemgr::Op;

use crate::args::LockArgs;
use crate::input::found_stack::stack_failure;
use crate::input::location::StateLocation;
use crate::input::remote::RemoteStack;
use crate::input::stack_store::StackBackend;
use crate::report::error::{Failure, Kind, Result, chain};
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;

/// A stack that can be locked. Nothing is read, locked or written yet.
#[derive(Debug)]
pub(crate) struct ManagedStack {
    state: ManagedState,
    backend: StackBackend,
}

/// A stack while its lock is held.
pub(crate) struct LockedStack<'s> {
    pub(crate) stack: &'s Stack,
    /// What writes ask: the lock, or nothing with `--no-lock`.
    pub(crate) guard: Arc<dyn Guard>,
    pub(crate) interrupts: &'s Interrupts,
}

impl ManagedStack {
    /// Opens the stack at a location. `command` is named where there is none.
    pub(crate) fn open(location: StateLocation, command: &str, locking: bool) -> Result<Self> {
        let stack = location.remote().and_then(|remote| remote.stack()).cloned();
        let Some(RemoteStack::Bucket(backend)) = stack else {
            let message =
                format!("`{command}` is for stacks in a Pulumi backend, and {} is not one", location.name());
            return Err(Failure::new(Kind::Usage, message)
                .hint("name a directory with a Pulumi.yaml, or `pulumi+URL#organization/PROJECT/STACK`"));
        };
        Ok(Self { state: ManagedState::open(location, None, locking)?, backend })
    }

    /// The stack as messages name it.
    pub(crate) fn name(&self) -> &str {
        &self.state.name
    }

    /// A command on this stack, as messages show it.
    pub(crate) fn command(&self, verb: &str) -> String {
        self.backend.command(verb, &self.state.shown())
    }

    /// Says that the stored state lacks what a killed update did.
    pub(crate) async fn warn_of_journal(&self) {
        self.backend.warn_of_journal(self.name(), &self.state.shown()).await;
    }

    /// Does `work` without a lock.
    pub(crate) fn unlocked<T>(&self, work: impl AsyncFnOnce(&Stack) -> Result<T>) -> Result<T> {
        unlocked(&self.state, async |_| Ok(work(self.backend.stack(Op::Read).await?).await?))
    }

    /// Does `work` while the lock is held, and releases it whatever comes of the work. A signal ends the wait for the lock; later
    /// it ends the command only if the work asks for it.
    pub(crate) fn locked<T>(
        &self,
        args: &LockArgs,
        operation: &str,
        work: impl AsyncFnOnce(&LockedStack<'_>) -> Result<T>,
    ) -> Result<T> {
        let info = lock_info(&self.state, operation)?;
        locked(&self.state, args, info, async |_, interrupts| {
            let stack = self.backend.stack(Op::Write).await?;
            let guard = self.backend.guard(Op::Write).await?;
            Ok(work(&LockedStack { stack, guard, interrupts }).await?)
        })
    }

    /// Fails if the stack does not exist, with the names of those that do.
    pub(crate) async fn existing(&self, stack: &Stack) -> Result<()> {
        if stack.exists().await.map_err(|error| self.failure(&error))? {
            return Ok(());
        }
        Err(self.missing(stack).await)
    }

    /// The same, unless there are copies of its state.
    pub(crate) async fn known(&self, stack: &Stack) -> Result<()> {
        let copies = stack.copies().await.map_err(|error| self.failure(&error))?;
        if copies.is_empty() { self.existing(stack).await } else { Ok(()) }
    }

    /// That the stack does not exist.
    pub(crate) async fn missing(&self, stack: &Stack) -> Failure {
        let missing = self.backend.missing(Op::Read, stack).await;
        Failure::new(Kind::NoState, chain(&missing))
            .hint(format!("`{}` makes it", self.command("stacks create")))
    }

    /// Refuses to replace a state that lacks what a killed update did.
    pub(crate) async fn refuse_journal(&self, stack: &Stack) -> Result<()> {
        if !stack.has_journal().await.map_err(|error| self.failure(&error))? {
            return Ok(());
        }
        let message = format!("{} lacks the changes of a killed update, so nothing was written", self.name());
        Err(Failure::new(Kind::Conflict, message)
            .hint(format!("`{}` stores it first", self.command("recover"))))
    }

    /// What the backend says, as a failure of the command.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        let mut failure = stack_failure(error);
        // Only a save looks whether a deployment is valid; the others look whose it is.
        if error.kind() == ErrorKind::Broken && error.op() != StackOp::Save {
            failure.kind = Kind::Conflict;
        }
        match error.kind() {
            ErrorKind::Corrupt => failure.hint(format!(
                "`{}` shows the copies of its state, `{}` restores one",
                self.command("history"),
                self.command("rollback --to ID")
            )),
            ErrorKind::LockLost => failure.hint("nothing more was written; look at the stack first"),
            ErrorKind::Ambiguous => failure.hint(format!("`{}` shows what is stored", self.command("show"))),
            _ => failure,
        }
    }
}
