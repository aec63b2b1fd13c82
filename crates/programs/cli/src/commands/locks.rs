//! `groundstate locks`: who holds the locks of states.

use std::path::Path;

use groundstate_backends::{FoundLock, Location, LockMaintenance};
use groundstate_common::shortened;
use groundstate_statemgr::{LockHolder, LockInfo, Locker, WorkspaceName};

use crate::args::LocksArgs;
use crate::input::found_stack::{FoundPlace, FoundStack};
use crate::input::location::StateLocation;
use crate::input::runtime::runtime;
use crate::input::stack_store;
#[cfg(feature = "http")]
use crate::input::{service::FoundService, service_store};
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::{age, count};
use crate::session::backup_store::of_process;
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;

/// Characters of a member of a lock document that are shown, at most.
const MAX_SHOWN: usize = 1000;

/// A state and its lock holders.
struct Looked {
    name: String,
    holder: Option<LockHolder>,
    /// Further locks: of a Pulumi stack, or of a state that clients lock by several mechanisms.
    others: Vec<LockHolder>,
}

impl Looked {
    fn of(name: String, holders: impl IntoIterator<Item = LockHolder>) -> Self {
        let mut holders = holders.into_iter();
        Self { name, holder: holders.next(), others: holders.collect() }
    }
}

pub(super) fn run(args: &LocksArgs) -> Result {
    let mut out = Output::stdout();
    let mut outcome = Outcome::Clean;
    let mut looked = Vec::new();
    for state in &args.states {
        match look(state) {
            Ok(found) => looked.push(found),
            // One state that is not there is no reason not to look at the others.
            Err(failure) => {
                Messages::stderr().failure(&failure);
                outcome = outcome.and(failure.kind);
            }
        }
    }
    if args.json {
        out.json(&json(&looked))?;
    } else {
        looked.iter().flat_map(lines).try_for_each(|line| out.line(&line))?;
    }
    out.finish()?;
    Ok(outcome)
}

fn look(state: &Path) -> Result<Looked> {
    match FoundPlace::meant(state)? {
        Some(FoundPlace::Bucket(found)) => return runtime()?.block_on(look_at_stack(&found)),
        #[cfg(feature = "http")]
        Some(FoundPlace::Service(found)) => return runtime()?.block_on(look_at_update(&found)),
        None => {}
    }
    let location = StateLocation::to_read(state)?;
    let place = location.remote().map(|remote| remote.place.clone());
    let opened = ManagedState::open_raw(location, None, true)?;
    let holders = unlocked(&opened, async |manager| match place.as_ref().and_then(every_lock) {
        Some((maintenance, workspace)) => Ok(told_apart(maintenance.locks(workspace).await?)),
        None => Ok(Vec::from_iter(manager.lock_holder().await?)),
    })?;
    Ok(Looked::of(opened.name, holders))
}

/// Finders of the locks of every mechanism, whatever the configuration uses.
pub(super) fn every_lock(place: &Location) -> Option<(&dyn LockMaintenance, &WorkspaceName)> {
    place.opened.maintenance.as_deref().map(|maintenance| (maintenance, &place.workspace))
}

/// The holders, of which one may lock by several mechanisms at once.
fn told_apart(locks: Vec<FoundLock>) -> Vec<LockHolder> {
    let (mut holders, mut places) = (Vec::<LockHolder>::new(), Vec::new());
    for FoundLock { place, holder, .. } in locks {
        if holders.iter().all(|known| known.id != holder.id) {
            places.push(place);
            holders.push(of_process(holder));
        }
    }
    // The documents name the state, and not the lock.
    if holders.len() > 1 {
        holders.iter_mut().zip(places).for_each(|(holder, place)| holder.info.path = place);
    }
    holders
}

/// Every lock of a stack, the lease too.
async fn look_at_stack(found: &FoundStack) -> Result<Looked> {
    let stack = found.open().await?;
    let locks = stack.locks().await.map_err(|error| found.failure(&error))?;
    Ok(Looked::of(stack.to_string(), locks.iter().map(stack_store::holder)))
}

/// The update that runs, which is what locks a stack of a service.
#[cfg(feature = "http")]
async fn look_at_update(found: &FoundService) -> Result<Looked> {
    let stack = found.stack().await.map_err(|error| found.failure(&error))?;
    let holder = match stack.get().await {
        Ok(known) => service_store::holder(&known),
        Err(error) => return Err(found.failed(&error, stack).await),
    };
    Ok(Looked::of(stack.to_string(), holder))
}

fn lines(looked: &Looked) -> Vec<String> {
    let Looked { name, holder, others } = looked;
    let Some(holder) = holder else { return vec![format!("{name}: not locked")] };
    if others.is_empty() {
        return [vec![format!("{name}: locked")], holder_lines(holder)].concat();
    }
    let mut lines = vec![format!("{name}: {}", count(others.len() + 1, "lock"))];
    for holder in [holder].into_iter().chain(others) {
        lines.push(format!("  {}:", shortened(&holder.info.path, MAX_SHOWN)));
        lines.extend(holder_lines(holder));
    }
    lines
}

/// What is known of a holder, a line each.
fn holder_lines(holder: &LockHolder) -> Vec<String> {
    let mut lines = Vec::new();
    let process = holder.pid.map(|pid| match holder.alive {
        Some(true) => format!("{pid}, which is alive"),
        Some(false) => format!("{pid}, which no longer runs"),
        None => pid.to_string(),
    });
    let since = (holder.info.created != LockInfo::default().created).then(|| holder.info.created.to_string());
    let age = since.as_ref().map(|_| age(holder.info.created));
    let some = |text: &str| Some(shortened(text, MAX_SHOWN).into_owned()).filter(|text| !text.is_empty());
    for (label, value) in [
        ("who", some(&holder.info.who).filter(|who| who != "@")),
        ("since", since),
        ("age", age),
        ("for", some(&holder.info.operation)),
        ("info", some(&holder.info.info)),
        ("program", some(&holder.info.version)),
        ("host", holder.host.as_deref().and_then(some)),
        ("process", process),
        ("until", holder.expires.map(|end| end.to_string())),
        ("lock id", some(holder.id.as_str())),
    ] {
        lines.extend(value.map(|value| format!("    {:<9}{value}", format!("{label}:"))));
    }
    lines
}

fn json(looked: &[Looked]) -> String {
    Json::document(|json| {
        json.objects("locks", looked, |json, Looked { name, holder, others }| {
            json.text("state", name);
            json.raw("locked", holder.is_some());
            if let Some(holder) = holder {
                json.inner("holder", |json| describe(json, holder));
            }
            if !others.is_empty() {
                json.objects("others", others, describe);
            }
        });
    })
}

/// Adds what is known of a holder.
pub(super) fn describe(json: &mut Json, holder: &LockHolder) {
    let LockInfo { operation, info, who, version, path, created, .. } = &holder.info;
    json.text("id", holder.id.as_str());
    for (name, text) in
        [("operation", operation), ("info", info), ("who", who), ("version", version), ("path", path)]
    {
        json.text(name, text);
    }
    json.text("created", &created.to_string());
    if let Some(host) = &holder.host {
        json.text("host", host);
    }
    if let Some(pid) = holder.pid {
        json.raw("pid", pid);
    }
    if let Some(alive) = holder.alive {
        json.raw("alive", alive);
    }
    if let Some(end) = holder.expires {
        json.text("expires", &end.to_string());
    }
}
