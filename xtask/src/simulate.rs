//! `cargo xtask simulate`: simulated engines and journals, many cases long, built for release.

use crate::outcome::{Outcome, status};
use crate::workspace::cargo;

/// Runs the package groundstate-simulation with these arguments.
pub(crate) fn run(args: &[String]) -> Outcome {
    let fixed = ["run", "--quiet", "--release", "--package", "groundstate-simulation", "--"];
    status(&mut cargo(fixed.into_iter().chain(args.iter().map(String::as_str))))
}
