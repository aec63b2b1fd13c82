//! What an engine tells a journal: its states, which change while operations run, and its steps.

mod base;
mod elide;
mod state;
mod step;

pub use base::Base;
pub use elide::{must_write, outputs_changed};
pub use state::{State, StateId};
pub use step::{Step, StepKind};
