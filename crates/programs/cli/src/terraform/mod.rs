//! The verbs on states of Terraform and OpenTofu, one file or folder each.

pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod encryption;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod merge_errored;
pub(crate) mod migrate;
pub(crate) mod migrate_lock;
pub(crate) mod order;
pub(crate) mod outputs;
pub(crate) mod pull;
pub(crate) mod push;
pub(crate) mod recover;
pub(crate) mod repair;
pub(crate) mod repair_digest;
pub(crate) mod replace;
pub(crate) mod rollback;
pub(crate) mod salvage;
pub(crate) mod select;
pub(crate) mod show;
pub(crate) mod undo;
pub(crate) mod upgrade;
mod vanishing;
pub(crate) mod workspaces;
