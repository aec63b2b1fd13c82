//! Integrity of Pulumi snapshots: what is wrong with one, and how to set it right.
//!
//! [`verify`] finds everything that is wrong, with stable codes, and knows what Pulumi would say.
//!
//! ```
//! use groundstate_pulumi_integrity::pulumi_snapshot::{Resource, Snapshot, Urn};
//! use groundstate_pulumi_integrity::{VerifyOptions, sort, verify};
//!
//! let named = |name: &str| Resource::new(Urn::build("dev", "shop", "", "t:t:t", name), "t:t:t");
//! let mut web = named("web");
//! web.dependencies.push(named("network").urn);
//! let mut snapshot = Snapshot::new([web, named("network")]);
//!
//! let report = verify(&snapshot, &VerifyOptions::default());
//! assert_eq!(report.findings[0].rule.id(), "GS0610");
//!
//! sort(&mut snapshot)?;
//! assert!(verify(&snapshot, &VerifyOptions::default()).is_clean());
//! # Ok::<(), groundstate_pulumi_integrity::SortError>(())
//! ```
//!
//! # Where to look
//!
//! - [`verify`] and its [`Rule`]s; [`IntegrityError`] is the error of those who refuse what is broken.
//! - [`normalize`], [`sort`] and [`prune`] bring a snapshot into the form in which it is written.
//! - [`delete`], [`rename`], [`set_flag`], [`move_resources`], [`rename_stack`], [`clear_pending`], [`resolve_pending`]: edits that
//!   check before they change anything. [`find`] and [`closest`] find what is meant.
//! - [`repair`] works out a [`Plan`] of [`Step`]s, with [`Question`]s whose answers are [`RepairOptions`].
//!
//! # What is deliberately absent
//!
//! - Files, places in them, encryption: `groundstate-pulumi-deployment` reads and writes snapshots.
//! - Questions to people: choices are data with a default, and programs ask.
//! - I/O, async, clocks and randomness.
//!
//! # Features
//!
//! - `serde`: [`Finding`]s, for other programs and stores.

mod edit;
mod gate;
mod normalize;
mod pending;
mod prune;
mod reference;
mod repair;
mod rewrite;
mod rule;
mod sort;
mod targets;
mod verify;

pub use groundstate_common::Severity;

pub use edit::{
    Broken, DeleteError, DeleteOptions, Deleted, FindError, Flag, MoveError, MoveOptions, MovedResources,
    NotFound, RenameError, RenameStack, RenameStackError, Renamed, StackRenamed, closest, delete, delete_all,
    find, move_again, move_resources, rename, rename_stack, set_flag, set_flag_at, set_flag_everywhere,
};
pub use gate::{Accepted, GateError, pass_gate};
pub use normalize::{NormalizeError, normalize};
pub use pending::{PendingError, PendingRule, clear_pending, resolve_pending};
pub use prune::{Pruned, prune};
pub use reference::{Reference, ReferenceKind};
pub use repair::{
    Action, Choice, DropReason, Plan, Question, QuestionId, RemoveReason, RepairOptions, Step, repair,
};
pub use rule::Rule;
pub use sort::{Moved, SortError, sort};
pub use verify::{Finding, IntegrityError, IntegrityOperation, Report, VerifyOptions, verify};

/// The models of stacks.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
