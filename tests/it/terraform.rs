//! The terraform on the PATH.

use std::path::Path;
use std::process::{Command, Output};

/// Whether terraform takes part. It has to if `GROUNDSTATE_REQUIRE` names it.
pub(crate) fn is_there() -> bool {
    let found = Command::new("terraform").arg("version").output().is_ok();
    let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
    assert!(found || !required.split(',').any(|peer| peer == "terraform"), "terraform has to be on the PATH");
    if !found {
        eprintln!("not run: terraform is not on the PATH");
    }
    found
}

/// Runs terraform in a directory, whatever comes of it.
pub(crate) fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("terraform");
    command.args(args).current_dir(dir).env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
    for name in ["TF_DATA_DIR", "TF_WORKSPACE", "TF_CLI_ARGS"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

/// What terraform prints when it succeeds.
#[track_caller]
pub(crate) fn printed(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
