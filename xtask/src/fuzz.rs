//! `cargo xtask fuzz`: runs the fuzz targets of all crates for a while.

use std::process::Command;

use crate::outcome::{Failure, Outcome, status, works};
use crate::tree::Tree;
use crate::workspace::root;

const DEFAULT_SECONDS: u64 = 60;

/// A fuzz target: its name and the folder of the crate it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    name: String,
    dir: String,
}

/// Runs all targets or the one that is named, one after the other.
pub(crate) fn run(args: &[String]) -> Outcome {
    let targets = targets(&Tree::read()?);
    let request = parse(args, &targets)?;
    if request.list {
        request.targets.iter().for_each(|target| println!("{} ({})", target.name, target.dir));
        return Ok(());
    }
    if !works("cargo", &["fuzz", "--version"]) {
        return Err(Failure::Missing("not run: cargo-fuzz is not installed".to_owned()));
    }
    if !works("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Err(Failure::Missing(
            "not run: the nightly toolchain, which cargo-fuzz needs, is not installed".to_owned(),
        ));
    }
    for target in request.targets {
        println!("{}: {} seconds", target.name, request.seconds);
        let mut command = Command::new("rustup");
        command.current_dir(root().join(&target.dir)).args([
            "run",
            "nightly",
            "cargo",
            "fuzz",
            "run",
            &target.name,
        ]);
        status(command.arg("--").arg(format!("-max_total_time={}", request.seconds)))?;
    }
    Ok(())
}

struct Request {
    targets: Vec<Target>,
    seconds: u64,
    list: bool,
}

fn parse(args: &[String], all: &[Target]) -> Outcome<Request> {
    let mut request = Request { targets: all.to_vec(), seconds: DEFAULT_SECONDS, list: false };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--list" => request.list = true,
            "--seconds" => {
                let number = args.next().and_then(|value| value.parse().ok());
                request.seconds = number
                    .ok_or_else(|| Failure::Usage("`--seconds` takes a whole number after it".to_owned()))?;
            }
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
        assert!(parsed(&["three"]).is_err());
    }
}
