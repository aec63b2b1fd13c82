//! The commands that change a deployment: one lock, one write, a backup, and a preview.

mod between;
mod done;
mod pending;
mod provider;
mod push;
mod repair;
mod report;
mod rollback;
mod run;
#[cfg(feature = "http")]
mod service;
mod undo;
mod undo_both;
mod verbs;
mod whole;

pub(crate) use between::{mv_to, split};
pub(crate) use pending::{clear, list as list_pending, resolve};
pub(crate) use provider::change_secrets_provider;
pub(crate) use push::push;
pub(crate) use repair::repair;
pub(crate) use rollback::{rollback, undo_stack};
pub(super) use run::encoded;
pub(crate) use undo::undo;
pub(crate) use verbs::{flag, mv, rm};
