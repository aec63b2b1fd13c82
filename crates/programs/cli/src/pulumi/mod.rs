//! The verbs on Pulumi deployments and checkpoints, one file or folder each.

mod admission;
mod change;
mod check;
mod configured;
mod crypt;
mod diff;
mod graph;
mod history;
mod keys;
pub(crate) mod leftovers;
mod list;
mod locate;
pub(crate) mod order;
mod outputs;
mod passphrase;
mod pull;
mod recover;
mod secrets;
mod select;
#[cfg(feature = "http")]
mod service_history;
#[cfg(feature = "http")]
mod service_secrets;
mod show;
mod shown;
pub(crate) mod stacks;
mod unreadable;
mod upgrade;

pub(crate) use change::{
    change_secrets_provider, clear, flag, list_pending, mv, mv_to, push, repair, resolve, rm, rollback,
    split, undo, undo_stack,
};
pub(crate) use check::check;
pub(crate) use configured::ConfiguredKey;
pub(crate) use crypt::{decrypt, encrypt};
pub(crate) use diff::diff;
pub(crate) use graph::graph;
pub(crate) use history::history;
pub(crate) use list::list;
pub(crate) use outputs::outputs;
pub(crate) use pull::pull;
pub(crate) use recover::recover;
pub(crate) use show::show;
pub(crate) use upgrade::upgrade;

/// Returns a directory as an absolute path, where the system tells it.
fn stack_folder(folder: &std::path::Path) -> std::path::PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}
