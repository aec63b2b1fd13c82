//! Edges between providers that would close a cycle through a provider's configuration.

use std::collections::BTreeSet;

use groundstate_schedule::{Label, Scratch};

use super::wires::Wires;
use crate::network::{Network, RawEdge};
use crate::options::CrossProvider;

/// More candidates than this in one component are dropped together: each costs a search of the component.
const GREEDY: usize = 10_000;

/// The edges that stay, and the candidates that are dropped.
pub(super) struct Decided {
    pub(super) edges: Vec<RawEdge>,
    pub(super) dropped: Vec<RawEdge>,
}

/// Decides about the candidates of `wires`.
pub(super) fn decide(wires: &Wires, policy: CrossProvider) -> Decided {
    let (ops, nodes) = (wires.ops() as usize, wires.nodes as usize);
    let sure = Network::new(ops, nodes, wires.edges.clone());
    if sure.order().is_none() {
        // Whatever closes a cycle by itself is reported; the candidates have no part in it.
        return Decided { edges: wires.edges.clone(), dropped: Vec::new() };
    }
    let mut all = wires.edges.clone();
    all.extend(&wires.candidates);
    let whole = Network::new(ops, nodes, all);
    let (component, _) = whole.graph().components();
    let same = |a: u32, b: u32| component[a as usize] == component[b as usize];

    let mut edges = wires.edges.clone();
    let mut inside: Vec<RawEdge> = Vec::new();
    for (edge, pairs) in expanded(&sure, &wires.candidates) {
        if pairs.iter().any(|&(from, to, _)| same(from, to)) {
            let (cyclic, free): (Vec<RawEdge>, Vec<RawEdge>) =
                pairs.into_iter().partition(|&(from, to, _)| same(from, to));
            edges.extend(free);
            inside.extend(cyclic);
        } else {
            edges.push(edge);
        }
    }
    let inside = merged(inside);
    let dropped = match policy {
        CrossProvider::KeepAll => Vec::new(),
        CrossProvider::DropInScc => inside.clone(),
        CrossProvider::GreedyKeep => greedy(&sure, &edges, &inside, &component),
    };
    let gone: BTreeSet<(u32, u32)> = dropped.iter().map(|&(from, to, _)| (from, to)).collect();
    edges.extend(inside.into_iter().filter(|(from, to, _)| !gone.contains(&(*from, *to))));
    Decided { edges, dropped }
}

/// Each candidate with the pairs of operations that it stands for.
fn expanded<'a>(
    network: &'a Network,
    candidates: &'a [RawEdge],
) -> impl Iterator<Item = (RawEdge, Vec<RawEdge>)> + 'a {
    let mut scratch = Scratch::default();
    candidates.iter().map(move |&(from, to, link)| {
        let ends: Vec<u32> = if network.is_operation(to) {
            vec![to]
        } else {
            network.waits(to, &mut scratch).into_iter().map(|(to, _)| to).collect()
        };
        ((from, to, link), ends.into_iter().map(|to| (from, to, link)).collect())
    })
}

/// Sorted, with one edge for each pair.
fn merged(mut edges: Vec<RawEdge>) -> Vec<RawEdge> {
    edges.sort_by_key(|&(from, to, _)| (from, to));
    edges.dedup_by(|next, kept| {
        let equal = (next.0, next.1) == (kept.0, kept.1);
        if equal {
            kept.2.merge(next.2);
        }
        equal
    });
    edges
}

/// The candidates that close a cycle with those kept before them.
fn greedy(sure: &Network, edges: &[RawEdge], inside: &[RawEdge], component: &[u32]) -> Vec<RawEdge> {
    let mut counts = std::collections::BTreeMap::new();
    for &(from, ..) in inside {
        *counts.entry(component[from as usize]).or_insert(0_usize) += 1;
    }
    // Searches stay inside a component, so only its edges are needed; those kept are added as they are.
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); sure.node_count() as usize];
    for &(from, to, _) in edges {
        if component[from as usize] == component[to as usize] {
            next[from as usize].push(to);
        }
    }
    let mut search = Reach { seen: vec![0; next.len()], search: 0, stack: Vec::new() };
    let mut dropped = Vec::new();
    for &(from, to, link) in inside {
        let many = counts.get(&component[from as usize]).is_some_and(|&count| count > GREEDY);
        if many || search.reaches(&next, to, from) {
            dropped.push((from, to, link));
        } else {
            next[from as usize].push(to);
        }
    }
    dropped
}

struct Reach {
    seen: Vec<u32>,
    search: u32,
    stack: Vec<u32>,
}

impl Reach {
    fn reaches(&mut self, next: &[Vec<u32>], from: u32, goal: u32) -> bool {
        self.search += 1;
        self.stack.clear();
        self.stack.push(from);
        while let Some(node) = self.stack.pop() {
            if node == goal {
                return true;
            }
            for &to in &next[node as usize] {
                if self.seen[to as usize] != self.search {
                    self.seen[to as usize] = self.search;
                    self.stack.push(to);
                }
            }
        }
        false
    }
}

/// The pairs of candidates that upstream gives up: taken in order, each that leaves the whole graph with a cycle.
///
/// `wires` are those before anything is turned round.
pub(super) fn given_up(wires: &Wires) -> BTreeSet<(u32, u32)> {
    let (ops, nodes) = (wires.ops() as usize, wires.nodes as usize);
    let sure = Network::new(ops, nodes, wires.edges.clone());
    if sure.order().is_none() {
        let pairs = expanded(&sure, &wires.candidates).flat_map(|(_, pairs)| pairs);
        return pairs.map(|(from, to, _)| (from, to)).collect();
    }
    decide(wires, CrossProvider::GreedyKeep).dropped.into_iter().map(|(from, to, _)| (from, to)).collect()
}

/// The wires with the candidates that upstream keeps, and those that it gives up in their final direction.
pub(super) fn without(wires: &Wires, given_up: &BTreeSet<(u32, u32)>) -> Decided {
    let sure = Network::new(wires.ops() as usize, wires.nodes as usize, wires.edges.clone());
    let mut edges = wires.edges.clone();
    let mut dropped: Vec<RawEdge> = Vec::new();
    for (_, pairs) in expanded(&sure, &wires.candidates) {
        for (from, to, link) in pairs {
            let before = if link.is_inverted() { (to, from) } else { (from, to) };
            let list = if given_up.contains(&before) { &mut dropped } else { &mut edges };
            list.push((from, to, link));
        }
    }
    Decided { edges, dropped: merged(dropped) }
}
