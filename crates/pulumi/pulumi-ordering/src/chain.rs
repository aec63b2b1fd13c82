//! The steps of one goal.

use std::collections::BTreeMap;

use groundstate_pulumi_snapshot::{Resource, Urn};

use crate::condemned::{Units, Verdict, deleted_with};
use crate::index::{is_managed, references};
use crate::members::members;
use crate::planner::{Registered, StackPlanner};
use crate::{Diff, Differ, Goal, RemovalReason, StackError, StackReason, Step, StepId, StepKind};

/// How a goal is to be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    One(StepKind),
    /// The old object stays until the end, or is not this stack's business.
    CreateFirst {
        drop_old: bool,
    },
    DeleteFirst,
    /// The old object was deleted, or will be, by what dragged the entry along.
    Recreate,
}

impl StackPlanner<'_> {
    pub(crate) fn plan_goal(
        &mut self,
        number: usize,
        goal: &Goal,
        differ: &mut dyn Differ,
    ) -> Result<Registered, StackError> {
        if self.options.destroy {
            return Err(StackError::GoalWhileDestroying { urn: goal.urn().clone() });
        }
        let provider = self.provider_of(goal);
        let refers: Vec<(RemovalReason, &Urn)> = references(&goal.resource, provider.as_ref()).collect();
        self.selection.register(goal.urn(), &refers);
        let old = self.index.live(goal.urn());
        let dragged = old.filter(|at| self.dragged.contains_key(at));
        // What was deleted already has to be made again, selected or not.
        // What was taken over for the sake of another entry stays so, even if its goal turns out to depend on a target.
        let kept = old.is_some_and(|at| self.untouched.contains(&at));
        if kept || dragged.is_none() && !self.selection.has(goal.urn()) {
            let Some(at) = old else { return Ok(Registered::Absent) };
            return Ok(self.keep_goal(number, at));
        }
        let waits = self.waits_of(goal.urn(), &refers)?;
        let way = match (dragged, old) {
            (Some(_), _) => Way::Recreate,
            (None, Some(at)) => self.way(at, goal, differ)?,
            (None, None) if goal.resource.external => Way::One(StepKind::Read),
            (None, None) => Way::One(StepKind::Create),
        };
        let (chain, completing) = self.chain(number, goal, old, way, differ)?;
        if let Some(first) = chain.first() {
            for step in waits {
                self.wait(first.0, step.0, StackReason::Reference);
            }
        }
        for pair in chain.windows(2) {
            self.wait(pair[1].0, pair[0].0, StackReason::Chain);
        }
        if let Some(at) = old {
            self.operated[at] = true;
            self.completing[at] = Some(completing);
        }
        self.chains[number] = chain;
        Ok(Registered::Planned(completing))
    }

    /// Makes a goal that is wrong a step that is refused, so that what refers to it is skipped.
    pub(crate) fn refuse(&mut self, number: usize, urn: Urn, error: &StackError) {
        let old = self.index.live(&urn);
        let registered = if self.options.continue_on_error && !self.options.destroy {
            let step = Step { goal: Some(number), refused: true, ..Step::new(StepKind::Replace, &urn) };
            let step = self.add(step);
            self.chains[number] = vec![step];
            if let Some(at) = old {
                self.completing[at] = Some(step);
            }
            Registered::Planned(step)
        } else {
            Registered::Refused
        };
        if let Some(at) = old.filter(|_| !matches!(error, StackError::GoalWhileDestroying { .. })) {
            self.operated[at] = true;
        }
        self.registered.insert(urn, registered);
    }

    /// The name of a goal's provider: of the ways to read the reference the one that is known.
    fn provider_of(&self, goal: &Goal) -> Option<Urn> {
        let reference = goal.resource.provider()?;
        let is_known = |urn: &str| self.registered.contains_key(urn) || self.index.contains(&Urn::from(urn));
        let known = reference.splits().find(|(urn, _)| is_known(urn));
        let (urn, _) = known.or_else(|| reference.split_text().ok()).unwrap_or((reference.as_str(), ""));
        Some(Urn::from(urn))
    }

    /// The steps that a goal waits for, because it refers to what they bring about.
    fn waits_of(&self, urn: &Urn, refers: &[(RemovalReason, &Urn)]) -> Result<Vec<StepId>, StackError> {
        let mut waits = Vec::new();
        for (_, reference) in refers {
            let (urn, target) = (urn.clone(), Urn::clone(reference));
            match self.registered.get(*reference) {
                Some(Registered::Planned(step)) => waits.push(*step),
                Some(Registered::Refused) => {}
                Some(Registered::Absent) => {
                    return Err(StackError::UntargetedCreate { urn, reference: target });
                }
                Some(Registered::Deferred(_)) => {
                    return Err(StackError::UntargetedOrder { urn, reference: target });
                }
                None => return Err(StackError::UnknownReference { urn, reference: target }),
            }
        }
        waits.sort_unstable();
        waits.dedup();
        Ok(waits)
    }

    fn way(&self, at: usize, goal: &Goal, differ: &mut dyn Differ) -> Result<Way, StackError> {
        let old = self.entry(at);
        if goal.resource.external {
            return Ok(Way::One(StepKind::Read));
        }
        if old.external || goal.adopts.as_ref().is_some_and(|id| Some(id) != old.id()) {
            return Ok(Way::CreateFirst { drop_old: true });
        }
        if old.pending_replacement {
            return Ok(Way::DeleteFirst);
        }
        let dbr = match if self.is_forced(old, goal, differ) { None } else { Some(differ.diff(old, goal)) } {
            Some(Diff::Same) => return Ok(Way::One(StepKind::Same)),
            Some(Diff::Update) => return Ok(Way::One(StepKind::Update)),
            Some(Diff::Replace { dbr }) => dbr,
            None => false,
        };
        if old.protect && goal.resource.protect && !self.options.ignore_protect {
            return Err(StackError::ProtectedReplace { urn: goal.urn().clone() });
        }
        let dbr = goal.delete_before_replace.unwrap_or(dbr);
        Ok(if dbr { Way::DeleteFirst } else { Way::CreateFirst { drop_old: false } })
    }

    /// Whether the object is replaced however little differs.
    fn is_forced(&self, old: &Resource, goal: &Goal, differ: &mut dyn Differ) -> bool {
        let wanted = &goal.resource;
        self.options.replace_targets.contains(&wanted.urn)
            || wanted.replace_with.iter().any(|urn| self.replaced.contains(urn))
            || wanted.deleted_with.as_ref().is_some_and(|urn| self.replaced.contains(urn))
            || old.provider() != wanted.provider() && differ.provider_change_replaces(old, goal)
    }

    /// The steps, and the one that others wait for.
    fn chain(
        &mut self,
        number: usize,
        goal: &Goal,
        old: Option<usize>,
        way: Way,
        differ: &mut dyn Differ,
    ) -> Result<(Vec<StepId>, StepId), StackError> {
        let step = |kind: StepKind| Step {
            goal: Some(number),
            entry: old,
            calls_provider: goal.resource.custom && !matches!(kind, StepKind::Same | StepKind::Replace),
            delete_first: matches!(way, Way::DeleteFirst | Way::Recreate),
            ..Step::new(kind, goal.urn())
        };
        let mut chain = match way {
            Way::One(kind) => {
                let only = self.add(step(kind));
                if kind == StepKind::Read
                    && let Some(at) = old.filter(|&at| !self.entry(at).external)
                {
                    self.outdated.insert(at, only);
                }
                return Ok((vec![only], only));
            }
            Way::CreateFirst { drop_old } => {
                self.replaced.insert(goal.urn().clone());
                let create = self.add(Step { drops_old: drop_old, ..step(StepKind::CreateReplacement) });
                if let Some(at) = old.filter(|_| !drop_old) {
                    self.outdated.insert(at, create);
                }
                let marker = self.add(step(StepKind::Replace));
                return Ok((vec![create, marker], create));
            }
            Way::DeleteFirst => match old {
                Some(root) => self.delete_first(number, root, goal.urn(), differ)?,
                None => Vec::new(),
            },
            Way::Recreate => Vec::new(),
        };
        self.replaced.insert(goal.urn().clone());
        chain.push(self.add(step(StepKind::Replace)));
        let create = self.add(step(StepKind::CreateReplacement));
        if way == Way::Recreate
            && let Some(&Some(deletion)) = old.and_then(|at| self.dragged.get(&at))
        {
            self.wait(create.0, deletion.0, StackReason::Member);
        }
        chain.push(create);
        Ok((chain, create))
    }

    /// The deletions before a replacement: what the entry drags along, from the back, and itself.
    fn delete_first(
        &mut self,
        number: usize,
        root: usize,
        urn: &Urn,
        differ: &mut dyn Differ,
    ) -> Result<Vec<StepId>, StackError> {
        let settled = |at: usize| self.operated[at] || self.is_deferred(&self.entry(at).urn);
        let members = members(&self.index, root, settled, differ);
        let guarded = |at: &&usize| {
            let entry = self.entry(**at);
            let deletes = !entry.delete && !entry.pending_replacement && !self.dragged.contains_key(at);
            deletes && entry.protect && !self.options.ignore_protect
        };
        if let Some(&at) = members.iter().find(guarded) {
            let dependent = self.entry(at).urn.clone();
            return Err(StackError::ProtectedDependent { urn: urn.clone(), dependent });
        }
        let mut verdicts = BTreeMap::new();
        let mut before: Vec<StepId> = Vec::new();
        for at in members.into_iter().chain([root]) {
            let entry = self.entry(at);
            match self.dragged.get(&at) {
                Some(step) => before.extend(step),
                None if entry.pending_replacement => {
                    self.dragged.insert(at, None);
                }
                None => {
                    let calls = is_managed(entry) && !entry.retain_on_delete;
                    verdicts.insert(at, if calls { Verdict::Call } else { Verdict::Remove });
                }
            }
        }
        let units = Units::new(&self.index, &verdicts, self.options.deleted_with);
        let mut chain = Vec::new();
        for unit in units.order() {
            let unit = &units.units[unit];
            let entry = self.entry(unit.at);
            let entries = || std::iter::once(unit.at).chain(unit.members.iter().copied());
            // Old entries of one step leave the list together, or stay together.
            let stay = entries().any(|at| self.is_needed(at, &verdicts));
            let needed: Vec<usize> = entries().filter(|&at| stay && self.entry(at).delete).collect();
            let kind = if entry.delete { StepKind::Delete } else { StepKind::DeleteReplaced };
            let step = self.add(Step {
                goal: Some(number),
                entry: Some(unit.at),
                members: unit.members.clone(),
                calls_provider: unit.calls_provider,
                delete_first: true,
                keeps_entry: stay,
                ..Step::new(kind, &entry.urn)
            });
            for at in entries() {
                self.dragged.insert(at, Some(step));
            }
            self.needed.extend(needed);
            self.wait_for_replacements(step);
            chain.push(step);
        }
        // What an earlier replacement has dragged along may depend on what is deleted here.
        if let Some(first) = chain.first() {
            for step in before {
                self.wait(first.0, step.0, StackReason::Dragged);
            }
        }
        Ok(chain)
    }

    /// Old objects of replaced entries may go with what is deleted here, so their new objects come first.
    fn wait_for_replacements(&mut self, step: StepId) {
        let mut work: Vec<usize> = self.steps[step.0].entries().collect();
        while let Some(at) = work.pop() {
            let along = |waiter: &usize| *waiter > at && deleted_with(&self.index, *waiter) == Some(at);
            let waiters = self.index.waiters(&self.entry(at).urn).iter().copied().filter(along);
            let outdated = waiters.filter_map(|waiter| Some((waiter, *self.outdated.get(&waiter)?)));
            for (waiter, create) in outdated.collect::<Vec<_>>() {
                self.wait(step.0, create.0, StackReason::Replaced);
                work.push(waiter);
            }
        }
    }

    /// Whether an old entry has to stay in the list for a while although its object goes, since an entry that stays refers
    /// to its name and would find no other before it.
    fn is_needed(&self, at: usize, dragged: &BTreeMap<usize, Verdict>) -> bool {
        if !self.entry(at).delete {
            return false;
        }
        let goes = |place: usize| {
            let dragged = dragged.contains_key(&place) || self.dragged.contains_key(&place);
            dragged && self.entry(place).delete && !self.needed.contains(&place)
        };
        let urn = &self.entry(at).urn;
        let other = self.index.positions(urn).find(|&place| place != at && !goes(place));
        let mut waiters = self.index.waiters(urn).iter().copied().filter(|&waiter| waiter > at);
        waiters.any(|waiter| !goes(waiter) && other.is_none_or(|other| other > waiter))
    }
}
