//! The end: what is deleted, and in which order.

use std::collections::{BTreeMap, HashSet};

use groundstate_pulumi_snapshot::Urn;

use crate::condemned::{Units, Verdict, deleted_with};
use crate::index::is_managed;
use crate::planner::{FIRST_BARRIER, Registered, StackPlanner};
use crate::{DeletedWith, Deletes, StackError, StackReason, Step, StepId, StepKind};

/// What the end consists of.
#[derive(Debug, Default)]
pub(crate) struct End {
    pub(crate) finals: Vec<StepId>,
    pub(crate) batches: Option<Vec<Vec<StepId>>>,
    pub(crate) barriers: usize,
    pub(crate) errors: Vec<StackError>,
    pub(crate) refused: Vec<StackError>,
}

impl StackPlanner<'_> {
    pub(crate) fn plan_end(&mut self) -> End {
        let condemned = self.condemned();
        let mut end = End { errors: self.left_behind(&condemned), ..End::default() };
        if !end.errors.is_empty() {
            return end;
        }
        let chains: Vec<usize> =
            self.chains.iter().filter_map(|chain| chain.last()).map(|step| step.0).collect();
        let kept: Vec<usize> = self.kept.iter().map(|step| step.0).collect();
        let before: Vec<usize> = chains.into_iter().chain(kept).collect();
        self.join(FIRST_BARRIER, &before);
        let first = self.steps.len();
        self.keep_rest(|at| condemned.contains_key(&at), !before.is_empty());
        let last = FIRST_BARRIER + 1;
        let rest: Vec<usize> = (first..self.steps.len()).collect();
        self.join(last, &rest);
        self.wait(last, FIRST_BARRIER, StackReason::End);
        end.barriers = 2;

        let units = self.units(&condemned, &mut end);
        let step_of = self.add_finals(&condemned, &units, &mut end);
        let first = FIRST_BARRIER + end.barriers;
        end.barriers += units.barriers;
        let node = |unit: usize| match end.finals.get(unit) {
            Some(step) => step.0,
            None => first + (unit - end.finals.len()),
        };
        let edges: Vec<(usize, usize)> =
            units.edges.iter().map(|(from, to)| (node(*from), node(*to))).collect();
        for (from, to) in edges {
            self.wait(from, to, StackReason::Delete);
        }
        for step in end.finals.clone() {
            self.wait(step.0, last, StackReason::End);
        }
        self.wait_for_goals(&step_of);
        self.wait_through_others(&step_of);
        if self.options.deletes == Deletes::Batches {
            self.add_batches(&units, &mut end);
        }
        end
    }

    /// The entries to be deleted, and how that is called.
    fn condemned(&self) -> BTreeMap<usize, StepKind> {
        let kind = |at: usize| {
            let entry = self.entry(at);
            if self.outdated.contains_key(&at) {
                return Some(StepKind::DeleteReplaced);
            }
            if let Some(deletion) = self.dragged.get(&at) {
                // Deleted before. Its entry is left, unless the program wants it again or it was an old one.
                let left = if entry.delete {
                    deletion.is_none() || self.needed.contains(&at)
                } else {
                    !self.operated[at]
                };
                return left.then_some(StepKind::RemovePending);
            }
            if self.operated[at] || !self.selection.has(&entry.urn) || self.is_deferred(&entry.urn) {
                return None;
            }
            Some(match (entry.delete, entry.pending_replacement) {
                (_, true) => StepKind::RemovePending,
                (true, false) => StepKind::DeleteReplaced,
                (false, false) => StepKind::Delete,
            })
        };
        (0..self.operated.len()).filter_map(|at| Some((at, kind(at)?))).collect()
    }

    /// Entries that stay although something they refer to goes: an error for each.
    fn left_behind(&self, condemned: &BTreeMap<usize, StepKind>) -> Vec<StackError> {
        let mut errors = Vec::new();
        if self.selection.is_all() {
            return errors;
        }
        let entries = self.index.resources();
        let stays = |at: &usize| !condemned.contains_key(at) && !self.dragged.contains_key(at);
        let staying: HashSet<&Urn> = (0..entries.len())
            .filter(stays)
            .map(|at| &entries[at].urn)
            .chain(self.registered_urns())
            .collect();
        let gone = condemned.keys().map(|at| &entries[*at].urn).filter(|urn| !staying.contains(urn));
        let mut missing: HashSet<&Urn> = gone.collect();
        for (at, entry) in entries.iter().enumerate().filter(|(at, _)| stays(at)) {
            let as_it_was = self.untouched.contains(&at) || !self.operated[at];
            let mut refers = self.index.references(at).iter().map(|one| one.urn);
            let target = refers
                .find(|urn| missing.contains(urn))
                .or_else(|| self.taken_along(at, condemned))
                .or_else(|| self.only_old(at, condemned));
            if let Some(target) = target.filter(|_| as_it_was) {
                errors
                    .push(StackError::UntargetedDependent { urn: entry.urn.clone(), target: target.clone() });
                missing.insert(&entry.urn);
            }
        }
        errors
    }

    /// The entry whose deletion would take the object of a live entry along.
    fn taken_along(&self, at: usize, condemned: &BTreeMap<usize, StepKind>) -> Option<&Urn> {
        let on = deleted_with(&self.index, at).filter(|_| !self.entry(at).delete)?;
        let target = self.entry(on);
        let goes = match condemned.get(&on) {
            Some(kind) => *kind != StepKind::RemovePending,
            None => self.is_deleted_first(on),
        };
        (goes && is_managed(target) && !target.retain_on_delete).then_some(&target.urn)
    }

    /// Whether a replacement deletes the object of the entry first, in this run. The original asks only whether the entry
    /// goes, not whether a provider is called.
    fn is_deleted_first(&self, at: usize) -> bool {
        let step = self.dragged.get(&at).copied().flatten();
        let compat = self.options.deleted_with == DeletedWith::Compat;
        step.is_some_and(|step| compat || self.steps[step.0].calls_provider)
    }

    /// A name that an entry refers to and that means only an old entry, which goes. There may be a new one at the end, but
    /// not before this entry.
    fn only_old(&self, at: usize, condemned: &BTreeMap<usize, StepKind>) -> Option<&Urn> {
        let old = |place: &usize| self.entry(*place).delete && condemned.contains_key(place);
        self.index.needs(at).find(old).filter(|_| !self.entry(at).delete).map(|place| &self.entry(place).urn)
    }

    fn registered_urns(&self) -> impl Iterator<Item = &Urn> {
        let exists = |registered: &Registered| !matches!(registered, Registered::Absent);
        self.registered.iter().filter(move |(_, registered)| exists(registered)).map(|(urn, _)| urn)
    }

    pub(crate) fn is_deferred(&self, urn: &Urn) -> bool {
        matches!(self.registered.get(urn), Some(Registered::Deferred(_)))
    }

    fn units(&self, condemned: &BTreeMap<usize, StepKind>, end: &mut End) -> Units {
        let mut verdicts = BTreeMap::new();
        for (&at, kind) in condemned {
            let entry = self.entry(at);
            let on = deleted_with(&self.index, at);
            let gone_along = on.is_some_and(|on| self.is_deleted_first(on));
            let verdict = if *kind == StepKind::RemovePending {
                Verdict::Remove
            } else if *kind == StepKind::Delete && entry.protect && !self.options.ignore_protect {
                end.refused.push(StackError::ProtectedDelete { urn: entry.urn.clone() });
                Verdict::Refuse
            } else if !is_managed(entry) || entry.retain_on_delete || gone_along {
                Verdict::Remove
            } else {
                Verdict::Call
            };
            verdicts.insert(at, verdict);
        }
        Units::new(&self.index, &verdicts, self.options.deleted_with)
    }

    fn add_finals(
        &mut self,
        condemned: &BTreeMap<usize, StepKind>,
        units: &Units,
        end: &mut End,
    ) -> Vec<Option<StepId>> {
        let mut step_of = vec![None; self.operated.len()];
        for unit in &units.units {
            let urn = &self.entry(unit.at).urn;
            let step = self.add(Step {
                entry: Some(unit.at),
                members: unit.members.clone(),
                calls_provider: unit.calls_provider,
                refused: unit.refused,
                is_final: true,
                ..Step::new(condemned[&unit.at], urn)
            });
            end.finals.push(step);
            for at in std::iter::once(unit.at).chain(unit.members.iter().copied()) {
                step_of[at] = Some(step);
            }
        }
        step_of
    }

    /// What the steps of goals have to do with deletions at the end, beyond that they come first.
    fn wait_for_goals(&mut self, step_of: &[Option<StepId>]) {
        for (at, step) in finals(step_of).map(|(at, step)| (at, step.0)) {
            if let Some(&create) = self.outdated.get(&at) {
                self.wait(step, create.0, StackReason::Replaced);
            }
            if let Some(&Some(deletion)) = self.dragged.get(&at) {
                self.wait(step, deletion.0, StackReason::Member);
            }
            let along = deleted_with(&self.index, at).and_then(|on| self.dragged.get(&on).copied().flatten());
            if let Some(deletion) = along {
                self.wait(step, deletion.0, StackReason::Dragged);
            }
            if !self.options.continue_on_error {
                continue;
            }
            // A goal that fails leaves old entries in the list, with all that they refer to.
            let urn = &self.entry(at).urn;
            let waiters: Vec<usize> =
                self.index.waiters(urn).iter().copied().filter(|waiter| *waiter > at).collect();
            for waiter in waiters.into_iter().filter(|waiter| step_of[*waiter].is_none()) {
                let deleted_first = self.dragged.get(&waiter).copied().flatten();
                // An old entry that is not selected stays, and by then only the new one may have the name it refers to.
                let renewed = || match self.registered.get(urn) {
                    Some(Registered::Planned(renewed)) => Some(*renewed),
                    _ => None,
                };
                if let Some(goal) = self.completing[waiter].or(deleted_first).or_else(renewed) {
                    self.wait(step, goal.0, StackReason::Rewritten);
                }
            }
        }
    }

    /// A deletion that fails keeps everything that the entry needs, also by way of entries that are not deleted.
    fn wait_through_others(&mut self, step_of: &[Option<StepId>]) {
        let mut leads = vec![false; step_of.len()];
        for at in 0..leads.len() {
            leads[at] = step_of[at].is_none()
                && self.index.needs(at).any(|place| step_of[place].is_some() || leads[place]);
        }
        let mut edges = Vec::new();
        for (at, step) in finals(step_of) {
            let (mut seen, mut work) = (HashSet::new(), vec![at]);
            while let Some(next) = work.pop() {
                for place in self.index.needs(next) {
                    if leads[place] && seen.insert(place) {
                        work.push(place);
                    } else if next != at
                        && let Some(on) = step_of[place].filter(|on| *on != step)
                    {
                        edges.push((on.0, step.0));
                    }
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        for (from, to) in edges {
            self.wait(from, to, StackReason::Needed);
        }
    }

    fn add_batches(&mut self, units: &Units, end: &mut End) {
        let steps = |batch: Vec<usize>| batch.into_iter().map(|unit| end.finals[unit]).collect::<Vec<_>>();
        let batches: Vec<Vec<StepId>> = units.batches().into_iter().map(steps).collect();
        for (number, pair) in batches.windows(2).enumerate() {
            let barrier = FIRST_BARRIER + end.barriers;
            end.barriers += 1;
            let before: Vec<usize> = pair[0].iter().map(|step| step.0).collect();
            self.join(barrier, &before);
            if number > 0 {
                self.wait(barrier, barrier - 1, StackReason::Batch);
            }
            for step in &pair[1] {
                self.wait(step.0, barrier, StackReason::Batch);
            }
        }
        end.batches = Some(batches);
    }

    fn join(&mut self, barrier: usize, before: &[usize]) {
        for &step in before {
            self.wait(barrier, step, StackReason::End);
        }
    }
}

/// The entries that steps at the end remove, with the step.
fn finals(step_of: &[Option<StepId>]) -> impl Iterator<Item = (usize, StepId)> {
    step_of.iter().enumerate().filter_map(|(at, step)| Some((at, (*step)?)))
}
