//! `cargo xtask fuzz`: runs the fuzz targets of all crates for a while.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use crate::outcome::{Failure, Outcome, show, status};
use crate::services::programs;
use crate::tree::Tree;
use crate::workspace::{root, target};

const DEFAULT_SECONDS: u64 = 60;
/// The package with the targets of all crates, so that what they share is built once.
const PACKAGE: &str = "crates/dev/fuzz";

/// A fuzz target: its name and the folder of the crate it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    name: String,
    dir: String,
}

/// Runs all targets or the one that is named, several at once.
pub(crate) fn run(args: &[String]) -> Outcome {
    let targets = targets(&Tree::read()?);
    let request = parse(args, &targets)?;
    if request.list {
        request.targets.iter().for_each(|target| println!("{} ({})", target.name, target.dir));
        return Ok(());
    }
    if !is_installed()? {
        return Err(Failure::Missing("not run: cargo-fuzz is not installed".to_owned()));
    }
    fuzz(&request)
}

/// Runs every target for this long, from the inputs of the repository and with one seed: what fails then, fails for the
/// change that is tested and not by chance.
pub(crate) fn all(seconds: u64) -> Outcome {
    let targets = targets(&Tree::read()?);
    fuzz(&Request { targets, seconds, seed: Some(1), jobs: jobs(), list: false, is_quick: true })
}

/// Whether `cargo fuzz` can be run.
pub(crate) fn is_installed() -> Outcome<bool> {
    let mut command = Command::new("cargo");
    let output = command.args(["fuzz", "--version"]).env("PATH", programs::path()?).output();
    Ok(output.is_ok_and(|output| output.status.success()))
}

fn fuzz(request: &Request) -> Outcome {
    let folder = target()?.join("fuzz");
    let mut build = cargo_fuzz("build", &folder, request)?;
    if let [target] = request.targets.as_slice() {
        build.arg(&target.name);
    }
    println!("$ {}", show(&build));
    status(&mut build)?;
    let waiting = Mutex::new(request.targets.iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..request.jobs.min(request.targets.len()) {
            scope.spawn(|| {
                while let Some(target) = next(&waiting) {
                    if let Err(failure) = fuzz_one(target, request, &folder)
                        && let Ok(mut failed) = failed.lock()
                    {
                        println!("{}: FAILED: {failure}", target.name);
                        failed.push(target.name.as_str());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Check(format!("failed: {}", failed.join(", ")))) }
}

fn next<'a>(waiting: &Mutex<std::slice::Iter<'a, Target>>) -> Option<&'a Target> {
    waiting.lock().ok()?.next()
}

/// Runs one target. What libFuzzer prints goes to a file: its end is shown when an input breaks something.
fn fuzz_one(target: &Target, request: &Request, folder: &Path) -> Outcome {
    let unwritable = |error| Failure::Missing(format!("cannot write into {}: {error}", folder.display()));
    // New inputs are collected apart from those in the repository, which are read and not written.
    let collected = match request.seed {
        None => folder.join("corpus").join(&target.name),
        // What earlier runs have collected would lead it elsewhere.
        Some(_) => {
            let fresh = folder.join("seeded").join(&target.name);
            if fresh.exists() {
                std::fs::remove_dir_all(&fresh).map_err(unwritable)?;
            }
            fresh
        }
    };
    std::fs::create_dir_all(&collected).map_err(unwritable)?;
    let log = folder.join(format!("{}.log", target.name));
    let output = std::fs::File::create(&log).map_err(unwritable)?;
    let errors = output.try_clone().map_err(unwritable)?;
    let mut command = cargo_fuzz("run", folder, request)?;
    command.arg(&target.name).arg(collected).arg(root().join(&target.dir).join("fuzz/corpus"));
    command.args(["--", &format!("-max_total_time={}", request.seconds), "-timeout=20"]);
    command.args(request.seed.map(|seed| format!("-seed={seed}")));
    let outcome = status(command.stdout(output).stderr(errors));
    let text = std::fs::read(&log).map_err(unwritable)?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    match outcome {
        Ok(()) => {
            println!("{}: {}", target.name, lines.last().copied().unwrap_or_default());
            Ok(())
        }
        Err(failure) => {
            let last = lines[lines.len().saturating_sub(40)..].join("\n");
            Err(Failure::Check(format!("{failure}; the end of {}:\n{last}", log.display())))
        }
    }
}

/// A call of cargo-fuzz.
///
/// Its flags for the compiler are unstable ones, which `RUSTC_BOOTSTRAP` allows on a stable toolchain. The crates forbid unsafe
/// code, so a sanitizer would only slow the targets down.
fn cargo_fuzz(verb: &str, folder: &Path, request: &Request) -> Outcome<Command> {
    let mut command = Command::new("cargo");
    command.current_dir(root().join(PACKAGE)).env("RUSTC_BOOTSTRAP", "1").env("PATH", programs::path()?);
    command.args(["fuzz", verb, "--fuzz-dir", ".", "--sanitizer", "none", "--codegen-units", "16"]);
    command.arg("--target-dir").arg(folder);
    if request.is_quick {
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    }
    Ok(command)
}

/// How many targets run at once unless the caller says otherwise: one for each core.
fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

struct Request {
    targets: Vec<Target>,
    seconds: u64,
    /// Where the random numbers begin; a new place each time if it is absent.
    seed: Option<u32>,
    jobs: usize,
    list: bool,
    /// Built with few optimisations: for runs so short that the build takes longer.
    is_quick: bool,
}

fn parse(args: &[String], all: &[Target]) -> Outcome<Request> {
    let targets = all.to_vec();
    let mut request =
        Request { targets, seconds: DEFAULT_SECONDS, seed: None, jobs: jobs(), list: false, is_quick: false };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--list" => request.list = true,
            "--seconds" => request.seconds = number("--seconds", args.next())?,
            "--seed" => request.seed = Some(number("--seed", args.next())?),
            "--jobs" => request.jobs = number("--jobs", args.next())?,
            name => {
                request.targets.retain(|target| target.name == name);
                if request.targets.is_empty() {
                    return Err(Failure::Usage(format!(
                        "there is no fuzz target `{name}`; `--list` names them"
                    )));
                }
            }
        }
    }
    Ok(request)
}

