//! The commands that edit a state: one lock, one write, a backup, and a preview.

mod between;
mod edit;
mod meant;
mod report;
mod run;
mod verbs;

pub(crate) use between::{mv_to, split};
pub(crate) use edit::run as edit;
pub(crate) use verbs::{mv, replace_provider, rm, taint, untaint};
