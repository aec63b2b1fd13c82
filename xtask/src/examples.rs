//! `cargo xtask examples`: the first example of each crate's README and documentation, with that crate as its only dependency.
//!
//! Doctests are built with the dev-dependencies of their crate, so they cannot show that a reader who adds the one crate gets along.
//! Each example becomes a program of a package that depends on the crate alone. Programs on a runtime need the runtime, and who
//! implements a trait of async methods its macro: these may be named beside it, and what hidden lines make files with.

use std::fs;
use std::io;
use std::path::Path;

use crate::outcome::{Failure, Outcome, status};
use crate::workspace::{Package, cargo, packages, root, target};

/// What an example may name beside its crate.
const BESIDE: &str = "async-trait = \"0.1\"\ntempfile = \"3\"\n\
                      tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\", \"time\"] }\n";

/// Checks all examples in one call of cargo, without any network.
pub(crate) fn run(args: &[String]) -> Outcome {
    if !args.is_empty() {
        return Err(Failure::Usage("`examples` takes no arguments".to_owned()));
    }
    let folder = target()?.join("examples-alone");
    let packages = packages()?;
    let made = write(&folder, &packages);
    let made =
        made.map_err(|error| Failure::Missing(format!("cannot write {}: {error}", folder.display())))?;
    println!("{made} examples, each with one crate");
    let mut check = cargo(["check", "--offline", "--quiet", "--keep-going", "--workspace", "--bins"]);
    // What was built for the workspace is used again; only its own crates count as others from there.
    status(check.current_dir(&folder).env("CARGO_TARGET_DIR", target()?).env_remove("CARGO_MANIFEST_DIR"))
}

/// Writes a workspace with a package for each crate that has examples, and gives the number of examples.
fn write(folder: &Path, packages: &[Package]) -> io::Result<usize> {
    fs::remove_dir_all(folder).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    fs::create_dir_all(folder)?;
    let (mut members, mut made) = (Vec::new(), 0);
    for package in packages.iter().filter(|package| package.published) {
        let dir = root().join(&package.dir);
        let Ok(library) = fs::read_to_string(dir.join("src/lib.rs")) else { continue };
        let readme = fs::read_to_string(dir.join("README.md"))?;
        let docs: String =
            library.lines().filter_map(|line| line.strip_prefix("//!")).map(unindented).collect();
        let sources = [("readme", first_example(&readme)), ("docs", first_example(&docs))];
        for (name, example) in sources {
            let Some(example) = example else { continue };
            let sources = folder.join(&package.name).join("src/bin");
            fs::create_dir_all(&sources)?;
            fs::write(sources.join(format!("{name}.rs")), program(&example))?;
            made += 1;
        }
        if folder.join(&package.name).exists() {
            fs::write(folder.join(&package.name).join("Cargo.toml"), manifest(package, &dir))?;
            members.push(format!("{:?}", package.name));
        }
    }
    // The profile of the workspace, so that what is built for it is found.
    let profile = "[profile.dev.package.\"*\"]\nopt-level = 1\n";
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n{profile}", members.join(", "));
    fs::write(folder.join("Cargo.toml"), workspace)?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(made)
}

fn unindented(line: &str) -> String {
    format!("{}\n", line.strip_prefix(' ').unwrap_or(line))
}

fn manifest(package: &Package, dir: &Path) -> String {
    let name = &package.name;
    let public = package.features.iter().filter(|name| *name != "default" && !name.starts_with('_'));
    let features: Vec<String> = public.map(|name| format!("{name:?}")).collect();
    let path = dir.display().to_string();
    format!(
        "[package]\nname = \"example-{name}\"\nedition = \"2024\"\n\n[dependencies]\n{name} = {{ path = {path:?}, features = [{}] }}\n{BESIDE}",
        features.join(", ")
    )
}

/// The first block of Rust in a text of Markdown that is meant to compile.
fn first_example(text: &str) -> Option<String> {
    let mut lines = text.lines();
    loop {
        let fence = lines.next()?.trim_end();
        let Some(words) = fence.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let is_rust = words.split(',').all(|word| matches!(word, "" | "rust" | "no_run"));
        if is_rust {
            return Some(block.join("\n"));
        }
    }
}

/// A program of an example, as rustdoc makes one: hidden lines are shown, and what has no `main` gets one.
fn program(example: &str) -> String {
    let shown = example.lines().map(|line| match line.trim_start() {
        "#" => String::new(),
        hidden if hidden.starts_with("# ") => hidden[2..].to_owned(),
        _ => line.to_owned(),
    });
    let text = shown.collect::<Vec<_>>().join("\n");
    let head = "#![allow(unused, reason = \"examples show and do not use\")]\n";
    if text.contains("fn main()") {
        return format!("{head}{text}\n");
    }
    if text.lines().last().is_some_and(|line| line.starts_with("Ok::<")) {
        return format!(
            "{head}fn main() {{\n    fn example() -> Result<(), impl std::fmt::Debug> {{\n{text}\n    }}\n    example().unwrap();\n}}\n"
        );
    }
    format!("{head}fn main() {{\n{text}\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::{first_example, program};

    #[test]
    fn the_first_block_that_compiles_is_the_example() {
        let text = "# A\n```console\n$ x\n```\n```rust,ignore\nno\n```\n```rust\n# use a::b;\nc();\n```\n```rust\nlater\n```\n";
        assert_eq!(first_example(text).as_deref(), Some("# use a::b;\nc();"));
        assert_eq!(first_example("```text\nx\n```\n"), None);
    }

    #[test]
    fn an_example_becomes_a_program_as_rustdoc_makes_one() {
        assert!(program("# use a::b;\nc();").ends_with("fn main() {\nuse a::b;\nc();\n}\n"));
        assert!(program("fn main() {}").ends_with("\nfn main() {}\n"));
        assert!(program("a()?;\n# Ok::<(), E>(())").contains("impl std::fmt::Debug"));
    }
}
