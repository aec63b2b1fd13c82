//! Repairs of names that more than one resource has.

use std::collections::BTreeSet;

use groundstate_pulumi_snapshot::Urn;

use super::choice::{Choice, QuestionId};
use super::step::{Action, RemoveReason};
use super::work::Work;

impl Work<'_> {
    pub(super) fn duplicates(&mut self) {
        let index = self.snapshot.urn_index();
        let copies = |urn: &Urn| -> Vec<usize> {
            index.all(urn).filter(|at| self.snapshot.resource(*at).is_some_and(|copy| !copy.delete)).collect()
        };
        let repeated: Vec<Vec<usize>> =
            index.repeated().map(copies).filter(|copies| copies.len() > 1).collect();
        let mut gone = BTreeSet::new();
        for copies in repeated {
            let kept = self.kept(&copies);
            for other in copies.into_iter().filter(|other| *other != kept) {
                self.settle(kept, other, &mut gone);
            }
        }
        self.remove(&gone, RemoveReason::Duplicate);
    }

    /// Which one is kept: the one that exists, was changed last and stands last.
    fn kept(&mut self, copies: &[usize]) -> usize {
        let rank = |index: usize| {
            let copy = self.at(index);
            let changed = copy.modified.or(copy.created).map(|time| time.instant());
            (!copy.pending_replacement, copy.id().is_some(), changed, index)
        };
        let best = copies.iter().enumerate().max_by_key(|(_, index)| rank(**index));
        let best = best.map_or(0, |(position, _)| position);
        let choices: Vec<Choice> = copies.iter().map(|index| Choice::Keep(self.origin(*index))).collect();
        let first = copies.first().copied().unwrap_or_default();
        let urn = self.at(first).urn.clone();
        let text = format!("{} resources are called {urn}. Which one is it?", copies.len());
        let answer = self.ask(QuestionId::Keep(self.origin(first)), text, choices, best);
        let chosen = copies.iter().find(|index| answer == Some(Choice::Keep(self.origin(**index))));
        chosen.or(copies.get(best)).copied().unwrap_or(first)
    }

    /// What stands for something of its own is deleted by the next update; what does not only goes from the snapshot.
    fn settle(&mut self, kept: usize, other: usize, gone: &mut BTreeSet<usize>) {
        let (keeper, copy) = (self.at(kept), self.at(other));
        let of_its_own = copy.custom && copy.id().is_some() && copy.id() != keeper.id();
        let is_there = of_its_own && !copy.pending_replacement && !copy.external;
        let renamed = self.free_name(&copy.urn);
        let choices = vec![Choice::MarkDeleted, Choice::Remove, Choice::Rename(renamed.clone())];
        let text = format!("What becomes of the other resource called {}?", copy.urn);
        let id = QuestionId::Duplicate(self.origin(other));
        match self.ask(id, text, choices, usize::from(!is_there)) {
            Some(Choice::MarkDeleted) => {
                self.step(other, Action::MarkDeleted);
                self.change(other, |resource| resource.delete = true);
            }
            Some(Choice::Rename(_)) => {
                self.step(other, Action::Rename(renamed.clone()));
                self.rename(other, &renamed);
            }
            _ => {
                gone.insert(other);
            }
        }
    }
}
