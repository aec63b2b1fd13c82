//! The real Terraform against this server, over the network of this machine.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_server::auth::Role;
use groundstate_server::blobs::{BlobStore, MemoryBlobs};
use groundstate_server::{App, ForceUnlock, Parts, Policies};
use groundstate_testkit::{Fault, FaultProxy, Ran, terraform_takes_part};
use tempfile::TempDir;

use crate::listening::Listening;
use crate::support::Server;

/// One resource, which waits where it is asked to until it is let go.
const CONFIGURATION: &str = r#"
terraform {
  backend "http" {}
}
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

/// A working directory whose state is at a server.
struct Workdir {
    folder: TempDir,
    address: String,
    options: Vec<String>,
}

impl Workdir {
    fn new(endpoint: &str, path: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.tf"), CONFIGURATION).unwrap();
        std::fs::write(folder.path().join("cli.tfrc"), "").unwrap();
        let address = format!("{endpoint}{path}");
        let options = [
            format!("address={address}"),
            format!("lock_address={address}"),
            format!("unlock_address={address}"),
        ];
        Self { folder, address, options: options.to_vec() }
    }

    /// Other methods at the URL of the lock, as they are set up for other hosts.
    fn gitlab_style(mut self) -> Self {
        let address = &self.address;
        self.options = vec![
            format!("address={address}"),
            format!("lock_address={address}/lock"),
            format!("unlock_address={address}/lock"),
            "lock_method=POST".to_owned(),
            "unlock_method=DELETE".to_owned(),
            "update_method=PUT".to_owned(),
        ];
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("terraform");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TF_")) {
                command.env_remove(name);
            }
        }
        command.env("TF_CLI_CONFIG_FILE", self.path("cli.tfrc"));
        command.env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of("terraform", arguments, self.command(arguments).output().unwrap())
    }

    fn init(&self) -> &Self {
        let options: Vec<String> =
            self.options.iter().map(|option| format!("-backend-config={option}")).collect();
        let mut arguments = vec!["init", "-no-color", "-input=false"];
        arguments.extend(options.iter().map(String::as_str));
        self.run(&arguments).succeeds();
        self
    }

    fn apply(&self, value: &str) -> Ran {
        self.run(&["apply", "-auto-approve", "-no-color", &format!("-var=value={value}")])
    }

    fn output(&self) -> String {
        self.run(&["output", "-raw", "value"]).succeeds()
    }

    fn state(&self) -> serde_json::Value {
        serde_json::from_str(&self.run(&["state", "pull"]).succeeds()).unwrap()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Begins an apply that holds the lock until it is let go.
    fn begin_slow(&self, value: &str) -> Child {
        let arguments =
            ["apply", "-auto-approve", "-no-color", "-var=slow=true", &format!("-var=value={value}")];
        let child = self.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(&self.path("begun"));
        child
    }

    fn let_go(&self, child: Child) -> Ran {
        std::fs::write(self.path("go"), "").unwrap();
        Ran::of("terraform", &["apply", "(slow)"], child.wait_with_output().unwrap())
    }
}

fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{} does not appear", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Asks the server something, beside Terraform.
fn ask(listening: &Listening, request: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "{request} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    listening.raw(request.as_bytes())
}

