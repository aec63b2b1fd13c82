//! Tests of groundstate-dag.

mod compact;
mod cycle;
mod dot;
mod feedback;
mod graph;
mod large;
mod naive;
mod reduce;
mod scc;
mod topo;
mod walk;
