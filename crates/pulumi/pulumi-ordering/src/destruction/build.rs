//! The graph of removals from the plan of a stack without a program.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Urn};

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
    let planner = StackPlanner::of_sound(&entries, &options)?;
    let (graph, index) = planner.finish_with_index(Program::Finished)?;
    let (number, joins) = numbers(&graph);
    let waits = pairs(&graph, &number, StackReason::Delete);
    let mut edges = with_reasons(&index, &graph, &waits);
    let providers = (0..entries.len()).map(|at| index.provider(at).cloned()).collect();
    let barriers = joins + batch_edges(&graph, &number, joins, &mut edges);
    let stays = waits.into_iter().chain(pairs(&graph, &number, StackReason::Needed));
    let removals = removals(&entries, &graph, stays);
    let nodes = removals.len();
    let by_urn = by_urn(&entries, &removals);
    let labels = labels(&index, &removals);
    Ok(Destruction {
        graph: WaitGraph::new(nodes, nodes + barriers, edges),
        resources: entries,
        providers,
        removals,
        labels,
        by_urn,
    })
}

/// The number of each step and barrier that is a node: removals first, then the barriers of deletions, with how many there are.
fn numbers(graph: &StackGraph) -> (Vec<Option<usize>>, usize) {
    let mut number = vec![None; graph.steps().len() + graph.barriers];
    for (node, step) in graph.finals().iter().enumerate() {
        number[step.index()] = Some(node);
    }
    let mut next = graph.finals().len();
    let deletions = graph.edges().iter().filter(|edge| edge.reason == StackReason::Delete);
    for at in deletions.flat_map(|edge| [edge.from, edge.to]).filter(|at| *at >= graph.steps().len()) {
        if number[at].is_none() {
            number[at] = Some(next);
            next += 1;
        }
    }
    (number, next - graph.finals().len())
}

/// The edges of a kind between removals: who waits, or stays, and because of whom.
fn pairs(graph: &StackGraph, number: &[Option<usize>], reason: StackReason) -> Vec<(usize, usize)> {
    let same = graph.edges().iter().filter(|edge| edge.reason == reason);
    same.filter_map(|edge| Some((number[edge.from]?, number[edge.to]?))).collect()
}

/// The removals of the entries of each name.
fn by_urn(entries: &[Arc<Resource>], removals: &[Removal]) -> HashMap<Urn, Vec<usize>> {
    let mut by_urn: HashMap<_, Vec<usize>> = HashMap::with_capacity(removals.len());
    for (node, removal) in removals.iter().enumerate() {
        for at in std::iter::once(removal.entry).chain(removal.members.iter().copied()) {
            let nodes = by_urn.entry(entries[at].urn.clone()).or_default();
            // Several members of one deletion may have one name.
            if nodes.last() != Some(&node) {
                nodes.push(node);
            }
        }
    }
    by_urn
}

/// The edges with their reasons: what the entries of the one say of those of the other.
fn with_reasons(
    index: &StackIndex<'_>,
    graph: &StackGraph,
    waits: &[(usize, usize)],
) -> Vec<WaitEdge<RemovalReasons>> {
    let mut node_of = vec![None; index.resources().len()];
    for (node, step) in graph.finals().iter().enumerate() {
        graph.step(*step).entries().for_each(|at| node_of[at] = Some(node));
    }
    let mut sets: BTreeMap<(usize, usize), RemovalReasons> =
        waits.iter().map(|&pair| (pair, RemovalReasons::default())).collect();
    for (at, node) in node_of.iter().enumerate().filter_map(|(at, node)| Some((at, (*node)?))) {
        for reference in index.references(at) {
            for on in index.meant(reference).take_while(|&on| on < at) {
                let set = node_of[on].and_then(|on| sets.get_mut(&(on, node)));
                if let Some(set) = set {
                    set.merge(reference.reason.into());
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
    number: &[Option<usize>],
    joins: usize,
    edges: &mut Vec<WaitEdge<RemovalReasons>>,
) -> usize {
    let link = RemovalReasons::from(RemovalReason::Batch);
    let node = |step: &StepId| number[step.index()].map(|node| node as u32);
    let batches = graph.batches().unwrap_or_default();
    for (number, pair) in batches.windows(2).enumerate() {
        let barrier = (graph.finals().len() + joins + number) as u32;
        edges.extend(pair[0].iter().filter_map(node).map(|node| (barrier, node, link)));
        edges.extend(pair[1].iter().filter_map(node).map(|node| (node, barrier, link)));
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
fn labels(index: &StackIndex<'_>, removals: &[Removal]) -> Vec<String> {
    let entries = index.resources();
    let action = |removal: &Removal| {
        let blocked = if removal.blocked { ", blocked" } else { "" };
        let old = if entries[removal.entry].delete && removal.kind != RemovalKind::DeleteReplaced {
            ", the old one"
        } else {
            ""
        };
        format!("{}{old}{blocked}", removal.kind.action())
    };
    // Only what shares its name can share its text.
    let name = |removal: &Removal| index.own_number(removal.entry);
    let shared = |removal: &Removal| index.all_of(name(removal)).nth(1).is_some();
    let mut total: HashMap<_, usize> = HashMap::new();
    for removal in removals.iter().filter(|removal| shared(removal)) {
        *total.entry((name(removal), action(removal))).or_default() += 1;
    }
    let mut seen: HashMap<_, usize> = HashMap::new();
    let label = |removal: &Removal| {
        let urn = &entries[removal.entry].urn;
        let key = (name(removal), action(removal));
        match total.get(&key) {
            Some(2..) => {
                let count = seen.entry(key.clone()).or_default();
                *count += 1;
                format!("{urn} ({}, {count})", key.1)
            }
            _ => format!("{urn} ({})", key.1),
        }
    };
    removals.iter().map(label).collect()
}
