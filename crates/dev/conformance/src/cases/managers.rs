//! M1: managers that write at the same time, over stores that fail, lose none of each other's changes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundstate_statemgr::{
    ErrorKind, LockInfo, Locker, Manager, PersistentMeta, Persister, Reader, Refresher, Result, Sleeper,
    Writer, write_and_persist,
};
use groundstate_states::State;

use crate::cx::{Client, Cx};
use crate::executor::{BoxFuture, ThreadSleeper, yield_now};
use crate::failure::{Answer, Step, describe, ensure, equal, fail, not_applicable};
use crate::fault::{Faults, Faulty};
use crate::states::set_output;

const MANAGERS: usize = 3;
const EACH: usize = 4;
/// A manager that has tried so often gets nowhere.
const MOST_TRIES: usize = 500;
/// Between two looks at a lock that is held.
const SHORT: Duration = Duration::from_micros(200);

pub(super) async fn lose_no_update(cx: &Cx) -> Step {
    let has = cx.capabilities;
    if !has.conditional_write && !has.locking {
        return not_applicable("the store has neither conditions nor a lock, so nothing tells writers apart");
    }
    for round in 0..3 {
        if has.conditional_write {
            let faults = Faults::none().latency(2).refuse(100).lose_reads(100).lose_changes(200);
            contest(cx, round, faults, false).await?;
        }
        if has.locking {
            // The answers to locks arrive, since what to do otherwise is up to people.
            contest(cx, round, Faults::none().latency(2).refuse(100).lose_reads(100), true).await?;
        }
    }
    Ok(())
}

/// Every manager adds outputs of its own; in the end all are there.
async fn contest(cx: &Cx, round: usize, faults: Faults, lock: bool) -> Step {
    let place = cx.harness.store().await.succeeds("making a place")?;
    let begin = cx.manager(cx.open_at(&*place).await?, 1);
    write_and_persist(&begin, &State::new()).await.succeeds("the first persist")?;
    let first = begin.snapshot_meta();
    // When one has failed, it may not have let go of the lock, and the others need not wait for it.
    let failed = Arc::new(AtomicBool::new(false));
    let mut runs: Vec<BoxFuture<'static, Step>> = Vec::new();
    for who in 0..MANAGERS {
        let store = cx.open_at(&*place).await?;
        let rng = cx.rng(&format!("faults {round} {lock} {who}"));
        let store: Client = Arc::new(Faulty::with(store, faults, rng));
        let manager = cx.manager(store, 1_000 * u64::try_from(who + 1).unwrap_or_default());
        let info = cx.info(&format!("manager{who}"));
        let failed = Arc::clone(&failed);
        runs.push(Box::pin(async move {
            let outputs = (0..EACH).map(|step| format!("m{who}s{step}"));
            let mut outcome = Ok(());
            for output in outputs {
                outcome = match lock {
                    true => locked(&manager, &info, &output, &failed).await,
                    false => add(&manager, &output).await,
                };
                if outcome.is_err() {
                    failed.store(true, Ordering::SeqCst);
                    break;
                }
            }
            outcome
        }));
    }
    let outcomes = match round {
        2 => cx.on_threads(runs).await?,
        _ => cx.interleave(&format!("managers {round} {lock}"), runs).await,
    };
    outcomes.into_iter().collect::<Step>()?;
    let reader = cx.manager(cx.open_at(&*place).await?, 9_000);
    reader.refresh_state().await.succeeds("a refresh")?;
    complete(&reader)?;
    let last = reader.snapshot_meta();
    equal("the lineage", &last.lineage, &first.lineage)?;
    let changes = u64::try_from(MANAGERS * EACH).unwrap_or_default();
    let made = last.serial.get() - first.serial.get().min(last.serial.get());
    ensure(made >= changes, format!("the serial has grown by {changes} or more"), || made.to_string())
}

/// All outputs of all managers are stored.
fn complete(reader: &Manager) -> Step {
    let state = reader.state().unwrap_or_default();
    let found: BTreeSet<&str> = state.outputs().keys().map(|name| &**name).collect();
    let names = (0..MANAGERS).flat_map(|who| (0..EACH).map(move |step| format!("m{who}s{step}")));
    let lost: Vec<String> = names.filter(|name| !found.contains(name.as_str())).collect();
    ensure(lost.is_empty(), "every change that was acknowledged is stored", || {
        format!("lost are {}", lost.join(", "))
    })
}

/// Adds an output under the lock, unless another manager has failed.
async fn locked(manager: &Manager, info: &LockInfo, output: &str, failed: &AtomicBool) -> Step {
    let mut tries = 0..MOST_TRIES;
    let grant = loop {
        match manager.lock(info).await {
            Ok(grant) => break grant,
            // Others are at work, and how long they take is no matter of tries.
            Err(error) if error.kind() == ErrorKind::Locked => {
                if failed.load(Ordering::SeqCst) {
                    return Ok(());
                }
                ThreadSleeper.sleep(SHORT).await;
            }
            Err(error) if error.kind() == ErrorKind::Unavailable => again(&mut tries, &error).await?,
            Err(error) => return fail("a lock succeeds or is refused with `Locked`", describe(&error)),
        }
    };
    add(manager, output).await?;
    let Some(grant) = grant else { return Ok(()) };
    loop {
        match manager.unlock(&grant.id).await {
            Err(error) if error.kind() == ErrorKind::Unavailable => again(&mut tries, &error).await?,
            outcome => return outcome.succeeds("the release under the granted id"),
        }
    }
}

/// Adds an output, however often that takes.
async fn add(manager: &Manager, output: &str) -> Step {
    let mut tries = 0..MOST_TRIES;
    loop {
        let error = match attempt(manager, output).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let goes_on = matches!(
            error.kind(),
            ErrorKind::Conflict | ErrorKind::Locked | ErrorKind::Unavailable | ErrorKind::Ambiguous
        );
        ensure(goes_on, "a manager is refused with `Conflict` at most", || describe(&error))?;
        again(&mut tries, &error).await?;
    }
}

async fn attempt(manager: &Manager, output: &str) -> Result<()> {
    manager.refresh_state().await?;
    let mut state = manager.state().unwrap_or_default();
    set_output(&mut state, output, "here");
    manager.write_state(&state)?;
    // An answer that got lost is looked for by the next persist.
    match manager.persist_state().await {
        Err(error) if error.kind() == ErrorKind::Ambiguous => manager.persist_state().await.map(drop),
        outcome => outcome.map(drop),
    }
}

async fn again(tries: &mut std::ops::Range<usize>, error: &groundstate_statemgr::Error) -> Step {
    yield_now().await;
    match tries.next() {
        Some(_) => Ok(()),
        None => fail(format!("one of {MOST_TRIES} attempts gets through"), describe(error)),
    }
}
