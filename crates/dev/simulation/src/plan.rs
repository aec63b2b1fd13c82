//! Chains of steps: what an engine does for each goal, and at the end for what the program no longer has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use groundstate_pulumi_journal::{State, Step, StepKind};
use groundstate_pulumi_snapshot::{Resource, Urn};

use crate::dice::Dice;
use crate::program::{Found, Goal, Wish};

/// Steps that come one after the other.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) steps: VecDeque<Planned>,
    /// Chains that have to be done before.
    pub(crate) waits: Vec<usize>,
    /// It cannot be done, because something it needs was not selected.
    pub(crate) is_dead: bool,
    /// The state before and after, if outputs are registered at the end.
    pub(crate) outputs: Option<(Option<State>, State)>,
}

/// A step, and what is done to its states around it.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    pub(crate) prepare: Prepare,
    /// What a refresh finds.
    pub(crate) found: Option<Found>,
    /// The old state stays, as one that waits for its replacement.
    pub(crate) leaves_pending: bool,
}

/// How the new state is completed when its turn has come.
#[derive(Clone, Debug)]
pub(crate) enum Prepare {
    Nothing,
    /// Its provider is put in.
    Provider(Urn),
    /// It becomes what the old one is, without what is not there any more.
    Copy,
    /// It becomes what the old one is, but needs what the program says: what the old one needs may not be there any more, or
    /// come later.
    Refreshed(Box<Resource>, Option<Urn>),
}

impl Planned {
    pub(crate) fn new(kind: StepKind, old: Option<&State>, new: Option<&State>) -> Self {
        let step = Step::new(kind, old, new);
        Self { step, prepare: Prepare::Nothing, found: None, leaves_pending: false }
    }
}

