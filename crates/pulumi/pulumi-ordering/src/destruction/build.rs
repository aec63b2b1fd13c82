//! The graph of removals from the plan of a stack without a program.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use groundstate_pulumi_snapshot::Resource;

use groundstate_schedule::{Label, WaitEdge, WaitGraph};

use super::reason::{RemovalReason, RemovalReasons};
use super::{Destruction, Removal, RemovalKind};
use crate::{
    Program, StackError, StackGraph, StackIndex, StackOptions, StackPlanner, StackReason, Step, StepId,
    StepKind,
};

pub(super) fn build(
    entries: Vec<Arc<Resource>>,
    options: &StackOptions,
) -> Result<Destruction, Vec<StackError>> {
    let options = StackOptions { destroy: true, ..options.clone() };
    let graph = StackPlanner::of_sound(&entries, &options)?.finish(Program::Finished)?;
    let mut number: HashMap<usize, usize> =
        graph.finals().iter().enumerate().map(|(node, step)| (step.index(), node)).collect();
    let joins = number_barriers(&graph, &mut number);
    let waits = pairs(&graph, &number, StackReason::Delete);
    let index = StackIndex::new(&entries);
    let mut edges = with_reasons(&index, &graph, &waits);
    let providers = (0..entries.len()).map(|at| index.provider(at).cloned()).collect();
    let barriers = joins + batch_edges(&graph, &number, joins, &mut edges);
    let stays = waits.into_iter().chain(pairs(&graph, &number, StackReason::Needed));
    let removals = removals(&entries, &graph, stays);
    let nodes = removals.len();
    let mut by_urn: HashMap<_, Vec<usize>> = HashMap::new();
    for (node, removal) in removals.iter().enumerate() {
        for at in std::iter::once(removal.entry).chain(removal.members.iter().copied()) {
            let nodes = by_urn.entry(entries[at].urn.clone()).or_default();
            // Several members of one deletion may have one name.
            if nodes.last() != Some(&node) {
                nodes.push(node);
            }
        }
    }
    let labels = labels(&entries, &removals);
    Ok(Destruction {
        graph: WaitGraph::new(nodes, nodes + barriers, edges),
        resources: entries,
        providers,
        removals,
        labels,
        by_urn,
    })
}

/// Gives the barriers of deletions numbers behind those of removals, and tells how many there are.
fn number_barriers(graph: &StackGraph, number: &mut HashMap<usize, usize>) -> usize {
    let removals = number.len();
    let deletions = graph.edges().iter().filter(|edge| edge.reason == StackReason::Delete);
    for at in deletions.flat_map(|edge| [edge.from, edge.to]).filter(|at| *at >= graph.steps().len()) {
        let next = number.len();
        number.entry(at).or_insert(next);
    }
    number.len() - removals
}

/// The edges of a kind between removals: who waits, or stays, and because of whom.
fn pairs(graph: &StackGraph, number: &HashMap<usize, usize>, reason: StackReason) -> Vec<(usize, usize)> {
    let same = graph.edges().iter().filter(|edge| edge.reason == reason);
    same.filter_map(|edge| Some((*number.get(&edge.from)?, *number.get(&edge.to)?))).collect()
}

/// The edges with their reasons: what the entries of the one say of those of the other.
fn with_reasons(
    index: &StackIndex<'_>,
    graph: &StackGraph,
    waits: &[(usize, usize)],
) -> Vec<WaitEdge<RemovalReasons>> {
    let mut node_of = HashMap::new();
    for (node, step) in graph.finals().iter().enumerate() {
        node_of.extend(graph.step(*step).entries().map(|at| (at, node)));
    }
    let mut sets: BTreeMap<(usize, usize), RemovalReasons> =
        waits.iter().map(|&pair| (pair, RemovalReasons::default())).collect();
    for (&at, &node) in &node_of {
        for (reason, urn) in index.references(at) {
            for on in index.positions(urn).take_while(|&on| on < at) {
                let set = node_of.get(&on).and_then(|&on| sets.get_mut(&(on, node)));
                if let Some(set) = set {
                    set.merge(reason.into());
                }
            }
        }
    }
    // What is not named itself belongs to a component that is, and so does what leads to a barrier.
    let component = RemovalReasons::from(RemovalReason::Component);
    let or_component = |set: RemovalReasons| if set.is_empty() { component } else { set };
    sets.into_iter().map(|((from, to), set)| (from as u32, to as u32, or_component(set))).collect()
}

