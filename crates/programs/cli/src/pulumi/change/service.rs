//! `groundstate push`, `rollback` and `undo` where the stack is in a service: a whole state becomes the newest version.

use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, RawDeployment, decode, diff};
use groundstate_pulumi_integrity::clear_pending;
use groundstate_pulumi_snapshot::Snapshot;
use groundstate_statemgr::{Expect, Manager, WriteOptions};

use super::done::{Change, Changed, Done};
use super::report::Report;
use super::run::{encoded, read, vanishing};
use super::whole::Replacing;
use crate::args::{Force, PushArgs, RollbackArgs, UndoArgs};
use crate::input::history::choose;
use crate::input::location::StateLocation;
use crate::input::pulumi;
use crate::input::remote::Remote;
use crate::input::runtime::runtime;
use crate::input::service::FoundService;
use crate::input::service_store::updates;
use crate::pulumi::admission::{Place, gate};
use crate::pulumi::diff::{differences, reordered};
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::session::back::{version_before, warn_of_partner};
use crate::session::backup::{Restored, backup_of_undo};
use crate::session::consent::consent;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::state_error::StateError;

/// A state that would replace the present one, as an export.
struct Plan {
    text: Vec<u8>,
    file: DeploymentFile,
    /// Its name in messages.
    name: String,
    force: Force,
    done: Done,
}

/// Stores an exported deployment, as `pulumi stack import` does.
pub(super) fn push(args: &PushArgs, file: &str, text: &[u8], found: StateLocation) -> Result {
    let how = Replacing { args: &args.change, command: "push", yes: args.consent.yes };
    let service = service(&found)?;
    let change = Change::new("push", "", format!("Stored {file}"), format!("Would store {file}"));
    let plan = plan(&service, text, file, &args.force)?;
    let done = Done { changes: vec![change], success: "Deployment stored".to_owned(), ..plan.done };
    replace(found, how, Plan { done, ..plan }, None)
}

/// Makes the version that `--to` names the newest one.
pub(super) fn rollback(args: &RollbackArgs, found: StateLocation) -> Result {
    let how = Replacing { args: &args.change, command: "rollback", yes: args.consent.yes };
    let service = service(&found)?;
    let version = runtime()?.block_on(async {
        let stack = service.stack().await.map_err(|error| service.failure(&error))?;
        let updates = match updates(stack).await {
            Ok(updates) => updates,
            Err(error) => return Err(service.failed(&error, stack).await),
        };
        let ids: Vec<String> =
            updates.iter().filter_map(|update| update.version).map(|number| number.to_string()).collect();
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let at = choose(&names, &args.to, found.name())?;
        Ok(names.get(at).and_then(|id| id.parse().ok()).unwrap_or_default())
    })?;
    restore(found, how, &service, version, &args.force)
}

/// Makes the version before the newest one the newest.
pub(super) fn undo(args: &UndoArgs, found: StateLocation) -> Result {
    let how = Replacing { args: &args.change, command: "undo", yes: args.consent.yes };
    let service = service(&found)?;
    let version = runtime()?.block_on(async {
        let stack = service.stack().await.map_err(|error| service.failure(&error))?;
        match stack.get().await {
            Ok(known) => Ok(known.version),
            Err(error) => Err(service.failed(&error, stack).await),
        }
    })?;
    if !args.alone {
        warn_of_partner(&found)?;
    }
    let Some(before) = version_before(&found, version)? else {
        let message = format!("{} has version {version}, so there is no version before", found.name());
        return Err(Failure::new(Kind::NoState, message));
    };
    restore(found, how, &service, before, &args.force)
}

fn restore(
    found: StateLocation,
    how: Replacing<'_>,
    service: &FoundService,
    version: u64,
    force: &Force,
) -> Result {
    let text = runtime()?.block_on(async {
        let stack = service.stack().await.map_err(|error| service.failure(&error))?;
        stack.export_version(version).await.map_err(|error| service.failure(&error))
    })?;
    let plan = plan(service, &text, &format!("version {version}"), force)?;
    let (done, would) =
        (format!("Went back to version {version}"), format!("Would go back to version {version}"));
    let change = Change::new(how.command, "", done, would).member("id", version.to_string());
    let done = Done { changes: vec![change], success: "State brought back".to_owned(), ..plan.done };
    // Only an undo takes a step that the next one goes further back from.
    let restored = (how.command == "undo").then(|| Restored::Other(version.to_string()));
    replace(found, how, Plan { done, ..plan }, restored)
}

fn service(found: &StateLocation) -> Result<FoundService> {
    let service = found.remote().and_then(Remote::service).cloned();
    service.ok_or_else(|| Failure::new(Kind::Usage, format!("{} is not in a service", found.name())))
}

