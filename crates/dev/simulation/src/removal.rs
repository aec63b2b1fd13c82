//! The end of a run: what the program no longer has is removed, each after all that needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_pulumi_journal::{State, StepKind};
use groundstate_pulumi_snapshot::Resource;

use crate::plan::{Chain, Planned, Planner, Prepare};

/// What becomes of the states that no goal was about.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    /// Taken away, with the kind of the step.
    pub(crate) goes: BTreeMap<usize, StepKind>,
    /// Kept as they are, because they were not selected or cannot go.
    pub(crate) stays: Vec<usize>,
    /// Something should have gone that cannot.
    pub(crate) is_refused: bool,
}

/// Whether a later state of a list needs an earlier one, by name or as its provider.
fn needs(later: &Resource, earlier: &Resource) -> bool {
    let provider = || {
        let reference = later.provider()?.split().ok()?;
        Some(reference.0 == earlier.urn)
    };
    later.all_dependencies().any(|needed| *needed.urn == earlier.urn) || provider().unwrap_or(false)
}

/// Decides what goes. `is_selected` says so of each state of the base, `is_gone` what has left it already.
pub(crate) fn removal(
    planner: &Planner<'_>,
    is_selected: impl Fn(usize) -> bool,
    is_gone: impl Fn(usize) -> bool,
) -> Removal {
    let mut out = Removal::default();
    let resources: Vec<_> = planner.base.iter().map(State::get).collect();
    let mut left = BTreeSet::new();
    for (index, resource) in resources.iter().enumerate() {
        if is_gone(index) || (planner.seen.contains(&index) && !resource.delete) {
            continue;
        }
        left.insert(index);
        let kind = match () {
            () if resource.delete && resource.external => StepKind::DiscardReplaced,
            () if resource.delete => StepKind::DeleteReplaced,
            () if resource.pending_replacement => StepKind::RemovePendingReplace,
            () if resource.external => StepKind::Discard,
            () => StepKind::Delete,
        };
        let is_protected = resource.protect && matches!(kind, StepKind::Delete | StepKind::Discard);
        if is_protected || !is_selected(index) {
            out.is_refused |= is_protected && is_selected(index);
        } else {
            out.goes.insert(index, kind);
        }
    }
    // What stays keeps what it needs.
    for earlier in resources.iter().enumerate().map(|(index, _)| index).rev() {
        let keeps = |later: &usize| {
            *later > earlier
                && !out.goes.contains_key(later)
                && needs(&resources[*later], &resources[earlier])
        };
        if out.goes.contains_key(&earlier) && left.iter().any(keeps) {
            out.is_refused |= is_selected(earlier);
            out.goes.remove(&earlier);
        }
    }
    let stays = left.iter().filter(|index| !out.goes.contains_key(index));
    out.stays = stays.copied().filter(|index| !resources[*index].delete).collect();
    out
}

/// The chains of a removal. Those of what stays come first, in order.
pub(crate) fn chains(planner: &Planner<'_>, removal: &Removal) -> Vec<Chain> {
    let resources: Vec<_> = planner.base.iter().map(State::get).collect();
    let mut chains: Vec<Chain> = Vec::new();
    for &index in &removal.stays {
        let new = State::new(Arc::clone(&resources[index]));
        let mut planned = Planned::new(StepKind::Same, Some(&planner.base[index]), Some(&new));
        planned.prepare = Prepare::Copy;
        // One after the other: each may need those before it.
        let waits = chains.len().checked_sub(1).into_iter().collect();
        chains.push(Chain { steps: [planned].into(), waits, is_dead: false, outputs: None });
    }
    let first = chains.len();
    let order: Vec<usize> = removal.goes.keys().rev().copied().collect();
    for (at, &index) in order.iter().enumerate() {
        let planned = Planned::new(removal.goes[&index], Some(&planner.base[index]), None);
        let later = order.iter().take(at).enumerate();
        let waits = later
            .filter(|(_, later)| needs(&resources[**later], &resources[index]))
            .map(|(place, _)| first + place)
            .collect();
        chains.push(Chain { steps: [planned].into(), waits, is_dead: false, outputs: None });
    }
    chains
}