/// Plans the chains of a run.
pub(crate) struct Planner<'a> {
    pub(crate) base: &'a [State],
    pub(crate) targets: bool,
    pub(crate) chains: Vec<Chain>,
    /// The chain that makes the new state of each name.
    pub(crate) chain_of: BTreeMap<Urn, usize>,
    /// The new states of providers.
    pub(crate) providers: BTreeMap<Urn, State>,
    /// Base states that a chain is about.
    pub(crate) seen: BTreeSet<usize>,
    /// Base states that are deleted first by the chain of another, which is named.
    marked: BTreeMap<usize, usize>,
    /// Names of resources that are absent because they were not selected.
    skipped: BTreeSet<Urn>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(base: &'a [State], targets: bool) -> Self {
        Self {
            base,
            targets,
            chains: Vec::new(),
            chain_of: BTreeMap::new(),
            providers: BTreeMap::new(),
            seen: BTreeSet::new(),
            marked: BTreeMap::new(),
            skipped: BTreeSet::new(),
        }
    }

    pub(crate) fn program(&mut self, dice: &Dice<'_>, goals: Vec<Goal>) {
        for goal in goals {
            self.goal(dice, goal);
        }
    }

    fn goal(&mut self, dice: &Dice<'_>, goal: Goal) {
        match goal.old {
            Some(index) if !goal.targeted => return self.copy(index),
            None if !goal.targeted => return self.skip(goal),
            _ => {}
        }
        let urn = goal.resource.urn.clone();
        let mut waits = self.waits(&goal.resource);
        waits.extend(goal.provider.as_ref().and_then(|provider| self.chain_of.get(provider)));
        let is_dead = goal.resource.all_dependencies().any(|needed| self.skipped.contains(needed.urn))
            || goal.provider.as_ref().is_some_and(|provider| self.skipped.contains(provider));
        waits.extend(goal.old.and_then(|index| self.marked.get(&index)));
        let new = State::new(goal.resource.clone());
        self.seen.extend(goal.old);
        if goal.resource.is_provider() {
            self.providers.insert(urn.clone(), new.clone());
        }
        let chain = self.chains.len();
        self.chain_of.insert(urn, chain);
        let steps = if is_dead { VecDeque::new() } else { self.steps(dice, &goal, &new, chain) };
        let old = goal.old.map(|index| self.base[index].clone());
        let outputs = goal.registers_outputs.then_some((old, new));
        self.chains.push(Chain { steps, waits, is_dead, outputs });
    }

    /// A resource that was not selected stays what it is, and so does everything it needs.
    fn copy(&mut self, index: usize) {
        let old = self.base[index].get();
        if !self.seen.insert(index) {
            return;
        }
        let provider = old.provider().and_then(|reference| reference.split().ok()).map(|(urn, _)| urn);
        let needed: Vec<Urn> =
            old.all_dependencies().map(|needed| needed.urn.clone()).chain(provider.clone()).collect();
        for urn in &needed {
            let live = self.base.iter().position(|state| state.get().urn == *urn && !state.get().delete);
            if let Some(live) = live.filter(|live| *live < index && !self.chain_of.contains_key(urn)) {
                self.copy(live);
            }
        }
        let waits = needed.iter().filter_map(|urn| self.chain_of.get(urn).copied()).collect();
        let new = State::new(Arc::clone(&old));
        if old.is_provider() {
            self.providers.insert(old.urn.clone(), new.clone());
        }
        let mut planned = Planned::new(StepKind::Same, Some(&self.base[index]), Some(&new));
        planned.prepare = Prepare::Copy;
        self.chain_of.insert(old.urn.clone(), self.chains.len());
        self.chains.push(Chain { steps: [planned].into(), waits, is_dead: false, outputs: None });
    }

    /// A resource that was not selected and is not there is left out.
    fn skip(&mut self, goal: Goal) {
        let waits = self.waits(&goal.resource);
        self.skipped.insert(goal.resource.urn.clone());
        let mut planned = Planned::new(StepKind::Same, None, None);
        planned.step = Step::skipped_create(&State::new(goal.resource));
        self.chains.push(Chain { steps: [planned].into(), waits, is_dead: false, outputs: None });
    }

    fn waits(&self, resource: &Resource) -> Vec<usize> {
        resource.all_dependencies().filter_map(|needed| self.chain_of.get(needed.urn).copied()).collect()
    }

    fn steps(&mut self, dice: &Dice<'_>, goal: &Goal, new: &State, chain: usize) -> VecDeque<Planned> {
        let mut steps = VecDeque::new();
        let mut old = goal.old.map(|index| self.base[index].clone());
        let is_pending = old.as_ref().is_some_and(|old| old.get().pending_replacement)
            || goal.old.is_some_and(|index| self.marked.contains_key(&index));
        let is_external = old.as_ref().is_some_and(|old| old.get().external);
        if let (Some(found), Some(before), false, false) = (goal.refresh, &old, is_pending, is_external) {
            let gone = found == Found::Gone && !before.get().is_provider();
            let after = (!gone).then(|| State::new(before.get()));
            let mut refresh = Planned::new(StepKind::Refresh, Some(before), after.as_ref());
            refresh.step = refresh.step.persisted(true);
            refresh.prepare = Prepare::Refreshed(Box::new(goal.resource.clone()), goal.provider.clone());
            refresh.found = Some(found);
            steps.push_back(refresh);
            old = after;
        }
        let main = self.main(dice, goal, old.as_ref(), new, (is_pending, is_external), chain);
        let provider = goal.provider.clone();
        for (kind, old, new) in main {
            let mut planned = Planned::new(kind, old.as_ref(), new.as_ref());
            planned.leaves_pending = kind == StepKind::DeleteReplaced;
            if let (Some(provider), true) = (&provider, new.is_some()) {
                planned.prepare = Prepare::Provider(provider.clone());
            }
            steps.push_back(planned);
        }
        steps
    }

    fn main(
        &mut self,
        dice: &Dice<'_>,
        goal: &Goal,
        old: Option<&State>,
        new: &State,
        (is_pending, is_external): (bool, bool),
        chain: usize,
    ) -> Vec<(StepKind, Option<State>, Option<State>)> {
        use StepKind as Kind;
        let set_external = |external: bool| new.change(|resource| resource.external = external);
        let one = |kind, old: Option<&State>| (kind, old.cloned(), Some(new.clone()));
        set_external(false);
        let Some(before) = old else {
            return match goal.wish {
                Wish::Read => {
                    set_external(true);
                    vec![one(Kind::Read, None)]
                }
                Wish::Import => imported(dice, Kind::Import, None, new),
                _ => vec![one(Kind::Create, None)],
            };
        };
        let is_protected = before.get().protect;
        let is_fixed = self.targets && before.get().is_provider();
        match goal.wish {
            _ if is_pending => vec![one(Kind::CreateReplacement, old), one(Kind::Replace, old)],
            Wish::Keep | Wish::Read if is_external => {
                set_external(true);
                vec![one(Kind::Read, old)]
            }
            _ if is_external => vec![one(Kind::CreateReplacement, old), one(Kind::Replace, old)],
            Wish::Keep => vec![one(Kind::Same, old)],
            Wish::Replace if !is_protected && !is_fixed => {
                vec![one(Kind::CreateReplacement, old), one(Kind::Replace, old)]
            }
            Wish::Read if !is_protected => {
                set_external(true);
                vec![one(Kind::ReadReplacement, old), one(Kind::Replace, old)]
            }
            Wish::Import if !is_protected => imported(dice, Kind::ImportReplacement, old, new),
            Wish::DeleteFirst if !is_protected && !self.targets => match self.dependents(goal) {
                Some(dependents) => {
                    let mut steps: Vec<_> = Vec::new();
                    for index in dependents.into_iter().rev() {
                        self.marked.insert(index, chain);
                        steps.push((Kind::DeleteReplaced, Some(self.base[index].clone()), None));
                    }
                    steps.push((Kind::DeleteReplaced, old.cloned(), None));
                    steps.extend([one(Kind::Replace, old), one(Kind::CreateReplacement, old)]);
                    steps
                }
                None => vec![one(Kind::Update, old)],
            },
            _ => vec![one(Kind::Update, old)],
        }
    }

    /// What has to be deleted before a resource that is deleted first; nothing if that must not be.
    fn dependents(&self, goal: &Goal) -> Option<Vec<usize>> {
        let index = goal.old?;
        let root = self.base[index].get();
        if root.is_provider() {
            return None;
        }
        let mut urns = BTreeSet::from([root.urn.clone()]);
        let mut found = Vec::new();
        for (at, state) in self.base.iter().enumerate().skip(index + 1) {
            let resource = state.get();
            let depends = resource.all_dependencies().any(|needed| urns.contains(needed.urn));
            let is_done = resource.delete || resource.pending_replacement || self.marked.contains_key(&at);
            if !depends || is_done || self.seen.contains(&at) || !resource.custom || resource.external {
                continue;
            }
            if resource.protect || resource.is_provider() {
                return None;
            }
            urns.insert(resource.urn.clone());
            found.push(at);
        }
        Some(found)
    }
}

/// A resource that is taken over, and then perhaps changed.
fn imported(
    dice: &Dice<'_>,
    kind: StepKind,
    old: Option<&State>,
    new: &State,
) -> Vec<(StepKind, Option<State>, Option<State>)> {
    let mut steps = Vec::new();
    if dice.chance(40) {
        let taken = State::new(new.get());
        steps.push((kind, old.cloned(), Some(taken.clone())));
        steps.push((StepKind::Update, Some(taken), Some(new.clone())));
    } else {
        steps.push((kind, old.cloned(), Some(new.clone())));
    }
    if kind == StepKind::ImportReplacement {
        steps.push((StepKind::Replace, old.cloned(), Some(new.clone())));
    }
    steps
}
