//! Directed graphs in stable order: toposort, levels, cycles, components, reduction, DOT.
//!
//! ```
//! use groundstate_dag::Graph;
//!
//! let mut graph = Graph::new();
//! let app = graph.add_node("app");
//! let subnet = graph.add_node("subnet");
//! let network = graph.add_node("network");
//! graph.add_edge(app, subnet);
//! graph.add_edge(subnet, network);
//!
//! // Each node comes before those its edges point to.
//! assert_eq!(graph.topo_order()?, [app, subnet, network]);
//!
//! graph.add_edge(network, app);
//! let cycle = graph.find_cycle().unwrap();
//! assert_eq!(cycle.describe(|node| graph[node]), "app -> subnet -> network -> app");
//! # Ok::<(), groundstate_dag::Cycle>(())
//! ```
//!
//! An edge has no meaning of its own: point it from a node to what it needs, or the other way round, and read the
//! results accordingly. [`Graph::reversed`] turns all edges.
//!
//! # Promises
//!
//! - **Stable**: every result depends on the order in which nodes and edges were added, and on nothing else.
//! - **Flat**: nothing recurses, so a chain of a million nodes needs no more stack than one of three.
//! - **Linear**: the time of each operation is proportional to nodes and edges, where the method does not say otherwise.
//!
//! # What is deliberately absent
//!
//! Removal of nodes, parallel edges, and in [`Graph`] values on edges ([`CompactGraph`] has them). The crate knows nothing of state, resources or addresses.

mod adjacency;
mod compact;
mod cycle;
mod dot;
mod feedback;
mod graph;
mod reduce;
mod scc;
mod topo;
mod walk;

pub use compact::CompactGraph;
pub use cycle::Cycle;
pub use feedback::FeedbackEdges;
pub use graph::{Graph, NodeIndex};
pub use walk::Walk;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
