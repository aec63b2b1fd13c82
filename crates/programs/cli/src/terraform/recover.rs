//! `groundstate recover`: stores what an interrupted run has journaled, or shows or discards it.

use std::path::Path;

use groundstate_statemgr::Locker;

use crate::args::{LockArgs, RecoverArgs};
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::backup::logged;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::recovery::journaled;
use crate::session::save::write_document;

pub(crate) fn run(args: &RecoverArgs, found: StateLocation) -> Result {
    let logged = logged(&found, "recover");
    let mut opened = ManagedState::open(found, None, true)?;
    if opened.changes.is_none() {
        let message = format!("{} is not in a file; journals are looked for only beside files", opened.name);
        return Err(Failure::new(Kind::Usage, message));
    }
    if let Some(file) = &args.export {
        return export(&opened, file);
    }
    let pending = unlocked(&opened, async |_| match journaled(&opened) {
        Some(manager) => Ok(manager.pending().await?),
        None => Ok(None),
    });
    // One that cannot be read may still be discarded.
    let changes = match pending {
        Ok(Some(pending)) => Some(pending.changes),
        Ok(None) => None,
        Err(_) if args.discard => Some(0),
        Err(failure) => return Err(failure),
    };
    let (outcome, line) = match changes {
        None => ("nothing", format!("There is nothing to recover beside {}.", opened.name)),
        Some(changes) if args.discard => {
            discard(&mut opened, args)?;
            ("discarded", format!("Discarded {} beside {}.", count(changes, "change"), opened.name))
        }
        Some(_) => {
            // Taking the lock is what recovers.
            locked(&opened, &lock(args), lock_info(&opened, "recover")?, async |_, _| Ok(()))?;
            logged.entry().record();
            ("recovered", format!("{} is up to date.", opened.name))
        }
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("state", &opened.name);
            json.text("outcome", outcome);
            json.raw("changes", changes.unwrap_or_default());
        }))?;
    } else {
        out.line(&line)?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn lock(args: &RecoverArgs) -> LockArgs {
    LockArgs { wait: args.wait.clone(), no_lock: false }
}

fn discard(opened: &mut ManagedState, args: &RecoverArgs) -> Result<()> {
    let manager = journaled(opened);
    // Not to be recovered first.
    opened.changes = None;
    locked(opened, &lock(args), lock_info(opened, "discard a journal")?, async |plain, _| {
        let Some(manager) = manager else { return Ok(()) };
        let Some(holder) = plain.lock_holder().await? else { return Ok(()) };
        let grant = groundstate_statemgr::LockGrant::new(holder.id);
        Ok(manager.holding(grant).discard().await?)
    })
}

fn export(opened: &ManagedState, file: &Path) -> Result {
    let recovered = unlocked(opened, async |_| match journaled(opened) {
        Some(manager) => Ok(manager.recovered().await?),
        None => Ok(None),
    })?;
    let Some(bytes) = recovered else {
        let message = format!("there is no journal beside {}", opened.name);
        return Err(Failure::new(Kind::NotFound, message));
    };
    write_document(&bytes, Some(file))?;
    Ok(Outcome::Clean)
}
