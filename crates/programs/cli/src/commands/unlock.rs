//! `groundstate unlock`: releases the lock of a holder that is gone.

use groundstate_backends::Location;
use groundstate_pulumi_diy::{Cancelled, Error as StackFailure, FoundLock, Stack};
use groundstate_statemgr::{ErrorKind, LockHolder, LockId, Locker, Manager};

use super::locks::{describe, every_lock};
use crate::args::UnlockArgs;
use crate::input::found_stack::{FoundPlace, FoundStack};
use crate::input::location::StateLocation;
use crate::input::runtime::runtime;
use crate::input::stack_store::holder;
#[cfg(feature = "http")]
use crate::input::{service::FoundService, service_store};
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::session::backup_store::of_process;
use crate::session::interrupt::Interrupts;
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;
use crate::session::state_error::{StateError, way_out};

/// How many processes a lock without a document is tried to be that of.
const MOST_CANDIDATES: usize = 8;

pub(super) fn run(args: &UnlockArgs) -> Result {
    if args.force {
        match FoundPlace::meant(&args.state)? {
            Some(FoundPlace::Bucket(found)) => return free_stack(args, &found),
            #[cfg(feature = "http")]
            Some(FoundPlace::Service(found)) => return cancel_update(args, &found),
            None => {}
        }
    }
    let location = StateLocation::existing(&args.state)?;
    let place = location.remote().map(|remote| remote.place.clone());
    let opened = ManagedState::open_raw(location, None, true)?;
    let released = unlocked(&opened, async |manager| match manager.lock_holder().await? {
        None => release_of_others(place.as_ref(), args, &opened).await,
        Some(holder) => release(manager, args, &opened, holder).await,
    })?;
    let name = &opened.name;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("state", name);
            match &released {
                Released::Holder(holder) => {
                    json.text("lock_id", holder.id.as_str());
                    json.inner("holder", |json| describe(json, holder));
                }
                Released::Id(id) => json.text("lock_id", id),
            }
        }))?;
    } else {
        out.line(&match &released {
            Released::Holder(holder) => format!("Released the lock of {name} that was held by {holder}."),
            Released::Id(id) => format!("Released the lock {id} of {name}."),
        })?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// Removes every lock of a stack, of any holder, whether it can be read or not. The stack need not exist.
fn free_stack(args: &UnlockArgs, found: &FoundStack) -> Result {
    let interrupts = Interrupts::listen()?;
    let (stack, cancelled) = runtime()?.block_on(async {
        let stack = found.open().await?;
        interrupts.check()?;
        let cancelled = stack.cancel().await.map_err(|error| found.failure(&error))?;
        Ok::<_, Failure>((stack, cancelled))
    })?;
    let Cancelled { removed, failed, .. } = cancelled;
    let Some(first) = removed.first() else {
        return match failed.is_empty() {
            true => Err(Failure::new(Kind::NotFound, format!("{stack} is not locked"))),
            false => Err(still_locked(&stack, found, &failed)),
        };
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            let holders: Vec<LockHolder> = removed.iter().map(holder).collect();
            json.text("state", &stack.to_string());
            json.text("lock_id", holder(first).id.as_str());
            json.inner("holder", |json| describe(json, &holder(first)));
            if let Some(others) = holders.get(1..).filter(|others| !others.is_empty()) {
                json.objects("others", others, describe);
            }
        }))?;
    } else {
        for lock in &removed {
            out.line(&format!("Released {lock}"))?;
        }
    }
    out.finish()?;
    match failed.is_empty() {
        true => Ok(Outcome::Clean),
        false => Err(still_locked(&stack, found, &failed)),
    }
}

