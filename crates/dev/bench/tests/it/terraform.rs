//! Terraform on invented states: it reads them whole and writes them back as they are.

use std::fs;
use std::path::Path;
use std::process::Command;

use groundstate_bench::{Format, Recipe};

use super::state;

/// What `terraform state` prints in a folder; none if Terraform is not there.
#[expect(clippy::print_stdout, reason = "who runs the tests has to know what was not compared")]
fn terraform(folder: &Path, argument: &str) -> Option<Vec<u8>> {
    let mut command = Command::new("terraform");
    command.args(["state", argument]).current_dir(folder).env("CHECKPOINT_DISABLE", "1");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "terraform"), "terraform is required: {error}");
            println!("not run: there is no terraform on the path");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

#[test]
fn terraform_writes_the_state_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = state(Recipe::new(1000), Format::Terraform);
    fs::write(folder.path().join("terraform.tfstate"), &text).unwrap();
    let Some(pulled) = terraform(folder.path(), "pull") else { return };
    text.push(b'\n');
    assert!(pulled == text, "`terraform state pull` prints other bytes");
}

#[test]
fn terraform_lists_as_many_instances_as_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Terraform, Format::V3] {
        fs::write(folder.path().join("terraform.tfstate"), state(Recipe::new(500), format)).unwrap();
        let Some(list) = terraform(folder.path(), "list") else { return };
        assert_eq!(String::from_utf8(list).unwrap().lines().count(), 500, "{format:?}");
    }
}

#[test]
fn terraform_lists_in_the_order_we_list() {
    let folder = tempfile::tempdir().unwrap();
    let text = state(Recipe::new(1000), Format::Terraform);
    fs::write(folder.path().join("terraform.tfstate"), &text).unwrap();
    let Some(theirs) = terraform(folder.path(), "list") else { return };
    let ours = groundstate_statefile::list(&text[..], false).unwrap();
    let ours: String = ours.iter().map(|listed| format!("{listed}\n")).collect();
    assert_eq!(String::from_utf8(theirs).unwrap(), ours);
}
