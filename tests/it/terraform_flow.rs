//! States go from Terraform through our models and back, and Terraform goes on with them.

use std::fs;
use std::path::Path;

use groundstate_statefile::{DecodeOptions, Document, EncodeOptions, File, decode, encode};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance};
use groundstate_states::{Generation, ObjectStatus};

use super::terraform::{is_there, printed, run};

const CONFIGURATION: &str = r#"
resource "terraform_data" "first" {
  input = "one"
}

resource "terraform_data" "many" {
  for_each = toset(["a", "b"])
  input    = terraform_data.first.output
}

output "first" {
  value = terraform_data.first.id
}
"#;

/// The same objects at other addresses.
const MOVED: &str = r#"
resource "terraform_data" "renamed" {
  input = "one"
}

module "inner" {
  source = "./inner"
  input  = terraform_data.renamed.output
}

output "first" {
  value = terraform_data.renamed.id
}
"#;

const INNER: &str = r#"
variable "input" {}

resource "terraform_data" "many" {
  for_each = toset(["a", "b"])
  input    = var.input
}
"#;

/// A directory with a configuration that has been applied.
fn applied() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("main.tf"), CONFIGURATION).unwrap();
    printed(dir.path(), &["init", "-no-color"]);
    printed(dir.path(), &["apply", "-auto-approve", "-no-color"]);
    dir
}

fn read(dir: &Path) -> File {
    let text = fs::read(dir.join("terraform.tfstate")).unwrap();
    let file = decode(&text, &DecodeOptions::default()).unwrap();
    assert_eq!(encode(&file, &EncodeOptions::default()).unwrap(), text);
    file
}

/// Writes a file with the next serial, as a manager would.
fn write(dir: &Path, mut file: File) {
    file.serial = file.serial.next().unwrap();
    fs::write(dir.join("terraform.tfstate"), encode(&file, &EncodeOptions::default()).unwrap()).unwrap();
}

/// Asserts that Terraform sees nothing to change.
#[track_caller]
fn nothing_to_do(dir: &Path) {
    let plan = run(dir, &["plan", "-detailed-exitcode", "-no-color"]);
    assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
}

#[test]
fn terraform_goes_on_after_moves() {
    if !is_there() {
        return;
    }
    let temporary = applied();
    let dir = temporary.path();
    let mut file = read(dir);
    let address = |text: &str| AbsResource::parse(text).unwrap();
    let state = &mut file.state;
    state.move_resource(&address("terraform_data.first"), &address("terraform_data.renamed")).unwrap();
    state
        .move_resource(&address("terraform_data.many"), &address("module.inner.terraform_data.many"))
        .unwrap();
    write(dir, file);
    let expected = "terraform_data.renamed\nmodule.inner.terraform_data.many[\"a\"]\nmodule.inner.terraform_data.many[\"b\"]\n";
    assert_eq!(printed(dir, &["state", "list"]), expected);

    fs::create_dir(dir.join("inner")).unwrap();
    fs::write(dir.join("inner/main.tf"), INNER).unwrap();
    fs::write(dir.join("main.tf"), MOVED).unwrap();
    printed(dir, &["init", "-no-color"]);
    nothing_to_do(dir);
}

#[test]
fn terraform_sees_what_was_tainted_deposed_and_forgotten() {
    if !is_there() {
        return;
    }
    let temporary = applied();
    let dir = temporary.path();
    nothing_to_do(dir);
    let mut file = read(dir);
    let instance = |key: &str| AbsResourceInstance {
        resource: AbsResource::parse("terraform_data.many").unwrap(),
        key: InstanceKey::string(key),
    };
    file.state.forget_resource_instance_all(&instance("a"));
    let key = file.state.depose_resource_instance_object(&instance("b"), || 0xabc).unwrap();
    write(dir, file);
    assert_eq!(key.as_str(), "00000abc");
    assert_eq!(printed(dir, &["state", "list"]), "terraform_data.first\nterraform_data.many[\"b\"]\n");
    let plan = String::from_utf8(run(dir, &["plan", "-no-color"]).stdout).unwrap();
    assert!(plan.contains("2 to add, 0 to change, 1 to destroy"), "{plan}");

    printed(dir, &["apply", "-auto-approve", "-no-color"]);
    printed(dir, &["taint", "terraform_data.first"]);
    let file = read(dir);
    let first = AbsResourceInstance {
        resource: AbsResource::parse("terraform_data.first").unwrap(),
        key: InstanceKey::None,
    };
    assert_eq!(file.state.object(&first, Generation::Current).unwrap().status, ObjectStatus::Tainted);
}

#[test]
fn terraform_reads_what_the_lazy_document_wrote() {
    if !is_there() {
        return;
    }
    let temporary = applied();
    let dir = temporary.path();
    let path = dir.join("terraform.tfstate");
    let document = Document::open(fs::read(&path).unwrap()).unwrap();
    let many = AbsResource::parse("terraform_data.many").unwrap();
    let resource = document.resource(&many).unwrap().unwrap();
    let inner = AbsResource { module: ModuleInstance::parse("module.inner").unwrap(), ..many.clone() };
    let mut edit = document.edit();
    edit.serial(document.serial().next().unwrap()).resource(many, None).resource(inner, Some(resource));
    let text = edit.to_vec().unwrap();
    fs::write(&path, &text).unwrap();
    // The edit is what the model would have written.
    assert_eq!(encode(&read(dir), &EncodeOptions::default()).unwrap(), text);
    assert!(printed(dir, &["state", "list"]).ends_with("module.inner.terraform_data.many[\"b\"]\n"));
}

#[test]
fn terraform_takes_an_upgraded_state_for_its_own() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let old = r#"{"version": 3, "terraform_version": "0.11.14", "serial": 4, "lineage": "l", "modules": [{
        "path": ["root"], "outputs": {"o": {"sensitive": false, "type": "string", "value": "x"}}, "resources": {}}]}"#;
    let file = decode(old.as_bytes(), &DecodeOptions::default()).unwrap();
    fs::write(dir.path().join("terraform.tfstate"), encode(&file, &EncodeOptions::default()).unwrap())
        .unwrap();
    fs::write(dir.path().join("main.tf"), "output \"o\" {\n  value = \"x\"\n}\n").unwrap();
    printed(dir.path(), &["init", "-no-color"]);
    nothing_to_do(dir.path());
    let pulled = printed(dir.path(), &["state", "pull"]);
    assert!(pulled.contains("\"serial\": 4,") && pulled.contains("\"lineage\": \"l\""), "{pulled}");
}
