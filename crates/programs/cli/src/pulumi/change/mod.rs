//! The commands that change a deployment: one lock, one write, a backup, and a preview.

mod between;
mod done;
mod pending;
mod repair;
mod report;
mod run;
mod undo;
mod verbs;

pub(crate) use between::{mv_to, split};
pub(crate) use pending::{clear, list as list_pending, resolve};
pub(crate) use repair::repair;
pub(crate) use undo::undo;
pub(crate) use verbs::{flag, mv, rm};
