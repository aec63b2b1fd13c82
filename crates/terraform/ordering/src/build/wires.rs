//! Edges in the making, with barriers where they save some.

use std::collections::HashMap;

use groundstate_dag::CompactGraph;

use crate::network::{Link, RawEdge};

/// Collects edges, and numbers barriers.
#[derive(Debug)]
pub(super) struct Wires {
    /// The number of operations; barriers are numbered from here.
    ops: u32,
    /// Operations and barriers so far.
    pub(super) nodes: u32,
    pub(super) edges: Vec<RawEdge>,
    /// Edges that may be given up, told apart only when asked to. They begin at an operation; a barrier at the other end
    /// leads to nothing but the ends of such edges.
    pub(super) candidates: Vec<RawEdge>,
}

impl Wires {
    pub(super) fn new(ops: usize) -> Self {
        Self { ops: ops as u32, nodes: ops as u32, edges: Vec::new(), candidates: Vec::new() }
    }

    pub(super) fn ops(&self) -> u32 {
        self.ops
    }

    fn barrier(&mut self) -> u32 {
        let barrier = self.nodes;
        self.nodes += 1;
        barrier
    }

    fn list(&mut self, candidate: bool) -> &mut Vec<RawEdge> {
        if candidate { &mut self.candidates } else { &mut self.edges }
    }

    /// Every one of `waiters` waits for every one of `dependencies`.
    pub(super) fn join(&mut self, waiters: &[u32], dependencies: &[u32], link: Link, candidate: bool) {
        let (w, d) = (waiters.len(), dependencies.len());
        if w == 0 || d == 0 {
            return;
        }
        let list = self.list(candidate);
        if w * d <= w + d + 1 {
            list.extend(
                waiters.iter().flat_map(|&from| dependencies.iter().map(move |&to| (from, to, link))),
            );
            return;
        }
        let barrier = self.barrier();
        self.list(candidate).extend(waiters.iter().map(|&from| (from, barrier, link)));
        self.edges.extend(dependencies.iter().map(|&to| (barrier, to, Link::default())));
    }
}

/// Marks a vertex that was not looked at.
const UNKNOWN: u32 = u32::MAX;
/// Marks a vertex behind which there is nothing.
const NOTHING: u32 = u32::MAX - 1;

/// Nodes by vertex of the graph of configuration.
#[derive(Debug, Default)]
pub(super) struct ByVertex {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl ByVertex {
    /// Sorts `(vertex, node)` pairs, which are given by ascending node.
    pub(super) fn new(vertices: u32, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; vertices as usize + 1];
        for &(vertex, _) in pairs {
            starts[vertex as usize + 1] += 1;
        }
        for at in 0..vertices as usize {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; pairs.len()];
        for &(vertex, node) in pairs {
            let place = &mut next[vertex as usize];
            nodes[*place as usize] = node;
            *place += 1;
        }
        Self { starts, nodes }
    }

    pub(super) fn of(&self, vertex: u32) -> &[u32] {
        &self.nodes[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The vertices that have nodes.
    pub(super) fn vertices(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.starts.len() as u32 - 1).filter(|&vertex| !self.of(vertex).is_empty())
    }
}

/// Which way configuration is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To what a vertex depends on.
    Down,
    /// To what depends on a vertex.
    Up,
}

/// Stand-ins for "all members at a vertex and everywhere beyond it", made as they are needed.
pub(super) struct Chain<'c> {
    pub(super) config: &'c CompactGraph<()>,
    pub(super) way: Way,
    pub(super) members: &'c ByVertex,
    /// For each vertex the node that stands for it, if it was looked at.
    memo: Vec<u32>,
}

impl<'c> Chain<'c> {
    pub(super) fn new(config: &'c CompactGraph<()>, way: Way, members: &'c ByVertex) -> Self {
        Self { config, way, members, memo: vec![UNKNOWN; config.node_count()] }
    }

