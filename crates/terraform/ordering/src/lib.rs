//! Orders of creation and destruction: the operation graph of a plan or a state, with reasons.
//!
//! Nodes are single operations: bring an instance about, destroy its current object, destroy a deposed one, drop one
//! from the state. An edge says that one waits for another, and why.
//!
//! ```
//! use groundstate_ordering::{Action, DepRef, Explanation, InstanceInput, Input, ObjectRecord, Options};
//! use groundstate_ordering::{PlannedChange, ReplaceOrder, ResourceConfig, build};
//! use groundstate_ordering::states::addr::{AbsResourceInstance, ConfigResource, ProviderConfig, TERRAFORM_REGISTRY};
//!
//! let provider = ProviderConfig::parse(r#"provider["acme/x"]"#, TERRAFORM_REGISTRY)?;
//! let net = ConfigResource::parse("net.a")?;
//! let mut vm = ResourceConfig::new(ConfigResource::parse("vm.b")?, provider.clone());
//! vm.dependencies.push(DepRef::Resource(net.clone()));
//! vm.create_before_destroy = true;
//!
//! // Both are replaced. The one that is depended on follows the flag of the other.
//! let mut input = Input::default();
//! input.resources = vec![ResourceConfig::new(net.clone(), provider.clone()), vm];
//! for (addr, dependencies) in [("net.a", vec![]), ("vm.b", vec![net])] {
//!     let mut instance = InstanceInput::new(AbsResourceInstance::parse(addr)?, provider.clone());
//!     instance.current = Some(ObjectRecord { dependencies, ..ObjectRecord::default() });
//!     let replace = Action::Replace(ReplaceOrder::Auto);
//!     input.changes.push(PlannedChange::current(instance.addr.clone(), replace));
//!     input.instances.push(instance);
//! }
//! let graph = build(&input, &Options::default())?;
//! let labels: Vec<String> = graph.order()?.iter().map(|node| node.key.to_string()).collect();
//! let old = "(destroy deposed 00000001)";
//! assert_eq!(labels, ["net.a".to_owned(), "vm.b".to_owned(), format!("vm.b {old}"), format!("net.a {old}")]);
//!
//! let [net, vm] = ["net.a", "vm.b"].map(AbsResourceInstance::parse);
//! let Explanation::Waits(chain) = graph.why(&vm?, &net?) else { return Err("they are ordered".into()) };
//! assert_eq!(chain[0].reasons.to_string(), "config");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Finding your way
//!
//! - [`Input`] and [`Options`] say what there is and how to see it. [`Input::destroy`] makes one of a state,
//!   [`Planned::read`] one of a plan as `terraform show -json` prints it.
//! - [`build`] gives the [`OperationGraph`] or [`BuildErrors`]: everything that is wrong, with whole cycles and what to cut.
//! - Questions are its methods: [`order`](OperationGraph::order), [`waves`](OperationGraph::waves),
//!   [`why`](OperationGraph::why), [`blast`](OperationGraph::blast), [`select`](OperationGraph::select),
//!   [`persist`](OperationGraph::persist).
//! - So are renderings: [`to_text`](OperationGraph::to_text), [`to_listing`](OperationGraph::to_listing),
//!   [`to_json`](OperationGraph::to_json), [`to_dot`](OperationGraph::to_dot), [`to_mermaid`](OperationGraph::to_mermaid).
//! - [`to_walk`](OperationGraph::to_walk) gives what [`groundstate_schedule::walk`] carries out, [`effects`] says what that does
//!   to a state, [`full`] is the graph as Terraform draws it.
//!
//! # How it stays small
//!
//! Recorded dependencies have no keys, and configuration counts through all that lies between, so edges grow with the
//! product of instances and with the square of chains. The graph holds *barriers* instead: one node that stands for many.
//! They never show, and [`edges`](OperationGraph::edges) resolves them one by one.
//!
//! # What is deliberately absent
//!
//! Providers, expressions, I/O, async, clocks, random numbers (deposed keys are proposed by the caller), layout of drawings.

mod build;
mod cbd;
mod config;
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
mod undecided;
mod walked;

pub use groundstate_schedule::Waves;
pub use groundstate_schedule::drawing::DotStyle;

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
pub use plan::{Cause, FallbackSource, MissingReferences, PlanError, PlanNote, Planned, Product};
pub use query::{Affected, Explanation, Step};
pub use report::{CutEdit, CycleReport, CycleStep};
pub use undecided::Undecided;

/// The models of states.
pub use groundstate_states as states;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
