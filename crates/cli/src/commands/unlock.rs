//! `groundstate unlock`: releases the lock of a holder that is gone.

use groundstate_statemgr::{ErrorKind, LockHolder, Locker, Manager};
use groundstate_statemgr_fs::Backup;

use crate::args::UnlockArgs;
use crate::error::{Failure, Kind, Outcome, Result};
use crate::output::Output;
use crate::session::{chain, unlocked};
use crate::site::{Found, Site};
use crate::trouble::{Trouble, way_out};

pub(super) fn run(args: &UnlockArgs) -> Result {
    let site = Found::existing(&args.state)?.open(Backup::None, true)?;
    let line = unlocked(&site, async |manager| release(manager, args, &site).await)?;
    let mut out = Output::stdout();
    out.line(&line)?;
    out.finish()?;
    Ok(Outcome::Clean)
}

async fn release(manager: &Manager, args: &UnlockArgs, site: &Site) -> Result<String, Trouble> {
    let name = &site.name;
    let Some(holder) = manager.lock_holder().await? else {
        return Err(Failure::new(Kind::NotFound, format!("{name} is not locked")).into());
    };
    permitted(args, &holder, name)?;
    if args.id.as_deref().is_some_and(|id| id != holder.id.as_str()) {
        let message = format!("the lock of {name} has another id: it is held by {holder}");
        return Err(Failure::new(Kind::Conflict, message).hint("name this id, or use `--force`").into());
    }
    match manager.force_unlock(&holder.id).await {
        Ok(()) => Ok(format!("Released the lock of {name} that was held by {holder}.")),
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            Err(Failure::new(Kind::Locked, chain(&error)).hint(way_out(&holder, site)).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether this lock is one of those that the options are for.
fn permitted(args: &UnlockArgs, holder: &LockHolder, name: &str) -> Result<()> {
    let refuse = |why: &str| {
        let message = format!("the lock of {name} stays: {why}; it is held by {holder}");
        Err(Failure::new(Kind::Locked, message)
            .hint("name its id, or use `--force`, if nobody is at work there"))
    };
    if args.break_lock && !holder.info.id.is_empty() {
        return refuse("its holder has left a record");
    }
    if !args.if_stale {
        return Ok(());
    }
    match holder.alive {
        Some(false) => Ok(()),
        Some(true) => refuse("its process is alive"),
        None => refuse("nobody here can tell whether its process is gone"),
    }
}
