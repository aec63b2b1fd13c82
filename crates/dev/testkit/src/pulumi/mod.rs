//! The real pulumi: places for its stacks, and projects in which it runs.

mod place;
mod project;

use std::process::Command;
use std::sync::OnceLock;

pub use place::PulumiPlace;
#[cfg(unix)]
pub use project::PulumiHolds;
pub use project::PulumiProject;

use crate::backend::is_required;

/// What has to be on the path: the CLI, and the host of the language in which the programs of the tests are written.
const PROGRAMS: [&str; 2] = ["pulumi", "pulumi-language-yaml"];

/// Whether there are a pulumi and its YAML host on the path. If not, it says that the test does not run.
///
/// # Panics
///
/// If one is required and not there.
pub fn pulumi_takes_part() -> bool {
    static MISSING: OnceLock<Option<&str>> = OnceLock::new();
    takes_part(*MISSING.get_or_init(|| PROGRAMS.into_iter().find(|program| !is_there(program))))
}

/// Whether there is an interpreter of Python with Pulumi's SDK besides: `pulumi-python`. If not, it says that the test does not run.
///
/// # Panics
///
/// If one is required and not there.
pub fn pulumi_python_takes_part() -> bool {
    pulumi_takes_part() && takes_part(Some("pulumi-python").filter(|program| !is_there(program)))
}

#[expect(clippy::print_stderr, reason = "who runs the tests has to know what was not compared")]
fn takes_part(missing: Option<&str>) -> bool {
    let Some(program) = missing else { return true };
    assert!(!is_required(program), "{program} has to be on the PATH");
    eprintln!("not run: {program} is not on the PATH; see `cargo xtask services install {program}`");
    false
}

/// The host of a language has no option that only asks for its version, so it is looked for.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    found && (program != "pulumi" || Command::new(program).arg("version").output().is_ok())
}
