//! Terraform's own s3 backend, with both of its locks.

use groundstate_testkit::{Fault, S3Server};

use crate::terraform::{complaint, directory, is_there, printed};

fn backend(server: &S3Server, more: &str) -> String {
    let endpoint = server.endpoint();
    format!(
        "backend \"s3\" {{\nbucket = \"b\"\nkey = \"p/a.tfstate\"\nregion = \"us-east-1\"\naccess_key = \"key\"\n\
         secret_key = \"secret\"\nendpoints = {{ s3 = \"{endpoint}\", dynamodb = \"{endpoint}\" }}\n\
         use_path_style = true\nskip_credentials_validation = true\nskip_requesting_account_id = true\n\
         skip_metadata_api_check = true\nskip_region_validation = true\n{more}\n}}"
    )
}

fn server() -> S3Server {
    let server = S3Server::start_blocking();
    server.create_bucket("b");
    server.create_table("locks");
    server.require_key("key", "secret");
    server.require_region("us-east-1");
    server
}

const BOTH: &str = "use_lockfile = true\ndynamodb_table = \"locks\"";
const LOCK: &str = r#"{"ID":"11111111-2222-3333-4444-555555555555","Operation":"OperationTypeApply","Info":"",
    "Who":"me@here","Version":"1.11.4","Created":"2026-01-02T03:04:05Z","Path":"b/p/a.tfstate"}"#;

#[test]
fn it_applies_and_keeps_workspaces() {
    if !is_there() {
        return;
    }
    let server = server();
    let dir = directory(&backend(&server, BOTH));
    printed(dir.path(), &["init"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    assert_eq!(server.keys("b"), ["p/a.tfstate"]);
    assert_eq!(server.items("locks"), ["b/p/a.tfstate-md5"]);
    assert!(server.count("PUT", "/b/p/a.tfstate.tflock") > 0);
    printed(dir.path(), &["workspace", "new", "dev"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    assert_eq!(server.keys("b"), ["env:/dev/p/a.tfstate", "p/a.tfstate"]);
    assert!(printed(dir.path(), &["workspace", "list"]).contains("* dev"));
    printed(dir.path(), &["workspace", "select", "default"]);
    printed(dir.path(), &["plan", "-detailed-exitcode"]);
    printed(dir.path(), &["workspace", "delete", "-force", "dev"]);
    assert_eq!(server.keys("b"), ["p/a.tfstate"]);
}

#[test]
fn it_respects_locks_and_breaks_them_by_force() {
    if !is_there() {
        return;
    }
    let server = server();
    let dir = directory(&backend(&server, BOTH));
    printed(dir.path(), &["init"]);
    server.put_object("b", "p/a.tfstate.tflock", LOCK);
    server.put_item("locks", "b/p/a.tfstate", &[("Info", LOCK)]);
    let complaint_of_apply = complaint(dir.path(), &["apply", "-auto-approve"]);
    assert!(complaint_of_apply.contains("11111111-2222-3333-4444-555555555555"), "{complaint_of_apply}");
    printed(dir.path(), &["force-unlock", "-force", "11111111-2222-3333-4444-555555555555"]);
    assert_eq!((server.keys("b").len(), server.items("locks").len()), (0, 0));
    // A lock in the table alone releases the one in the bucket.
    server.put_item("locks", "b/p/a.tfstate", &[("Info", LOCK)]);
    complaint(dir.path(), &["apply", "-auto-approve"]);
    assert_eq!(server.keys("b"), [""; 0]);
}

#[test]
fn it_blocks_itself_when_the_answer_to_its_lock_is_lost() {
    if !is_there() {
        return;
    }
    let server = server();
    let dir = directory(&backend(&server, "use_lockfile = true"));
    printed(dir.path(), &["init"]);
    server.fault(Fault::after_commit_500().on("PUT", "*.tflock").nth(1));
    let text = complaint(dir.path(), &["apply", "-auto-approve"]);
    assert!(text.contains("PreconditionFailed"), "{text}");
    assert_eq!(server.keys("b"), ["p/a.tfstate.tflock"], "a lock without a holder stays behind");
}

#[test]
fn it_sends_large_states_in_parts_and_under_a_customers_key() {
    if !is_there() {
        return;
    }
    let server = server();
    let key = "encrypt = true\nuse_lockfile = true\nsse_customer_key = \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"";
    let dir = directory(&backend(&server, key));
    std::fs::write(dir.path().join("terraform.tfvars"), format!("v = \"{}\"", "x".repeat(3 << 20))).unwrap();
    printed(dir.path(), &["init"]);
    printed(dir.path(), &["apply", "-auto-approve"]);
    let stored = server.object("b", "p/a.tfstate").unwrap();
    assert!(
        stored.bytes.len() > 6 << 20 && stored.etag.contains('-'),
        "{} {}",
        stored.bytes.len(),
        stored.etag
    );
    assert!(stored.key_digest.is_some());
    printed(dir.path(), &["plan", "-detailed-exitcode"]);
}
