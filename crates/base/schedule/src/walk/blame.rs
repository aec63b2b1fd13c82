//! What failures would mean, without running anything.

use std::collections::{BTreeMap, BTreeSet};

use super::{OnFailure, Outcome, WalkGraph, Walker};

/// Which nodes would be skipped if these failed, and for each of them the failures that it would be skipped for.
///
/// A node of `failed` that needs another one of them would not run, so it is skipped and no failure itself. Barriers
/// are not listed.
#[must_use]
pub fn impact(graph: &WalkGraph, failed: &[usize]) -> BTreeMap<usize, BTreeSet<usize>> {
    let failed: BTreeSet<usize> = failed.iter().copied().collect();
    let mut walker = Walker::new(graph, 1, OnFailure::Continue);
    while let Some(node) = walker.start_next() {
        let outcome =
            if failed.contains(&node) { Outcome::Failed(String::new()) } else { Outcome::Succeeded };
        // Cannot fail for a node that was started just now.
        if walker.finish(node, outcome).is_err() {
            break;
        }
    }
    walker.into_report().all_roots(graph)
}
