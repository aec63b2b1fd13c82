//! `groundstate order`: in which order operations are done, and why.

mod answer;
mod compared;
mod graph;
mod refusal;
mod run;
mod subject;

pub(crate) use answer::{blast, why};
pub(crate) use run::{destroy, parallel, plan};
