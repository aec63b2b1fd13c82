//! Resources that lose their parent, and the URNs that they have after it.

use groundstate_pulumi_snapshot::Urn;

use super::choice::{Choice, QuestionId};
use super::step::{Action, DropReason};
use super::work::Work;

impl Work<'_> {
    /// Takes the parent of a resource away.
    pub(super) fn orphan(&mut self, index: usize, why: DropReason) {
        let resource = self.at(index);
        let Some(from) = resource.parent().cloned() else { return };
        self.step(index, Action::Reparent { from: from.clone(), to: None, why });
        self.change(index, |resource| resource.parent = None);
        let name = resource.urn.below("");
        if !resource.urn.is_valid() || name == resource.urn || !self.renames_orphan(index, &from) {
            return;
        }
        if self.is_taken(&name) {
            self.step(index, Action::KeepName { taken: name });
        } else {
            self.step(index, Action::Rename(name.clone()));
            self.rename(index, &name);
        }
    }

    /// Whether the resource at an index, which loses its parent, gets the URN of one without a parent. It does not unless
    /// that is the answer: the next update deletes and creates what has another URN than the program gives it.
    pub(super) fn renames_orphan(&mut self, index: usize, parent: &Urn) -> bool {
        let first = QuestionId::Orphan(self.origin(index));
        let id = *self.orphans.entry(parent.clone()).or_insert(first);
        let text =
            format!("{parent} is the parent of resources, and will be no more. Which URNs do they get?");
        let choices = vec![Choice::KeepUrn, Choice::UrnWithoutParent];
        self.ask(id, text, choices, 0) == Some(Choice::UrnWithoutParent)
    }
}
