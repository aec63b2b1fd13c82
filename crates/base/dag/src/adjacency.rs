//! What the algorithms need of a graph, however it is stored.

/// Nodes numbered from 0, each with the numbers of those that its edges point to.
pub(crate) trait Adjacency {
    /// The number of nodes.
    fn count(&self) -> usize;
    /// Where the edge at this place of the node's list points to; none behind the last.
    fn successor(&self, node: usize, at: usize) -> Option<usize>;
}
