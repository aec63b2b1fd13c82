//! One run of an engine: the refresh, the program, and the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_pulumi_journal::{Base, State, Step, StepKind, drop_dangling};
use groundstate_pulumi_snapshot::{Resource, Snapshot, Snippet, Urn};

use crate::base::secrets_provider;
use crate::dice::Dice;
use crate::engine::{Both, End, Engine, Outcome};
use crate::plan::{Chain, Planned, Planner, Prepare};
use crate::program::{Found, Goal, Habits, program};
use crate::removal::{chains, removal};

/// What a run is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) habits: Habits,
    pub(crate) refreshes: bool,
    /// The program says nothing, so that everything goes.
    pub(crate) destroys: bool,
    pub(crate) only_refreshes: bool,
    /// How many chains may be under way.
    pub(crate) width: usize,
    /// Chains that do not depend on one that failed go on.
    pub(crate) goes_on: bool,
}

impl Order {
    pub(crate) fn roll(dice: &Dice<'_>) -> Self {
        let what = dice.roll(10);
        Self {
            habits: Habits { targets: dice.chance(20), settled: false },
            refreshes: matches!(what, 6..=8),
            only_refreshes: what == 8,
            destroys: what == 9,
            width: 1 + dice.roll(4),
            goes_on: dice.chance(50),
        }
    }

    /// Nothing is wanted that is not there, and nothing goes wrong.
    pub(crate) const SETTLE: Self = Self {
        habits: Habits { targets: false, settled: true },
        refreshes: false,
        only_refreshes: false,
        destroys: false,
        width: 1,
        goes_on: false,
    };
}

/// How many steps of each kind there were.
pub(crate) type Kinds = BTreeMap<StepKind, u64>;

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    Whole,
    /// Something failed, so that the rest was left.
    Short,
    /// It was killed.
    Killed,
}

pub(crate) fn run(
    engine: &mut Engine<'_>,
    dice: &Dice<'_>,
    order: Order,
    fresh: &mut usize,
) -> Outcome<(Finish, Kinds)> {
    let mut kinds = Kinds::new();
    prelude(engine, dice, order)?;
    if order.refreshes || order.only_refreshes {
        let finish = refresh(engine, dice, order, &mut kinds)?;
        if finish != Finish::Whole || order.only_refreshes {
            return Ok((finish, kinds));
        }
    }
    let base = engine.base.clone();
    let now = base.snapshot();
    let goals: Vec<Goal> = if order.destroys { Vec::new() } else { program(dice, &now, order.habits, fresh) };
    let mut planner = Planner::new(&base.states, order.habits.targets);
    planner.program(dice, goals);
    let planned = std::mem::take(&mut planner.chains);
    let finish = walk(engine, dice, order, &planner, planned, &mut kinds)?;
    if finish != Finish::Whole {
        return Ok((finish, kinds));
    }
    engine.barrier = engine.before.len();
    let selected: Vec<bool> = base.states.iter().map(|_| !order.habits.targets || dice.chance(50)).collect();
    let removal = removal(&planner, |index| selected[index], |_| false);
    let finish = walk(engine, dice, order, &planner, chains(&planner, &removal), &mut kinds)?;
    let finish = if removal.is_refused && finish == Finish::Whole { Finish::Short } else { finish };
    Ok((finish, kinds))
}

/// What a run begins with besides steps.
fn prelude(engine: &mut Engine<'_>, dice: &Dice<'_>, order: Order) -> Outcome {
    if dice.chance(50) {
        let provider = secrets_provider(if dice.chance(50) { "new" } else { "old" });
        engine
            .tell("secrets manager", &[], async |manager| manager.secrets_manager(provider.clone()).await)?;
    }
    engine.barrier = engine.before.len();
    if dice.chance(10) && !order.habits.settled {
        // A provider that the program takes for granted is put in front.
        let number = engine.fresh();
        let name = format!("p{number}");
        let mut provider =
            Resource::new(crate::base::urn(&name, crate::base::PROVIDER, None), crate::base::PROVIDER);
        provider.custom = true;
        provider.id = Some(format!("id-{number}").into());
        let mut base = engine.base.clone();
        base.states.insert(0, State::new(provider));
        engine.base = base.clone();
        engine.tell("another base", &[], async |manager| manager.write(&base).await)?;
        engine.barrier = engine.before.len();
    }
    if dice.chance(15) {
        let snippets: Vec<Snippet> = (0..dice.roll(3))
            .map(|number| Snippet { uuid: format!("s{number}").as_str().into(), ..Snippet::default() })
            .collect();
        engine.tell("snippets", &[], async |manager| manager.snippets(snippets.clone()).await)?;
        engine.barrier = engine.before.len();
    }
    Ok(())
}

