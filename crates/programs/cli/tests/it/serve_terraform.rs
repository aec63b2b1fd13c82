//! Terraform and OpenTofu with `groundstate serve` as their backend.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use super::serve::{Server, request, until};
use super::support::command;
use super::terraform::Product;

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
pub(crate) fn restartable(store: &Path) -> Server {
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = probe.local_addr().unwrap().to_string();
    drop(probe);
    again(store, &address)
}

pub(crate) fn again(store: &Path, address: &str) -> Server {
    Server::of(command(&["serve", "--init", "--store", store.to_str().unwrap(), "--listen", address]))
}

/// The addresses in the state.
fn addresses(product: &Product, dir: &Path) -> Vec<String> {
    product.printed(dir, &["state", "list"]).lines().map(str::to_owned).collect()
}

/// Both products, those that are there.
fn products() -> impl Iterator<Item = Product> {
    [Product::terraform(), Product::tofu()]
        .into_iter()
        .filter(|product| product.run(Path::new("."), &["version"]).is_some())
}

#[test]
fn a_state_lives_from_init_to_destroy_and_over_a_restart() {
    products().for_each(|product| life_over_a_restart(&product));
}

fn life_over_a_restart(product: &Product) {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let server = restartable(store.path());
    configure(dir, &server, TWO);
    product.printed(dir, &["init", "-no-color", "-input=false"]);
    product.printed(dir, &["apply", "-auto-approve", "-no-color"]);
    assert_eq!(addresses(product, dir), ["terraform_data.a", "terraform_data.b"]);
    product.printed(dir, &["state", "mv", "-no-color", "terraform_data.b", "terraform_data.c"]);

    let address = server.address().to_owned();
    server.signal("TERM");
    assert_eq!(server.ended().code, 0);
    let server = again(store.path(), &address);
    assert_eq!(addresses(product, dir), ["terraform_data.a", "terraform_data.c"]);
    configure(dir, &server, &TWO.replace("\"b\"", "\"c\"").replace("one", "two"));
    product.printed(dir, &["apply", "-auto-approve", "-no-color"]);
    product.printed(dir, &["destroy", "-auto-approve", "-no-color"]);
    assert_eq!(addresses(product, dir), [""; 0]);
    assert_eq!(request(&server, "GET", STATE, "").status, 200);
}

