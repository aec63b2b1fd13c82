//! Storing a whole state in place of another: what `push` and `undo` have in common.

use std::path::{Path, PathBuf};

use groundstate_common::shell_command;
use groundstate_state_edit::{Diff, diff};
use groundstate_statefile::File;
use groundstate_statefile::salvage;
use groundstate_statemgr::{
    ErrorKind, Manager, Migrator, Persisted, PersistentMeta, Persister, Refresher, SnapshotMeta,
    check_valid_import,
};
use groundstate_statemgr_fs::Backup;
use groundstate_states::{Lineage, Serial};

use crate::args::ChangeArgs;
use crate::input::family::is_packed;
use crate::input::head::Head;
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::input::paths::is_same_file;
use crate::report::differences;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::session::backup::{CopySuffix, backup};
use crate::session::consent::consent;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::recovery::warn_of_journal;
use crate::session::state_error::StateError;
use crate::terraform::diff::differences as compared;
use crate::terraform::vanishing::vanishing;

/// How a state is replaced.
pub(super) struct Replacement<'a> {
    pub(super) args: &'a ChangeArgs,
    /// Resources may vanish without a question.
    pub(super) yes: bool,
    /// What the lock is for.
    pub(super) operation: &'static str,
    /// The file that is about to be stored, unless it is standard input.
    pub(super) source: &'a Path,
    /// What comes after the name of the state for that of the backup.
    pub(super) backup_suffix: &'static str,
    /// Whether lineage and serial count, and whether the stored state has to be readable.
    pub(super) force: bool,
    /// Whether an encrypted state may be replaced by plain text.
    pub(super) over_encrypted: bool,
    /// Whether the rules of an import are checked; otherwise `make` has seen to everything.
    pub(super) checked: bool,
}

/// What has been stored, or would be.
struct Stored {
    meta: SnapshotMeta,
    /// Whether something was stored before.
    existed: bool,
    written: bool,
    /// What differs from what was stored; nothing if that could not be read.
    diff: Option<Diff>,
}

/// Stores what `make` makes of the state that is stored now.
pub(super) fn replace(
    found: StateLocation,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
) -> Result {
    let args = how.args;
    let suffix = suffix(&found, how)?;
    let (keep, path) = backup(&found, args, suffix.as_str())?;
    let opened = ManagedState::open(found, keep, !args.lock.no_lock)?;
    let stored = match args.dry_run {
        true => unlocked(&opened, async |manager| {
            warn_of_journal(&opened).await;
            store(manager, &opened, how, make, None).await
        })?,
        false => {
            let info = lock_info(&opened, how.operation)?;
            locked(&opened, &args.lock, info, async |manager, interrupts| {
                store(manager, &opened, how, make, Some(interrupts)).await
            })?
        }
    };
    let path = path.filter(|_| stored.written && stored.existed);
    report(&opened, args, &stored, path)?;
    Ok(Outcome::Clean)
}

/// What comes after the name of the state for that of its backup.
///
/// Between the backup and the write the command may be killed, so neither the file that is to be stored nor the
/// backup of a better day is overwritten.
fn suffix(found: &StateLocation, how: &Replacement<'_>) -> Result<CopySuffix> {
    let is_source = |path: &Path| path == how.source || is_same_file(path, how.source);
    if let Some(path) = how.args.backup.as_deref() {
        if is_source(path) && path != Path::new("-") {
            let message = format!("the backup would overwrite {}, which is to be stored", path.display());
            return Err(Failure::new(Kind::Usage, message).hint("name another file with `--backup`"));
        }
        return Ok(CopySuffix::Fixed(how.backup_suffix));
    }
    if how.force && found.exists() && !is_readable(found)? {
        return CopySuffix::unreadable(found, how.args.dry_run);
    }
    let free = [how.backup_suffix, ".backup", ".undone"]
        .into_iter()
        .find(|suffix| !is_source(&found.with_suffix(suffix)));
    Ok(CopySuffix::Fixed(free.unwrap_or(how.backup_suffix)))
}

/// Whether what is stored can be read; anything else that is wrong is told later.
fn is_readable(found: &StateLocation) -> Result<bool> {
    let opened = ManagedState::open(found.clone(), Backup::None, false)?;
    unlocked(&opened, async |manager| {
        Ok(!manager.refresh_state().await.is_err_and(|error| error.kind() == ErrorKind::Corrupt))
    })
}

