//! `groundstate order`: in which order a stack is destroyed, and why.

mod destruction;
mod graph;

pub(crate) use destruction::{blast, print, why};
