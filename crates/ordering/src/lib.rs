//! Orders of creation and destruction: the operation graph of a plan or a state, with reasons.
//!
//! Nodes are single operations: bring an instance about, destroy its current object, destroy a deposed one, drop one
//! from the state. An edge says that one waits for another, and why.
//!
//! ```
//! use groundstate_ordering::{NodeKey, Part};
//! use groundstate_states::addr::AbsResourceInstance;
//!
//! let addr = AbsResourceInstance::parse("module.m[0].net.a")?;
//! let destroy = NodeKey::operation(addr.clone(), Part::Destroy);
//! assert_eq!(destroy.to_string(), "module.m[0].net.a (destroy)");
//! assert!(NodeKey::operation(addr, Part::Apply) < destroy);
//! # Ok::<(), groundstate_states::addr::AddrError>(())
//! ```

mod build;
mod cbd;
mod config;
mod cycle;
mod edge;
pub mod effects;
mod error;
mod from_state;
pub mod full;
mod graph;
mod input;
mod keys;
mod network;
mod node;
mod options;
mod plan;
mod query;
mod render;
mod report;
mod select;
pub mod stack;
pub mod walk;
mod walked;

pub use build::{build, build_with};
pub use cbd::{CbdCause, CbdOrigin};
pub use edge::{DroppedEdge, Edge, EdgeReason, Reasons};
pub use error::{BuildError, BuildErrors, ConfigNode, Warning};
pub use graph::{CyclicGraph, OperationGraph, PersistMeta};
pub use input::{
    Action, DepRef, Input, InstanceInput, ObjectRecord, PlannedChange, ProviderInput, ReplaceOrder,
    ResourceConfig,
};
pub use keys::{CountedKeys, DeposedKeys, DrawnKeys};
pub use node::{ApplyKind, NodeKey, OpKind, OpNode, Part};
pub use options::{CbdPropagation, CrossProvider, Options, PlanMode, Profile, Scope};
pub use plan::{Cause, PlanError, PlanNote, Planned};
pub use query::{Affected, Explanation, Step, Waves};
pub use render::DotStyle;
pub use report::{CycleReport, CycleStep};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
