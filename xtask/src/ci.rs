//! `cargo xtask ci`: every check, the same on a laptop and in continuous integration.

use std::process::Command;
use std::time::Instant;

use crate::outcome::{Failure, Outcome, show, status, works};
use crate::services::programs;
use crate::tree::pending_snapshots;
use crate::workspace::{Package, cargo, packages, root};
use crate::{examples, fuzz, layers, tidy};

/// What a step did when nothing was wrong.
enum Done {
    Passed,
    /// The tool it needs is not there; the text names it.
    NotRun(String),
}

/// How long each fuzz target runs.
const FUZZ_SECONDS: u64 = 20;

type Step = (&'static str, fn() -> Outcome<Done>);

const STEPS: [Step; 12] = [
    ("fmt", fmt),
    ("tidy", || tidy::run(&[]).map(|()| Done::Passed)),
    ("layers", || layers::run(&[]).map(|()| Done::Passed)),
    ("snapshots", snapshots),
    ("clippy", clippy),
    ("features", features),
    ("examples", || examples::run(&[]).map(|()| Done::Passed)),
    ("doc", doc),
    ("deny", deny),
    ("fuzz", fuzz),
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

/// Lints each published package alone: without features, and with each of them.
///
/// The workspace as a whole is built and tested with every feature (`tidy` sees to it), so it cannot show that a package
/// builds with fewer.
fn features() -> Outcome<Done> {
    let mut failed = Vec::new();
    for package in packages()?.iter().filter(|package| package.published) {
        for selection in selections(package) {
            let chosen = ["--package", &package.name, "--no-default-features"].into_iter().chain(selection);
            // Without its tests: dev-dependencies may bring what the library itself forgets to ask for.
            let lint = ["clippy", "--no-deps"].into_iter().chain(chosen).chain(["--", "-D", "warnings"]);
            failed.extend(passed(&mut cargo(lint)).err());
        }
    }
    // All are linted, so that one report holds all there is to mend.
    failed.into_iter().next().map_or(Ok(Done::Passed), Err)
}

/// Whether a feature can be asked for: those that begin with an underscore are what others have in common.
fn is_public(feature: &str) -> bool {
    feature != "default" && !feature.starts_with('_')
}

/// The arguments for no feature, and for each feature by itself.
fn selections(package: &Package) -> Vec<Vec<&str>> {
    let features = package.features.iter().map(String::as_str).filter(|feature| is_public(feature));
    std::iter::once(Vec::new()).chain(features.map(|feature| vec!["--features", feature])).collect()
}

fn doc() -> Outcome<Done> {
    passed(cargo(["doc", "--workspace", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// A call of cargo-deny, if there is one.
fn cargo_deny(args: &[&str]) -> Outcome<Option<Command>> {
    let path = programs::path()?;
    let call = |args: &[&str]| {
        let mut command = cargo(["deny"].into_iter().chain(args.iter().copied()));
        command.env("PATH", &path);
        command
    };
    let there = call(&["--version"]).output().is_ok_and(|output| output.status.success());
    Ok(there.then(|| call(args)))
}

fn deny() -> Outcome<Done> {
    match cargo_deny(&["check", "licenses", "bans", "sources"])? {
        Some(mut command) => passed(&mut command),
        None => absent("cargo-deny"),
    }
}

fn advisories() -> Outcome<Done> {
    let Some(mut fetch) = cargo_deny(&["fetch", "db"])? else { return absent("cargo-deny") };
    if !fetch.output().is_ok_and(|output| output.status.success()) {
        return Ok(Done::NotRun("the database of advisories cannot be fetched".to_owned()));
    }
    match cargo_deny(&["check", "advisories"])? {
        Some(mut command) => passed(&mut command),
        None => absent("cargo-deny"),
    }
}

/// Every fuzz target for a while, from the same seed each time; longer campaigns are `cargo xtask fuzz`.
fn fuzz() -> Outcome<Done> {
    if !fuzz::is_installed()? {
        return absent("cargo-fuzz");
    }
    fuzz::all(FUZZ_SECONDS).map(|()| Done::Passed)
}

/// The end of a step whose program is not here: a failure where the caller says that the machine can have it.
fn absent(program: &str) -> Outcome<Done> {
    let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
    if required.split(',').any(|name| name == program) {
        return Err(Failure::Missing(format!("{program} is required and not installed")));
    }
    Ok(Done::NotRun(format!(
        "{program} is not installed; `cargo xtask services install {program}` builds it"
    )))
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
            features: ["_shared", "default", "os", "serde"].map(str::to_owned).to_vec(),
            dependencies: Vec::new(),
            built_with: BTreeSet::new(),
        };
        assert_eq!(selections(&package), [&[][..], &["--features", "os"], &["--features", "serde"]]);
    }
}