/// Cancels the update that runs. Its process learns of it when it asks for more time, and writes nothing any more.
#[cfg(feature = "http")]
fn cancel_update(args: &UnlockArgs, found: &FoundService) -> Result {
    let interrupts = Interrupts::listen()?;
    let (name, holder) = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        let known = match stack.get().await {
            Ok(known) => known,
            Err(error) => return Err(found.failed(&error, stack).await),
        };
        let Some(holder) = service_store::holder(&known) else {
            return Err(Failure::new(Kind::NotFound, format!("no update of {stack} runs")));
        };
        interrupts.check()?;
        stack.cancel(holder.id.as_str()).await.map_err(|error| found.failure(&error))?;
        Ok((stack.to_string(), holder))
    })?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("state", &name);
            json.text("lock_id", holder.id.as_str());
            json.inner("holder", |json| describe(json, &holder));
        }))?;
    } else {
        out.line(&format!("Cancelled the update of {name} that was run by {holder}."))?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// That locks of a stack could not be removed.
fn still_locked(stack: &Stack, found: &FoundStack, failed: &[(FoundLock, StackFailure)]) -> Failure {
    let lines = failed.iter().map(|(lock, error)| format!("{}: {}", lock.place, error.reason()));
    let kind = failed.first().map_or(Kind::NoState, |(_, error)| found.failure(error).kind);
    Failure::new(kind, format!("{stack} stays locked:")).details(lines)
}

/// A lock that has been released.
enum Released {
    /// One whose holder is known.
    Holder(Box<LockHolder>),
    /// One of which the service knows nothing but the id.
    Id(String),
}

/// Releases a lock of a mechanism that the configuration does not use, as `locks` shows it.
async fn release_of_others(
    place: Option<&Location>,
    args: &UnlockArgs,
    opened: &ManagedState,
) -> Result<Released, StateError> {
    let name = &opened.name;
    let not_locked = || Failure::new(Kind::NotFound, format!("{name} is not locked"));
    let Some((maintenance, workspace)) = place.and_then(every_lock) else { return Err(not_locked().into()) };
    let locks = maintenance.locks(workspace).await?.into_iter().map(|lock| of_process(lock.holder));
    let locks: Vec<LockHolder> = locks.collect();
    let is_meant = |holder: &&LockHolder| args.id.as_deref().is_none_or(|id| id == holder.id.as_str());
    let Some(meant) = locks.iter().find(is_meant) else {
        return Err(locks.first().map_or_else(not_locked, |holder| another_id(name, holder)).into());
    };
    permitted(args, meant, name)?;
    maintenance.force_unlock(workspace, &meant.id).await?;
    Ok(Released::Holder(Box::new(meant.clone())))
}

/// Reports that the lock in force has another id than the one that is named.
fn another_id(name: &str, holder: &LockHolder) -> Failure {
    let message = format!("the lock of {name} has another id: it is held by {holder}");
    Failure::new(Kind::Conflict, message).hint("name this id, or use `--force`")
}

async fn release(
    manager: &Manager,
    args: &UnlockArgs,
    opened: &ManagedState,
    holder: LockHolder,
) -> Result<Released, StateError> {
    let name = &opened.name;
    let has_record = has_record(&holder);
    if let Some(id) = args.id.as_deref().filter(|id| *id != holder.id.as_str()) {
        // Only the service knows the id of a lock without a document, and a stack may have several locks.
        return match manager.force_unlock(&LockId::new(id)).await {
            Ok(()) => Ok(Released::Id(id.to_owned())),
            Err(error) if matches!(error.kind(), ErrorKind::Denied | ErrorKind::Unavailable) => {
                Err(error.into())
            }
            Err(_) => Err(another_id(name, &holder).into()),
        };
    }
    let mut holder = holder;
    for _ in 0..MOST_CANDIDATES {
        permitted(args, &holder, name)?;
        let error = match manager.force_unlock(&holder.id).await {
            Ok(()) => return Ok(Released::Holder(Box::new(holder))),
            Err(error) => error,
        };
        match error.holder() {
            _ if error.kind() == ErrorKind::Unsupported => {
                return Err(Failure::new(Kind::Locked, chain(&error)).hint(way_out(&holder, opened)).into());
            }
            // A lock without a document may be that of any process which was about to take it: the next one is asked for.
            Some(next) if !has_record && args.id.is_none() && next.id != holder.id => holder = next.clone(),
            _ => return Err(error.into()),
        }
    }
    Err(Failure::new(Kind::Locked, format!("the lock of {name} changes all the time")).into())
}

/// Whether the holder has left a document that says who it is.
fn has_record(holder: &LockHolder) -> bool {
    holder.documented && !holder.info.id.is_empty()
}

/// Whether this lock is one of those that the options are for.
fn permitted(args: &UnlockArgs, holder: &LockHolder, name: &str) -> Result<()> {
    let refuse = |why: &str| {
        let message = format!("the lock of {name} stays: {why}; it is held by {holder}");
        Err(Failure::new(Kind::Locked, message)
            .hint("name its id, or use `--force` if no process is at work there"))
    };
    if args.break_lock && has_record(holder) {
        return refuse("its holder has left a record");
    }
    if !args.if_stale {
        return Ok(());
    }
    match holder.alive {
        Some(false) => Ok(()),
        Some(true) => refuse("its process is alive"),
        None => refuse("it cannot be told from here whether its process is gone"),
    }
}
