//! One case: a base, some runs, and what is left after each.

use std::sync::Arc;

use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, EncodeOptions, Envelope, decode, encode};
use groundstate_pulumi_journal::{Entry, StepKind, replay};
use groundstate_pulumi_snapshot::{OperationType, Snapshot};

use crate::arrival::{arrivals, texts};
use crate::base;
use crate::campaign::Stats;
use crate::dice::Dice;
use crate::engine::{Engine, Failure, Outcome, same, sound};
use crate::journals;
use crate::naive::{Replay, naive};
use crate::run::{Finish, Kinds, Order, is_settled, run};

/// Runs the case of a tape: nothing may be lost, broken or told in two ways.
///
/// # Errors
///
/// What went wrong, and what happened before.
pub fn check(tape: &[u8]) -> Result<Stats, Failure> {
    check_with(tape, &|base, entries| {
        let replayed = replay(base.clone(), entries.iter().map(Arc::clone), Default::default());
        let replayed = replayed.map_err(|error| error.to_string())?.snapshot;
        let slowly = naive(None, base, entries)?;
        same(&replayed, &slowly).map_err(|error| format!("the replayer and the naive one: {error}"))?;
        Ok(replayed)
    })
}

/// Runs the case of a tape with another replayer.
///
/// # Errors
///
/// What went wrong, and what happened before.
pub fn check_with(tape: &[u8], replay: &Replay) -> Result<Stats, Failure> {
    let dice = Dice::new(tape);
    let mut log = Vec::new();
    case(&dice, replay, &mut log).map_err(|what| Failure { what, log })
}

fn case(dice: &Dice<'_>, replay: &Replay, log: &mut Vec<String>) -> Outcome<Stats> {
    let mut stats = Stats { cases: 1, ..Stats::default() };
    if dice.chance(15) {
        stats.entries = journals::check(dice, replay, log)?;
        return Ok(stats);
    }
    let mut snapshot = base::snapshot(dice);
    sound(&snapshot).map_err(|error| format!("the base is broken: {error}"))?;
    let (mut next_id, mut fresh) = (100, 0);
    for _ in 0..1 + dice.roll(3) {
        let order = Order::roll(dice);
        let (after, _, _) = one(dice, replay, order, snapshot, (&mut next_id, &mut fresh), &mut stats, log)?;
        snapshot = after;
    }
    settle(dice, replay, snapshot, (&mut next_id, &mut fresh), &mut stats, log)?;
    Ok(stats)
}

type Numbers<'a> = (&'a mut usize, &'a mut usize);

fn one(
    dice: &Dice<'_>,
    replay: &Replay,
    order: Order,
    start: Snapshot,
    (next_id, fresh): Numbers<'_>,
    stats: &mut Stats,
    log: &mut Vec<String>,
) -> Outcome<(Snapshot, Finish, Kinds)> {
    let mut engine = Engine::new(start, replay, next_id);
    engine.log.insert(0, format!("{order:?}"));
    let result = drive(&mut engine, dice, order, replay, fresh);
    log.append(&mut engine.log);
    let (finish, kinds) = result?;
    let entries = engine.entries();
    stats.runs += 1;
    stats.entries += entries.len() as u64;
    stats.killed += u64::from(finish == Finish::Killed);
    stats.parts += u64::from(times(order));
    for (kind, count) in &kinds {
        *stats.steps.entry(*kind).or_default() += count;
    }
    let left = replay(&engine.start, &entries)?;
    Ok((through_text(left, &entries)?, finish, kinds))
}

fn drive(
    engine: &mut Engine<'_>,
    dice: &Dice<'_>,
    order: Order,
    replay: &Replay,
    fresh: &mut usize,
) -> Outcome<(Finish, Kinds)> {
    let (finish, kinds) = run(engine, dice, order, fresh)?;
    if finish != Finish::Killed && !engine.in_refresh {
        engine.close()?;
    }
    arrivals(engine, dice, replay, times(order))?;
    Ok((finish, kinds))
}

/// How many parts of the journal of a run are taken for all there is.
fn times(order: Order) -> u32 {
    if order.habits.settled { 1 } else { 4 }
}

/// What is left is written and read: the bytes do not change. The next run has what was read.
fn through_text(left: Snapshot, entries: &[Arc<Entry>]) -> Outcome<Snapshot> {
    texts(entries)?;
    let options = EncodeOptions::default();
    let file = DeploymentFile::new(Envelope::Deployment, Some(left));
    let text = encode(&file, &options).map_err(|error| error.to_string())?;
    let again = decode(&text, &DecodeOptions::default()).map_err(|error| error.to_string())?;
    let twice = encode(&again, &options).map_err(|error| error.to_string())?;
    if text != twice {
        return Err("the file changes when it is read and written".to_owned());
    }
    again.snapshot.ok_or_else(|| "the file has no deployment".to_owned())
}

/// Whatever happened, runs in which nothing fails bring the stack to rest.
fn settle(
    dice: &Dice<'_>,
    replay: &Replay,
    mut snapshot: Snapshot,
    (next_id, fresh): Numbers<'_>,
    stats: &mut Stats,
    log: &mut Vec<String>,
) -> Outcome {
    let mut kinds = Kinds::new();
    for _ in 0..2 {
        let numbers = (&mut *next_id, &mut *fresh);
        let (after, finish, seen) = one(dice, replay, Order::SETTLE, snapshot, numbers, stats, log)?;
        if finish != Finish::Whole {
            return Err(format!("a run in which nothing fails ended {finish:?}"));
        }
        (snapshot, kinds) = (after, seen);
    }
    kinds.retain(|kind, _| !matches!(kind, StepKind::Same | StepKind::Read));
    if !kinds.is_empty() {
        return Err(format!("there is still something to do for the same program: {kinds:?}"));
    }
    if !is_settled(&snapshot) {
        return Err("something still waits for its deletion".to_owned());
    }
    let left = &snapshot.pending_operations;
    match left.iter().find(|operation| operation.kind != OperationType::Creating) {
        Some(operation) => Err(format!("an operation is still pending: {}", operation.kind)),
        None => Ok(()),
    }
}
