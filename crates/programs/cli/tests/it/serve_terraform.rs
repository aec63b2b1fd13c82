//! The terraform on the PATH with `groundstate serve` as its backend.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::serve::{Server, request, until};
use super::support::command;
use super::terraform::{printed, terraform};

const STATE: &str = "/tf/shop/network";

/// A configuration whose backend is the state of the server.
fn configure(dir: &Path, server: &Server, resources: &str) {
    let url = format!("{}{STATE}", server.url);
    let backend = format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"{url}\"\n    lock_address = \"{url}\"\n    unlock_address = \"{url}\"\n    \
         retry_wait_min = 1\n    retry_max = 5\n  }}\n}}\n"
    );
    fs::write(dir.join("main.tf"), format!("{backend}{resources}")).unwrap();
}

const TWO: &str = "resource \"terraform_data\" \"a\" { input = \"one\" }\nresource \"terraform_data\" \"b\" { input = terraform_data.a.output }\n";

/// A server on a fixed port, so that it can be started again where clients look for it.
fn restartable(store: &Path) -> Server {
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = probe.local_addr().unwrap().to_string();
    drop(probe);
    again(store, &address)
}

fn again(store: &Path, address: &str) -> Server {
    Server::of(command(&["serve", "--store", store.to_str().unwrap(), "--listen", address]))
}

/// The addresses in the state.
fn addresses(dir: &Path) -> Vec<String> {
    printed(dir, &["state", "list"]).lines().map(str::to_owned).collect()
}

#[test]
fn a_state_lives_from_init_to_destroy_and_over_a_restart() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let server = restartable(store.path());
    configure(dir, &server, TWO);
    if terraform(dir, &["version"]).is_none() {
        return;
    }
    printed(dir, &["init", "-no-color", "-input=false"]);
    printed(dir, &["apply", "-auto-approve", "-no-color"]);
    assert_eq!(addresses(dir), ["terraform_data.a", "terraform_data.b"]);
    printed(dir, &["state", "mv", "-no-color", "terraform_data.b", "terraform_data.c"]);

    let address = server.address().to_owned();
    server.signal("TERM");
    assert_eq!(server.ended().code, 0);
    let server = again(store.path(), &address);
    assert_eq!(addresses(dir), ["terraform_data.a", "terraform_data.c"]);
    configure(dir, &server, &TWO.replace("\"b\"", "\"c\"").replace("one", "two"));
    printed(dir, &["apply", "-auto-approve", "-no-color"]);
    printed(dir, &["destroy", "-auto-approve", "-no-color"]);
    assert_eq!(addresses(dir), [""; 0]);
    assert_eq!(request(&server, "GET", STATE, "").status, 200);
}

/// Terraform, started and left alone.
fn begin(dir: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new("terraform");
    command.args(arguments).current_dir(dir).env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_run_outlives_a_server_that_is_killed_and_started_again() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let mut server = restartable(store.path());
    // The provisioner gives the time to kill the server while the lock is held.
    let slow = "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" { command = \"while [ ! -e go ]; do sleep 0.1; done\" }\n}\n";
    configure(dir, &server, slow);
    if terraform(dir, &["version"]).is_none() {
        return;
    }
    printed(dir, &["init", "-no-color", "-input=false"]);
    let apply = begin(dir, &["apply", "-auto-approve", "-no-color"]);
    until("the lock is held", || request(&server, "UNLOCK", STATE, r#"{"ID":"other"}"#).status == 409);
    let address = server.address().to_owned();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    drop(server);
    let server = again(store.path(), &address);
    // The lock is still the run's.
    assert_eq!(request(&server, "UNLOCK", STATE, r#"{"ID":"other"}"#).status, 409);
    fs::write(dir.join("go"), "").unwrap();
    let ended = apply.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(addresses(dir), ["terraform_data.slow"]);
    assert!(!dir.join("errored.tfstate").exists());
    printed(dir, &["destroy", "-auto-approve", "-no-color"]);
}

#[test]
fn a_server_killed_around_the_upload_leaves_the_old_state_or_the_new_one_and_the_run_repairs_it() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let mut server = restartable(store.path());
    configure(dir, &server, TWO);
    if terraform(dir, &["version"]).is_none() {
        return;
    }
    printed(dir, &["init", "-no-color", "-input=false"]);
    printed(dir, &["apply", "-auto-approve", "-no-color"]);
    let address = server.address().to_owned();
    for (round, milliseconds) in [0, 3, 10].into_iter().enumerate() {
        let before = request(&server, "GET", STATE, "").body;
        let value = "x".repeat(100_000 + round);
        configure(dir, &server, &TWO.replace("one", &value));
        let apply = begin(dir, &["apply", "-auto-approve", "-no-color"]);
        until("the lock is held", || request(&server, "UNLOCK", STATE, r#"{"ID":"other"}"#).status == 409);
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        drop(server);
        server = again(store.path(), &address);
        let ended = apply.wait_with_output().unwrap();
        let after = request(&server, "GET", STATE, "").body;
        let is_whole = after == before || serde_json::from_str::<serde_json::Value>(&after).is_ok();
        assert!(is_whole, "round {round}: {} bytes", after.len());
        // Terraform repeats what is not answered, so the run ends well, or leaves its state beside.
        if !ended.status.success() {
            let errored = dir.join("errored.tfstate");
            if errored.exists() {
                printed(dir, &["state", "push", "-lock=false", "errored.tfstate"]);
                fs::remove_file(errored).unwrap();
            }
            drop(terraform(dir, &["force-unlock", "-force", "any"]));
            printed(dir, &["apply", "-auto-approve", "-no-color", "-lock=false"]);
        }
        assert!(request(&server, "GET", STATE, "").body.contains(&value), "round {round}");
    }
}
