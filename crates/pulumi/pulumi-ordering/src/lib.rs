//! The order in which a Pulumi deployment is changed: an ordered list of entries, goals in program order, and deletions at
//! the end.
//!
//! ```
//! use groundstate_pulumi_ordering::{Diff, Differ, Goal, StackEntry, StackOptions, Urn, plan_stack};
//! use std::collections::BTreeSet;
//!
//! struct Replaces;
//!
//! impl Differ for Replaces {
//!     fn diff(&mut self, old: &StackEntry, _: &Goal) -> Diff {
//!         if old.urn.as_str() == "network" { Diff::Replace { dbr: true } } else { Diff::Update }
//!     }
//!     fn replaces_if_unknown(&mut self, _: &StackEntry, properties: &BTreeSet<String>) -> bool {
//!         properties.contains("networkId")
//!     }
//!     fn provider_change_replaces(&mut self, _: &StackEntry, _: &Goal) -> bool {
//!         false
//!     }
//! }
//!
//! let network = Goal::custom(Urn::new("network"), "net");
//! let server = Goal::custom(Urn::new("server"), "vm").property("networkId", Urn::new("network"));
//! let base = [network.entry(Some("net-1".to_owned())), server.entry(Some("vm-1".to_owned()))];
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
//! - [`SnapshotList`] is the list while steps end; [`verify`] holds after every one of them.
//! - [`Destruction`] is what there is to do, and to know, when a stored deployment is destroyed; [`entries_of`] is its list.
//! - [`StackIndex`] answers who depends on whom.

mod chain;
mod condemned;
mod deployment;
mod destruction;
mod error;
mod graph;
mod index;
mod keep;
mod members;
mod model;
mod options;
mod order;
mod planner;
mod snapshot;
mod step;
mod targets;
mod verify;
mod waits;

pub use groundstate_schedule::Waves;
pub use groundstate_schedule::drawing::DotStyle;

pub use deployment::entries_of;
pub use destruction::{
    Destruction, Explanation, Removal, RemovalAffected, RemovalKind, RemovalReason, RemovalReasons,
    RemovalReference, RemovalStep,
};
pub use error::StackError;
pub use graph::{StackEdge, StackGraph, StackReason};
pub use index::StackIndex;
pub use model::{Diff, Differ, Goal, ProviderRef, StackEntry, Urn};
pub use options::{DeletedWith, Deletes, StackOptions};
pub use planner::{Program, StackPlanner, plan_stack};
pub use snapshot::{OperationKind, PendingOperation, SnapshotError, SnapshotList, StepOutcome};
pub use step::{Step, StepId, StepKind};
pub use verify::{IntegrityError, Relation, verify};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