fn number<T: std::str::FromStr>(option: &str, value: Option<&String>) -> Outcome<T> {
    let number = value.and_then(|value| value.parse().ok());
    number.ok_or_else(|| Failure::Usage(format!("`{option}` takes a whole number after it")))
}

/// The targets lie in `crates/NAME/fuzz/fuzz_targets`, a file each.
fn targets(tree: &Tree) -> Vec<Target> {
    let target = |path: &str| {
        let (dir, file) = path.split_once("/fuzz/fuzz_targets/")?;
        let name = file.strip_suffix(".rs").filter(|name| !name.contains('/'))?;
        dir.starts_with("crates/").then(|| Target { name: name.to_owned(), dir: dir.to_owned() })
    };
    tree.rust_files().filter_map(|(path, _)| target(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Target, parse, targets};
    use crate::tree::{File, Tree};

    fn target(name: &str) -> Target {
        Target { name: name.to_owned(), dir: "crates/a".to_owned() }
    }

    #[test]
    fn targets_are_the_files_of_each_crate() {
        let file = |path: &str| File { path: path.to_owned(), text: Some(String::new()) };
        let files = [
            "crates/a/fuzz/fuzz_targets/decode.rs",
            "crates/a/fuzz/fuzz_targets/x/y.rs",
            "crates/a/src/fuzz.rs",
        ];
        assert_eq!(targets(&Tree { files: files.map(file).to_vec() }), [target("decode")]);
    }

    #[test]
    fn arguments_choose_the_target_and_the_time() {
        let all = [target("one"), target("two")];
        let parsed = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            parse(&args, &all).map(|request| (request.targets, request.seconds, request.list))
        };
        assert_eq!(parsed(&[]).unwrap(), (all.to_vec(), 60, false));
        assert_eq!(parsed(&["--seconds", "5", "two"]).unwrap(), (vec![target("two")], 5, false));
        assert!(parsed(&["--list"]).unwrap().2);
        let jobs = |args: &[String]| parse(args, &all).map(|request| request.jobs);
        assert_eq!(jobs(&["--jobs".to_owned(), "3".to_owned()]).unwrap(), 3);
        assert!(jobs(&["--jobs".to_owned()]).is_err());
        assert_eq!(parse(&["--seed".to_owned(), "7".to_owned()], &all).unwrap().seed, Some(7));
        assert_eq!(parse(&[], &all).unwrap().seed, None);
        assert!(parsed(&["three"]).is_err());
    }
}