/// Lets each batch wait for the one before by way of a barrier; tells how many there are.
fn batch_edges(
    graph: &StackGraph,
    number: &HashMap<usize, usize>,
    joins: usize,
    edges: &mut Vec<WaitEdge<RemovalReasons>>,
) -> usize {
    let link = RemovalReasons::from(RemovalReason::Batch);
    let node = |step: &StepId| number[&step.index()] as u32;
    let batches = graph.batches().unwrap_or_default();
    for (number, pair) in batches.windows(2).enumerate() {
        let barrier = (graph.finals().len() + joins + number) as u32;
        edges.extend(pair[0].iter().map(|step| (barrier, node(step), link)));
        edges.extend(pair[1].iter().map(|step| (node(step), barrier, link)));
    }
    batches.len().saturating_sub(1)
}

fn removals(
    entries: &[Arc<Resource>],
    graph: &StackGraph,
    stays: impl Iterator<Item = (usize, usize)>,
) -> Vec<Removal> {
    let removal = |step: &StepId| {
        let step = graph.step(*step);
        let entry = step.entry?;
        let kind = kind(step, &entries[entry]);
        Some(Removal { entry, members: step.members.clone(), kind, blocked: false })
    };
    // Every step at the end is about an entry.
    let mut removals: Vec<Removal> = graph.finals().iter().filter_map(removal).collect();
    let mut because: HashMap<usize, Vec<usize>> = HashMap::new();
    for (stays, of) in stays {
        because.entry(of).or_default().push(stays);
    }
    let refused =
        |(node, removal): (usize, &Removal)| (removal.kind == RemovalKind::Protected).then_some(node);
    let mut work: Vec<usize> = removals.iter().enumerate().filter_map(refused).collect();
    while let Some(node) = work.pop() {
        for other in because.remove(&node).unwrap_or_default() {
            // A barrier is met once, since what stays because of it is taken out.
            let again =
                removals.get_mut(other).is_some_and(|removal| std::mem::replace(&mut removal.blocked, true));
            if !again {
                work.push(other);
            }
        }
    }
    removals
}

fn kind(step: &Step, entry: &Resource) -> RemovalKind {
    match step.kind {
        _ if step.refused => RemovalKind::Protected,
        StepKind::RemovePending => RemovalKind::Pending,
        StepKind::DeleteReplaced if step.calls_provider => RemovalKind::DeleteReplaced,
        _ if step.calls_provider => RemovalKind::Delete,
        _ if !entry.custom => RemovalKind::Component,
        _ if entry.external => RemovalKind::External,
        _ if entry.retain_on_delete => RemovalKind::Retain,
        _ => RemovalKind::TakenAlong,
    }
}

/// The name and what happens, with a number where that is not enough.
fn labels(entries: &[Arc<Resource>], removals: &[Removal]) -> Vec<String> {
    let text = |removal: &Removal| {
        let blocked = if removal.blocked { ", blocked" } else { "" };
        let old = if entries[removal.entry].delete && removal.kind != RemovalKind::DeleteReplaced {
            ", the old one"
        } else {
            ""
        };
        (entries[removal.entry].urn.as_str(), format!("{}{old}{blocked}", removal.kind.action()))
    };
    let texts: Vec<(&str, String)> = removals.iter().map(text).collect();
    let mut total: HashMap<&(&str, String), usize> = HashMap::new();
    for text in &texts {
        *total.entry(text).or_default() += 1;
    }
    let mut seen: HashMap<&(&str, String), usize> = HashMap::new();
    let label = |text| {
        let count = seen.entry(text).or_default();
        *count += 1;
        let (urn, action) = text;
        if total[text] > 1 { format!("{urn} ({action}, {count})") } else { format!("{urn} ({action})") }
    };
    texts.iter().map(label).collect()
}