/// The program, started and left alone.
fn begin(product: &Product, dir: &Path, arguments: &[&str]) -> Child {
    let mut command = product.command(dir, arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_run_outlives_a_server_that_is_killed_and_started_again() {
    products().for_each(|product| run_over_a_kill(&product));
}

fn run_over_a_kill(product: &Product) {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let mut server = restartable(store.path());
    // The provisioner gives the time to kill the server while the lock is held.
    let slow = "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" { command = \"while [ ! -e go ]; do sleep 0.1; done\" }\n}\n";
    configure(dir, &server, slow);
    product.printed(dir, &["init", "-no-color", "-input=false"]);
    let apply = begin(product, dir, &["apply", "-auto-approve", "-no-color"]);
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
    assert_eq!(addresses(product, dir), ["terraform_data.slow"]);
    assert!(!dir.join("errored.tfstate").exists());
    product.printed(dir, &["destroy", "-auto-approve", "-no-color"]);
}

#[test]
fn a_server_killed_around_the_upload_leaves_the_old_state_or_the_new_one_and_the_run_repairs_it() {
    products().for_each(|product| kills_around_the_upload(&product));
}

fn kills_around_the_upload(product: &Product) {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let mut server = restartable(store.path());
    configure(dir, &server, TWO);
    product.printed(dir, &["init", "-no-color", "-input=false"]);
    product.printed(dir, &["apply", "-auto-approve", "-no-color"]);
    let address = server.address().to_owned();
    for (round, milliseconds) in [0, 3, 10].into_iter().enumerate() {
        let before = request(&server, "GET", STATE, "").body;
        let value = "x".repeat(100_000 + round);
        configure(dir, &server, &TWO.replace("one", &value));
        let apply = begin(product, dir, &["apply", "-auto-approve", "-no-color"]);
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
                product.printed(dir, &["state", "push", "-lock=false", "errored.tfstate"]);
                fs::remove_file(errored).unwrap();
            }
            drop(product.run(dir, &["force-unlock", "-force", "any"]));
            product.printed(dir, &["apply", "-auto-approve", "-no-color", "-lock=false"]);
        }
        assert!(request(&server, "GET", STATE, "").body.contains(&value), "round {round}");
    }
}

#[test]
fn two_runs_at_once_exclude_each_other_whichever_product_they_are() {
    let store = tempfile::tempdir().unwrap();
    let server = Server::start(store.path(), &[]);
    let products: Vec<Product> = products().collect();
    let dirs: Vec<tempfile::TempDir> = products.iter().map(|_| tempfile::tempdir().unwrap()).collect();
    // Each run adds one to what the other has counted; without the lock, counts would be lost.
    let count = "data \"terraform_remote_state\" \"before\" {\n  backend = \"http\"\n  config = { address = \"URL\" }\n}\n\
                 output \"count\" { value = data.terraform_remote_state.before.outputs.count + 1 }\n";
    let url = format!("{}{STATE}", server.url);
    for (product, dir) in products.iter().zip(&dirs) {
        configure(dir.path(), &server, &count.replace("URL", &url));
        product.printed(dir.path(), &["init", "-no-color", "-input=false"]);
    }
    let zero = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"11111111-2222-3333-4444-555555555555","outputs":{"count":{"value":0,"type":"number"}},"resources":[],"check_results":null}"#;
    assert_eq!(request(&server, "POST", STATE, zero).status, 200);
    const ROUNDS: usize = 3;
    let mut runs = 0;
    for _ in 0..ROUNDS {
        let arguments = ["apply", "-auto-approve", "-no-color", "-lock-timeout=120s"];
        let begun: Vec<Child> =
            products.iter().zip(&dirs).map(|(product, dir)| begin(product, dir.path(), &arguments)).collect();
        for run in begun {
            let ended = run.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
            runs += 1;
        }
    }
    let stored: serde_json::Value =
        serde_json::from_str(&request(&server, "GET", STATE, "").body).unwrap_or_default();
    assert!(runs == 0 || stored["outputs"]["count"]["value"] == runs, "{runs} runs: {stored}");
}

#[test]
fn a_lock_is_freed_by_force_and_a_state_is_pushed_back() {
    products().for_each(|product| force_and_push(&product));
}

fn force_and_push(product: &Product) {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    let server = Server::start(store.path(), &[]);
    configure(dir, &server, TWO);
    product.printed(dir, &["init", "-no-color", "-input=false"]);
    product.printed(dir, &["apply", "-auto-approve", "-no-color"]);
    let kept = product.printed(dir, &["state", "pull"]);
    fs::write(dir.join("kept.tfstate"), &kept).unwrap();

    let id = "11111111-0000-0000-0000-000000000000";
    let lock = format!(
        r#"{{"ID":"{id}","Operation":"OperationTypeApply","Info":"","Who":"ana@build","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":""}}"#
    );
    assert_eq!(request(&server, "LOCK", STATE, &lock).status, 200);
    let refused = product.run(dir, &["apply", "-auto-approve", "-no-color"]).unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains(id), "{said}");
    product.printed(dir, &["force-unlock", "-force", id]);

    product.printed(dir, &["state", "rm", "terraform_data.b"]);
    assert_eq!(addresses(product, dir), ["terraform_data.a"]);
    // An older serial is refused, and taken by force.
    let older = product.run(dir, &["state", "push", "kept.tfstate"]).unwrap();
    assert!(!older.status.success());
    product.printed(dir, &["state", "push", "-force", "kept.tfstate"]);
    assert_eq!(addresses(product, dir), ["terraform_data.a", "terraform_data.b"]);
    let plan = product.run(dir, &["plan", "-no-color", "-detailed-exitcode"]).unwrap();
    assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
}
