//! `cargo xtask ci`: every check, the same on a laptop and in continuous integration.

use std::fmt;
use std::process::Command;
use std::time::Instant;

use crate::outcome::{Failure, Outcome, show, status, works};
use crate::services::programs;
use crate::tree::{Tree, pending_snapshots};
use crate::workspace::{Package, cargo, packages, root, target};
use crate::{examples, fuzz, layers, tidy};

/// What a step did when nothing was wrong.
enum Done {
    Passed,
    /// The tool it needs is not there; the text names it.
    NotRun(String),
}

/// How long each fuzz target runs.
const FUZZ_SECONDS: u64 = 5;

/// A check, and where it builds.
struct Step {
    name: &'static str,
    /// It builds nothing in `target` itself, so it runs beside the others.
    apart: bool,
    run: fn() -> Outcome<Done>,
}

const fn step(name: &'static str, run: fn() -> Outcome<Done>) -> Step {
    Step { name, apart: false, run }
}

const fn apart(name: &'static str, run: fn() -> Outcome<Done>) -> Step {
    Step { name, apart: true, run }
}

const STEPS: [Step; 12] = [
    step("fmt", fmt),
    step("tidy", || tidy::run(&[]).map(|()| Done::Passed)),
    step("layers", || layers::run(&[]).map(|()| Done::Passed)),
    step("snapshots", snapshots),
    step("clippy", clippy),
    step("features", features),
    step("examples", || examples::run(&[]).map(|()| Done::Passed)),
    step("doc", doc),
    apart("deny", deny),
    apart("fuzz", fuzz),
    apart("advisories", advisories),
    step("oldest-compiler", oldest_compiler),
];

/// How a step ended.
struct Ended {
    name: &'static str,
    outcome: Outcome<Done>,
    seconds: f64,
}

/// Runs the steps that are named, or all. A step that fails does not keep the next from running.
pub(crate) fn run(args: &[String]) -> Outcome {
    if args == ["--list"] {
        STEPS.iter().for_each(|step| println!("{}", step.name));
        return Ok(());
    }
    if let Some(unknown) = args.iter().find(|arg| STEPS.iter().all(|step| step.name != *arg)) {
        return Err(Failure::Usage(format!(
            "there is no step `{unknown}`; `cargo xtask ci --list` names them"
        )));
    }
    let is_chosen = |step: &&Step| args.is_empty() || args.iter().any(|arg| arg == step.name);
    let all = |apart: bool| STEPS.iter().filter(is_chosen).filter(move |step| step.apart == apart).map(end);
    let mut ended: Vec<Ended> = std::thread::scope(|scope| {
        let beside = scope.spawn(|| all(true).collect::<Vec<_>>());
        let mut ended: Vec<Ended> = all(false).collect();
        match beside.join() {
            Ok(beside) => ended.extend(beside),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        ended
    });
    ended.sort_by_key(|ended| STEPS.iter().position(|step| step.name == ended.name));
    println!("== summary");
    ended.iter().for_each(|ended| println!("  {ended}"));
    let failed: Vec<&str> =
        ended.iter().filter(|ended| ended.outcome.is_err()).map(|ended| ended.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Check(format!("failed: {}", failed.join(", ")))) }
}

/// Runs a step, and says at once how it ended: what follows may be cut off.
fn end(step: &Step) -> Ended {
    println!("== {}", step.name);
    let start = Instant::now();
    let outcome = (step.run)();
    let ended = Ended { name: step.name, outcome, seconds: start.elapsed().as_secs_f64() };
    println!("{ended}");
    ended
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.outcome {
            Ok(Done::Passed) => f.write_str("passed")?,
            Ok(Done::NotRun(why)) => write!(f, "not run: {why}")?,
            Err(failure) => write!(f, "FAILED: {failure}")?,
        }
        write!(f, " ({:.0} s)", self.seconds)
    }
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

/// Lints each published package alone: without features, and with each of them that its sources mention.
///
/// The workspace as a whole is built and tested with every feature (`tidy` sees to it), so it cannot show that a package
/// builds with fewer. A feature that the sources do not mention only asks for features of other packages, which are linted there.
fn features() -> Outcome<Done> {
    let tree = Tree::read()?;
    let mut failed = Vec::new();
    for package in packages()?.iter().filter(|package| package.published) {
        for selection in selections(package, &tree) {
            let chosen = ["--package", &package.name, "--no-default-features"].into_iter().chain(selection);
            // Without its tests: dev-dependencies may bring what the library itself forgets to ask for. With the packages below it, as the
            // step `clippy` lints them: what was linted in that form once is not read again.
            let lint = ["clippy"].into_iter().chain(chosen).chain(["--", "-D", "warnings"]);
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

/// The arguments for no feature, and for each feature by itself that changes what is compiled.
fn selections<'p>(package: &'p Package, tree: &Tree) -> Vec<Vec<&'p str>> {
    let sources = format!("{}/src/", package.dir);
    let is_mentioned = |feature: &&str| {
        let mention = format!("feature = \"{feature}\"");
        tree.rust_files().any(|(path, text)| path.starts_with(&sources) && text.contains(&mention))
    };
    let features = package.features.iter().map(String::as_str).filter(|feature| is_public(feature));
    let features = features.filter(is_mentioned).map(|feature| vec!["--features", feature]);
    std::iter::once(Vec::new()).chain(features).collect()
}

fn doc() -> Outcome<Done> {
    let args = ["doc", "--workspace", "--no-deps", "--all-features"];
    let outcome = passed(cargo(args).env("RUSTDOCFLAGS", "-D warnings"));
    clear("doc")?;
    outcome
}

/// Removes what a step built and no other needs, in continuous integration: disks are small there.
fn clear(folder: &str) -> Outcome {
    if std::env::var_os("CI").is_none() {
        return Ok(());
    }
    let folder = target()?.join(folder);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::Missing(format!("cannot remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
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
    let outcome = fuzz::all(FUZZ_SECONDS);
    clear("fuzz")?;
    outcome.map(|()| Done::Passed)
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
    use crate::tree::{File, Tree};
    use crate::workspace::Package;

    #[test]
    fn features_that_the_sources_mention_are_selected_one_by_one() {
        let package = Package {
            name: "a".to_owned(),
            description: String::new(),
            dir: "crates/a".to_owned(),
            published: true,
            layer: None,
            rust_version: None,
            features: ["_shared", "default", "os", "passed-on", "serde"].map(str::to_owned).to_vec(),
            dependencies: Vec::new(),
            built_with: BTreeSet::new(),
        };
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: Some(text.to_owned()) };
        let tree = Tree {
            files: vec![
                file("crates/a/src/lib.rs", "#[cfg(feature = \"os\")]\nmod os;\n"),
                file("crates/a/src/b.rs", "#[cfg_attr(any(feature = \"serde\", feature = \"_shared\"), x)]"),
                file("crates/ab/src/lib.rs", "#[cfg(feature = \"passed-on\")]"),
            ],
        };
        assert_eq!(selections(&package, &tree), [&[][..], &["--features", "os"], &["--features", "serde"]]);
    }
}