    pub(super) fn next(&self, vertex: u32) -> &'c [u32] {
        match self.way {
            Way::Down => self.config.successors(vertex),
            Way::Up => self.config.predecessors(vertex),
        }
    }

    /// All of `pointers`, which lie at `vertex`, wait for all members beyond it.
    pub(super) fn point(
        &mut self,
        wires: &mut Wires,
        vertex: u32,
        pointers: &[u32],
        link: Link,
        candidate: bool,
    ) {
        let mut targets = Vec::new();
        for &next in self.next(vertex) {
            targets.extend(self.resolve(wires, next));
        }
        targets.sort_unstable();
        targets.dedup();
        wires.join(pointers, &targets, link, candidate);
    }

    /// The node that stands for the members at the vertex and beyond; none when there are none.
    fn resolve(&mut self, wires: &mut Wires, vertex: u32) -> Option<u32> {
        // The vertices on the way, each with the number of neighbours that were entered.
        let mut path = vec![(vertex, 0_usize)];
        while let Some((at, entered)) = path.last_mut() {
            let at = *at;
            if self.memo[at as usize] != UNKNOWN {
                path.pop();
                continue;
            }
            let next = self.next(at).get(*entered).copied();
            *entered += 1;
            match next {
                Some(next) => path.push((next, 0)),
                None => {
                    path.pop();
                    let own = self.members.of(at).iter().copied();
                    let beyond = self.next(at).iter().map(|&next| self.memo[next as usize]);
                    self.memo[at as usize] = stand_in(wires, own.chain(beyond));
                }
            }
        }
        Some(self.memo[vertex as usize]).filter(|&node| node != NOTHING)
    }
}

/// One node that stands for all of these.
fn stand_in(wires: &mut Wires, nodes: impl Iterator<Item = u32>) -> u32 {
    let mut nodes: Vec<u32> = nodes.filter(|&node| node != NOTHING).collect();
    nodes.sort_unstable();
    nodes.dedup();
    match nodes.as_slice() {
        [] => NOTHING,
        [node] => *node,
        nodes => {
            let barrier = wires.barrier();
            wires.edges.extend(nodes.iter().map(|&to| (barrier, to, Link::default())));
            barrier
        }
    }
}

/// As [`Chain`], for the pointers of one module instance: where members are excluded, the stand-ins are its own.
pub(super) struct Inner<'a, 'c> {
    pub(super) outer: &'a mut Chain<'c>,
    /// Whether members are excluded at the vertex or beyond it.
    pub(super) affected: &'a [bool],
    memo: HashMap<u32, u32>,
}

impl<'a, 'c> Inner<'a, 'c> {
    pub(super) fn new(outer: &'a mut Chain<'c>, affected: &'a [bool]) -> Self {
        Self { outer, affected, memo: HashMap::new() }
    }

    /// All of `pointers`, which lie at `vertex`, wait for the members beyond it that `admits` lets through.
    pub(super) fn point(
        &mut self,
        wires: &mut Wires,
        vertex: u32,
        pointers: &[u32],
        admits: impl Fn(u32) -> bool,
        (link, candidate): (Link, bool),
    ) {
        let mut targets = Vec::new();
        for &next in self.outer.next(vertex) {
            targets.extend(self.resolve(wires, next, &admits));
        }
        targets.sort_unstable();
        targets.dedup();
        wires.join(pointers, &targets, link, candidate);
    }

    fn resolve(&mut self, wires: &mut Wires, vertex: u32, admits: &impl Fn(u32) -> bool) -> Option<u32> {
        if !self.affected[vertex as usize] {
            return self.outer.resolve(wires, vertex);
        }
        let mut path = vec![(vertex, 0_usize)];
        while let Some((at, entered)) = path.last_mut() {
            let at = *at;
            if self.memo.contains_key(&at) {
                path.pop();
                continue;
            }
            let next = self.outer.next(at).get(*entered).copied();
            *entered += 1;
            match next {
                Some(next) if self.affected[next as usize] => path.push((next, 0)),
                Some(_) => {}
                None => {
                    path.pop();
                    let mut nodes: Vec<u32> =
                        self.outer.members.of(at).iter().copied().filter(|&node| admits(node)).collect();
                    for &next in self.outer.next(at) {
                        if self.affected[next as usize] {
                            nodes.extend(self.memo.get(&next));
                        } else {
                            nodes.extend(self.outer.resolve(wires, next));
                        }
                    }
                    let node = stand_in(wires, nodes.into_iter());
                    self.memo.insert(at, node);
                }
            }
        }
        self.memo.get(&vertex).copied().filter(|&node| node != NOTHING)
    }
}
