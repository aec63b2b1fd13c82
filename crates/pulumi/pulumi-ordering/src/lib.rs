//! The order in which a Pulumi deployment is changed: an ordered list of entries, goals in program order, and deletions at
//! the end.
//!
//! ```
//! use groundstate_pulumi_ordering::{Diff, Differ, Goal, StackOptions, plan_stack};
//! use groundstate_pulumi_ordering::pulumi_snapshot::{Resource, Snapshot, Urn};
//! use std::collections::BTreeSet;
//!
//! struct Replaces;
//!
//! impl Differ for Replaces {
//!     fn diff(&mut self, old: &Resource, _: &Goal) -> Diff {
//!         if old.urn.as_str() == "network" { Diff::Replace { dbr: true } } else { Diff::Update }
//!     }
//!     fn replaces_if_unknown(&mut self, _: &Resource, properties: &BTreeSet<String>) -> bool {
//!         properties.contains("networkId")
//!     }
//!     fn provider_change_replaces(&mut self, _: &Resource, _: &Goal) -> bool {
//!         false
//!     }
//! }
//!
//! let network = Goal::custom(Urn::from("network"), "net");
//! let server = Goal::custom(Urn::from("server"), "vm").property("networkId", Urn::from("network"));
//! let stored = |goal: &Goal, id: &str| Resource { id: Some(id.into()), ..goal.resource.clone() };
//! let base = Snapshot::new([stored(&network, "net-1"), stored(&server, "vm-1")]).resources;
//! let graph = plan_stack(&base, &[network, server], &mut Replaces, &StackOptions::default()).unwrap();
//! let labels: Vec<String> = graph.steps().iter().map(ToString::to_string).collect();
//! assert_eq!(labels, [
//!     "server (delete-replaced)",
//!     "network (delete-replaced)",
//!     "network (replace)",
//!     "network (create-replacement)",
//!     "server (replace)",
//!     "server (create-replacement)",
//! ]);
//! ```
//!
//! # The rules
//!
//! - Everything an entry depends on comes before it in the list, so the list itself is an order: backwards it is one of
//!   deletions.
//! - A replacement creates first and deletes at the very end, when all goals are through. *Delete before replace* is a
//!   property of one replacement, and drags along what depends on the entry and would have to be replaced too.
//! - Entries are known by their position, since several may have one URN: one that is live, and any number of old
//!   objects that wait to be deleted.
//!
//! # Finding your way
//!
//! - [`plan_stack`] plans a whole list of goals, [`StackPlanner`] one after another, for a program that runs. Both agree.
//! - [`StackGraph`] has the steps and what they wait for; [`StackGraph::walk_graph`] is what [`groundstate_schedule::walk`] carries out.
//! - [`Destruction`] is what there is to do, and to know, when a stored stack is destroyed; [`without_views`] is its list.
//! - [`StackIndex`] answers who depends on whom.

mod chain;
mod condemned;
mod destruction;
mod error;
mod goal;
mod graph;
mod index;
mod keep;
mod members;
mod options;
mod order;
mod planner;
#[cfg(feature = "serde")]
mod serialization;
mod step;
mod targets;
mod views;
mod waits;

pub use groundstate_schedule::Waves;
pub use groundstate_schedule::drawing::DotStyle;

pub use destruction::{
    Destruction, Explanation, Removal, RemovalAffected, RemovalKind, RemovalReason, RemovalReasons,
    RemovalReference, RemovalStep,
};
pub use error::StackError;
pub use goal::{Diff, Differ, Goal};
pub use graph::{StackEdge, StackGraph, StackReason};
pub use index::StackIndex;
pub use options::{DeletedWith, Deletes, StackOptions};
pub use planner::{Program, StackPlanner, plan_stack};
pub use step::{Step, StepId, StepKind};
pub use views::without_views;

/// The models of stacks.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