#[test]
fn a_state_lives_from_init_to_destroy_with_every_write_in_its_history() {
    if !terraform_takes_part() {
        return;
    }
    let server = Server::new();
    let listening = Listening::start(&server, Role::Write);
    let workdir = Workdir::new(&listening.endpoint(), "/tf/shop/network");
    workdir.init().run(&["plan", "-no-color"]).succeeds();
    workdir.apply("one").succeeds();
    assert_eq!(workdir.output(), "one");
    workdir.apply("two").succeeds();
    workdir.run(&["state", "mv", "terraform_data.a", "terraform_data.b"]).succeeds();
    workdir.run(&["state", "mv", "terraform_data.b", "terraform_data.a"]).succeeds();
    let before = workdir.state();
    std::fs::write(workdir.path("pushed.json"), before.to_string()).unwrap();
    workdir.run(&["state", "push", "-force", "pushed.json"]).succeeds();
    workdir.run(&["destroy", "-auto-approve", "-no-color"]).succeeds();
    let after = workdir.state();
    assert_eq!(after["lineage"], before["lineage"]);
    assert_eq!(after["resources"].as_array().unwrap().len(), 0);
    let page = ask(&listening, "GET /api/v1/states/shop/network/default/versions", "");
    let page: serde_json::Value = serde_json::from_str(page.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let serials: Vec<u64> =
        page["versions"].as_array().unwrap().iter().map(|it| it["serial"].as_u64().unwrap()).collect();
    let last = after["serial"].as_u64().unwrap();
    assert_eq!(serials, (1..=last).rev().collect::<Vec<_>>(), "each accepted write is a version");
    assert!(page["versions"][0]["lock_id"].is_string());
    assert!(ask(&listening, "GET /api/v1/locks", "").ends_with(r#"{"locks":[]}"#));
}

#[test]
fn other_methods_and_workspaces_by_url_work_too() {
    if !terraform_takes_part() {
        return;
    }
    let server = Server::new();
    let listening = Listening::start(&server, Role::Write);
    let dev = Workdir::new(&listening.endpoint(), "/tf/shop/network/dev").gitlab_style();
    let prod = Workdir::new(&listening.endpoint(), "/tf/shop/network/prod").gitlab_style();
    dev.init().apply("dev").succeeds();
    prod.init().apply("prod").succeeds();
    assert_eq!((dev.output(), prod.output()), ("dev".to_owned(), "prod".to_owned()));
    assert_ne!(dev.state()["lineage"], prod.state()["lineage"]);
}

#[test]
fn a_second_terraform_meets_the_lock_and_waits_if_it_is_told_to() {
    if !terraform_takes_part() {
        return;
    }
    let server = Server::new();
    let listening = Listening::start(&server, Role::Write);
    let [first, second] = [(); 2].map(|()| Workdir::new(&listening.endpoint(), "/tf/shop/network"));
    first.init();
    second.init();
    let applying = first.begin_slow("one");
    let held = ask(&listening, "GET /api/v1/states/shop/network/default/lock", "");
    let lock: serde_json::Value = serde_json::from_str(held.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let refused = second.apply("two").fails();
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    assert!(refused.contains(lock["id"].as_str().unwrap()), "the holder's id is named: {refused}");
    let arguments = ["apply", "-auto-approve", "-no-color", "-lock-timeout=120s", "-var=value=two"];
    let waiting = second.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    first.let_go(applying).succeeds();
    Ran::of("terraform", &arguments, waiting.wait_with_output().unwrap()).succeeds();
    assert_eq!(second.output(), "two");
}

#[test]
fn force_unlock_is_for_administrators_and_the_former_holder_keeps_its_work_in_a_file() {
    if !terraform_takes_part() {
        return;
    }
    let server = Server::new();
    let writers = Listening::start(&server, Role::Write);
    let admins = Listening::start(&server, Role::Admin);
    let first = Workdir::new(&writers.endpoint(), "/tf/shop/network");
    first.init().apply("one").succeeds();
    let applying = first.begin_slow("two");
    let refused = first.run(&["force-unlock", "-force", "any"]).fails();
    assert!(refused.contains("Failed to unlock state"), "{refused}");
    let admin = Workdir::new(&admins.endpoint(), "/tf/shop/network");
    admin.init().run(&["force-unlock", "-force", "any"]).succeeds();
    let refused = first.let_go(applying).fails();
    assert!(refused.contains("errored.tfstate"), "{refused}");
    assert!(first.path("errored.tfstate").exists());
    assert_eq!(admin.output(), "one", "what was stored is as it was");
    first.run(&["state", "push", "errored.tfstate"]).succeeds();
    assert_eq!(admin.output(), "two");
}

#[test]
fn force_unlock_is_for_everyone_where_the_policy_says_so() {
    if !terraform_takes_part() {
        return;
    }
    let mut policies = Policies::default();
    policies.force_unlock = ForceUnlock::Any;
    let listening = Listening::start(&Server::with(policies), Role::Lock);
    let workdir = Workdir::new(&listening.endpoint(), "/tf/shop/network");
    workdir.init();
    let lock = r#"{"ID":"left-behind"}"#;
    assert!(ask(&listening, "LOCK /tf/shop/network", lock).starts_with("HTTP/1.1 200 "));
    workdir.run(&["plan", "-no-color"]).fails();
    workdir.run(&["force-unlock", "-force", "left-behind"]).succeeds();
    workdir.run(&["plan", "-no-color"]).succeeds();
}

#[test]
fn answers_that_get_lost_are_asked_for_again_and_nothing_happens_twice() {
    if !terraform_takes_part() {
        return;
    }
    let server = Server::new();
    let listening = Listening::start(&server, Role::Write);
    for method in ["LOCK", "POST", "UNLOCK"] {
        let proxy = FaultProxy::in_front_of(&listening.endpoint());
        let path = format!("/tf/lost/{}", method.to_lowercase());
        let workdir = Workdir::new(&proxy.endpoint(), &path);
        workdir.init();
        proxy.fault(Fault::drop_after_commit().on(method, "*").times(1));
        workdir.apply("one").succeeds();
        let sent = proxy.requests().iter().filter(|request| request.method == method).count();
        assert_eq!(sent, 2, "{method} was sent again");
        let versions =
            ask(&listening, &format!("GET /api/v1/states{}/default/versions", path.replace("/tf", "")), "");
        assert_eq!(versions.matches(r#""number":"#).count(), 1, "{method}: {versions}");
        assert!(ask(&listening, "GET /api/v1/locks", "").ends_with(r#"{"locks":[]}"#), "{method}");
    }
}

#[test]
fn a_terraform_that_is_killed_leaves_its_lock_which_a_new_server_still_has() {
    if !terraform_takes_part() {
        return;
    }
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("states"));
    let node = || Server { app: App::open(Parts::new(Arc::clone(&blobs))).unwrap() };
    let listening = Listening::start(&node(), Role::Admin);
    let workdir = Workdir::new(&listening.endpoint(), "/tf/shop/network");
    workdir.init().apply("one").succeeds();
    let mut applying = workdir.begin_slow("two");
    applying.kill().unwrap();
    applying.wait().unwrap();
    // What the provisioner waits for, so that it ends.
    std::fs::write(workdir.path("go"), "").unwrap();
    drop(listening);

    let listening = Listening::start(&node(), Role::Admin);
    let workdir = Workdir::new(&listening.endpoint(), "/tf/shop/network");
    workdir.init();
    let refused = workdir.apply("three").fails();
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    workdir.run(&["force-unlock", "-force", "any"]).succeeds();
    workdir.apply("three").succeeds();
    assert_eq!(workdir.output(), "three");
}

#[test]
fn a_state_above_the_limit_stays_in_a_file() {
    if !terraform_takes_part() {
        return;
    }
    let mut parts = Parts::new(Arc::new(MemoryBlobs::new("states")));
    parts.limits.state_bytes = 100_000;
    let listening = Listening::start(&Server::of(parts), Role::Write);
    let workdir = Workdir::new(&listening.endpoint(), "/tf/shop/network");
    workdir.init().apply("one").succeeds();
    let refused = workdir.apply(&"x".repeat(100_000)).fails();
    assert!(refused.contains("413") && refused.contains("errored.tfstate"), "{refused}");
    assert_eq!(workdir.output(), "one");
}