async fn store(
    manager: &Manager,
    opened: &ManagedState,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
    interrupts: Option<&Interrupts>,
) -> Result<Stored, StateError> {
    let newest = match manager.refresh_state().await {
        Err(error) if how.force && error.kind() == ErrorKind::Corrupt => {
            Some(serial_above(opened, how.over_encrypted).await?)
        }
        outcome => outcome.map(|()| None)?,
    };
    let current = manager.state_for_migration();
    let mut file = make(current.as_ref())?;
    if how.checked && !how.force {
        check_valid_import(&file, current.as_ref()).map_err(|error| {
            Failure::new(Kind::Conflict, error.to_string())
                .hint("compare them with `groundstate diff`; `--force` stores it nevertheless")
        })?;
    }
    let existed = current.is_some() || newest.is_some();
    // A serial that others have seen with another content must not come again, except where no other one is left.
    let newest = newest.or(current.as_ref().map(|current| current.serial)).unwrap_or_default();
    if !(how.force && newest.next().is_none()) {
        file.serial = file.serial.max(newest);
    }
    let is_known = current.is_some() || !existed;
    let before = current.unwrap_or_else(|| File::new(file.dialect, Lineage::default()));
    let diff = (is_known || how.args.dry_run || how.args.json).then(|| diff(&before, &file));
    let vanishing = diff.as_ref().map(|diff| vanishing(diff, &before, &file)).unwrap_or_default();
    drop(before);
    let Some(interrupts) = interrupts else {
        return Ok(Stored { meta: SnapshotMeta::of(&file), existed, written: false, diff });
    };
    consent(&opened.name, &vanishing, how.yes, interrupts).await?;
    interrupts.check()?;
    // Everything has been checked, so the manager is not asked to do it once more.
    manager.write_state_for_migration(file, true)?;
    let written = manager.persist_state().await? == Persisted::Written;
    Ok(Stored { meta: manager.snapshot_meta(), existed, written, diff })
}

/// A serial above that of a state which cannot be read, as far as it tells one.
///
/// # Errors
///
/// When not even the bytes can be had, or when they are encrypted and would be replaced by plain text.
async fn serial_above(opened: &ManagedState, over_encrypted: bool) -> Result<Serial, StateError> {
    let stored = match opened.raw.read().await {
        Ok(stored) => stored,
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let command = shell_command("groundstate repair-digest", &[&opened.shown()]);
            let failure = Failure::new(Kind::Unusable, chain(&error));
            return Err(failure
                .hint("nothing was written, since neither serial nor encryption of what is stored is known")
                .hint(format!("if the digest in a table is what is wrong, `{command}` corrects it"))
                .into());
        }
        Err(error) => return Err(error.into()),
    };
    let Some(stored) = stored else { return Ok(Serial::default()) };
    let text = match is_packed(&stored.bytes) {
        true => packed::unpack_damaged(&stored.bytes).0,
        false => stored.bytes,
    };
    // Of encrypted states, and of versions to come, nothing else can be read.
    let head = Head::of_damaged(&text);
    let encrypts =
        opened.encryption.as_ref().is_some_and(|encryption| !encryption.chain().primary().is_unencrypted());
    if head.is_encrypted && !encrypts && !over_encrypted {
        let message = format!("{} is encrypted, and would be replaced by plain text", opened.manager.store());
        let failure = Failure::new(Kind::Loss, message);
        let failure = failure.hint("read and write it with `tofu`, which has the key; nothing was written");
        return Err(failure.hint("if plain text is meant, say so with `--over-encrypted`").into());
    }
    let salvaged = salvage(&text).ok().map(|salvaged| salvaged.file.serial);
    let serial = salvaged.unwrap_or_default().max(Serial::new(head.serial));
    Ok(serial.next().unwrap_or(serial))
}

fn report(opened: &ManagedState, args: &ChangeArgs, stored: &Stored, backup: Option<PathBuf>) -> Result<()> {
    let Stored { meta, written, diff, .. } = stored;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("state", &opened.name);
            json.raw("dry_run", args.dry_run);
            json.raw("written", written);
            json.text("lineage", meta.lineage.as_str());
            json.raw("serial", meta.serial.get());
            if let Some(backup) = &backup {
                json.text("backup", &backup.display().to_string());
            }
            if let Some(diff) = diff {
                json.inner("diff", |json| differences::members(json, &compared(diff, false)));
            }
        }))?;
        return Ok(out.finish()?);
    }
    match diff {
        Some(diff) if args.dry_run => differences::text(&compared(diff, false), &mut out)?,
        _ if !written => out.line("Nothing to change: what is stored says the same.")?,
        diff => {
            if let Some(diff) = diff {
                differences::brief(&compared(diff, false), &mut out)?;
            }
            out.line(&format!("{} has serial {} now.", opened.name, meta.serial))?;
        }
    }
    if let Some(backup) = backup {
        out.line(&format!("The state before is in {}.", backup.display()))?;
    }
    Ok(out.finish()?)
}
