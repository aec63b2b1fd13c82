//! What managers and edits report, as failures of a command: kind, message, next step.

use std::path::Path;

use groundstate_common::shortened;
use groundstate_pulumi_diy::LockConflict;
use groundstate_state_edit::{MoveError, RemoveError, ReplaceProviderError, ScriptFault, TaintError};
use groundstate_statefile::{EncodeError, ReadError};
use groundstate_statemgr::{Error, ErrorKind, LockHolder, LockId, Op};

use crate::input::backend::{kind_of, told};
use crate::input::encryption;
use crate::input::source::Source;
use crate::input::terraform;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind};
use crate::session::managed_state::ManagedState;

/// Characters of a lock id that is named in a command, at most.
const MAX_ID: usize = 200;

/// Why work on a place has ended.
#[derive(Debug)]
pub(crate) enum StateError {
    /// The manager says no.
    Manager(Error),
    /// The command says no.
    Own(Failure),
}

impl From<Error> for StateError {
    fn from(error: Error) -> Self {
        Self::Manager(error)
    }
}

impl From<Failure> for StateError {
    fn from(failure: Failure) -> Self {
        Self::Own(failure)
    }
}

impl StateError {
    pub(crate) fn explain(self, opened: &ManagedState) -> Failure {
        match self {
            Self::Manager(error) => explain(&error, opened),
            Self::Own(failure) => failure,
        }
    }
}

/// The failure for what a manager or its store says.
pub(crate) fn explain(error: &Error, opened: &ManagedState) -> Failure {
    if let Some(read) = cause::<ReadError>(error) {
        return unreadable(read, error, &opened.argument);
    }
    if let Some(EncodeError::Loss(losses)) = cause::<EncodeError>(error) {
        let message = "parts of the state would be lost, so nothing was written:";
        let lines = losses.iter().take(50).map(|loss| format!("- {loss}"));
        return Failure::new(Kind::Loss, message).details(lines);
    }
    let command = |verb: &str| opened.command(verb, &[]);
    let failure = Failure::new(kind_of(error.kind()), told(error));
    match error.kind() {
        ErrorKind::Locked => {
            let locks = cause::<LockConflict>(error).map(LockConflict::locks).filter(|locks| locks.len() > 1);
            let failure = failure.details(locks.into_iter().flatten().map(ToString::to_string));
            let failure = match error.holder() {
                Some(holder) => failure.hint(way_out(holder, opened)),
                None => failure,
            };
            failure.hint(format!("wait with `--lock-timeout 5m`; `{}` shows who has it", command("locks")))
        }
        ErrorKind::LockLost => failure.hint("nothing more was written; look at the state first"),
        ErrorKind::Denied if matches!(error.op(), Op::Other("decrypt" | "encrypt")) => {
            Failure { kind: Kind::Unusable, ..failure }.hint(encryption::STATUS)
        }
        ErrorKind::Denied if opened.backup_store.is_none() && !error.op().is_read() => failure
            .hint("the directory has to be writable as well: lock, journal and backup are beside the state"),
        ErrorKind::Ambiguous if opened.backup_store.is_none() => {
            failure.hint(format!("`{}` finishes the write", command("list")))
        }
        ErrorKind::Ambiguous => failure.hint(format!("`{}` shows what is stored", command("pull"))),
        _ => failure,
    }
}

/// How another client's lock can end.
pub(crate) fn way_out(holder: &LockHolder, opened: &ManagedState) -> String {
    if opened.backup_store.is_none() {
        return how_to_free(holder);
    }
    format!("if its holder is gone, `{}` frees it", unlock(opened, &holder.id))
}

/// The command that frees the lock of this id.
pub(crate) fn unlock(opened: &ManagedState, id: &LockId) -> String {
    match id.as_str().chars().nth(MAX_ID) {
        // A user cannot check such an id before pasting it.
        Some(_) => opened.command("unlock --force", &[]),
        None => opened.command("unlock", &[id.as_str()]),
    }
}

/// How the lock of a file comes to its end.
pub(crate) fn how_to_free(holder: &LockHolder) -> String {
    let host =
        holder.host.as_deref().map(|host| format!(" on {}", shortened(host, MAX_ID))).unwrap_or_default();
    match holder.pid {
        Some(pid) => format!("the lock ends when process {pid}{host} is done or gone"),
        None => format!("the lock ends when the process that holds it{host} is done or gone"),
    }
}

/// A cause of this type.
fn cause<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

/// Points into the file, if it can be read once more.
fn unreadable(read: &ReadError, error: &Error, path: &Path) -> Failure {
    let text = Source::find(path).and_then(|source| Ok((source.text()?.into_owned(), source)));
    match text {
        Ok((text, source)) => terraform::failure(read, &source.name, &text),
        // It is compressed, and damaged; or encrypted, without a key.
        Err(failure) if matches!(failure.kind, Kind::NotState | Kind::Unusable) => failure,
        Err(_) => Failure::new(Kind::Unusable, chain(error)),
    }
}

fn not_there(error: &dyn std::error::Error, kind: Kind) -> Failure {
    Failure::new(kind, error.to_string())
}

impl From<MoveError> for Failure {
    fn from(error: MoveError) -> Self {
        not_there(&error, of_mv(&error))
    }
}

impl From<RemoveError> for Failure {
    fn from(error: RemoveError) -> Self {
        not_there(&error, of_rm(&error))
    }
}

impl From<TaintError> for Failure {
    fn from(error: TaintError) -> Self {
        not_there(&error, of_taint(&error))
    }
}

impl From<ReplaceProviderError> for Failure {
    fn from(error: ReplaceProviderError) -> Self {
        not_there(&error, of_provider(&error))
    }
}

fn of_mv(error: &MoveError) -> Kind {
    match error {
        MoveError::SourceMissing { .. } => Kind::NotFound,
        MoveError::DestinationExists { .. } => Kind::Conflict,
        MoveError::Read(_) => Kind::Unusable,
        _ => Kind::Usage,
    }
}

fn of_rm(error: &RemoveError) -> Kind {
    match error {
        RemoveError::NothingMatched { .. } | RemoveError::NoDeposed { .. } => Kind::NotFound,
        _ => Kind::Unusable,
    }
}

fn of_taint(error: &TaintError) -> Kind {
    match error {
        TaintError::Missing { .. } => Kind::NotFound,
        TaintError::NoCurrentObject { .. } | TaintError::NotTainted { .. } => Kind::Conflict,
        TaintError::NotManaged { .. } => Kind::Usage,
        _ => Kind::Unusable,
    }
}

fn of_provider(error: &ReplaceProviderError) -> Kind {
    match error {
        ReplaceProviderError::Same { .. } | ReplaceProviderError::Unread { .. } => Kind::Usage,
        ReplaceProviderError::NothingMatched { .. } => Kind::NotFound,
        _ => Kind::Unusable,
    }
}

/// The kind of what is wrong with a script.
pub(crate) fn of_script(fault: &ScriptFault) -> Kind {
    match fault {
        ScriptFault::NothingMatched { .. }
        | ScriptFault::NoDependency { .. }
        | ScriptFault::NoIdentity { .. } => Kind::NotFound,
        ScriptFault::Move(error) => of_mv(error),
        ScriptFault::Remove(error) => of_rm(error),
        ScriptFault::Taint(error) => of_taint(error),
        ScriptFault::ReplaceProvider(error) => of_provider(error),
        ScriptFault::Read(_) => Kind::Unusable,
        _ => Kind::Usage,
    }
}
