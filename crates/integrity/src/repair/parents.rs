//! Repairs of children whose parents are as good as gone.

use groundstate_deployments::Urn;

use super::step::{Action, DropReason};
use super::work::Work;

/// So many generations are looked through for an ancestor that lives.
const GENERATIONS: usize = 1000;

impl Work<'_> {
    /// A refresh that finds a parent gone can leave its children with a copy that waits for its deletion, behind them. They
    /// go to the nearest ancestor that lives, or to none.
    pub(super) fn lost_parents(&mut self) {
        let index = self.snapshot.urn_index();
        let mut lost = Vec::new();
        for (at, resource) in self.snapshot.indexed().filter(|(_, resource)| !resource.delete) {
            let Some(parent) = resource.parent() else { continue };
            let behind = index.all(parent).next().is_some_and(|first| first > at);
            if !behind || index.live(parent).is_some() {
                continue;
            }
            // What the copies say of ancestors can go round in a circle.
            let mut above = index.deleted(parent);
            let mut ancestor: Option<&Urn> = None;
            for _ in 0..GENERATIONS {
                let next =
                    above.and_then(|above| self.snapshot.resource(above)).and_then(|copy| copy.parent());
                let Some(next) = next.filter(|next| **next != resource.urn) else { break };
                if index.live(next).is_some() {
                    ancestor = Some(next);
                    break;
                }
                above = index.deleted(next);
            }
            lost.push((at, ancestor.cloned()));
        }
        for (at, ancestor) in lost {
            self.reparent(at, ancestor, DropReason::Deleted);
        }
    }

    /// Gives a resource another parent. Without one its name is that of a resource that never had one; otherwise it gets its
    /// name when all names are compared with those of the parents.
    pub(super) fn reparent(&mut self, index: usize, to: Option<Urn>, why: DropReason) {
        let resource = self.at(index);
        let Some(from) = resource.parent().cloned() else { return };
        self.step(index, Action::Reparent { from, to: to.clone(), why });
        let alone = to.is_none();
        self.change(index, |resource| resource.parent = to);
        let name = resource.urn.below("");
        if !alone || !resource.urn.is_valid() || name == resource.urn {
            return;
        }
        if self.is_taken(&name) {
            self.step(index, Action::KeepName { taken: name });
        } else {
            self.step(index, Action::Rename(name.clone()));
            self.rename(index, &name);
        }
    }
}
