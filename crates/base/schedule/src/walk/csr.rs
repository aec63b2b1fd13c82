//! Adjacency in compressed rows: two arrays for a whole graph.

use super::Relation;

/// The neighbours of every node, in the order in which the edges were given.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Where the row of each node begins, and where the last one ends.
    starts: Vec<usize>,
    neighbours: Vec<(u32, Relation)>,
}

impl Rows {
    /// Sorts edges into rows: `row` names the node that an edge belongs to, `neighbour` the one at its other end.
    pub(super) fn new(
        nodes: usize,
        edges: &[(u32, u32, Relation)],
        row: impl Fn(&(u32, u32, Relation)) -> u32,
        neighbour: impl Fn(&(u32, u32, Relation)) -> u32,
    ) -> Self {
        let mut starts = vec![0; nodes + 1];
        for edge in edges {
            starts[row(edge) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![(0, Relation::Needs); edges.len()];
        for edge in edges {
            let place = &mut next[row(edge) as usize];
            neighbours[*place] = (neighbour(edge), edge.2);
            *place += 1;
        }
        Self { starts, neighbours }
    }

    pub(super) fn of(&self, node: usize) -> impl Iterator<Item = (usize, Relation)> + '_ {
        let row = &self.neighbours[self.starts[node]..self.starts[node + 1]];
        row.iter().map(|&(neighbour, relation)| (neighbour as usize, relation))
    }
}
