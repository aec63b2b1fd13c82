//! `cargo xtask conformance`: the suite of the stores' contract, and crates for new stores.

mod scaffold;

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::{cargo, packages};

const PACKAGE: &str = "groundstate-conformance";
/// Where the table of stores and clauses stands.
const TABLE: &str = "docs/conformance.md";

/// Runs one of the commands of the usage text.
pub(crate) fn run(args: &[String]) -> Outcome {
    let usage = || {
        let message =
            "say `conformance list`, `run --store NAME`, `run --url URL`, `report [--check]` or `new NAME`";
        Failure::Usage(message.to_owned())
    };
    let (command, args) = args.split_first().ok_or_else(usage)?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match (command.as_str(), args.as_slice()) {
        ("list", []) => example(&["list"]),
        ("run", args) if ["--store", "--url", "--help"].iter().any(|way| args.contains(way)) => {
            example(&[&["run"], args].concat())
        }
        ("report", []) => example(&["report", TABLE]),
        ("report", ["--check"]) => example(&["report", TABLE, "--check"]),
        ("new", args) => scaffold::run(args),
        _ => Err(usage()),
    }
}

/// Starts the program that knows the stores; it is no part of this one, which stays quick to build.
fn example(args: &[&str]) -> Outcome {
    if !packages()?.iter().any(|package| package.name == PACKAGE) {
        return Err(Failure::Missing(format!("the workspace has no package `{PACKAGE}` to run")));
    }
    let fixed = ["run", "--quiet", "--package", PACKAGE, "--example", "stores", "--"];
    status(&mut cargo(fixed.into_iter().chain(args.iter().copied())))
}
