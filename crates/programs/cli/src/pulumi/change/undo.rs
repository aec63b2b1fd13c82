//! `groundstate undo`: the deployment of the last backup.

use groundstate_pulumi_snapshot::Snapshot;

use super::done::{Change, Done};
use super::run::{Names, Soundness, run_keeping};
use crate::args::UndoArgs;
use crate::input::location::StateLocation;
use crate::input::pulumi::load;
use crate::input::state::State;
use crate::report::error::{Failure, Kind, Result};
use crate::session::backup::CopySuffix;
use crate::session::managed_state::backups;

/// Brings the deployment of the last backup back. The configuration of a checkpoint stays as it is.
pub(crate) fn undo(args: &UndoArgs, found: StateLocation) -> Result {
    let path = args.from.clone().unwrap_or_else(|| found.with_suffix(".backup"));
    if !path.exists() {
        let message = format!("there is no backup: {} does not exist", path.display());
        let names: Vec<String> =
            backups(&found.with_suffix("")).iter().map(|path| path.display().to_string()).collect();
        let hint = match names.as_slice() {
            [] => "name a backup with `--from FILE`".to_owned(),
            names => format!("name one of these with `--from`: {}", names.join(", ")),
        };
        return Err(Failure::new(Kind::NoState, message).hint(hint));
    }
    let source = match State::beside(&path)? {
        State::Pulumi(source) => source,
        State::Terraform(source) => {
            let message = format!("{} is not Pulumi's, so it is not a backup of this stack", source.name);
            return Err(Failure::new(Kind::Conflict, message));
        }
    };
    let nothing = || Failure::new(Kind::NoState, format!("{} holds no deployment", source.name));
    let mut instead = load(&source)?.file;
    let backup = instead.snapshot.replace(Snapshot::default()).ok_or_else(nothing)?;
    // What cannot be read takes the place of no good backup.
    let is_lost = args.force && !is_readable(&found);
    // Not the backup itself: it stays what it is until the state is safely stored, and after.
    let suffix = match is_lost {
        true => CopySuffix::unreadable(&found, args.change.dry_run)?,
        false => CopySuffix::Fixed(".undone"),
    };
    let names = Names { operation: "state-undo", suffix: suffix.as_str(), yes: args.consent.yes };
    let instead = is_lost.then_some(instead);
    run_keeping(found, &args.change, names, instead, Soundness::Whatever, |snapshot, subject| {
        let name = subject.name;
        if !args.force && stack(snapshot) != stack(&backup) {
            let message = format!("{} is not a backup of {name}: it is of another stack", source.name);
            return Err(Failure::new(Kind::Conflict, message).hint("`--force` goes back to it nevertheless"));
        }
        *snapshot = backup;
        let done = format!("Went back to {}", source.name);
        let changes = vec![Change::new("undo", "", done, format!("Would go back to {}", source.name))];
        let success = "State brought back".to_owned();
        Ok(Done { changes, warnings: Vec::new(), success })
    })
}

fn is_readable(found: &StateLocation) -> bool {
    matches!(State::of_located(found.located()), Ok(State::Pulumi(state)) if load(&state).is_ok())
}

/// The stack and the project that the resources name; nothing if there are none.
fn stack(snapshot: &Snapshot) -> Option<(String, String)> {
    let urn = &snapshot.resources.first()?.urn;
    Some((urn.stack().to_owned(), urn.project().to_owned()))
}
