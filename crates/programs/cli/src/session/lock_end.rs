//! The end of a lock: one that was lost while it was held, or cannot be released, is said and never ends in exit code 0.

use std::sync::atomic::{AtomicBool, Ordering};

use groundstate_pulumi_diy::{ErrorKind, Stack};
use groundstate_statemgr::{Error, ReleaseError};

use crate::report::error::chain;
use crate::report::error::{Failure, Kind};
use crate::report::messages::Messages;
use crate::session::managed_state::ManagedState;

/// Whether a lock of this process was lost or could not be released. The report of the work comes after that, and
/// whatever it says, the process must not end as if all was well.
static NOT_KEPT: AtomicBool = AtomicBool::new(false);

/// The exit code of the process, where its work ends with this one.
pub(crate) fn exit_code(code: u8) -> u8 {
    if code == 0 && NOT_KEPT.load(Ordering::Acquire) { Kind::LockNotKept.code() } else { code }
}

/// Says how a lock ended, unless it was kept and released.
pub(crate) fn tell(opened: &ManagedState, kept: Result<(), Error>, released: Result<(), ReleaseError>) {
    let failure = match (kept, released) {
        (Ok(()), Ok(())) => return,
        (Ok(()), Err(error)) if !error.is_lost() => not_released(opened, &error),
        (Ok(()), Err(error)) => lost(&opened.name, &chain(&error)),
        (Err(error), _) => lost(&opened.name, &chain(&error)),
    };
    NOT_KEPT.store(true, Ordering::Release);
    Messages::stderr().failure(&failure);
}

/// Says that the lock of a stack was lost, or that it stays and which command frees it.
pub(crate) fn stack_not_released(stack: &Stack, free: &str, error: &groundstate_pulumi_diy::Error) {
    NOT_KEPT.store(true, Ordering::Release);
    if error.kind() == ErrorKind::LockLost {
        return Messages::stderr().failure(&lost(&stack.to_string(), &chain(error)));
    }
    let failure = Failure::new(Kind::LockNotKept, format!("{stack} stays locked: {}", chain(error)));
    Messages::stderr().failure(&failure.hint(format!("`{free}` frees it")));
}

/// A lock that is in force by now belongs to another process, so nothing is said of how to free one.
fn lost(name: &str, why: &str) -> Failure {
    let message = format!("the lock of {name} was lost while it was held: {why}");
    Failure::new(Kind::LockNotKept, message)
        .hint("another process may have changed the state meanwhile, so look at it before anything else")
}

fn not_released(opened: &ManagedState, error: &ReleaseError) -> Failure {
    let failure = Failure::new(Kind::LockNotKept, format!("{} stays locked: {}", opened.name, chain(error)));
    match &opened.backup_store {
        Some(_) => failure.hint(format!(
            "`{}` frees it; `{}` shows what is left of it",
            opened.command("unlock", &[error.id().as_str()]),
            opened.command("locks", &[])
        )),
        None => failure.hint("the lock ends with this process"),
    }
}
