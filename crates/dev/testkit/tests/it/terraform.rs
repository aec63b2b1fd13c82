//! The terraform on the PATH.

use std::path::Path;
use std::process::{Command, Output};

pub(crate) use groundstate_testkit::terraform_takes_part as is_there;

/// A directory with a configuration of one resource and this backend.
pub(crate) fn directory(backend: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "terraform {{\n{backend}\n}}\nvariable \"v\" {{ default = \"1\" }}\n\
         resource \"terraform_data\" \"a\" {{ input = var.v }}\n"
    );
    std::fs::write(dir.path().join("main.tf"), text).unwrap();
    std::fs::write(dir.path().join("rc"), "").unwrap();
    dir
}

/// Terraform in a directory, told nothing by the machine it runs on.
pub(crate) fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("terraform");
    command.args(args).current_dir(dir);
    command.env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
    command.env("TF_CLI_CONFIG_FILE", dir.join("rc")).env("AWS_EC2_METADATA_DISABLED", "true");
    for name in [
        "TF_DATA_DIR",
        "TF_WORKSPACE",
        "TF_CLI_ARGS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
    ] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// What terraform prints when it succeeds.
#[track_caller]
pub(crate) fn printed(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What terraform complains of when it fails, without the frame around it.
#[track_caller]
pub(crate) fn complaint(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}
