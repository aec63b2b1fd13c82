//! Entries that are to be deleted, taken together where one deletion takes others along.

use std::collections::{BTreeMap, HashMap, HashSet};

use groundstate_dag::Graph;
use groundstate_schedule::WaitGraph;

use crate::{DeletedWith, StackIndex};

/// How the deletion of one entry goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The provider deletes the object.
    Call,
    /// The entry is removed, and the object, if there is one, is left alone.
    Remove,
    /// It does not happen, and what the entry refers to stays too.
    Refuse,
}

/// One deletion, of one entry or of several at once.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) at: usize,
    pub(crate) members: Vec<usize>,
    pub(crate) calls_provider: bool,
    pub(crate) refused: bool,
}

/// Deletions from the last entry of the list to the first, and pairs of them of which the first waits for the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    /// Numbers behind those of units are barriers, each of which stands for all pairs of what leads to it and what it leads to.
    pub(crate) edges: Vec<(usize, usize)>,
    pub(crate) barriers: usize,
}

impl Units {
    /// Takes condemned entries together. A resource that refers to one of them is deleted before it.
    pub(crate) fn new(
        index: &StackIndex<'_>,
        verdicts: &BTreeMap<usize, Verdict>,
        mode: DeletedWith,
    ) -> Self {
        let mut verdicts = verdicts.clone();
        let mut holders = HashMap::new();
        match mode {
            DeletedWith::Atomic => holders = self::holders(index, &verdicts, &HashSet::new()),
            DeletedWith::Compat => {
                let with = |at: &usize| deleted_with(index, *at).is_some_and(|on| verdicts.contains_key(&on));
                let gone: Vec<usize> = verdicts
                    .iter()
                    .filter(|(at, verdict)| **verdict == Verdict::Call && with(at))
                    .map(|(at, _)| *at)
                    .collect();
                for at in gone {
                    verdicts.insert(at, Verdict::Remove);
                }
            }
        }
        let units = Self::build(index, &verdicts, &holders);
        let tangled = units.tangled();
        if tangled.is_empty() {
            return units;
        }
        // Something stands between a member and the one that takes it along, and has to go between them as well. Taken
        // apart, these units leave no circle: one would have to lead through them, and the list itself has none.
        Self::build(index, &verdicts, &self::holders(index, &verdicts, &tangled))
    }

    fn build(
        index: &StackIndex<'_>,
        verdicts: &BTreeMap<usize, Verdict>,
        holders: &HashMap<usize, usize>,
    ) -> Self {
        let mut units: Vec<Unit> = Vec::new();
        let mut unit_of = vec![None; index.resources().len()];
        for (&at, verdict) in verdicts.iter().rev().filter(|(at, _)| !holders.contains_key(at)) {
            unit_of[at] = Some(units.len());
            units.push(Unit {
                at,
                members: Vec::new(),
                calls_provider: *verdict == Verdict::Call,
                refused: *verdict == Verdict::Refuse,
            });
        }
        let mut held: Vec<_> = holders.iter().map(|(member, holder)| (*member, *holder)).collect();
        held.sort_unstable();
        for (member, holder) in held {
            // A holder is called for, and so a unit of its own.
            unit_of[member] = unit_of[holder];
            if let Some(unit) = unit_of[holder] {
                units[unit].members.push(member);
            }
        }
        let (edges, barriers) = crate::waits::waits(index, &units, &unit_of);
        Self { units, edges, barriers }
    }

    /// The units in an order that can be followed one by one: by position from the back, as far as possible.
    pub(crate) fn order(&self) -> Vec<usize> {
        let edge = |&(from, to): &(usize, usize)| (from as u32, to as u32, ());
        let nodes = self.units.len() + self.barriers;
        let graph = WaitGraph::new(self.units.len(), nodes, self.edges.iter().map(edge).collect());
        // A cycle cannot be left: tangled units were taken apart, and the list itself has none.
        graph.order().unwrap_or_default().into_iter().map(|unit| unit as usize).collect()
    }

    /// The units in batches: those that nothing waits before, then those that waited for them at most, and so on.
    pub(crate) fn batches(&self) -> Vec<Vec<usize>> {
        // Levels count from what refers to nothing, and that goes last. Barriers take no level.
        let graph = self.graph();
        let mut level = vec![0; graph.node_count()];
        for node in graph.topo_order().unwrap_or_default() {
            let at = node.index();
            let next = level[at] + usize::from(at < self.units.len());
            for on in graph.successors(node) {
                level[on.index()] = next.max(level[on.index()]);
            }
        }
        let count = (0..self.units.len()).map(|unit| level[unit] + 1).max().unwrap_or(0);
        let mut levels = vec![Vec::new(); count];
        (0..self.units.len()).for_each(|unit| levels[level[unit]].push(unit));
        levels.reverse();
        levels
    }

    /// Members of units that wait for each other in a circle.
    fn tangled(&self) -> HashSet<usize> {
        let components = self.graph().strongly_connected_components();
        let circles = components.into_iter().filter(|component| component.len() > 1).flatten();
        circles
            .filter_map(|node| self.units.get(node.index()))
            .flat_map(|unit| &unit.members)
            .copied()
            .collect()
    }

    /// An edge leads from who waits to whom for.
    fn graph(&self) -> Graph<()> {
        let nodes = self.units.len() + self.barriers;
        let mut graph = Graph::with_capacity(nodes);
        let nodes: Vec<_> = (0..nodes).map(|_| graph.add_node(())).collect();
        for &(from, to) in &self.edges {
            graph.add_edge(nodes[from], nodes[to]);
        }
        graph
    }
}

/// For every entry that another deletion takes along, the one that the provider is called for.
fn holders(
    index: &StackIndex<'_>,
    verdicts: &BTreeMap<usize, Verdict>,
    alone: &HashSet<usize>,
) -> HashMap<usize, usize> {
    let mut holders: HashMap<usize, usize> = HashMap::new();
    // What an entry refers to comes before it, so it is decided already.
    for (&at, _) in verdicts.iter().filter(|(_, verdict)| **verdict == Verdict::Call) {
        let Some(on) = deleted_with(index, at).filter(|on| verdicts.get(on) == Some(&Verdict::Call)) else {
            continue;
        };
        let holder = holders.get(&on).copied().unwrap_or(on);
        if !alone.contains(&at) {
            holders.insert(at, holder);
        }
    }
    holders
}

/// The entry whose deletion takes this one along.
pub(crate) fn deleted_with(index: &StackIndex<'_>, at: usize) -> Option<usize> {
    index.resolve(at, index.resources()[at].deleted_with.as_ref()?)
}
