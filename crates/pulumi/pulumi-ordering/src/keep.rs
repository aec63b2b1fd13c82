//! Entries that were not selected: they move to the new list as they are, after what they refer to.

use std::collections::{BTreeSet, HashMap};

use crate::planner::{FIRST_BARRIER, Registered, StackPlanner};
use crate::{StackReason, Step, StepId, StepKind};

impl StackPlanner<'_> {
    /// Takes over the entry of a goal that is not selected, with all that it needs. If some of that is still to be
    /// changed, it waits until the end.
    pub(crate) fn keep_goal(&mut self, number: usize, at: usize) -> Registered {
        if let Some(step) = self.completing[at] {
            // Another entry needed it, so it was taken over before.
            self.chains[number].push(step);
            return Registered::Planned(step);
        }
        let Some(needed) = self.needed(at) else { return Registered::Deferred(at) };
        for place in needed {
            let step = self.keep(place, (place == at).then_some(number));
            if place == at {
                self.chains[number].push(step);
                return Registered::Planned(step);
            }
            self.kept.push(step);
        }
        Registered::Deferred(at)
    }

    /// Takes over all that is left at the end, one after another. Nodes of earlier steps settle first.
    pub(crate) fn keep_rest(&mut self, condemned: impl Fn(usize) -> bool, barrier: bool) {
        let deferred: HashMap<usize, usize> = self
            .goals
            .iter()
            .enumerate()
            .filter_map(|(number, goal)| match self.registered.get(goal.urn()) {
                Some(Registered::Deferred(at)) => Some((*at, number)),
                _ => None,
            })
            .collect();
        let mut previous: Option<StepId> = None;
        // Old entries stay behind the new list, and so does what refers to nothing but one of them.
        let mut behind = vec![false; self.operated.len()];
        for at in 0..self.operated.len() {
            if self.operated[at] || condemned(at) || self.dragged.contains_key(&at) {
                continue;
            }
            behind[at] = self.entry(at).delete || self.index.needs(at).any(|place| behind[place]);
            if behind[at] {
                continue;
            }
            let goal = deferred.get(&at).copied();
            let step = self.keep(at, goal);
            match previous {
                Some(previous) => self.wait(step.0, previous.0, StackReason::End),
                None if barrier => self.wait(step.0, FIRST_BARRIER, StackReason::End),
                None => {}
            }
            previous = Some(step);
            match goal {
                Some(number) => self.chains[number].push(step),
                None => self.kept.push(step),
            }
        }
    }

    fn keep(&mut self, at: usize, goal: Option<usize>) -> StepId {
        let urn = &self.entry(at).urn;
        let step =
            self.add(Step { goal, entry: Some(at), keeps_old: true, ..Step::new(StepKind::Same, urn) });
        let refers: BTreeSet<usize> = self.index.needs(at).collect();
        for place in refers {
            if let Some(before) = self.completing[place] {
                self.wait(step.0, before.0, StackReason::Reference);
            }
        }
        self.operated[at] = true;
        self.untouched.insert(at);
        self.completing[at] = Some(step);
        step
    }

    /// The entry and all that it needs and that was not operated on, in the order of the list; none if something of that
    /// will be.
    fn needed(&self, at: usize) -> Option<BTreeSet<usize>> {
        let mut needed = BTreeSet::from([at]);
        let mut work = vec![at];
        while let Some(next) = work.pop() {
            for place in self.index.needs(next) {
                if self.operated[place] || !needed.insert(place) {
                    continue;
                }
                let entry = self.entry(place);
                if entry.delete || self.selection.has(&entry.urn) || self.dragged.contains_key(&place) {
                    return None;
                }
                work.push(place);
            }
        }
        Some(needed)
    }
}
