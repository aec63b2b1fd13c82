//! `cargo xtask conformance new`: a crate for a new store, which compiles and passes the suite before anything is changed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::{Failure, Outcome};
use crate::workspace::root;

/// The files of the crate, by their places in it.
const FILES: [(&str, &str); 7] = [
    ("src/lib.rs", include_str!("../../template/src/lib.rs")),
    ("src/service.rs", include_str!("../../template/src/service.rs")),
    ("src/store.rs", include_str!("../../template/src/store.rs")),
    ("src/writing.rs", include_str!("../../template/src/writing.rs")),
    ("src/locking.rs", include_str!("../../template/src/locking.rs")),
    ("tests/conformance.rs", include_str!("../../template/tests/conformance.rs")),
    ("README.md", include_str!("../../template/README.md")),
];

/// What the command line asks for.
struct Plan<'a> {
    name: &'a str,
    /// The folder of the crate; a crate of this workspace when absent.
    to: Option<&'a str>,
    /// Whether to depend on this checkout by its path.
    by_path: bool,
}

/// Makes the crate.
pub(super) fn run(args: &[&str]) -> Outcome {
    let plan = parse(args)?;
    let name = plan.name;
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        let message =
            format!("`{name}` is not a name for a store: begin with a letter, then a-z, 0-9 and `-`");
        return Err(Failure::Usage(message));
    }
    let folder =
        plan.to.map_or_else(|| root().join(format!("crates/terraform/statemgr-{name}")), PathBuf::from);
    if folder.exists() {
        let message = format!("{} is there already, choose another name or folder", folder.display());
        return Err(Failure::Check(message));
    }
    write(&plan, &folder)
        .map_err(|error| Failure::Missing(format!("cannot write {}: {error}", folder.display())))?;
    println!("{} is ready: run `cargo test` there, and read docs/write-a-backend.md", folder.display());
    Ok(())
}

fn parse<'a>(args: &[&'a str]) -> Outcome<Plan<'a>> {
    let usage = || Failure::Usage("say `conformance new NAME [--to FOLDER [--path]]`".to_owned());
    match args {
        [name] => Ok(Plan { name, to: None, by_path: false }),
        [name, "--to", folder] => Ok(Plan { name, to: Some(folder), by_path: false }),
        [name, "--to", folder, "--path"] => Ok(Plan { name, to: Some(folder), by_path: true }),
        _ => Err(usage()),
    }
}

fn write(plan: &Plan<'_>, folder: &Path) -> std::io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, filled_in(text, plan.name))?;
    }
    fs::write(folder.join("Cargo.toml"), filled_in(&manifest(plan), plan.name))?;
    if plan.by_path {
        // The same versions as here, so that nothing has to be downloaded.
        fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    }
    Ok(())
}

/// The template with the name of the store in it.
fn filled_in(text: &str, name: &str) -> String {
    let package = package(name);
    let words = name.split('-').filter_map(|word| {
        let (first, rest) = word.split_at_checked(1)?;
        Some(first.to_ascii_uppercase() + rest)
    });
    let camel: String = words.collect();
    text.replace("CRATE_NAME", &package.replace('-', "_"))
        .replace("PACKAGE_NAME", &package)
        .replace("Template", &camel)
        .replace("template", name)
}

fn package(name: &str) -> String {
    format!("groundstate-statemgr-{name}")
}

