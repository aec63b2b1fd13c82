//! Terraform's own gcs backend.

use groundstate_testkit::{Fault, GcsServer};

use crate::terraform::{complaint, directory, is_there, printed};

fn server() -> GcsServer {
    let server = GcsServer::start_blocking();
    server.create_bucket("b");
    server.require_token("token");
    server
}

fn backend(server: &GcsServer) -> String {
    format!(
        "backend \"gcs\" {{\nbucket = \"b\"\nprefix = \"p\"\naccess_token = \"token\"\n\
         storage_custom_endpoint = \"{}\"\n}}",
        server.json_endpoint()
    )
}

#[test]
fn it_applies_keeps_workspaces_and_plans_nothing_afterwards() {
    if !is_there() {
        return;
    }
    let server = server();
    let dir = directory(&backend(&server));
    printed(dir.path(), &["init"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    assert_eq!(server.keys("b"), ["p/default.tfstate"]);
    printed(dir.path(), &["workspace", "new", "dev"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    assert!(printed(dir.path(), &["workspace", "list"]).contains("* dev"));
    printed(dir.path(), &["workspace", "select", "default"]);
    printed(dir.path(), &["plan", "-detailed-exitcode"]);
    printed(dir.path(), &["workspace", "delete", "-force", "dev"]);
    // Its lock was taken and released; it leaves the objects of locks alone otherwise.
    assert_eq!(server.keys("b"), ["p/default.tfstate"]);
}

#[test]
fn it_respects_locks_and_breaks_them_by_their_generation() {
    if !is_there() {
        return;
    }
    let server = server();
    let dir = directory(&backend(&server));
    printed(dir.path(), &["init"]);
    let lock = r#"{"ID":"11111111-2222-3333-4444-555555555555","Operation":"OperationTypeApply","Info":"",
        "Who":"me@here","Version":"1.11.4","Created":"2026-01-02T03:04:05Z","Path":"gs://b/p/default.tflock"}"#;
    server.put_object("b", "p/default.tflock", lock);
    let generation = server.object("b", "p/default.tflock").unwrap().generation.to_string();
    let text = complaint(dir.path(), &["apply", "-auto-approve"]);
    assert!(text.contains(&generation) && text.contains("me@here"), "{text}");
    complaint(dir.path(), &["force-unlock", "-force", "1"]);
    assert!(server.object("b", "p/default.tflock").is_some());
    printed(dir.path(), &["force-unlock", "-force", &generation]);
    assert!(server.object("b", "p/default.tflock").is_none());
}

#[test]
fn it_blocks_itself_when_the_answer_to_its_lock_is_lost() {
    if !is_there() {
        return;
    }
    let server = server();
    let dir = directory(&backend(&server));
    printed(dir.path(), &["init"]);
    server.fault(Fault::after_commit_500().on("POST", "*?*default.tflock*").nth(1));
    complaint(dir.path(), &["apply", "-auto-approve"]);
    assert!(server.object("b", "p/default.tflock").is_some(), "a lock without a holder stays behind");
}

#[test]
fn it_uploads_large_states_in_pieces_and_under_a_customers_key() {
    if !is_there() {
        return;
    }
    let server = server();
    let key = "encryption_key = \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"\n}";
    let dir = directory(&backend(&server).replace('}', key));
    std::fs::write(dir.path().join("terraform.tfvars"), format!("v = \"{}\"", "x".repeat(10 << 20))).unwrap();
    printed(dir.path(), &["init"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    let stored = server.object("b", "p/default.tfstate").unwrap();
    assert!(stored.bytes.len() > 20 << 20 && stored.key_digest.is_some());
    assert!(server.count("POST", "*?*uploadType=resumable*") > 0);
    printed(dir.path(), &["plan", "-detailed-exitcode"]);
}
