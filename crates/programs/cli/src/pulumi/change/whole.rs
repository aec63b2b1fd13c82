//! What the commands have in common that replace the whole state of a stack.

use std::path::{Path, PathBuf};

use groundstate_blobs::GetOptions;
use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, decode, diff};
use groundstate_pulumi_diy::blobs::Key;
use groundstate_pulumi_diy::{ErrorKind, Stack, Warning};
use groundstate_pulumi_snapshot::Snapshot;

use super::done::{Changed, Done};
use super::report::Report;
use super::run::vanishing;
use crate::args::ChangeArgs;
use crate::input::location::StateLocation;
use crate::pulumi::diff::{differences, reordered};
use crate::report::differences::Difference;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::session::backup::logged;
use crate::session::consent::consent;
use crate::session::files;
use crate::session::generations::short_digest;
use crate::session::keeper::KeptBackup;
use crate::session::operations::Entry;
use crate::session::save::refuse_encrypted;
use crate::session::stack::{LockedStack, ManagedStack};

/// What is stored now, as far as it can be read.
pub(super) struct Present {
    pub(super) file: DeploymentFile,
    /// The text; nothing if there is no state, or if it cannot be read.
    text: Option<Vec<u8>>,
    /// Why it cannot be read.
    unreadable: Option<String>,
}

/// A state that would replace the present one.
pub(super) struct Plan {
    /// What would be stored.
    pub(super) text: Vec<u8>,
    pub(super) done: Done,
}

/// What a write did.
pub(super) struct Written {
    /// Where the state before is, if there was one.
    pub(super) backup: Option<Key>,
    pub(super) warnings: Vec<Warning>,
}

/// How a command is called, and what it may do.
#[derive(Clone, Copy)]
pub(super) struct Replacing<'n> {
    pub(super) args: &'n ChangeArgs,
    pub(super) command: &'static str,
    /// Resources may vanish without a question.
    pub(super) yes: bool,
}

/// Replaces the state by what `plan` makes, which `write` stores, and reports. With `--dry-run` nothing is locked or written.
pub(super) fn replace<T>(
    found: StateLocation,
    how: Replacing<'_>,
    plan: impl AsyncFnOnce(&ManagedStack, &Stack) -> Result<(Plan, T)>,
    write: impl AsyncFnOnce(&ManagedStack, &LockedStack<'_>, T) -> Result<Written>,
) -> Result {
    let args = how.args;
    if let Some(path) = named_backup(args) {
        refuse_encrypted(path)?;
    }
    let logged = logged(&found, &format!("state-{}", how.command));
    let managed = ManagedStack::open(found, how.command, !args.lock.no_lock)?;
    let (changed, backup) = match args.dry_run {
        true => managed.unlocked(async |stack| {
            managed.known(stack).await?;
            managed.warn_of_journal().await;
            let (Plan { text, done }, _) = plan(&managed, stack).await?;
            let (changed, _) = compare(&managed, stack, &text, done).await?;
            Ok((changed, None))
        })?,
        false => {
            // A typing error locks nothing.
            managed.unlocked(async |stack| managed.known(stack).await)?;
            managed.locked(&args.lock, &format!("state-{}", how.command), async |locked| {
                let stack = locked.stack;
                managed.refuse_journal(stack).await?;
                let (Plan { text, done }, what) = plan(&managed, stack).await?;
                let after = short_digest(&text);
                let (mut changed, vanishing) = compare(&managed, stack, &text, done).await?;
                if changed.diff.is_empty() {
                    return Ok((changed, None));
                }
                consent(managed.name(), &vanishing, how.yes, locked.interrupts).await?;
                locked.interrupts.check()?;
                let copied = copy(&managed, stack, args).await?;
                let written = write(&managed, locked, what).await?;
                changed.written = true;
                let file = copied.as_ref().map(|path| path.display().to_string());
                Entry { after, file, ..logged.entry() }.record();
                changed.done.warnings.extend(written.warnings.iter().map(ToString::to_string));
                Ok((changed, copied.or(written.backup.map(|key| key.as_str().into())).map(KeptBackup::file)))
            })?
        }
    };
    Report { state: managed.name(), dry_run: args.dry_run, backup, changed: &changed, other: None }
        .print(args.json)?;
    Ok(Outcome::Clean)
}

/// The file that the user names for the state before. The backend keeps it as `.bak` in any case.
fn named_backup(args: &ChangeArgs) -> Option<&Path> {
    args.backup.as_deref().filter(|path| *path != Path::new("-"))
}

/// Writes the state before to the file that the user names.
async fn copy(managed: &ManagedStack, stack: &Stack, args: &ChangeArgs) -> Result<Option<PathBuf>> {
    let Some(path) = named_backup(args) else { return Ok(None) };
    let active = stack.select().await.map_err(|error| managed.failure(&error))?.active;
    let Some(active) = active else { return Ok(None) };
    let got = stack.backend().store().get(&active.key, &GetOptions::default()).await;
    let got = got
        .map_err(|error| Failure::new(Kind::of_cause(&error).unwrap_or(Kind::Unreachable), chain(&error)))?;
    let Some(blob) = got else { return Ok(None) };
    files::put(path, &blob.bytes).map_err(|error| Failure::unwritable(path, &error))?;
    Ok(Some(path.to_owned()))
}

/// What differs between the present state and a text, and which resources would vanish.
async fn compare(
    managed: &ManagedStack,
    stack: &Stack,
    text: &[u8],
    mut done: Done,
) -> Result<(Changed, Vec<String>)> {
    let Present { file: before, text: present, unreadable } = present(managed, stack).await?;
    if let Some(why) = unreadable {
        done.warnings.insert(0, format!("the present state cannot be read, so it is not compared: {why}"));
    }
    let unusable = |error: &dyn std::error::Error| Failure::new(Kind::Unusable, chain(error));
    let after = decode(text, &DecodeOptions::default()).map_err(|error| unusable(&error))?;
    let changes = diff(&before, &after).map_err(|error| unusable(&error))?;
    let vanishing = match (&before.snapshot, &after.snapshot) {
        (Some(before), Some(after)) => vanishing(before, after),
        (Some(before), None) => vanishing(before, &Snapshot::default()),
        _ => Vec::new(),
    };
    let is_other = present.as_deref() != Some(text);
    let diff: Vec<Difference> = match changes.is_empty() && is_other {
        true => vec![reordered()],
        false => differences(changes, false),
    };
    if diff.is_empty() {
        done.changes.clear();
    }
    Ok((Changed { done, diff, written: false }, vanishing))
}

pub(super) async fn present(managed: &ManagedStack, stack: &Stack) -> Result<Present> {
    let nothing = || {
        decode(&stack.new_document(), &DecodeOptions::default())
            .map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
    };
    let read = match stack.read().await {
        Ok(Some(read)) => read.decode().map(|file| (file, read.bytes)),
        Ok(None) => return Ok(Present { file: nothing()?, text: None, unreadable: None }),
        Err(error) => Err(error),
    };
    match read {
        Ok((file, text)) => Ok(Present { file, text: Some(text.to_vec()), unreadable: None }),
        Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => {
            // Its next step is what happens here.
            let why = error.reason().to_owned();
            Ok(Present { file: nothing()?, text: None, unreadable: Some(why) })
        }
        Err(error) => Err(managed.failure(&error)),
    }
}
