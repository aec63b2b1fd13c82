//! Changes a stored deployment, under its lock, and reports.

use std::collections::HashMap;

use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, Envelope, decode, diff, encode,
};
use groundstate_pulumi_integrity::{IntegrityError, IntegrityOperation};
use groundstate_pulumi_snapshot::{Resource, Snapshot};
use groundstate_statemgr::{Expect, Manager, WriteOptions};

use super::done::{Changed, Done};
use super::report::Report;
use crate::args::ChangeArgs;
use crate::input::location::StateLocation;
use crate::input::pulumi;
use crate::input::remote::command_on;
use crate::report::differences::Difference;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::session::backup::backup;
use crate::session::consent::consent;
use crate::session::interrupt::Interrupts;
use crate::session::keeper::Keep;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::state_error::StateError;

/// What is changed.
pub(super) struct Subject<'n> {
    /// What people call it.
    pub(super) name: &'n str,
    /// It is what `pulumi stack export` prints, and gets back by `pulumi stack import`.
    pub(super) is_export: bool,
}

/// How a change is called, and what it may do.
#[derive(Debug)]
pub(super) struct Names<'n> {
    pub(super) operation: &'n str,
    /// Where the state before goes.
    pub(super) keep: Keep,
    /// Resources may vanish without a question.
    pub(super) yes: bool,
}

/// Whether the snapshot has to be sound before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Soundness {
    Needed,
    /// The command is there for those that are not.
    Whatever,
}

