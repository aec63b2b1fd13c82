//! Repairs of the order, and of references that lead nowhere in it.

use std::sync::Arc;

use super::step::{Action, DropReason, Step};
use super::work::Work;
use crate::prune::prune_choosing;
use crate::reference::ReferenceKind;
use crate::sort;

impl Work<'_> {
    /// Circles have been broken before, so there is an order.
    pub(super) fn order(&mut self) {
        let Ok(order) = sort::order(&self.snapshot.resources) else { return };
        for moved in sort::moves(&order) {
            let behind = order.get(moved.to + 1).map(|next| self.at(*next).urn.clone());
            self.step(moved.from, Action::Move { before: behind });
        }
        self.snapshot.resources =
            order.iter().filter_map(|from| self.snapshot.resources.get(*from).map(Arc::clone)).collect();
        self.origins = order.iter().filter_map(|from| self.origins.get(*from).copied()).collect();
    }

    /// Takes references out that lead nowhere. What has its parent keeps its URN, whether that matches the parent or not.
    pub(super) fn missing(&mut self) {
        let mut snapshot = std::mem::take(&mut self.snapshot);
        let pruned = prune_choosing(&mut snapshot, &mut |index, parent| self.renames_orphan(index, parent));
        self.snapshot = snapshot;
        for pruned in pruned {
            let origin = self.origins.get(pruned.resource).copied().flatten();
            let mut step = |action| {
                let (urn, delete) = (pruned.old.clone(), pruned.delete);
                self.steps.push(Step { resource: origin, urn, delete, action });
            };
            for reference in pruned.removed {
                step(match reference.kind {
                    ReferenceKind::Parent => {
                        Action::Reparent { from: reference.urn, to: None, why: DropReason::Missing }
                    }
                    _ => Action::DropReference(reference, DropReason::Missing),
                });
            }
            if let Some(taken) = pruned.clash {
                step(Action::KeepName { taken });
            }
            if pruned.new != pruned.old {
                step(Action::Rename(pruned.new));
            }
        }
    }
}
