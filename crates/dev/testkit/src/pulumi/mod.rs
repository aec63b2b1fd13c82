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

/// The host of the language in which the programs of the tests are written.
const HOST: &str = "pulumi-language-yaml";

/// The CLI: `pulumi`, or another release of it that `GROUNDSTATE_PULUMI` names.
pub(crate) fn cli() -> &'static str {
    static CLI: OnceLock<String> = OnceLock::new();
    CLI.get_or_init(|| std::env::var("GROUNDSTATE_PULUMI").unwrap_or_else(|_| "pulumi".to_owned()))
}

/// Whether the CLI is of a release that sends journals to a service: from 3.225 on.
///
/// # Panics
///
/// If it does not say which release it is.
pub fn pulumi_has_journals() -> bool {
    let said = Command::new(cli()).arg("version").output().expect("pulumi starts").stdout;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    let mut numbers = said.trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    let release = (numbers.next(), numbers.next());
    assert!(release.1.is_some(), "{said:?} is no version of pulumi");
    release >= (Some(3), Some(225))
}

/// Whether there are a pulumi and its YAML host on the path. If not, it says that the test does not run.
///
/// # Panics
///
/// If one is required and not there.
pub fn pulumi_takes_part() -> bool {
    static MISSING: OnceLock<Option<&str>> = OnceLock::new();
    takes_part(*MISSING.get_or_init(|| [cli(), HOST].into_iter().find(|program| !is_there(program))))
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
    found && (program != cli() || Command::new(program).arg("version").output().is_ok())
}
