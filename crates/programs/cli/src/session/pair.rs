//! Two states, of which one gives resources to the other.

use std::path::Path;

use crate::args::ChangeArgs;
use crate::input::location::StateLocation;
use crate::input::paths::is_same_file;
use crate::report::error::{Failure, Kind, Result};
use crate::session::backup::{Restored, backup, backup_of_undo};
use crate::session::keeper::Keep;
use crate::session::managed_state::ManagedState;

/// One of the two states.
pub(crate) struct Side {
    pub(crate) opened: ManagedState,
}

/// The state that gives and the one that gets, which have to be two.
pub(crate) fn pair(
    from: StateLocation,
    other: StateLocation,
    args: &ChangeArgs,
    operation: &str,
) -> Result<(Side, Side)> {
    if is_same(&from, &other) {
        let message = format!("{} is both the state to move from and the state to move to", from.name());
        return Err(Failure::new(Kind::Usage, message).hint("without `--to`, `mv` moves within a state"));
    }
    // The file that `--backup` names is for the first of the two.
    let unnamed = args.backup.clone().filter(|path| path == Path::new("-"));
    let others = ChangeArgs { backup: unnamed, ..args.clone() };
    let (source, dest) = (side(from, args, operation)?, side(other, &others, operation)?);
    let stays_encrypted = |side: &Side| {
        let encryption = side.opened.encryption.as_ref();
        encryption.is_some_and(|encryption| !encryption.chain().primary().is_unencrypted())
    };
    if stays_encrypted(&source) && !stays_encrypted(&dest) {
        let (from, to) = (&source.opened.name, &dest.opened.name);
        let message = format!("{from} is encrypted, and what moves to {to} would be plain text");
        let failure = Failure::new(Kind::Loss, message);
        return Err(failure
            .hint("`--encryption FILE` or TF_ENCRYPTION says how both are encrypted; nothing was written"));
    }
    Ok((source, dest))
}

/// A failure of the second write, after the first one was done.
pub(crate) fn half_done(failure: Failure, source: &Side, dest: &Side) -> Failure {
    let (from, to) = (source.opened.shown(), dest.opened.shown());
    failure.hint(format!(
        "{to} has what moves already, and {from} still has it; run the same command again to complete the move"
    ))
}

/// Both states of a move that is undone, each with what it restores.
pub(crate) fn both_sides(
    sides: [(StateLocation, Option<Restored>); 2],
    args: &ChangeArgs,
    operation: &str,
) -> Result<[Side; 2]> {
    let [one, other] = sides;
    let unnamed = args.backup.clone().filter(|path| path == Path::new("-"));
    let others = ChangeArgs { backup: unnamed, ..args.clone() };
    let open = |(found, restored): (StateLocation, Option<Restored>), args: &ChangeArgs| {
        let keep = Keep { is_joint: true, ..backup_of_undo(&found, args, operation, restored)? };
        Ok::<_, Failure>(Side { opened: ManagedState::open(found, Some(keep), !args.lock.no_lock)? })
    };
    Ok([open(one, args)?, open(other, &others)?])
}

fn side(found: StateLocation, args: &ChangeArgs, operation: &str) -> Result<Side> {
    let keep = Keep { is_joint: true, ..backup(&found, args, operation)? };
    let opened = ManagedState::open(found, Some(keep), !args.lock.no_lock)?;
    Ok(Side { opened })
}

/// Whether both are one state, as far as their names tell.
fn is_same(one: &StateLocation, other: &StateLocation) -> bool {
    match (one.remote(), other.remote()) {
        (None, None) => is_same_file(&one.with_suffix(""), &other.with_suffix("")),
        (Some(_), Some(_)) => one.name() == other.name(),
        _ => false,
    }
}
