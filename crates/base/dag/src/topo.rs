//! Orders in which every edge points forward, and the levels of such an order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Cycle, Graph, NodeIndex};

impl<N> Graph<N> {
    /// All nodes in an order in which every edge points forward; among the nodes that could come next, the one that
    /// was added first does.
    ///
    /// With edges from each node to what it needs this is an order of removal; of [`reversed`](Self::reversed), one of
    /// creation. Takes time proportional to edges and nodes, times the logarithm of the number of nodes.
    ///
    /// # Errors
    ///
    /// A [`Cycle`] when there is no such order: the one that [`find_cycle`](Self::find_cycle) gives.
    pub fn topo_order(&self) -> Result<Vec<NodeIndex>, Cycle> {
        self.by_rank(|index| index.0, &self.indices().collect::<Vec<_>>())
    }

    /// As [`topo_order`](Self::topo_order), but among the nodes that could come next the one with the smallest key
    /// does, and of those with the same key the one that was added first.
    ///
    /// ```
    /// use groundstate_dag::Graph;
    ///
    /// let mut graph = Graph::new();
    /// let [b, a, c] = ["b", "a", "c"].map(|name| graph.add_node(name));
    /// graph.add_edge(c, a);
    /// assert_eq!(graph.topo_order()?, [b, c, a]);
    /// assert_eq!(graph.topo_order_by_key(|_, name| name.to_string())?, [b, c, a]);
    /// assert_eq!(graph.topo_order_by_key(|_, name| std::cmp::Reverse(*name))?, [c, b, a]);
    /// # Ok::<(), groundstate_dag::Cycle>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`topo_order`](Self::topo_order).
    pub fn topo_order_by_key<K: Ord>(
        &self,
        mut key: impl FnMut(NodeIndex, &N) -> K,
    ) -> Result<Vec<NodeIndex>, Cycle> {
        let mut keyed: Vec<(K, NodeIndex)> =
            self.nodes().map(|(index, node)| (key(index, node), index)).collect();
        keyed.sort();
        let by_rank: Vec<NodeIndex> = keyed.into_iter().map(|(_, index)| index).collect();
        let mut ranks = vec![0; by_rank.len()];
        for (rank, index) in by_rank.iter().enumerate() {
            ranks[index.0] = rank;
        }
        self.by_rank(|index| ranks[index.0], &by_rank)
    }

    /// Kahn's algorithm with a heap of ranks; `by_rank` is the inverse of `rank`.
    fn by_rank(
        &self,
        rank: impl Fn(NodeIndex) -> usize,
        by_rank: &[NodeIndex],
    ) -> Result<Vec<NodeIndex>, Cycle> {
        let mut waiting = self.incoming_counts();
        let mut ready: BinaryHeap<Reverse<usize>> =
            self.indices().filter(|index| waiting[index.0] == 0).map(|index| Reverse(rank(index))).collect();
        let mut order = Vec::with_capacity(self.node_count());
        while let Some(Reverse(next)) = ready.pop() {
            let node = by_rank[next];
            order.push(node);
            for &to in self.successors(node) {
                waiting[to.0] -= 1;
                if waiting[to.0] == 0 {
                    ready.push(Reverse(rank(to)));
                }
            }
        }
        self.complete(order)
    }

    /// The nodes in levels: on the first those that no edge points to, on each further one those whose predecessors
    /// all lie on levels before it, and one of them on the level just before. In a level nodes are in index order.
    ///
    /// The nodes of a level have no edges among them: what works through a level may do so at once.
    ///
    /// # Errors
    ///
    /// As [`topo_order`](Self::topo_order).
    pub fn levels(&self) -> Result<Vec<Vec<NodeIndex>>, Cycle> {
        let mut waiting = self.incoming_counts();
        let mut depth = vec![0; self.node_count()];
        let mut order: Vec<NodeIndex> = self.indices().filter(|index| waiting[index.0] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &to in self.successors(node) {
                depth[to.0] = depth[to.0].max(depth[node.0] + 1);
                waiting[to.0] -= 1;
                if waiting[to.0] == 0 {
                    order.push(to);
                }
            }
        }
        self.complete(order)?;
        let mut levels = Vec::new();
        for index in self.indices() {
            let level = depth[index.0];
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(index);
        }
        Ok(levels)
    }

    fn incoming_counts(&self) -> Vec<usize> {
        self.indices().map(|index| self.predecessors(index).len()).collect()
    }

    /// The order, if it holds all nodes; else the cycle that kept the rest out of it.
    fn complete(&self, order: Vec<NodeIndex>) -> Result<Vec<NodeIndex>, Cycle> {
        if order.len() == self.node_count() {
            return Ok(order);
        }
        Err(self.find_cycle().expect("nodes are left over only when a cycle keeps them waiting"))
    }
}
