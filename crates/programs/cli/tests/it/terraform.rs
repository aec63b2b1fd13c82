//! The terraform on the PATH and the command, on the same states.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::support::{command, groundstate, state, workspace};

const CONFIGURATION: &str = r#"
variable "replicas" {
  default = 3
}

variable "password" {
  default   = "hunter2"
  sensitive = true
}

resource "terraform_data" "plain" {
  input = { name = "<shop> & co", port = 8080, ratio = 1.5, none = null, list = ["b", "a"] }
}

resource "terraform_data" "counted" {
  count = var.replicas
  input = "replica ${count.index}"
}

resource "terraform_data" "keyed" {
  for_each   = toset(["a", "with space", "quote\"d", "größe", "dollar$${x}"])
  input      = each.key
  depends_on = [terraform_data.plain]
}

resource "terraform_data" "secret" {
  input            = { user = "app", password = var.password }
  triggers_replace = [var.password]
}

module "store" {
  source   = "./store"
  for_each = toset(["de", "uk"])
  country  = each.key
}

check "replicas" {
  assert {
    condition     = var.replicas > 5
    error_message = "there are only ${var.replicas} replicas"
  }
}

output "stores" {
  value = { for key, store in module.store : key => store.id }
}

output "number" {
  value = 12345678901234567890.125
}

output "password" {
  value     = var.password
  sensitive = true
}
"#;

const MODULE: &str = r#"
variable "country" {}

resource "terraform_data" "shelf" {
  count = 2
  input = "${var.country}-${count.index}"
}

output "id" {
  value = terraform_data.shelf[0].id
}
"#;

/// A program that keeps states.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    name: &'static str,
    program: PathBuf,
}

impl Product {
    /// The terraform on the PATH.
    pub(crate) fn terraform() -> Self {
        Self { name: "terraform", program: "terraform".into() }
    }

    pub(crate) fn is_tofu(&self) -> bool {
        self.name == "tofu"
    }

