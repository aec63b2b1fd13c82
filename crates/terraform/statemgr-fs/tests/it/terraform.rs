//! The real Terraform and this store on one file, with its built-in `terraform_data` and without a network.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_common::{SystemClock, Timestamp};
use groundstate_conformance::block_on;
use groundstate_statefile::{DecodeOptions, EncodeOptions, File, decode, encode};
use groundstate_statemgr::{ErrorKind, LockInfo, StateStore};
use groundstate_statemgr_fs::{FsWorkspaces, WorkspaceName};
use sha2::{Digest, Sha256};

use crate::support::{Folder, info};

/// One resource, which takes its time where it is asked to: it says that it has begun, and waits to be let go.
const CONFIGURATION: &str = r#"
variable "value" { default = "one" }
variable "slow" { default = false }
resource "terraform_data" "a" {
  input            = var.value
  triggers_replace = var.value
  provisioner "local-exec" {
    command = var.slow ? "touch begun; until [ -e go ]; do sleep 0.05; done" : "true"
  }
}
output "value" { value = terraform_data.a.output }
"#;

struct Terraform(Folder);

impl Terraform {
    /// A folder that is initialised; none if there is no Terraform and need not be.
    fn new() -> Option<Self> {
        if let Err(error) = Command::new("terraform").arg("version").output() {
            let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
            let is_required = required.split(',').any(|peer| peer == "terraform");
            assert!(!is_required, "terraform has to be on the PATH: {error}");
            println!("not run: terraform");
            return None;
        }
        let terraform = Self(Folder::new());
        fs::write(terraform.0.join("main.tf"), CONFIGURATION).unwrap();
        fs::write(terraform.0.join("cli.tfrc"), "").unwrap();
        terraform.succeeds(&["init"]);
        Some(terraform)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("terraform");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TF_")) {
                command.env_remove(name);
            }
        }
        command.env("TF_CLI_CONFIG_FILE", self.0.join("cli.tfrc"));
        command.env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    #[track_caller]
    fn apply(&self, value: &str) {
        self.succeeds(&["apply", "-auto-approve", &format!("-var=value={value}")]);
    }

    /// Nothing to do, and nothing is done.
    #[track_caller]
    fn plans_nothing(&self, value: &str) {
        let output = self.run(&["plan", "-detailed-exitcode", &format!("-var=value={value}")]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }

    /// An apply that holds the lock until `let_go`.
    fn slow_apply(&self, value: &str) -> Child {
        let value = format!("-var=value={value}");
        let mut command = self.command(&["apply", "-auto-approve", "-var=slow=true", &value]);
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        eventually(|| self.0.join("begun").exists());
        child
    }

    fn let_go(&self, mut child: Child) {
        fs::write(self.0.join("go"), "").unwrap();
        assert!(child.wait().unwrap().success());
    }

    #[track_caller]
    fn state(&self) -> File {
        decode(&fs::read(self.0.state()).unwrap(), &DecodeOptions::default()).unwrap()
    }

    /// The state with the next serial, as this project writes it.
    fn next(&self) -> Vec<u8> {
        let mut file = self.state();
        file.serial = file.serial.next().unwrap();
        encode(&file, &EncodeOptions::default()).unwrap()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[track_caller]
fn eventually(mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_terraform_holds_is_refused_with_its_document() {
    let Some(terraform) = Terraform::new() else { return };
    let store = terraform.0.store();
    let child = terraform.slow_apply("one");
    let error = store.lock().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let document = fs::read(terraform.0.join(".terraform.tfstate.lock.info")).unwrap();
    let theirs = LockInfo::parse(&document).unwrap();
    let holder = error.holder().unwrap();
    assert_eq!(holder.info, theirs);
    assert_eq!(theirs.operation, "OperationTypeApply");
    assert_eq!((holder.pid, holder.alive), (Some(child.id()), Some(true)));
    assert_eq!(store.holder().unwrap().unwrap().info, theirs);
    assert_eq!(store.write(b"{}").unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(store.delete().unwrap_err().kind(), ErrorKind::Locked);
    terraform.let_go(child);
    assert_eq!(store.holder().unwrap(), None);
    store.unlock(&store.lock().unwrap()).unwrap();
    assert_eq!(terraform.state().state.outputs().len(), 1);
}

#[test]
fn what_we_hold_terraform_refuses_with_our_document() {
    let Some(terraform) = Terraform::new() else { return };
    terraform.apply("one");
    let store = terraform.0.store();
    let asked = info("state-mv");
    let grant = block_on(store.0.lock(&asked)).unwrap();
    // Reading, by us and by others of us, leaves the lock alone.
    assert!(store.read().unwrap().is_some());
    assert!(terraform.0.store().read().unwrap().is_some());
    assert!(terraform.0.store().holder().unwrap().is_some());
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["state", "rm", "terraform_data.a"]] {
        let output = terraform.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = said(&output);
        for expected in ["Error acquiring the state lock", asked.id.as_str(), "state-mv", "tester@here"] {
            assert!(said.contains(expected), "{expected:?} is not in {said}");
        }
    }
    store.write(&terraform.next()).unwrap();
    assert_eq!(terraform.run(&["plan"]).status.code(), Some(1), "a write does not give the lock away");
    store.unlock(&grant).unwrap();
    terraform.plans_nothing("one");
}

/// Terraform opens the file before it waits. If the file were replaced or removed, its state would be lost.
#[test]
fn a_terraform_that_waits_for_us_does_not_lose_its_state() {
    for has_state in [true, false] {
        let Some(terraform) = Terraform::new() else { return };
        if has_state {
            terraform.apply("one");
        }
        let store = terraform.0.store();
        let grant = store.lock().unwrap();
        let arguments = ["apply", "-auto-approve", "-lock-timeout=60s", "-var=value=two"];
        let mut child = terraform.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
        let has_opened = || {
            let files = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
            let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
            links.into_iter().any(|path| path.ends_with("terraform.tfstate"))
        };
        if Path::new("/proc/self/fd").exists() {
            eventually(has_opened);
        } else {
            std::thread::sleep(Duration::from_secs(3));
        }
        if has_state {
            store.write(&terraform.next()).unwrap();
        }
        store.unlock(&grant).unwrap();
        assert!(child.wait().unwrap().success());
        let shown = terraform.succeeds(&["output", "-raw", "value"]);
        assert_eq!(shown, "two", "has state: {has_state}");
        terraform.plans_nothing("two");
    }
}

#[test]
fn states_written_in_turn_keep_lineage_and_count_serials() {
    let Some(terraform) = Terraform::new() else { return };
    let store = terraform.0.store();
    terraform.apply("0");
    let first = terraform.state();
    let mut serial = first.serial.get();
    for round in 1..4 {
        let grant = store.lock().unwrap();
        store.write(&terraform.next()).unwrap();
        store.unlock(&grant).unwrap();
        serial += 1;
        assert_eq!(terraform.state().serial.get(), serial, "our write of round {round}");
        terraform.plans_nothing(&(round - 1).to_string());
        assert_eq!(terraform.state().serial.get(), serial, "a plan changes nothing");
        terraform.apply(&round.to_string());
        let state = terraform.state();
        assert!(state.serial.get() > serial, "its write of round {round}");
        assert_eq!(state.lineage, first.lineage);
        serial = state.serial.get();
        let read = store.read().unwrap().unwrap();
        assert_eq!(read, fs::read(terraform.0.state()).unwrap());
    }
}

/// The mark and the journal as `docs/design/0004-write-journal.md` describes them.
#[test]
fn terraform_refuses_an_interrupted_write_and_goes_on_once_it_is_finished() {
    let Some(terraform) = Terraform::new() else { return };
    terraform.apply("one");
    let (old, new) = (fs::read(terraform.0.state()).unwrap(), terraform.next());
    let digest: String = Sha256::digest(&new).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut header = format!("\0groundstate journal 1\nsha256 {digest}\nlength {}\n", new.len()).into_bytes();
    header.resize(512, b' ');
    fs::write(terraform.0.join(".terraform.tfstate.groundstate-journal"), [&header[..], &new].concat())
        .unwrap();
    fs::write(terraform.0.state(), [&header[..], &old[512..]].concat()).unwrap();
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["state", "list"]] {
        let output = terraform.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
    }
    let store = terraform.0.store();
    assert!(store.read().unwrap().unwrap() == new);
    assert!(fs::read(terraform.0.state()).unwrap() == new);
    terraform.plans_nothing("one");
}

#[test]
fn terraform_console_holds_the_lock_like_any_other_command() {
    let Some(terraform) = Terraform::new() else { return };
    terraform.apply("one");
    let mut command = terraform.command(&["console"]);
    let mut console = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let store = terraform.0.store();
    eventually(|| store.holder().unwrap().is_some_and(|holder| holder.pid == Some(console.id())));
    let error = store.lock().unwrap_err();
    assert!(error.holder().unwrap().info.created > Timestamp::UNIX_EPOCH);
    drop(console.stdin.take());
    assert!(console.wait().unwrap().success());
    store.unlock(&store.lock().unwrap()).unwrap();
}

#[test]
fn workspaces_are_terraforms_own() {
    let Some(terraform) = Terraform::new() else { return };
    let all = FsWorkspaces::new(terraform.0.path(), Arc::new(SystemClock));
    let (ours, theirs) = (WorkspaceName::parse("ours").unwrap(), WorkspaceName::parse("their:s").unwrap());
    block_on(all.create(&ours)).unwrap();
    block_on(all.select(&ours)).unwrap();
    assert_eq!(terraform.succeeds(&["workspace", "show"]).trim(), "ours");
    terraform.apply("in ours");
    assert!(block_on(all.store(&ours).unwrap().read()).unwrap().is_some());
    terraform.succeeds(&["workspace", "new", theirs.as_str()]);
    assert_eq!(block_on(all.selected()).unwrap(), theirs);
    assert_eq!(block_on(all.list()).unwrap(), [WorkspaceName::default_name(), ours.clone(), theirs.clone()]);
    assert_eq!(block_on(all.delete(&ours, false)).unwrap_err().kind(), ErrorKind::Invalid);
    block_on(all.select(&ours)).unwrap();
    block_on(all.delete(&theirs, false)).unwrap();
    let listed = terraform.succeeds(&["workspace", "list"]);
    assert_eq!(listed.split_whitespace().collect::<Vec<_>>(), ["default", "*", "ours"]);
}
