//! `groundstate undo`: the deployment of a backup.

use groundstate_pulumi_deployment::DeploymentFile;
use groundstate_pulumi_snapshot::Snapshot;

use super::done::{Change, Done};
use super::run::{Names, Soundness, run_keeping};
use super::undo_both::both;
use crate::args::UndoArgs;
use crate::input::location::StateLocation;
use crate::input::pulumi::load;
use crate::input::state::State;
use crate::pulumi::admission::{Place, gate};
use crate::report::error::{Failure, Kind, Result};
use crate::session::back::{Backup, joint};
use crate::session::backup::{CopySuffix, backup_of_undo};

/// Purpose of the lock.
pub(super) const OPERATION: &str = "state-undo";

/// Brings the deployment of a backup back. The configuration of a checkpoint stays as it is.
pub(crate) fn undo(args: &UndoArgs, found: StateLocation) -> Result {
    let backup = Backup::find(&found, args.from.as_deref(), args.to.as_deref())?;
    if !args.alone
        && let Some(other) = joint(&found, &backup)?
    {
        return both(args, found, &backup, other);
    }
    let mut restorable = Restorable::read(&backup)?;
    let keep = backup_of_undo(&found, &args.change, OPERATION, backup.restored.clone())?;
    // What cannot be read may be all that is left, so no limit removes it.
    let is_lost = args.force.is_whole() && !is_readable(&found);
    let reserved = is_lost.then(|| CopySuffix::unreadable(&found, args.change.dry_run)).transpose()?;
    let keep = match &reserved {
        Some(suffix) if args.change.backup.is_none() => keep.unreadable(&found, suffix),
        _ => keep,
    };
    let names = Names { operation: OPERATION, keep, yes: args.consent.yes };
    let mut snapshot = restorable.take()?;
    let was_empty = restorable.was_empty;
    let instead = is_lost.then_some(restorable.file);
    let source = restorable.name;
    // A backup is what was stored here; any other file may be from anywhere.
    let place = args.from.is_some().then(|| Place::resolved(&found)).transpose()?;
    run_keeping(found, &args.change, names, instead, Soundness::Whatever, |present, subject| {
        if !was_empty {
            check_stack(args, present, &snapshot, subject.name, &source)?;
        }
        let mut done = done(&source);
        if let Some(place) = &place {
            done.warnings.extend(gate(&snapshot, &source, &args.force)?);
            let of = (source.as_str(), None);
            let secured = place.secure_snapshot(&mut snapshot, Some(present), of, &args.force)?;
            done.warnings.extend(secured.warnings);
        }
        *present = snapshot;
        Ok(done)
    })
}

/// The deployment of a backup.
pub(super) struct Restorable {
    pub(super) file: DeploymentFile,
    pub(super) name: String,
    /// If `true`, the stack had no deployment then: it was never updated.
    pub(super) was_empty: bool,
}

impl Restorable {
    pub(super) fn read(backup: &Backup) -> Result<Self> {
        match State::beside(&backup.path)? {
            State::Pulumi(source) => {
                let file = load(&source)?.file;
                // A file that the user names, and that has no deployment, is the wrong one.
                let was_empty = backup.number().is_some() && file.snapshot.is_none();
                Ok(Self { file, name: source.name.clone(), was_empty })
            }
            State::Terraform(source) => {
                let message = format!("{} is not Pulumi's, so it is not a backup of this stack", source.name);
                Err(Failure::new(Kind::Conflict, message))
            }
        }
    }

    pub(super) fn take(&mut self) -> Result<Snapshot> {
        if self.was_empty {
            return Ok(Snapshot::default());
        }
        let nothing = || Failure::new(Kind::NoState, format!("{} holds no deployment", self.name));
        self.file.snapshot.replace(Snapshot::default()).ok_or_else(nothing)
    }
}

/// Refuses the backup of another stack.
pub(super) fn check_stack(
    args: &UndoArgs,
    present: &Snapshot,
    backup: &Snapshot,
    name: &str,
    source: &str,
) -> Result<()> {
    if args.force.is_whole() || stack(present) == stack(backup) {
        return Ok(());
    }
    let message = format!("{source} is not a backup of {name}: it is of another stack");
    Err(Failure::new(Kind::Conflict, message).hint("`--force` goes back to it nevertheless"))
}

/// Effect of an undo, done or planned.
pub(super) fn done(source: &str) -> Done {
    let change =
        Change::new("undo", "", format!("Went back to {source}"), format!("Would go back to {source}"));
    Done { changes: vec![change], warnings: Vec::new(), success: "State brought back".to_owned() }
}

fn is_readable(found: &StateLocation) -> bool {
    matches!(State::of_located(found.located()), Ok(State::Pulumi(state)) if load(&state).is_ok())
}

/// The stack and the project that the resources name; nothing if there are none.
fn stack(snapshot: &Snapshot) -> Option<(String, String)> {
    let urn = &snapshot.resources.first()?.urn;
    Some((urn.stack().to_owned(), urn.project().to_owned()))
}