/// Finds out what every resource is now, and makes a base of that.
fn refresh(engine: &mut Engine<'_>, dice: &Dice<'_>, order: Order, kinds: &mut Kinds) -> Outcome<Finish> {
    let base = engine.base.clone();
    let mut found = Vec::new();
    let mut planned = Vec::new();
    for state in &base.states {
        if order.habits.targets && dice.chance(50) {
            found.push(Some(state.clone()));
            continue;
        }
        let resource = state.get();
        let what = [Found::Same, Found::Changed, Found::Gone][dice.roll(3)];
        let can_go = resource.custom && !resource.is_provider() && !resource.pending_replacement;
        let after = (what != Found::Gone || !can_go).then(|| State::new(resource));
        let mut step = Planned::new(StepKind::Refresh, Some(state), after.as_ref());
        step.prepare = Prepare::Nothing;
        step.found = Some(what);
        found.push(after);
        planned.push(Chain { steps: [step].into(), waits: Vec::new(), is_dead: false, outputs: None });
    }
    engine.in_refresh = true;
    let planner = Planner::new(&base.states, false);
    let finish = walk(engine, dice, order, &planner, planned, kinds)?;
    if finish != Finish::Whole {
        return Ok(finish);
    }
    let states: Vec<State> = found.into_iter().flatten().collect();
    let mut resources: Vec<Arc<Resource>> = states.iter().map(State::get).collect();
    drop_dangling(&mut resources);
    for (state, resource) in states.iter().zip(resources) {
        state.change(|known| known.clone_from(&resource));
    }
    engine.base = Base { states, rest: base.rest };
    engine.in_refresh = false;
    engine.barrier = engine.before.len();
    let rebuilt = engine.base.clone();
    engine.tell("rebuilt", &[], async |manager| manager.rebuilt(&rebuilt).await)?;
    engine.barrier = engine.before.len();
    Ok(Finish::Whole)
}

/// A chain that is under way.
struct Under {
    chain: Chain,
    running: Option<(Both, Planned)>,
    started: bool,
    done: bool,
    failed: bool,
    /// The entries after which the next one of it can be made.
    last: Vec<usize>,
}

/// Runs chains, as many at once as allowed, until nothing more can be done.
fn walk(
    engine: &mut Engine<'_>,
    dice: &Dice<'_>,
    order: Order,
    planner: &Planner<'_>,
    chains: Vec<Chain>,
    kinds: &mut Kinds,
) -> Outcome<Finish> {
    let mut all: Vec<Under> = chains
        .into_iter()
        .map(|chain| {
            let failed = chain.is_dead;
            Under { chain, running: None, started: false, done: false, failed, last: Vec::new() }
        })
        .collect();
    let mut finish = if all.iter().any(|one| one.failed) { Finish::Short } else { Finish::Whole };
    loop {
        let active = all.iter().filter(|one| one.started && !one.done && !one.failed).count();
        let stops = finish == Finish::Short && !order.goes_on;
        let can_act = |one: &Under| match () {
            () if one.done || one.failed => false,
            () if one.running.is_some() => true,
            () if stops => false,
            () if one.started => true,
            () => active < order.width && one.chain.waits.iter().all(|waits| all[*waits].done),
        };
        let able: Vec<usize> = (0..all.len()).filter(|at| can_act(&all[*at])).collect();
        let Some(&at) = dice.pick(&able) else { return Ok(finish) };
        if let Some((both, planned)) = all[at].running.take() {
            match end(engine, dice, order, &mut all[at], both, &planned)? {
                Some(Finish::Killed) => return Ok(Finish::Killed),
                Some(worse) => finish = worse,
                None => {}
            }
            continue;
        }
        let mut before = all[at].last.clone();
        if !std::mem::replace(&mut all[at].started, true) {
            before.extend(all[at].chain.waits.iter().flat_map(|waits| all[*waits].last.clone()));
        }
        match all[at].chain.steps.pop_front() {
            None => close_chain(engine, &mut all[at])?,
            Some(planned) => {
                prepare(&planned, planner);
                *kinds.entry(planned.step.kind).or_default() += 1;
                let (both, entries) = engine.begin(&planned.step, &before)?;
                all[at].last = if entries.is_empty() { before } else { entries };
                all[at].running = Some((both, planned));
            }
        }
    }
}

