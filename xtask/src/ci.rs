//! `cargo xtask ci`: every check, the same on a laptop and in continuous integration.

use std::process::Command;
use std::time::Instant;

use crate::outcome::{Failure, Outcome, show, status, works};
use crate::tree::pending_snapshots;
use crate::workspace::{Package, cargo, packages, root};
use crate::{layers, tidy};

/// What a step did when nothing was wrong.
enum Done {
    Passed,
    /// The tool it needs is not there; the text names it.
    NotRun(String),
}

type Step = (&'static str, fn() -> Outcome<Done>);

const STEPS: [Step; 11] = [
    ("fmt", fmt),
    ("tidy", || tidy::run(&[]).map(|()| Done::Passed)),
    ("layers", || layers::run(&[]).map(|()| Done::Passed)),
    ("snapshots", snapshots),
    ("clippy", clippy),
    ("features", features),
    ("doc", doc),
    ("doctest", doctest),
    ("deny", deny),
    ("advisories", advisories),
    ("oldest-compiler", oldest_compiler),
];

/// Runs the steps that are named, or all. A step that fails does not keep the next from running.
pub(crate) fn run(args: &[String]) -> Outcome {
    if args == ["--list"] {
        STEPS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    }
    if let Some(unknown) = args.iter().find(|arg| STEPS.iter().all(|(name, _)| name != arg)) {
        return Err(Failure::Usage(format!(
            "there is no step `{unknown}`; `cargo xtask ci --list` names them"
        )));
    }
    let mut failed = Vec::new();
    let mut summary = String::new();
    for (name, step) in STEPS.iter().filter(|(name, _)| args.is_empty() || args.iter().any(|arg| arg == name))
    {
        println!("== {name}");
        let start = Instant::now();
        let outcome = match step() {
            Ok(Done::Passed) => "passed".to_owned(),
            Ok(Done::NotRun(why)) => format!("not run: {why}"),
            Err(failure) => {
                failed.push(*name);
                format!("FAILED: {failure}")
            }
        };
        println!("{name}: {outcome}");
        summary.push_str(&format!("  {name}: {outcome} ({:.0} s)\n", start.elapsed().as_secs_f64()));
    }
    print!("== summary\n{summary}");
    if failed.is_empty() { Ok(()) } else { Err(Failure::Check(format!("failed: {}", failed.join(", ")))) }
}

fn fmt() -> Outcome<Done> {
    passed(&mut cargo(["fmt", "--all", "--", "--check"]))
}

fn snapshots() -> Outcome<Done> {
    let pending = pending_snapshots()?;
    if pending.is_empty() {
        return Ok(Done::Passed);
    }
    Err(Failure::Check(format!("snapshots wait for review: {}", pending.join(", "))))
}

fn clippy() -> Outcome<Done> {
    passed(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// Lints each published package alone: without features, with each of them, and tests it with all.
///
/// The workspace as a whole is built with every feature that any member asks for, so it cannot show that a package
/// builds with fewer.
fn features() -> Outcome<Done> {
    for package in packages()?.iter().filter(|package| package.published) {
        for selection in selections(package) {
            let chosen = ["--package", &package.name, "--no-default-features"].into_iter().chain(selection);
            let lint =
                ["clippy", "--all-targets"].into_iter().chain(chosen.clone()).chain(["--", "-D", "warnings"]);
            passed(&mut cargo(lint))?;
            // Dev-dependencies may bring what the library itself forgets to ask for.
            passed(&mut cargo(["check"].into_iter().chain(chosen)))?;
        }
        // A package with all its features was tested with the workspace if they are on by default.
        let untested = |feature: &String| feature != "default" && !package.defaults.contains(feature);
        if package.features.iter().any(untested) {
            passed(&mut cargo(["test", "--package", &package.name, "--all-features", "--quiet"]))?;
        }
    }
    Ok(Done::Passed)
}

/// The arguments for no feature, and for each feature by itself.
fn selections(package: &Package) -> Vec<Vec<&str>> {
    let features = package.features.iter().map(String::as_str).filter(|feature| *feature != "default");
    std::iter::once(Vec::new()).chain(features.map(|feature| vec!["--features", feature])).collect()
}

fn doc() -> Outcome<Done> {
    passed(cargo(["doc", "--workspace", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn doctest() -> Outcome<Done> {
    passed(&mut cargo(["test", "--workspace", "--doc", "--all-features", "--quiet"]))
}

fn deny() -> Outcome<Done> {
    if !works("cargo", &["deny", "--version"]) {
        return Ok(Done::NotRun("cargo-deny is not installed".to_owned()));
    }
    passed(&mut cargo(["deny", "check", "licenses", "bans", "sources"]))
}

fn advisories() -> Outcome<Done> {
    if !works("cargo", &["deny", "--version"]) {
        return Ok(Done::NotRun("cargo-deny is not installed".to_owned()));
    }
    if !works("cargo", &["deny", "fetch", "db"]) {
        return Ok(Done::NotRun("the database of advisories cannot be fetched".to_owned()));
    }
    passed(&mut cargo(["deny", "check", "advisories"]))
}

/// Builds everything with the oldest compiler that the manifests promise.
fn oldest_compiler() -> Outcome<Done> {
    let packages = packages()?;
    let Some(version) = packages.iter().find_map(|package| package.rust_version.as_deref()) else {
        return Err(Failure::Check("no manifest says `rust-version`".to_owned()));
    };
    if !works("rustup", &["run", version, "rustc", "--version"]) {
        return Ok(Done::NotRun(format!("the toolchain {version} is not installed")));
    }
    let args = ["run", version, "cargo", "check", "--workspace", "--all-features"];
    passed(Command::new("rustup").current_dir(root()).args(args))
}

/// Runs the command with its snapshots fixed, and says beforehand what is run.
fn passed(command: &mut Command) -> Outcome<Done> {
    println!("$ {}", show(command));
    status(command.env("INSTA_UPDATE", "no").env("CARGO_TERM_PROGRESS_WHEN", "never")).map(|()| Done::Passed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::selections;
    use crate::workspace::Package;

    #[test]
    fn features_are_selected_one_by_one_and_default_is_not_among_them() {
        let package = Package {
            name: "a".to_owned(),
            description: String::new(),
            dir: "crates/a".to_owned(),
            published: true,
            layer: None,
            rust_version: None,
            features: ["default", "os", "serde"].map(str::to_owned).to_vec(),
            defaults: Vec::new(),
            dependencies: Vec::new(),
            built_with: BTreeSet::new(),
        };
        assert_eq!(selections(&package), [&[][..], &["--features", "os"], &["--features", "serde"]]);
    }
}
