//! Storing a whole state in place of another: what `push` and `undo` have in common.

use std::path::Path;

use groundstate_state_edit::{Diff, diff};
use groundstate_statefile::File;
use groundstate_statefile::salvage;
use groundstate_statemgr::{
    ErrorKind, Manager, Migrator, Persisted, PersistentMeta, Persister, Refresher, SnapshotMeta,
    check_valid_import,
};
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
use crate::session::backup::{CopySuffix, Restored, backup_of_undo};
use crate::session::consent::consent;
use crate::session::interrupt::Interrupts;
use crate::session::keeper::{Keep, KeptBackup};
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::recovery::warn_of_journal;
use crate::session::state_error::StateError;
use crate::terraform::diff::differences as compared;
use crate::terraform::vanishing::{Vanishing, staying_away, vanishing};

/// How a state is replaced.
pub(super) struct Replacement<'a> {
    pub(super) args: &'a ChangeArgs,
    /// Resources may vanish without a question.
    pub(super) yes: bool,
    /// What the lock is for.
    pub(super) operation: &'static str,
    /// The file that is about to be stored, unless it is standard input.
    pub(super) source: &'a Path,
    /// Backup that is restored, if it is an earlier state.
    pub(super) restored: Option<Restored>,
    /// Whether lineage and serial count, and whether the stored state has to be readable.
    pub(super) force: bool,
    /// Whether an encrypted state may be replaced by plain text.
    pub(super) over_encrypted: bool,
    /// Whether the rules of an import are checked; otherwise `make` has seen to everything.
    pub(super) checked: bool,
    /// The text that has to be stored still when the lock is held; `None` if any may be.
    pub(super) expected: Option<&'a [u8]>,
}

/// A state that was replaced, or would be.
pub(super) struct Replaced {
    pub(super) written: bool,
    /// Where the state before is.
    pub(super) backup: Option<KeptBackup>,
    /// Difference from the stored state; `None` if that could not be read.
    pub(super) diff: Option<Diff>,
}

/// What has been stored, or would be.
pub(super) struct Stored {
    pub(super) meta: SnapshotMeta,
    pub(super) written: bool,
    /// Difference from the stored state; `None` if that could not be read.
    diff: Option<Diff>,
}

/// Stores what `make` makes of the state that is stored now.
pub(super) fn replace(
    found: StateLocation,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
) -> Result {
    let (opened, stored) = carried_out(found, how, make)?;
    report(&opened, how.args, &stored, None)?;
    Ok(Outcome::Clean)
}

/// Replaces a state for a command that reports in its own way.
pub(super) fn replaced(
    found: StateLocation,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
) -> Result<Replaced> {
    let (opened, stored) = carried_out(found, how, make)?;
    Ok(Replaced { written: stored.written, backup: opened.kept(), diff: stored.diff })
}

fn carried_out(
    found: StateLocation,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
) -> Result<(ManagedState, Stored)> {
    let args = how.args;
    let (keep, _reserved) = keep(&found, how)?;
    let opened = ManagedState::open(found, Some(keep), !args.lock.no_lock)?;
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
    Ok((opened, stored))
}

/// Decides where the state before goes. A state that cannot be read may be all that is left, so it gets a file that no limit
/// removes.
fn keep(found: &StateLocation, how: &Replacement<'_>) -> Result<(Keep, Option<CopySuffix>)> {
    let is_source = |path: &Path| path == how.source || is_same_file(path, how.source);
    if let Some(path) = how.args.backup.as_deref()
        && is_source(path)
        && path != Path::new("-")
    {
        let message = format!("the backup would overwrite {}, which is to be stored", path.display());
        return Err(Failure::new(Kind::Usage, message).hint("name another file with `--backup`"));
    }
    let keep = backup_of_undo(found, how.args, how.operation, how.restored.clone())?;
    if how.args.backup.is_none() && how.force && found.exists() && !is_readable(found)? {
        let suffix = CopySuffix::unreadable(found, how.args.dry_run)?;
        return Ok((keep.unreadable(found, &suffix), Some(suffix)));
    }
    Ok((keep, None))
}

/// Whether what is stored can be read; anything else that is wrong is told later.
fn is_readable(found: &StateLocation) -> Result<bool> {
    let opened = ManagedState::open(found.clone(), None, false)?;
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
    let planned = planned(manager, opened, how, make).await?;
    let Some(interrupts) = interrupts else { return Ok(planned.unwritten()) };
    consent(&opened.name, &planned.vanishing(), how.yes, interrupts).await?;
    interrupts.check()?;
    write(manager, planned).await
}

