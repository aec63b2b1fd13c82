//! Where the rules of groundstate differ from what the product of a plan will do.

use std::collections::BTreeSet;

use groundstate_ordering::{BuildErrors, NodeKey, OperationGraph};

use super::subject::Subject;
use crate::report::messages::Messages;

/// Differences that are printed one by one; the rest is counted.
const MOST: usize = 10;

/// Says what the rules `fixed` would do otherwise than `graph`, which is reduced and follows those of the product.
pub(super) fn note(subject: &Subject, graph: &OperationGraph) {
    let Some(fixed) = subject.fixed() else { return };
    let mut messages = Messages::stderr();
    let fixed = match fixed {
        Ok(fixed) => fixed,
        Err(errors) => {
            let first = errors.errors.first().map(ToString::to_string).unwrap_or_default();
            let first = first.lines().next().unwrap_or_default();
            messages.note(&format!(
                "{} will do this, but `--profile fixed` refuses it: {first}",
                subject.product()
            ));
            return;
        }
    };
    // Reductions are equal if and only if the orders are; with groups for edges they cannot be compared.
    if !graph.is_sparse() || !fixed.is_sparse() {
        messages.note("the graph is too large to compare with `--profile fixed`");
        return;
    }
    let waits = |graph: &OperationGraph| -> BTreeSet<(NodeKey, NodeKey)> {
        graph.edges().map(|edge| (edge.from.clone(), edge.to.clone())).collect()
    };
    let (product, ours) = (waits(graph), waits(&fixed));
    let lacks =
        |graph: &OperationGraph, (from, to): &(NodeKey, NodeKey)| match (graph.find(from), graph.find(to)) {
            (Some(from), Some(to)) => !graph.precedes(to, from),
            _ => true,
        };
    let label = |graph: &OperationGraph, key: &NodeKey| graph.label_of(key);
    let mut notes = Vec::new();
    for pair in ours.difference(&product).filter(|pair| lacks(graph, pair)) {
        let [from, to] = [&pair.0, &pair.1].map(|key| label(&fixed, key));
        notes
            .push(format!("{} does not let {from} wait for {to}, `--profile fixed` does", subject.product()));
    }
    for pair in product.difference(&ours).filter(|pair| lacks(&fixed, pair)) {
        let [from, to] = [&pair.0, &pair.1].map(|key| label(graph, key));
        notes.push(format!("{} lets {from} wait for {to}, `--profile fixed` does not", subject.product()));
    }
    for note in notes.iter().take(MOST) {
        messages.note(note);
    }
    if notes.len() > MOST {
        messages.note(&format!("and {} more differences", notes.len() - MOST));
    }
}

/// What to try where the rules of the product have no order.
pub(super) fn way_out(subject: &Subject) -> Option<&'static str> {
    match subject.fixed() {
        Some(Ok(_)) => Some("with `--profile fixed` there is an order, which another program can carry out"),
        Some(Err(BuildErrors { .. })) | None => None,
    }
}
