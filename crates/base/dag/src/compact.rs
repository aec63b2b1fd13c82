//! A finished graph in few arrays, with a value on each edge.

use crate::adjacency::Adjacency;

/// A graph that does not grow any more: nodes are numbers below [`node_count`](Self::node_count), each edge carries a
/// value, and all of it lies in a handful of arrays.
///
/// It takes eight bytes an edge besides the value, and four a node for each direction. Use it where
/// [`Graph`](crate::Graph), which can grow and finds single edges at once, is too large.
///
/// Methods that take a node panic, as slices do, when the graph has no such node.
///
/// ```
/// use groundstate_dag::CompactGraph;
///
/// let graph = CompactGraph::from_edges(3, vec![(0, 2, 'x'), (0, 1, 'y'), (1, 2, 'z')], |_, _| {});
/// assert_eq!(graph.successors(0), [1, 2]);
/// assert_eq!(graph.values(0), ['y', 'x']);
/// assert_eq!(graph.predecessors(2), [0, 1]);
/// // The way from 0 over 1 to 2 says the same as the edge from 0 to 2.
/// let reduced = graph.reduce_transitively().ok_or("the graph has no cycle")?;
/// assert_eq!(reduced.edges().collect::<Vec<_>>(), [(0, 1, &'y'), (1, 2, &'z')]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompactGraph<W> {
    outgoing: Rows,
    incoming: Rows,
    values: Vec<W>,
}

/// Lists of numbers, one behind the other.
#[derive(Clone, Debug)]
struct Rows {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl<W> CompactGraph<W> {
    /// The graph with these edges. Of edges between the same nodes one remains: `merge` adds the value of the second to
    /// that of the first.
    ///
    /// # Panics
    ///
    /// When an edge names a node that is not below `nodes`, and when there are 2³² edges or more.
    pub fn from_edges(nodes: usize, mut edges: Vec<(u32, u32, W)>, mut merge: impl FnMut(&mut W, W)) -> Self {
        // Stable, so that values are merged in the order in which the edges were given.
        edges.sort_by_key(|&(from, to, _)| (from, to));
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(edges.len());
        let mut values: Vec<W> = Vec::with_capacity(edges.len());
        for (from, to, value) in edges {
            match values.last_mut() {
                Some(last) if pairs.last() == Some(&(from, to)) => merge(last, value),
                _ => {
                    pairs.push((from, to));
                    values.push(value);
                }
            }
        }
        let outgoing = Rows::new(nodes, pairs.iter().copied());
        let incoming = Rows::new(nodes, pairs.iter().map(|&(from, to)| (to, from)));
        Self { outgoing, incoming, values }
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.outgoing.starts.len() - 1
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.values.len()
    }

    /// The nodes that edges of this node point to, in order.
    pub fn successors(&self, node: u32) -> &[u32] {
        self.outgoing.row(node)
    }

    /// The values of this node's edges, in the order of [`successors`](Self::successors).
    pub fn values(&self, node: u32) -> &[W] {
        let (start, end) = self.outgoing.range(node);
        &self.values[start..end]
    }

    /// The nodes whose edges point to this node, in order.
    pub fn predecessors(&self, node: u32) -> &[u32] {
        self.incoming.row(node)
    }

    /// All edges with their values, by node.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, &W)> {
        (0..self.node_count() as u32).flat_map(|from| {
            self.successors(from).iter().zip(self.values(from)).map(move |(&to, value)| (from, to, value))
        })
    }

    /// The number of the strongly connected component of each node, and how many there are. An edge between components
    /// points to the one of the smaller number.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let (of, count) = crate::scc::components(self);
        (of.into_iter().map(|number| number as u32).collect(), count)
    }

    /// All nodes in an order in which every edge points forward; none when there is a cycle.
    pub fn topo_order(&self) -> Option<Vec<u32>> {
        let mut waiting: Vec<u32> =
            (0..self.node_count() as u32).map(|node| self.predecessors(node).len() as u32).collect();
        let mut order: Vec<u32> =
            (0..self.node_count() as u32).filter(|&node| waiting[node as usize] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &to in self.successors(node) {
                waiting[to as usize] -= 1;
                if waiting[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        (order.len() == self.node_count()).then_some(order)
    }

    /// The graph without the edges that a longer path between the same nodes makes superfluous; none when there is a
    /// cycle. The cost is that of [`Graph::reduce_transitively`](crate::Graph::reduce_transitively).
    pub fn reduce_transitively(&self) -> Option<Self>
    where
        W: Clone,
    {
        let order: Vec<usize> = self.topo_order()?.into_iter().map(|node| node as usize).collect();
        let reduced = crate::reduce::reduce(self, &order);
        let mut edges = Vec::new();
        for (from, to, value) in self.edges() {
            if reduced.keeps(from as usize, to as usize) {
                edges.push((from, to, value.clone()));
            }
        }
        Some(Self::from_edges(self.node_count(), edges, |_, _| {}))
    }
}

impl Rows {
    /// Sorts pairs into rows by their first number; in a row they stay in the order they come in.
    fn new(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        let mut count = 0_usize;
        for (from, to) in pairs.clone() {
            assert!((to as usize) < rows, "an edge to a node that the graph does not have");
            starts[from as usize + 1] += 1;
            count += 1;
        }
        assert!(u32::try_from(count).is_ok(), "more edges than a compact graph can hold");
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut ends = vec![0; count];
        for (from, to) in pairs {
            let place = &mut next[from as usize];
            ends[*place as usize] = to;
            *place += 1;
        }
        Self { starts, ends }
    }

    fn range(&self, row: u32) -> (usize, usize) {
        (self.starts[row as usize] as usize, self.starts[row as usize + 1] as usize)
    }

    fn row(&self, row: u32) -> &[u32] {
        let (start, end) = self.range(row);
        &self.ends[start..end]
    }
}

impl<W> Adjacency for CompactGraph<W> {
    fn count(&self) -> usize {
        self.node_count()
    }

    fn successor(&self, node: usize, at: usize) -> Option<usize> {
        let (start, end) = self.outgoing.range(node as u32);
        self.outgoing.ends[start..end].get(at).map(|&to| to as usize)
    }
}