/// What an import of a text would store: members that are not understood stay, pending operations are removed with a warning each.
fn plan(service: &FoundService, text: &[u8], name: &str, force: &Force) -> Result<Plan> {
    let unusable = |error| pulumi::failure(&error, name, text);
    let raw = RawDeployment::read(text).map_err(unusable)?;
    let mut file = decode(text, &DecodeOptions::default()).map_err(unusable)?;
    let mut warnings = Vec::new();
    let foreign = file.snapshot.iter().flat_map(|snapshot| &snapshot.resources);
    let own = service.stack_name();
    if let Some(resource) = foreign.into_iter().find(|resource| resource.urn.stack() != own) {
        let (urn, other) = (&resource.urn, resource.urn.stack());
        let why = format!("resource '{urn}' is from a different stack ({other} != {own})");
        if !force.is_whole() {
            return Err(Failure::new(Kind::Conflict, why).hint("`--force` stores it nevertheless"));
        }
        warnings.push(why);
    }
    if let Some(snapshot) = &file.snapshot {
        warnings.extend(gate(snapshot, name, force)?);
    }
    let pending = file.snapshot.as_mut().filter(|snapshot| !snapshot.pending_operations.is_empty());
    let text = match pending {
        None => raw.to_deployment(),
        Some(snapshot) => {
            let all = 0..snapshot.pending_operations.len();
            for operation in clear_pending(snapshot, all) {
                let (kind, urn) = (operation.kind.as_str(), &operation.resource.urn);
                warnings.push(format!("removing pending operation '{kind}' on '{urn}' from snapshot"));
            }
            encoded(&file)?
        }
    };
    // Both are the same, but for the envelope that the service has.
    let file = decode(&text, &DecodeOptions::default()).map_err(unusable)?;
    let (name, force) = (name.to_owned(), force.clone());
    Ok(Plan { text, file, name, force, done: Done { warnings, ..Done::default() } })
}

/// Replaces the state, and reports. With `--dry-run` nothing is written.
fn replace(found: StateLocation, how: Replacing<'_>, plan: Plan, restored: Option<Restored>) -> Result {
    let args = how.args;
    let place = Place::resolved(&found)?;
    let keep = backup_of_undo(&found, args, &format!("state-{}", how.command), restored)?;
    let opened = ManagedState::open(found, Some(keep), !args.lock.no_lock)?;
    let name = opened.name.clone();
    let changed = match args.dry_run {
        true => unlocked(&opened, async |manager| stored(manager, (&name, &place), plan, None).await)?,
        false => {
            let info = lock_info(&opened, &format!("state-{}", how.command))?;
            locked(&opened, &args.lock, info, async |manager, interrupts| {
                stored(manager, (&name, &place), plan, Some((interrupts, how.yes))).await
            })?
        }
    };
    Report { state: &name, dry_run: args.dry_run, backup: opened.kept(), changed: &changed, other: None }
        .print(args.json)?;
    Ok(Outcome::Clean)
}

async fn stored(
    manager: &Manager,
    (name, place): (&str, &Place),
    plan: Plan,
    writing: Option<(&Interrupts, bool)>,
) -> Result<Changed, StateError> {
    let nothing = || Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
    let store = manager.store();
    let present = store.read().await?.ok_or_else(nothing)?;
    let Plan { mut text, mut file, name: source, force, mut done } = plan;
    let (before, unreadable) = match read(&present.bytes, name) {
        Ok(before) => (before, None),
        Err(why) => {
            let mut nothing = file.clone();
            nothing.snapshot = None;
            (nothing, Some(why.message))
        }
    };
    if let Some(why) = &unreadable {
        done.warnings.insert(0, format!("the present state cannot be read, so it is not compared: {why}"));
    }
    let admitted = place.secure(&mut file, before.snapshot.as_ref(), &source, &force)?;
    if admitted.changed {
        text = encoded(&file)?;
    }
    done.warnings.extend(admitted.warnings);
    let changes = diff(&before, &file).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    let empty = Snapshot::default();
    let lost =
        vanishing(before.snapshot.as_ref().unwrap_or(&empty), file.snapshot.as_ref().unwrap_or(&empty));
    let is_same = unreadable.is_none() && before.snapshot == file.snapshot;
    let diff = match changes.is_empty() && !is_same {
        true => vec![reordered()],
        false => differences(changes, false),
    };
    if diff.is_empty() {
        done.changes.clear();
    }
    let Some((interrupts, yes)) = writing.filter(|_| !diff.is_empty()) else {
        return Ok(Changed { done, diff, written: false });
    };
    consent(name, &lost, yes, interrupts).await?;
    interrupts.check()?;
    store.write(text.into(), &WriteOptions::expecting(Expect::Version(present.version))).await?;
    Ok(Changed { done, diff, written: true })
}
