//! The terraform on the PATH goes on with what the command has changed, and each keeps the other out.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::locks::until;
use super::support::{command, groundstate};
use super::surgery::serial;
use super::terraform::{printed, terraform};

const CONFIGURATION: &str = r#"
resource "terraform_data" "base" {
  input = "base"
}

resource "terraform_data" "NAME" {
  for_each = toset(["a", "b"])
  input    = [each.key, terraform_data.base.id]
}

output "ids" {
  value = [for item in terraform_data.NAME : item.id]
}
"#;

/// A configuration that was applied, with one resource of this name.
fn applied(name: &str) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), name);
    terraform(dir.path(), &["version"])?;
    printed(dir.path(), &["init", "-no-color"]);
    printed(dir.path(), &["apply", "-auto-approve", "-no-color"]);
    Some(dir)
}

fn write(dir: &Path, name: &str) {
    fs::write(dir.join("main.tf"), CONFIGURATION.replace("NAME", name)).unwrap();
}

#[track_caller]
fn no_diff(dir: &Path) {
    let plan = terraform(dir, &["plan", "-detailed-exitcode", "-no-color"]).unwrap();
    let said = String::from_utf8_lossy(&plan.stdout).into_owned() + &String::from_utf8_lossy(&plan.stderr);
    assert_eq!(plan.status.code(), Some(0), "{said}");
}

#[test]
fn terraform_plans_nothing_after_each_edit() {
    let Some(temporary) = applied("old") else { return };
    let dir = temporary.path();
    let state = dir.to_str().unwrap();
    let first = serial(dir.join("terraform.tfstate"));

    groundstate(&["mv", state, "terraform_data.old", "terraform_data.new"]).clean();
    write(dir, "new");
    no_diff(dir);
    groundstate(&["undo", state]).clean();
    write(dir, "old");
    no_diff(dir);

    let script = dir.join("script");
    fs::write(&script, "mv terraform_data.old[*] terraform_data.last[$1]\ntaint terraform_data.base\n")
        .unwrap();
    groundstate(&["edit", state, "--script", script.to_str().unwrap()]).clean();
    write(dir, "last");
    groundstate(&["untaint", state, "terraform_data.base"]).clean();
    no_diff(dir);
    let pulled = groundstate(&["pull", state]).clean();
    let copy = dir.join("copy");
    fs::write(&copy, pulled.replace(&format!("\"serial\": {}", first + 4), "\"serial\": 50")).unwrap();
    groundstate(&["push", state, copy.to_str().unwrap()]).clean();
    no_diff(dir);

    // Terraform goes on with serial and lineage.
    let before = serial(dir.join("terraform.tfstate"));
    groundstate(&["rm", state, "terraform_data.last[\"a\"]"]).clean();
    assert_eq!(serial(dir.join("terraform.tfstate")), before + 1);
    printed(dir, &["apply", "-auto-approve", "-no-color"]);
    assert!(serial(dir.join("terraform.tfstate")) > before + 1);
    no_diff(dir);
    groundstate(&["check", state]);
    let listed = groundstate(&["list", state]).clean();
    assert_eq!(listed, printed(dir, &["state", "list"]));
}

#[test]
fn dependencies_follow_where_terraform_forgets_them() {
    let Some(temporary) = applied("old") else { return };
    let dir = temporary.path();
    let state = dir.to_str().unwrap();
    let stored = fs::read(dir.join("terraform.tfstate")).unwrap();
    groundstate(&["mv", state, "terraform_data.base", "terraform_data.root"]).clean();
    let ours = fs::read_to_string(dir.join("terraform.tfstate")).unwrap();
    assert_eq!(ours.matches("\"terraform_data.root\"").count(), 2, "{ours}");

    fs::write(dir.join("terraform.tfstate"), &stored).unwrap();
    groundstate(&["mv", state, "terraform_data.base", "terraform_data.root", "--compat"]).clean();
    let compat = fs::read_to_string(dir.join("terraform.tfstate")).unwrap();
    fs::write(dir.join("terraform.tfstate"), &stored).unwrap();
    printed(dir, &["state", "mv", "terraform_data.base", "terraform_data.root"]);
    assert_eq!(compat, fs::read_to_string(dir.join("terraform.tfstate")).unwrap());
}

#[test]
fn what_we_lock_keeps_terraform_out() {
    let Some(temporary) = applied("old") else { return };
    let dir = temporary.path();
    let state = dir.to_str().unwrap();
    let script = format!("touch {0}/ready; while ! test -e {0}/go; do sleep 0.02; done", dir.display());
    let mut holder = command(&["lock", state, "--", "sh", "-c", &script]).spawn().unwrap();
    until("the command runs", || dir.join("ready").exists());
    let refused = terraform(dir, &["apply", "-auto-approve", "-no-color"]).unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("Error acquiring the state lock"), "{said}");
    assert!(said.contains("Operation: lock") && said.contains("groundstate"), "{said}");
    fs::write(dir.join("go"), "").unwrap();
    assert!(holder.wait().unwrap().success());
    no_diff(dir);
    // Inside the command that the lock is held for, Terraform is told not to lock.
    fs::remove_file(dir.join("ready")).unwrap();
    let run = groundstate(&[
        "lock",
        state,
        "--",
        "terraform",
        &format!("-chdir={state}"),
        "taint",
        "-lock=false",
        "terraform_data.base",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(groundstate(&["show", state, "terraform_data.base"]).clean().contains("(tainted)"));
}

#[test]
fn what_terraform_locks_keeps_us_out() {
    let Some(temporary) = applied("old") else { return };
    let dir = temporary.path();
    let state = dir.to_str().unwrap();
    // It asks for approval while it holds the lock.
    fs::write(dir.join("more.tf"), "resource \"terraform_data\" \"more\" {}\n").unwrap();
    let mut apply = Command::new("terraform")
        .args(["apply", "-no-color"])
        .current_dir(dir)
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("terraform holds the lock", || dir.join(".terraform.tfstate.lock.info").exists());
    let message = groundstate(&["mv", state, "terraform_data.base", "terraform_data.b"]).failed(8);
    assert!(message.contains("OperationTypeApply"), "{message}");
    assert!(message.contains(&format!("process {}", apply.id())), "{message}");
    let text = groundstate(&["locks", state]).clean();
    assert!(text.contains("OperationTypeApply") && text.contains("which is alive"), "{text}");
    let before = fs::read(dir.join("terraform.tfstate")).unwrap();
    groundstate(&["unlock", state, "--force"]).failed(8);
    assert_eq!(fs::read(dir.join("terraform.tfstate")).unwrap(), before);
    std::io::Write::write_all(&mut apply.stdin.take().unwrap(), b"no\n").unwrap();
    apply.wait().unwrap();
    groundstate(&["mv", state, "terraform_data.base", "terraform_data.b"]).clean();
}
