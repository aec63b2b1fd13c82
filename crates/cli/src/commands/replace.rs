//! Storing a whole state in place of another: what `push` and `undo` have in common.

use std::path::PathBuf;

use groundstate_statefile::{Diff, File, diff};
use groundstate_statemgr::{
    ErrorKind, Manager, Migrator, Persisted, PersistentMeta, Persister, Refresher, SnapshotMeta,
    check_valid_import,
};
use groundstate_states::Lineage;

use super::change::backup;
use super::diff as show;
use crate::args::ChangeArgs;
use crate::error::{Failure, Kind, Outcome, Result};
use crate::interrupt::Interrupts;
use crate::json::Json;
use crate::output::Output;
use crate::session::{lock_info, locked, unlocked};
use crate::site::{Found, Site};
use crate::trouble::Trouble;

/// How a state is replaced.
pub(super) struct Replacement<'a> {
    pub(super) args: &'a ChangeArgs,
    /// What the lock is for.
    pub(super) operation: &'static str,
    /// What comes after the name of the state for that of the backup.
    pub(super) backup_suffix: &'static str,
    /// Whether lineage and serial count, and whether the stored state has to be readable.
    pub(super) force: bool,
    /// Whether the rules of an import are checked; otherwise `make` has seen to everything.
    pub(super) checked: bool,
}

/// What has been stored, or would be.
struct Stored {
    meta: SnapshotMeta,
    written: bool,
    diff: Option<Diff>,
}

/// Stores what `make` makes of the state that is stored now.
pub(super) fn replace(
    found: Found,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
) -> Result {
    let args = how.args;
    let (keep, path) = backup(&found, args, how.backup_suffix);
    let existed = found.exists();
    let site = found.open(keep, !args.lock.no_lock)?;
    let stored = match args.dry_run {
        true => unlocked(&site, async |manager| store(manager, how, make, None).await)?,
        false => {
            let info = lock_info(&site, how.operation)?;
            locked(&site, &args.lock, info, async |manager, interrupts| {
                store(manager, how, make, Some(interrupts)).await
            })?
        }
    };
    let path = path.filter(|_| stored.written && existed);
    report(&site, args, &stored, path)?;
    Ok(Outcome::Clean)
}

async fn store(
    manager: &Manager,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
    interrupts: Option<&Interrupts>,
) -> Result<Stored, Trouble> {
    match manager.refresh_state().await {
        Err(error) if how.force && error.kind() == ErrorKind::Corrupt => {}
        outcome => outcome?,
    }
    let current = manager.state_for_migration();
    let file = make(current.as_ref())?;
    if how.checked && !how.force {
        check_valid_import(&file, current.as_ref()).map_err(|error| {
            Failure::new(Kind::Conflict, error.to_string())
                .hint("compare them with `groundstate diff`; `--force` stores it all the same")
        })?;
    }
    let diff = (how.args.dry_run || how.args.json).then(|| {
        let nothing = || File::new(file.dialect, Lineage::default());
        diff(&current.unwrap_or_else(nothing), &file)
    });
    let Some(interrupts) = interrupts else {
        return Ok(Stored { meta: SnapshotMeta::of(&file), written: false, diff });
    };
    interrupts.check()?;
    // Everything has been checked, so the manager is not asked to do it once more.
    manager.write_state_for_migration(file, true)?;
    let written = manager.persist_state().await? == Persisted::Written;
    Ok(Stored { meta: manager.snapshot_meta(), written, diff })
}

fn report(site: &Site, args: &ChangeArgs, stored: &Stored, backup: Option<PathBuf>) -> Result<()> {
    let Stored { meta, written, diff } = stored;
    let mut out = Output::stdout();
    if args.json {
        out.line(&Json::object(|json| {
            json.text("format_version", "1.0");
            json.text("state", &site.name);
            json.raw("dry_run", args.dry_run);
            json.raw("written", written);
            json.text("lineage", meta.lineage.as_str());
            json.raw("serial", meta.serial.get());
            if let Some(backup) = &backup {
                json.text("backup", &backup.display().to_string());
            }
            if let Some(diff) = diff {
                json.inner("diff", |json| show::members(json, diff));
            }
        }))?;
        return Ok(out.finish()?);
    }
    match diff {
        Some(diff) if args.dry_run => show::text(diff, &mut out)?,
        _ if !written => out.line("Nothing to change: what is stored says the same.")?,
        _ => out.line(&format!("{} has serial {} now.", site.name, meta.serial))?,
    }
    if let Some(backup) = backup {
        out.line(&format!("The state before is in {}.", backup.display()))?;
    }
    Ok(out.finish()?)
}
