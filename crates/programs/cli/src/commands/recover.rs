//! `groundstate recover`: stores what an interrupted run has journaled, or shows or discards it.

use std::path::Path;

use groundstate_statemgr::Locker;
use groundstate_statemgr_fs::Backup;

use crate::args::{LockArgs, RecoverArgs};
use crate::changes::{count, journaled};
use crate::error::{Failure, Kind, Outcome, Result};
use crate::output::Output;
use crate::save::replace;
use crate::session::{lock_info, locked, unlocked};
use crate::site::{Found, Site};
use crate::source::is_standard;

pub(super) fn run(args: &RecoverArgs) -> Result {
    let mut site = Found::at(&args.state)?.open(Backup::None, true)?;
    if site.changes.is_none() {
        let message =
            format!("{} is not in a file, and only beside files journals are looked for", site.name);
        return Err(Failure::new(Kind::Usage, message));
    }
    if let Some(file) = &args.export {
        return export(&site, file);
    }
    let pending = unlocked(&site, async |_| match journaled(&site) {
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
    let line = match changes {
        None => format!("There is nothing to recover beside {}.", site.name),
        Some(changes) if args.discard => {
            discard(&mut site, args)?;
            format!("Discarded {} beside {}.", count(changes), site.name)
        }
        Some(_) => {
            // Taking the lock is what recovers.
            locked(&site, &lock(args), lock_info(&site, "recover")?, async |_, _| Ok(()))?;
            format!("{} is up to date.", site.name)
        }
    };
    let mut out = Output::stdout();
    out.line(&line)?;
    out.finish()?;
    Ok(Outcome::Clean)
}

fn lock(args: &RecoverArgs) -> LockArgs {
    LockArgs { lock_timeout: args.lock_timeout, no_lock: false }
}

fn discard(site: &mut Site, args: &RecoverArgs) -> Result<()> {
    let manager = journaled(site);
    // Not to be recovered first.
    site.changes = None;
    locked(site, &lock(args), lock_info(site, "discard a journal")?, async |plain, _| {
        let Some(manager) = manager else { return Ok(()) };
        let Some(holder) = plain.lock_holder().await? else { return Ok(()) };
        let grant = groundstate_statemgr::LockGrant::new(holder.id);
        Ok(manager.holding(grant).discard().await?)
    })
}

fn export(site: &Site, file: &Path) -> Result {
    let recovered = unlocked(site, async |_| match journaled(site) {
        Some(manager) => Ok(manager.recovered().await?),
        None => Ok(None),
    })?;
    let Some(bytes) = recovered else {
        let message = format!("there is no journal beside {}", site.name);
        return Err(Failure::new(Kind::NotFound, message));
    };
    if is_standard(file) {
        let mut out = Output::stdout();
        out.document(&bytes)?;
        out.finish()?;
    } else {
        replace(file, None, |out| out.write_all(&bytes))?;
    }
    Ok(Outcome::Clean)
}
