//! Made-up configurations that Terraform and OpenTofu plan and apply, beside what `groundstate order` prints of the plans.
//!
//! The programs draw the graph of a plan (`graph -plan`), so each pair of operations is compared, and not only those that one
//! run happened to separate. `cargo xtask order-campaign --seeds N` makes it long.

mod configuration;
mod graph;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use self::configuration::{Configuration, Draw};
use self::graph::{Waits, drawn, printed};
use super::support::{Run, groundstate};
use super::terraform::Product;

/// Seeds of an ordinary test run.
const SEEDS: u64 = 2;

/// Outcomes of comparisons.
#[derive(Debug, Default)]
struct Tally {
    equal: usize,
    /// Differences that a note announces, since a plan does not hold everything.
    noted: usize,
    /// Orders that only the state decides.
    undecided: usize,
    /// Plans that the program itself refuses, for cycles of its own.
    refused: usize,
    pairs: usize,
    unexplained: Vec<String>,
}

#[test]
fn printed_orders_are_those_of_terraform() {
    campaign(&Product::terraform());
}

#[test]
fn printed_orders_are_those_of_opentofu() {
    campaign(&Product::tofu());
}

fn campaign(product: &Product) {
    let dir = tempfile::tempdir().unwrap();
    if product.run(dir.path(), &["version"]).is_none() {
        return;
    }
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
    };
    let first = number("GROUNDSTATE_ORDER_FIRST", 1);
    let mut tally = Tally::default();
    for seed in first..first + number("GROUNDSTATE_ORDER_SEEDS", SEEDS) {
        one(product, seed, &mut tally);
    }
    let Tally { equal, noted, undecided, refused, pairs, unexplained } = tally;
    eprintln!(
        "{equal} orders are equal ({pairs} pairs), {noted} differ as a note says, {undecided} need the state, \
         {refused} plans were refused by the program itself"
    );
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    assert!(equal > 0, "nothing was compared");
}

/// Applies a configuration, changes it twice, and destroys what is left.
fn one(product: &Product, seed: u64, tally: &mut Tally) {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let mut draw = Draw::new(seed);
    let mut configuration = Configuration::draw(&mut draw);
    configuration.write(dir);
    product.printed(dir, &["init", "-input=false"]);
    if !succeeds(product, dir, &["apply", "-auto-approve", "-input=false"]) {
        tally.refused += 1;
        return;
    }
    for round in 1..=2 {
        configuration.change(&mut draw);
        configuration.write(dir);
        let options: &[&str] = if draw.chance(20) { &["-refresh=false"] } else { &[] };
        if !plan(product, dir, options) {
            tally.refused += 1;
            return;
        }
        let theirs = graph(product, dir);
        for state in [&[][..], &["--state", "before.tfstate"]] {
            let run = order(dir, &[&["order", "plan", "plan.json"], state].concat());
            compare(&format!("seed {seed}, plan {round} {state:?}"), &theirs, &run, tally);
        }
        // Half of the runs stop in the middle, which leaves tainted and deposed objects.
        let stops = draw.chance(50);
        if stops {
            fs::write(dir.join("stop"), "").unwrap();
        }
        product.run(dir, &["apply", "-input=false", "tfplan"]);
        if stops {
            fs::remove_file(dir.join("stop")).unwrap();
        }
        configuration.settle();
    }
    configuration.write(dir);
    if !plan(product, dir, &["-destroy"]) {
        tally.refused += 1;
        return;
    }
    let theirs = graph(product, dir);
    let run = order(dir, &["order", "plan", "plan.json", "--state", "before.tfstate"]);
    compare(&format!("seed {seed}, plan that destroys"), &theirs, &run, tally);
    let run = order(dir, &["order", "destroy", "before.tfstate"]);
    let listing = groundstate(&["order", "destroy", dir.join("before.tfstate").to_str().unwrap()]);
    assert!(
        listing.stdout.lines().count() < 4 || listing.stdout.contains("The order follows from"),
        "{listing:?}"
    );
    let noted = Run { stderr: listing.stdout, ..run };
    compare(&format!("seed {seed}, state that is destroyed"), &theirs, &noted, tally);
}

/// The graph of the plan, as the program draws it.
fn graph(product: &Product, dir: &Path) -> Waits {
    let mut graph = drawn(&product.printed(dir, &["graph", "-plan=tfplan"]));
    if product.is_tofu() {
        // Who refers to a whole module waits until OpenTofu has dropped objects of it, which changes nothing outside of the state.
        graph.pairs.retain(|(_, other)| !(other.starts_with("module.") && other.ends_with("(forget)")));
    }
    graph
}

/// Plans, and keeps what is compared. Returns `false` if the program refuses its own plan.
fn plan(product: &Product, dir: &Path, options: &[&str]) -> bool {
    let args = [&["plan", "-input=false", "-out=tfplan"], options].concat();
    if !succeeds(product, dir, &args) {
        return false;
    }
    fs::write(dir.join("plan.json"), product.printed(dir, &["show", "-json", "tfplan"])).unwrap();
    if dir.join("terraform.tfstate").exists() {
        fs::copy(dir.join("terraform.tfstate"), dir.join("before.tfstate")).unwrap();
    }
    true
}

/// Runs the program. Returns `false` if it refuses the configuration for a cycle, or because `replace_triggered_by` names a resource
/// of which there is no instance.
fn succeeds(product: &Product, dir: &Path, args: &[&str]) -> bool {
    let output = product.run(dir, args).expect("it has run before");
    let said = String::from_utf8_lossy(&output.stderr);
    let is_refused = ["Cycle:", "no change found for"].iter().any(|why| said.contains(why));
    assert!(output.status.success() || is_refused, "{args:?}: {said}");
    output.status.success()
}

fn order(dir: &Path, args: &[&str]) -> Run {
    let path = |arg: &str| dir.join(arg).to_str().unwrap().to_owned();
    let files = ["plan.json", "before.tfstate"];
    let args: Vec<String> =
        args.iter().map(|arg| if files.contains(arg) { path(arg) } else { (*arg).to_owned() }).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).chain(["--all-edges", "-f", "json"]).collect();
    groundstate(&args)
}

fn compare(what: &str, theirs: &Waits, run: &Run, tally: &mut Tally) {
    if run.code != 0 {
        let undecided =
            run.code == 5 && format!("{}{}", run.stdout, run.stderr).contains("does not determine");
        match undecided {
            true => tally.undecided += 1,
            false => tally.unexplained.push(format!("{what}: {run:?}")),
        }
        return;
    }
    let ours = printed(&run.stdout);
    let difference = |a: &BTreeSet<(String, String)>, b: &BTreeSet<(String, String)>| {
        let both = |pair: &&(String, String)| [&pair.0, &pair.1].iter().all(|end| ours.both(theirs, end));
        a.difference(b).filter(both).cloned().collect::<Vec<_>>()
    };
    let missing = difference(&theirs.pairs, &ours.pairs);
    let extra = difference(&ours.pairs, &theirs.pairs);
    if missing.is_empty() && extra.is_empty() && theirs.operations == ours.operations {
        tally.equal += 1;
        tally.pairs += ours.pairs.len();
    } else if run.stderr.contains("the plan does not say") || run.stderr.contains("The order follows from") {
        tally.noted += 1;
    } else {
        let operations: Vec<_> = theirs.operations.symmetric_difference(&ours.operations).collect();
        tally
            .unexplained
            .push(format!("{what}: missing {missing:?}, extra {extra:?}, {operations:?}: {run:?}"));
    }
}
