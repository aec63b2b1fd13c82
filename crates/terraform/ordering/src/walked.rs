//! Operation graphs as what a walk keeps to.

use groundstate_schedule::walk::{WalkGraph, WalkGraphError};

use crate::graph::OperationGraph;

impl OperationGraph {
    /// The graph for a walk: nodes keep their numbers, and barriers follow behind them.
    ///
    /// # Errors
    ///
    /// When the graph has cycles.
    pub fn to_walk(&self) -> Result<WalkGraph, WalkGraphError> {
        WalkGraph::from_waits(self.network())
    }
}