    /// The tofu on the PATH, or that which `cargo xtask services install` keeps.
    pub(crate) fn tofu() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        let kept =
            cache.into_iter().flat_map(|cache| fs::read_dir(cache.join("groundstate"))).flatten().flatten();
        let kept = kept.map(|folder| folder.path()).filter(|folder| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tofu-"))
        });
        let program = [PathBuf::from("tofu")]
            .into_iter()
            .chain(kept.map(|folder| folder.join("bin/tofu")))
            .find(|program| Command::new(program).arg("version").output().is_ok());
        Self { name: "tofu", program: program.unwrap_or_else(|| "tofu".into()) }
    }

    /// A command line in a directory.
    pub(crate) fn command(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(dir).env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        for name in ["TF_DATA_DIR", "TF_WORKSPACE", "TF_CLI_ARGS", "TF_CLI_CONFIG_FILE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs it in a directory; nothing if it is not there and not required.
    pub(crate) fn run(&self, dir: &Path, args: &[&str]) -> Option<Output> {
        match self.command(dir, args).output() {
            Ok(output) => Some(output),
            Err(_) => {
                let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
                let name = self.name;
                assert!(!required.split(',').any(|peer| peer == name), "{name} has to be on the PATH");
                eprintln!("not run: {name} is not on the PATH");
                None
            }
        }
    }

    /// What it prints.
    #[track_caller]
    pub(crate) fn printed(&self, dir: &Path, args: &[&str]) -> String {
        let output = self.run(dir, args).expect("it has run before");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Terraform in a directory; nothing if there is no terraform and none is required.
pub(crate) fn terraform(dir: &Path, args: &[&str]) -> Option<Output> {
    Product::terraform().run(dir, args)
}

/// What terraform prints.
#[track_caller]
pub(crate) fn printed(dir: &Path, args: &[&str]) -> String {
    Product::terraform().printed(dir, args)
}

/// A directory with a configuration that has been applied.
fn applied() -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("store")).unwrap();
    fs::write(dir.path().join("main.tf"), CONFIGURATION).unwrap();
    fs::write(dir.path().join("store/main.tf"), MODULE).unwrap();
    terraform(dir.path(), &["version"])?;
    printed(dir.path(), &["init", "-no-color"]);
    printed(dir.path(), &["apply", "-auto-approve", "-no-color"]);
    Some(dir)
}

#[track_caller]
fn agree(dir: &Path, theirs: &[&str], ours: &[&str]) {
    let (theirs, ours) = (printed(dir, theirs), groundstate(ours).clean());
    assert!(theirs == ours, "terraform: {theirs}\ngroundstate: {ours}");
}

#[test]
fn prints_what_terraform_prints_of_a_directory() {
    let Some(temporary) = applied() else { return };
    let dir = temporary.path();
    let state = dir.to_str().unwrap();
    agree(dir, &["state", "list"], &["list", state]);
    for address in
        ["module.store", "module.store[\"uk\"]", "terraform_data.keyed", "terraform_data.counted[1]"]
    {
        agree(dir, &["state", "list", address], &["list", state, address]);
    }
    agree(dir, &["show", "-json"], &["show", state, "--json", "--reveal"]);
    agree(dir, &["output", "-json"], &["outputs", state, "--json"]);
    for name in ["number", "password"] {
        agree(dir, &["output", "-raw", name], &["outputs", state, name, "--raw"]);
    }
    agree(dir, &["output", "-json", "stores"], &["outputs", state, "stores", "--json"]);
    let written = fs::read_to_string(dir.join("terraform.tfstate")).unwrap();
    assert!(groundstate(&["upgrade", state]).clean() == written);
}

#[test]
fn follows_workspaces_and_changes() {
    let Some(temporary) = applied() else { return };
    let dir = temporary.path();
    let state = dir.to_str().unwrap();
    let before = fs::read_to_string(dir.join("terraform.tfstate")).unwrap();
    printed(dir, &["taint", "terraform_data.counted[2]"]);
    let shown = groundstate(&["show", state, "terraform_data.counted[2]"]).clean();
    assert!(shown.starts_with("# terraform_data.counted[2]: (tainted)\n"), "{shown}");

    let old = super::support::state(before);
    let run = groundstate(&["diff", &old.path, state]);
    assert_eq!(run.code, 1);
    assert!(
        run.stdout.contains("~ terraform_data.counted[2]\n") && run.stdout.contains("status"),
        "{}",
        run.stdout
    );

    printed(dir, &["workspace", "new", "empty"]);
    let message = groundstate(&["list", state]).failed(3);
    assert!(message.contains("in the workspace \"empty\""), "{message}");
    printed(
        dir,
        &["apply", "-auto-approve", "-no-color", "-var=replicas=1", "-target=terraform_data.counted"],
    );
    agree(dir, &["state", "list"], &["list", state]);
    assert_eq!(groundstate(&["list", state]).clean(), "terraform_data.counted[0]\n");
}

#[test]
fn finds_no_errors_in_what_terraform_wrote() {
    let Some(temporary) = applied() else { return };
    let run = groundstate(&["check", temporary.path().to_str().unwrap(), "--json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["summary"]["errors"], 0, "{report:#}");
    assert_eq!(report["files"][0]["readable"], true);
}

#[test]
fn writes_what_terraform_goes_on_with() {
    let Some(temporary) = applied() else { return };
    let dir = temporary.path();
    let path = dir.join("terraform.tfstate");
    // A layout that Terraform never writes becomes the one that it does, and nothing is left to change.
    let compact: String = fs::read_to_string(&path).unwrap().lines().map(str::trim_start).collect();
    fs::write(&path, compact).unwrap();
    let run = groundstate(&["upgrade", path.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let plan = terraform(dir, &["plan", "-detailed-exitcode", "-no-color"]).unwrap();
    assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
}

#[test]
fn lists_old_formats_as_terraform_does_before_and_after_the_upgrade() {
    let dir = tempfile::tempdir().unwrap();
    if terraform(dir.path(), &["version"]).is_none() {
        return;
    }
    for version in ["v2", "v3", "v4-terraform"] {
        let input = workspace().join(format!("tests/fixtures/states/webshop-{version}.tfstate"));
        let upgraded = state(groundstate(&["upgrade", input.to_str().unwrap()]).stdout);
        let ours = groundstate(&["list", input.to_str().unwrap()]).clean();
        for file in [input.to_str().unwrap(), &upgraded.path] {
            let theirs = printed(dir.path(), &["state", "list", &format!("-state={file}")]);
            assert!(theirs == ours, "{version}\nterraform: {theirs}\ngroundstate: {ours}");
        }
    }
}

#[test]
fn reads_from_a_pipe_what_terraform_pulls() {
    let Some(temporary) = applied() else { return };
    let pulled = printed(temporary.path(), &["state", "pull"]);
    let file = state(pulled);
    let listed = command(&["list", "-"]).stdin(fs::File::open(&file.path).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), printed(temporary.path(), &["state", "list"]));
}
