//! `groundstate merge-errored`: what an apply could not store, into the stored state.

use std::path::Path;

use groundstate_state_edit::{MergeBase, MergeError, merge_errored};
use groundstate_statefile::File;

use super::replace::{Replacement, replace};
use crate::args::MergeErroredArgs;
use crate::input::location::StateLocation;
use crate::input::state::State;
use crate::input::terraform::{TerraformState, load};
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::session::managed_state::backups;

/// Merges `errored` into what is stored.
pub(crate) fn run(args: &MergeErroredArgs, errored: &TerraformState, found: StateLocation) -> Result {
    let errored = load(errored)?.file;
    let given = args.base.as_deref().map(file).transpose()?;
    // A backup that cannot be read is none that could help.
    let known: Vec<File> =
        backups(&found.with_suffix("")).iter().filter_map(|path| file(path).ok()).collect();
    let how = Replacement {
        args: &args.change,
        yes: args.consent.yes,
        operation: "state-merge-errored",
        source: &args.errored,
        backup_suffix: ".backup",
        force: false,
        over_encrypted: false,
        checked: false,
    };
    replace(found, &how, |stored| {
        let nothing =
            || Failure::new(Kind::NoState, "no state is stored there").hint("use `groundstate push`");
        let base = given.as_ref().map_or(MergeBase::Detect(&known), MergeBase::Given);
        let merged = merge_errored(stored.ok_or_else(nothing)?, &errored, base).map_err(refused)?;
        let mut messages = Messages::stderr();
        for dangling in &merged.dangling {
            messages.warning(&format!(
                "{} depends on {}, which is not in the merged state",
                dangling.instance, dangling.dependency
            ));
        }
        Ok(merged.file)
    })
}

fn file(path: &Path) -> Result<File> {
    let source = State::beside(path)?.terraform()?;
    Ok(load(&source)?.file)
}

fn refused(error: MergeError) -> Failure {
    let failure = Failure::new(Kind::Conflict, error.to_string());
    match error {
        MergeError::BaseNeeded { .. } => failure.hint("name it with `--base FILE`"),
        MergeError::Conflicts(_) => {
            failure.hint("`groundstate diff` shows both sides; `groundstate push --force` takes one of them")
        }
        _ => failure,
    }
}
