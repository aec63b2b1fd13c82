//! Operation graphs as what a walk keeps to.

use crate::graph::OperationGraph;
use crate::walk::{Relation, WalkGraph, WalkGraphError};

impl OperationGraph {
    /// The graph for a walk: nodes keep their numbers, and barriers follow behind them.
    ///
    /// # Errors
    ///
    /// When the graph has cycles.
    pub fn to_walk(&self) -> Result<WalkGraph, WalkGraphError> {
        let network = self.network();
        let mut builder = WalkGraph::builder(network.len() as usize);
        for node in 0..network.len() {
            if !network.is_op(node) {
                builder.barrier(node as usize);
            }
            for &to in network.dependencies(node) {
                builder.edge(node as usize, to as usize, Relation::Needs);
            }
        }
        builder.build()
    }
}
