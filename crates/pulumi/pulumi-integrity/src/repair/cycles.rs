//! Repairs of resources that need themselves, directly or in a circle.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_dag::{Graph, NodeIndex};
use groundstate_pulumi_snapshot::{DependencyKind, Urn};

use super::choice::{Choice, QuestionId};
use super::step::{Action, DropReason};
use super::work::Work;
use crate::reference::{Reference, ReferenceKind};
use crate::targets::Targets;

/// So often one circle of each set of resources is broken, before all that points against the order is dropped.
const ROUNDS: usize = 100;

/// How much is lost with a reference, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Together,
    Dependency,
    Parent,
    Provider,
}

/// All references of one resource to another one.
#[derive(Clone, Copy, Debug)]
struct Tie {
    from: usize,
    to: usize,
    weight: Weight,
}

impl Tie {
    /// The order in which ties are given up: by weight, and of equals first what points against the order, from behind.
    fn rank(&self) -> (Weight, bool, std::cmp::Reverse<usize>) {
        (self.weight, self.to < self.from, std::cmp::Reverse(self.from))
    }
}

impl Work<'_> {
    pub(super) fn references_to_itself(&mut self) {
        let targets = Targets::new(&self.snapshot.resources);
        let itself = |index: &usize| {
            let resource = self.at(*index);
            resource
                .all_dependencies()
                .any(|edge| edge.urn == &resource.urn && targets.dependency(*index, edge.urn) == Some(*index))
        };
        let found: Vec<usize> = (0..self.len()).filter(itself).collect();
        for index in found {
            let urn = self.at(index).urn.clone();
            self.drop_references(index, &BTreeSet::from([urn]), DropReason::Itself);
        }
    }

    pub(super) fn cycles(&mut self) {
        for round in 0.. {
            let ties = self.ties();
            let mut graph = Graph::with_capacity(self.len());
            let nodes: Vec<NodeIndex> = (0..self.len()).map(|index| graph.add_node(index)).collect();
            for (from, to) in ties.keys() {
                graph.add_edge(nodes[*from], nodes[*to]);
            }
            let circles: Vec<Vec<usize>> = graph
                .cycles()
                .map(|circle| circle.nodes().iter().map(|node| node.index()).collect())
                .collect();
            if circles.is_empty() {
                return;
            }
            if round >= ROUNDS {
                return self.drop_all_against_the_order(&graph, &ties);
            }
            for circle in circles {
                self.break_circle(&circle, &ties);
            }
            self.follow();
        }
    }

    /// Who refers to whom, with what is lost if it no longer does.
    fn ties(&self) -> BTreeMap<(usize, usize), Tie> {
        let targets = Targets::new(&self.snapshot.resources);
        let mut ties: BTreeMap<(usize, usize), Tie> = BTreeMap::new();
        for (from, resource) in self.snapshot.indexed() {
            let provider = targets.provider(from).map(|to| (to, Weight::Provider));
            let others = resource.all_dependencies().filter_map(|edge| {
                let weight = match edge.kind {
                    DependencyKind::Parent => Weight::Parent,
                    DependencyKind::DeletedWith | DependencyKind::ReplaceWith => Weight::Together,
                    _ => Weight::Dependency,
                };
                Some((targets.dependency(from, edge.urn)?, weight))
            });
            for (to, weight) in provider.into_iter().chain(others) {
                let tie = ties.entry((from, to)).or_insert(Tie { from, to, weight });
                tie.weight = tie.weight.max(weight);
            }
        }
        ties
    }

    fn break_circle(&mut self, circle: &[usize], ties: &BTreeMap<(usize, usize), Tie>) {
        let next = circle.iter().cycle().skip(1);
        let around: Vec<Tie> =
            circle.iter().zip(next).filter_map(|(from, to)| ties.get(&(*from, *to)).copied()).collect();
        let choice = |tie: &Tie| Choice::DropReferences {
            from: self.origin(tie.from),
            from_urn: self.at(tie.from).urn.clone(),
            to_urn: self.at(tie.to).urn.clone(),
        };
        let choices: Vec<Choice> = around.iter().map(choice).collect();
        let weakest = around.iter().enumerate().min_by_key(|(_, tie)| tie.rank());
        let default = weakest.map_or(0, |(position, _)| position);
        let text = format!("{} resources need each other in a circle.", circle.len());
        let number = self.circles;
        self.circles += 1;
        let answer = self.ask(QuestionId::Cycle(number), text, choices.clone(), default);
        let chosen = choices.iter().position(|choice| answer.as_ref() == Some(choice)).unwrap_or(default);
        if let Some(tie) = around.get(chosen) {
            self.untie(*tie);
        }
    }

    /// What is left when all circles are broken at once has an order: the present one.
    fn drop_all_against_the_order(&mut self, graph: &Graph<usize>, ties: &BTreeMap<(usize, usize), Tie>) {
        let mut part = vec![0; self.len()];
        for (number, nodes) in graph.strongly_connected_components().iter().enumerate() {
            nodes.iter().for_each(|node| part[node.index()] = number);
        }
        let against: Vec<Tie> = ties
            .values()
            .filter(|tie| tie.to >= tie.from && part[tie.to] == part[tie.from])
            .copied()
            .collect();
        for tie in against {
            self.untie(tie);
            self.follow();
        }
    }

    fn untie(&mut self, tie: Tie) {
        let urn = self.at(tie.to).urn.clone();
        if tie.weight == Weight::Provider
            && let Some(provider) = self.at(tie.from).provider().cloned()
        {
            self.step(tie.from, Action::DropProvider(provider));
            self.change(tie.from, |resource| resource.provider = None);
        }
        self.drop_references(tie.from, &BTreeSet::from([urn]), DropReason::Cycle);
    }

    /// Takes away all references of a resource to these names, but for its provider.
    fn drop_references(&mut self, index: usize, names: &BTreeSet<Urn>, why: DropReason) {
        let before = self.at(index);
        let mut dropped = Vec::new();
        for edge in before.all_dependencies().filter(|edge| names.contains(edge.urn)) {
            if edge.kind != DependencyKind::Parent {
                let reference = Reference { kind: ReferenceKind::from(edge.kind), urn: edge.urn.clone() };
                dropped.push(Action::DropReference(reference, why));
            }
        }
        dropped.into_iter().for_each(|action| self.step(index, action));
        self.change(index, |resource| {
            let keep = |urn: &Urn| !names.contains(urn);
            resource.dependencies.retain(keep);
            resource.property_dependencies.retain(|_, urns| {
                let Some(urns) = urns else { return true };
                let before = urns.len();
                urns.retain(keep);
                before == 0 || !urns.is_empty()
            });
            resource.deleted_with = resource.deleted_with.take().filter(keep);
            resource.replace_with.retain(keep);
        });
        if before.parent().is_some_and(|parent| names.contains(parent)) {
            self.orphan(index, why);
        }
    }
}