/// A member of this workspace inherits from it; any other crate stands alone.
fn manifest(plan: &Plan<'_>) -> String {
    let head =
        "[package]\nname = \"PACKAGE_NAME\"\ndescription = \"State of Terraform and OpenTofu in template\"\n";
    if plan.to.is_none() {
        let keys = ["version", "edition", "rust-version", "license", "repository"];
        let keys: String = keys.iter().map(|key| format!("{key}.workspace = true\n")).collect();
        return format!(
            "{head}{keys}readme = \"README.md\"\n\n[package.metadata.groundstate]\nlayer = 4\n\n[dependencies]\n\
             groundstate-statemgr.workspace = true\nasync-trait.workspace = true\n\n[dev-dependencies]\n\
             groundstate-cli.workspace = true\ngroundstate-common = {{ workspace = true, features = [\"os\"] }}\n\
             groundstate-conformance.workspace = true\n\n[lints]\nworkspace = true\n"
        );
    }
    let dependency = |family: &str, crate_name: &str, features: &str| {
        let path = root().join("crates").join(family).join(crate_name);
        // TOML and Rust escape the same characters of a path.
        let path = format!("{:?}", path.display().to_string());
        if plan.by_path {
            format!("groundstate-{crate_name} = {{ path = {path}{features} }}\n")
        } else {
            format!(
                "groundstate-{crate_name} = {{ version = \"{}\"{features} }}\n",
                env!("CARGO_PKG_VERSION")
            )
        }
    };
    format!(
        "{head}version = \"0.1.0\"\nedition = \"2024\"\nreadme = \"README.md\"\n\n[dependencies]\n{}async-trait = \"0.1\"\n\n\
         [dev-dependencies]\n{}{}{}\n[workspace]\n",
        dependency("terraform", "statemgr", ""),
        // The clouds take their time to build, and the new store needs none.
        dependency("programs", "cli", ", default-features = false"),
        dependency("base", "common", ", features = [\"os\"]"),
        dependency("dev", "conformance", ""),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::{filled_in, run};
    use crate::workspace::{packages, root, target};

    /// A folder that goes when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("groundstate-xtask-{}-{name}", std::process::id()));
            fs::remove_dir_all(&path).unwrap_or_default();
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap_or_default();
        }
    }

    fn cargo_test(folder: &Path) {
        let text = cargo(folder, &["test", "--offline", "--quiet"]);
        assert!(!text.contains("warning:"), "{text}");
    }

    /// What cargo prints, on both streams; it has to succeed.
    fn cargo(folder: &Path, args: &[&str]) -> String {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(folder).env("CARGO_TARGET_DIR", target().unwrap());
        // The linter of the workspace, if it compiles the tests there.
        command.env_remove("RUSTC_WORKSPACE_WRAPPER");
        // What was built for the workspace is used again, so it is asked for in the same form. These options come first: what
        // follows `--` is the program's.
        command.args(["--config", "profile.dev.package.\"*\".opt-level=1"]);
        for package in packages().unwrap() {
            command.arg("--config").arg(format!("profile.dev.package.{}.opt-level=0", package.name));
        }
        let output = command.args(args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        text.into_owned()
    }

    #[test]
    fn names_are_put_where_they_belong() {
        let text = "use CRATE_NAME::TemplateStore; // PACKAGE_NAME, template:prod";
        assert_eq!(
            filled_in(text, "two-words"),
            "use groundstate_statemgr_two_words::TwoWordsStore; // groundstate-statemgr-two-words, two-words:prod"
        );
    }

    #[test]
    fn names_that_are_none_and_folders_that_are_there_are_refused() {
        let folder = Folder::new("taken");
        let there = folder.0.to_str().unwrap();
        for (args, code) in [
            (&["Upper"][..], 2),
            (&["9"], 2),
            (&[""], 2),
            (&[], 2),
            (&["a", "--to"], 2),
            (&["a", "--path"], 2),
            (&["a", "--to", there], 1),
        ] {
            assert_eq!(run(args).unwrap_err().exit_code(), code, "{args:?}");
        }
    }

    /// The page is followed to the letter: the crate is made, and each listing that names a file takes its place in turn.
    /// The suite passes after every step.
    #[test]
    fn the_page_write_a_backend_works() {
        let page = fs::read_to_string(root().join("docs/write-a-backend.md")).unwrap();
        let folder = Folder::new("page");
        let made = folder.0.join("shelf");
        assert!(page.contains("cargo xtask conformance new shelf --to "), "the page begins with the command");
        run(&["shelf", "--to", made.to_str().unwrap(), "--path"]).unwrap();
        cargo_test(&made);
        let mut steps = 0;
        for listing in page.split("```rust\n// ").skip(1) {
            let (path, rest) = listing.split_once('\n').unwrap();
            let (text, _) = rest.split_once("```").unwrap();
            let text = text.strip_prefix('\n').unwrap_or(text);
            let is_new = path.starts_with("tests/") || path.starts_with("examples/");
            assert!(
                is_new || made.join(path).exists(),
                "{path} is a file of the crate, a test or an example"
            );
            fs::create_dir_all(made.join(path).parent().unwrap()).unwrap();
            fs::write(made.join(path), text).unwrap();
            cargo_test(&made);
            steps += 1;
        }
        assert!(steps >= 4, "the page has {steps} listings of files");
        // The store is used from the command: what the page shows is what comes.
        let (_, session) = page.split_once("```console\n$ cargo run --quiet --example ").unwrap();
        let (session, _) = session.split_once("\n```").unwrap();
        let (line, expected) = session.split_once('\n').unwrap();
        let mut args = vec!["run", "--offline", "--quiet", "--example"];
        args.extend(line.split(' '));
        assert!(args.contains(&"list") && args.contains(&"shelf://prod"), "{line}");
        assert_eq!(cargo(&made, &args).trim_end(), expected);
    }
}
