//! `cargo xtask bench`: starts the benchmarks, which are a program of their own.

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::{cargo, packages};

const PACKAGE: &str = "groundstate-bench";

/// Builds the benchmarks as the programs that are shipped and runs the one that is named, with the rest of the arguments.
pub(crate) fn run(args: &[String]) -> Outcome {
    if args.is_empty() {
        return Err(Failure::Usage("name a benchmark, as in `cargo xtask bench state`".to_owned()));
    }
    if !packages()?.iter().any(|package| package.name == PACKAGE) {
        return Err(Failure::Missing(format!("the workspace has no package `{PACKAGE}` to run")));
    }
    let fixed = ["run", "--profile", "dist", "--package", PACKAGE, "--"];
    status(&mut cargo(fixed.into_iter().chain(args.iter().map(String::as_str))))
}