/// The chain is done, but for outputs that are registered.
fn close_chain(engine: &mut Engine<'_>, under: &mut Under) -> Outcome {
    if let Some((old, new)) = under.chain.outputs.take() {
        let number = engine.fresh();
        new.change(|resource| resource.outputs = crate::base::version(number).into());
        let last = under.last.clone();
        engine.tell("outputs", &last, async |manager| manager.outputs(old.as_ref(), &new).await)?;
    }
    under.done = true;
    Ok(())
}

fn end(
    engine: &mut Engine<'_>,
    dice: &Dice<'_>,
    order: Order,
    under: &mut Under,
    both: Both,
    planned: &Planned,
) -> Outcome<Option<Finish>> {
    let cannot_fail =
        matches!(planned.step.kind, StepKind::Same | StepKind::Replace | StepKind::RemovePendingReplace);
    let end = match dice.roll(32) {
        _ if order.habits.settled => End::Done,
        31 => return Ok(Some(Finish::Killed)),
        _ if cannot_fail => End::Done,
        29 | 30 => End::Failed,
        28 => End::Part,
        _ => End::Done,
    };
    if end != End::Failed {
        engine.apply(&planned.step, planned.found, planned.leaves_pending, end);
    }
    let last = under.last.clone();
    let entries = engine.end(both, end, &last)?;
    if !entries.is_empty() {
        under.last = entries;
    }
    under.failed = end == End::Failed;
    Ok(under.failed.then_some(Finish::Short))
}

/// Completes the new state of a step whose turn has come.
fn prepare(planned: &Planned, planner: &Planner<'_>) {
    let Step { old, new: Some(new), .. } = &planned.step else { return };
    let current = |urn: &Urn| {
        let is_live = |state: &&State| state.get().urn == *urn && !state.get().delete;
        let state = planner.providers.get(urn).or_else(|| planner.base.iter().find(is_live));
        state.and_then(|state| state.get().provider_ref().ok())
    };
    match &planned.prepare {
        Prepare::Nothing => {}
        Prepare::Provider(urn) => {
            let reference = current(urn);
            new.change(|resource| resource.provider = reference);
        }
        Prepare::Copy => {
            let Some(old) = old.as_ref().map(State::get) else { return };
            let provider = old.provider().and_then(|reference| reference.split().ok());
            let provider = provider.and_then(|(urn, _)| current(&urn)).or_else(|| old.provider.clone());
            new.change(|resource| {
                resource.clone_from(&old);
                resource.provider = provider;
                keep_known(resource, planner);
            });
        }
        Prepare::Refreshed(goal, urn) => {
            let Some(old) = old.as_ref().map(State::get) else { return };
            let provider = urn.as_ref().and_then(current);
            new.change(|resource| {
                *resource = Resource {
                    parent: goal.parent.clone(),
                    dependencies: goal.dependencies.clone(),
                    property_dependencies: goal.property_dependencies.clone(),
                    deleted_with: goal.deleted_with.clone(),
                    replace_with: goal.replace_with.clone(),
                    provider,
                    ..(*old).clone()
                };
            });
        }
    }
}

/// Drops references to what is only there as something that waits for its deletion.
fn keep_known(resource: &mut Resource, planner: &Planner<'_>) {
    let live: BTreeSet<Urn> = planner
        .base
        .iter()
        .map(State::get)
        .filter(|resource| !resource.delete)
        .map(|resource| resource.urn.clone())
        .chain(planner.chain_of.keys().cloned())
        .collect();
    let keep = |urn: &Urn| live.contains(urn);
    resource.parent = resource.parent.take().filter(keep);
    resource.dependencies.retain(keep);
    resource.property_dependencies.retain(|_, urns| {
        urns.iter_mut().for_each(|urns| urns.retain(keep));
        true
    });
    resource.deleted_with = resource.deleted_with.take().filter(keep);
    resource.replace_with.retain(keep);
}

/// Whether nothing is left to do for a settled stack.
pub(crate) fn is_settled(snapshot: &Snapshot) -> bool {
    snapshot.resources.iter().all(|resource| !resource.delete && !resource.pending_replacement)
}
