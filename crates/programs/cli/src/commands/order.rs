//! `groundstate order`: in which order operations are done, and why.

use std::path::Path;

use crate::args::{OrderArgs, OrderQuestion};
use crate::input::state::State;
use crate::report::error::Result;
use crate::report::order::{listing, waves};
use crate::{pulumi, terraform};

pub(super) fn run(args: &OrderArgs) -> Result {
    match &args.question {
        OrderQuestion::Destroy(args) => match State::find(&args.state.state)? {
            State::Terraform(state) => terraform::order::destroy(args, state),
            State::Pulumi(state) => pulumi::order::print(&state, &args.rules, &args.picture, listing),
        },
        OrderQuestion::Plan(args) => terraform::order::plan(args),
        OrderQuestion::Waves(args) => match subject(&args.subject, args.before.as_deref())? {
            State::Terraform(state) => terraform::order::parallel(args, state),
            State::Pulumi(state) => pulumi::order::print(&state, &args.rules, &args.picture, waves),
        },
        OrderQuestion::Why(args) => match subject(&args.subject, args.before.as_deref())? {
            State::Terraform(state) => terraform::order::why(args, state),
            State::Pulumi(state) => pulumi::order::why(args, &state),
        },
        OrderQuestion::Blast(args) => match State::find(&args.state)? {
            State::Terraform(state) => terraform::order::blast(args, state),
            State::Pulumi(state) => pulumi::order::blast(args, &state),
        },
    }
}

/// What is asked about. With the state of a plan, a workspace belongs to that state.
fn subject(argument: &Path, before: Option<&Path>) -> Result<State> {
    match before {
        Some(_) => State::beside(argument),
        None => State::find(argument),
    }
}