/// A state that has been checked and compared, and is not written yet.
pub(super) struct Planned {
    file: File,
    diff: Option<Diff>,
    /// Objects that would be gone.
    vanishing: Vec<Vanishing>,
}

impl Planned {
    /// The objects that would be gone, by their addresses.
    pub(super) fn vanishing(&self) -> Vec<String> {
        self.vanishing.iter().map(|gone| gone.shown.clone()).collect()
    }

    /// Objects that the other state gets are not gone.
    pub(super) fn keep_what_moves_to(&mut self, other: &Self) {
        if let Some(diff) = &other.diff {
            self.vanishing = staying_away(std::mem::take(&mut self.vanishing), diff, &other.file);
        }
    }

    pub(super) fn unwritten(self) -> Stored {
        Stored { meta: SnapshotMeta::of(&self.file), written: false, diff: self.diff }
    }
}

/// Stores a planned state.
pub(super) async fn write(manager: &Manager, planned: Planned) -> Result<Stored, StateError> {
    let Planned { file, diff, .. } = planned;
    // Everything has been checked, so the manager is not asked to do it once more.
    manager.write_state_for_migration(file, true)?;
    let written = manager.persist_state().await? == Persisted::Written;
    Ok(Stored { meta: manager.snapshot_meta(), written, diff })
}

/// Plans to store what `make` makes of the present state.
pub(super) async fn planned(
    manager: &Manager,
    opened: &ManagedState,
    how: &Replacement<'_>,
    make: impl FnOnce(Option<&File>) -> Result<File>,
) -> Result<Planned, StateError> {
    let newest = match manager.refresh_state().await {
        Err(error) if how.force && error.kind() == ErrorKind::Corrupt => {
            Some(serial_above(opened, how.over_encrypted).await?)
        }
        outcome => outcome.map(|()| None)?,
    };
    if let Some(expected) = how.expected {
        check_unchanged(manager, opened, expected).await?;
    }
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
    Ok(Planned { file, diff, vanishing })
}

/// Requires that the text is stored still from which the replacement was made.
async fn check_unchanged(
    manager: &Manager,
    opened: &ManagedState,
    expected: &[u8],
) -> Result<(), StateError> {
    let stored = manager.store().read().await?.map(|stored| stored.bytes).unwrap_or_default();
    let text = if is_packed(&stored) { packed::unpack_damaged(&stored).0 } else { stored };
    if text == expected {
        return Ok(());
    }
    let message = format!("{} has changed since it was read, so nothing was written", opened.name);
    Err(Failure::new(Kind::Conflict, message).hint("run the same command again").into())
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
            let command = opened.command("repair-digest", &[]);
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

/// Reports what was stored, also in the other state of a move that is undone.
pub(super) fn report(
    opened: &ManagedState,
    args: &ChangeArgs,
    stored: &Stored,
    other: Option<(&ManagedState, &Stored)>,
) -> Result<()> {
    let backup = opened.kept();
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
                json.text("backup", &backup.path());
            }
            if let Some(diff) = diff {
                json.inner("diff", |json| differences::members(json, &compared(diff, false)));
            }
            if let Some((opened, stored)) = other {
                json.inner("other", |json| other_members(json, opened, stored));
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
        out.line(&format!("The state before is {backup}."))?;
    }
    if let Some((opened, stored)) = other {
        let name = &opened.name;
        if args.dry_run {
            out.line("")?;
            out.line(&format!("{name}:"))?;
            stored.diff.iter().try_for_each(|diff| differences::text(&compared(diff, false), &mut out))?;
        } else {
            out.line(&format!(
                "{name}, which the same move had changed, has serial {} now.",
                stored.meta.serial
            ))?;
        }
        if let Some(backup) = opened.kept() {
            out.line(&format!("What {name} was before is {backup}."))?;
        }
    }
    Ok(out.finish()?)
}

fn other_members(json: &mut Json, opened: &ManagedState, stored: &Stored) {
    json.text("state", &opened.name);
    json.raw("written", stored.written);
    json.text("lineage", stored.meta.lineage.as_str());
    json.raw("serial", stored.meta.serial.get());
    if let Some(backup) = opened.kept() {
        json.text("backup", &backup.path());
    }
    if let Some(diff) = &stored.diff {
        json.inner("diff", |json| differences::members(json, &compared(diff, false)));
    }
}