/// Changes what is stored, and reports.
pub(super) fn run(
    found: StateLocation,
    args: &ChangeArgs,
    operation: &str,
    soundness: Soundness,
    work: impl FnOnce(&mut Snapshot, &Subject<'_>) -> Result<Done>,
) -> Result {
    let keep = backup(&found, args, operation)?;
    run_keeping(found, args, Names { operation, keep, yes: true }, None, soundness, work)
}

/// Runs it with another place for the state before. If the stored state cannot be read, `instead` is changed in its place.
pub(super) fn run_keeping(
    found: StateLocation,
    args: &ChangeArgs,
    names: Names<'_>,
    instead: Option<DeploymentFile>,
    soundness: Soundness,
    work: impl FnOnce(&mut Snapshot, &Subject<'_>) -> Result<Done>,
) -> Result {
    let Names { operation, keep, yes } = names;
    let opened = ManagedState::open(found, Some(keep), !args.lock.no_lock)?;
    let name = opened.name.clone();
    // A preview takes no lock, because a lock leaves traces.
    let changed = match args.dry_run {
        true => unlocked(&opened, async |manager| {
            change(manager, &name, (operation, soundness, instead), work, None).await
        })?,
        false => {
            let info = lock_info(&opened, operation)?;
            locked(&opened, &args.lock, info, async |manager, interrupts| {
                change(manager, &name, (operation, soundness, instead), work, Some((interrupts, yes))).await
            })?
        }
    };
    Report { state: &name, dry_run: args.dry_run, backup: opened.kept(), changed: &changed, other: None }
        .print(args.json)?;
    Ok(Outcome::Clean)
}

async fn change(
    manager: &Manager,
    name: &str,
    (operation, soundness, instead): (&str, Soundness, Option<DeploymentFile>),
    work: impl FnOnce(&mut Snapshot, &Subject<'_>) -> Result<Done>,
    writing: Option<(&Interrupts, bool)>,
) -> Result<Changed, StateError> {
    let store = manager.store();
    let nothing = || Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
    let (stored, expect) = match store.read().await? {
        Some(stored) => (stored.bytes, Expect::Version(stored.version)),
        None if instead.is_some() => (Vec::new(), Expect::Absent),
        None => return Err(nothing().into()),
    };
    let before = match (read(&stored, name), instead) {
        (Err(_), Some(instead)) => instead,
        (read, _) => read?,
    };
    // The version is enough to store what follows.
    drop(stored);
    let edited = edit(before, name, (operation, soundness), work)?;
    let Some((interrupts, yes)) = writing.filter(|_| !edited.diff.is_empty()) else {
        return Ok(Changed { done: edited.done, diff: edited.diff, written: false });
    };
    let bytes = encoded(&edited.file)?;
    consent(name, &edited.vanishing, yes, interrupts).await?;
    interrupts.check()?;
    // After this the write comes to its end.
    store.write(bytes.into(), &WriteOptions::expecting(expect)).await?;
    Ok(Changed { done: edited.done, diff: edited.diff, written: true })
}

/// A file that has been changed, but not written.
pub(super) struct Edited {
    pub(super) file: DeploymentFile,
    pub(super) done: Done,
    pub(super) diff: Vec<Difference>,
    /// The resources that are gone, by their URNs.
    pub(super) vanishing: Vec<String>,
}

pub(super) fn read(stored: &[u8], name: &str) -> Result<DeploymentFile> {
    decode(stored, &DecodeOptions::default()).map_err(|error| pulumi::failure(&error, name, stored))
}

pub(super) fn edit(
    before: DeploymentFile,
    name: &str,
    (operation, soundness): (&str, Soundness),
    work: impl FnOnce(&mut Snapshot, &Subject<'_>) -> Result<Done>,
) -> Result<Edited> {
    let mut file = before.clone();
    let Some(snapshot) = file.snapshot.as_mut() else {
        let message = format!("the stack of {name} has never been updated, so there is nothing to change");
        return Err(Failure::new(Kind::NoState, message));
    };
    let was_sound = match (IntegrityError::check(snapshot, IntegrityOperation::Read), soundness) {
        (Ok(()), _) => true,
        (Err(error), Soundness::Needed) => return Err(refused(&error, name)),
        (Err(_), Soundness::Whatever) => false,
    };
    let is_export = matches!(before.envelope, Envelope::Deployment);
    let done = work(snapshot, &Subject { name, is_export })?;
    let mut is_sound = was_sound;
    if before.snapshot.as_ref() != Some(&*snapshot) {
        // A later reader sees that it was broken when it was written.
        let command = format!("groundstate {} {operation}", env!("CARGO_PKG_VERSION"));
        is_sound = !IntegrityError::record(snapshot, &command);
    }
    if was_sound && !is_sound {
        let message = "state edit produced an invalid snapshot, so nothing was written";
        return Err(Failure::new(Kind::Unusable, message).hint("please report this as a bug of groundstate"));
    }
    let changes = diff(&before, &file).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    let vanishing = match (&before.snapshot, &file.snapshot) {
        (Some(before), Some(after)) => vanishing(before, after),
        _ => Vec::new(),
    };
    let is_reordered = changes.is_empty() && before.snapshot != file.snapshot;
    // What was changed is held twice until here.
    drop(before);
    let diff = match is_reordered {
        true => vec![crate::pulumi::diff::reordered()],
        false => crate::pulumi::diff::differences(changes, false),
    };
    Ok(Edited { file, done, diff, vanishing })
}

/// The resources of a snapshot that another one lacks. One of the same type and identifier was renamed.
pub(super) fn vanishing(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let key = |resource: &Resource| {
        (resource.urn.resource_type().to_string(), resource.id().map(ToString::to_string).unwrap_or_default())
    };
    let mut kept: HashMap<_, usize> = HashMap::new();
    after.indexed().for_each(|(_, resource)| *kept.entry(key(resource)).or_default() += 1);
    let gone = before.indexed().filter(|(_, resource)| match kept.get_mut(&key(resource)) {
        Some(number) if *number > 0 => {
            *number -= 1;
            false
        }
        _ => true,
    });
    gone.map(|(_, resource)| resource.urn.to_string()).collect()
}

pub(in crate::pulumi) fn encoded(file: &DeploymentFile) -> Result<Vec<u8>> {
    encode(file, &EncodeOptions::default()).map_err(|error| {
        let kind = match error {
            groundstate_pulumi_deployment::EncodeError::Loss { .. } => Kind::Loss,
            _ => Kind::Unusable,
        };
        Failure::new(kind, chain(&error)).hint("`groundstate upgrade --lossy` writes it nevertheless")
    })
}

pub(super) fn refused(error: &IntegrityError, name: &str) -> Failure {
    Failure::new(Kind::Unusable, error.refusal()).hint(format!(
        "`{}` shows all that is wrong, `{}` a way out",
        command_on("groundstate check", name),
        command_on("groundstate repair", name)
    ))
}
