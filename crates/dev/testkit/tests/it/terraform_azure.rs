//! Terraform's own azurerm backend, which knows no address but the service's own.

use std::path::Path;
use std::process::Output;

use groundstate_testkit::{Authority, AzureServer, ConnectProxy, Fault};

use crate::support::ACCOUNT_KEY;
use crate::terraform::{command, directory, is_there};

const ID: &str = "11111111-2222-3333-4444-555555555555";

struct Account {
    server: AzureServer,
    proxy: ConnectProxy,
    dir: tempfile::TempDir,
}

impl Account {
    fn new(more: &str) -> Self {
        let authority = Authority::new();
        let server = AzureServer::start_tls(&authority.certificate(&["account1.blob.core.windows.net"]));
        server.create_container("b");
        server.require_key("account1", ACCOUNT_KEY);
        let proxy = ConnectProxy::to(server.address());
        let dir = directory(&format!(
            "backend \"azurerm\" {{\nstorage_account_name = \"account1\"\ncontainer_name = \"b\"\n\
             key = \"p/a.tfstate\"\naccess_key = \"{ACCOUNT_KEY}\"\n{more}\n}}"
        ));
        std::fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
        let place = Self { server, proxy, dir };
        place.succeeds(&["init"]);
        place
    }

    fn run(&self, args: &[&str]) -> Output {
        let dir: &Path = self.dir.path();
        let mut command = command(dir, args);
        command.env("SSL_CERT_FILE", dir.join("ca.pem")).env("HTTPS_PROXY", self.proxy.endpoint());
        command.env_remove("NO_PROXY").env_remove("no_proxy").output().unwrap()
    }

    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn fails(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn it_applies_keeps_workspaces_and_takes_snapshots() {
    if !is_there() {
        return;
    }
    let place = Account::new("snapshot = true");
    place.succeeds(&["apply", "-auto-approve"]);
    assert_eq!(place.server.blobs("b"), ["p/a.tfstate"]);
    assert_eq!(place.server.lease_id("b", "p/a.tfstate"), None);
    place.succeeds(&["apply", "-auto-approve", "-var", "v=2"]);
    assert!(place.server.snapshots("b", "p/a.tfstate") > 0);
    place.succeeds(&["workspace", "new", "dev"]);
    assert!(place.succeeds(&["workspace", "list"]).contains("* dev"));
    assert_eq!(place.server.blobs("b"), ["p/a.tfstate", "p/a.tfstateenv:dev"]);
    place.succeeds(&["workspace", "select", "default"]);
    place.succeeds(&["plan", "-detailed-exitcode", "-var", "v=2"]);
    assert!(place.proxy.tunnels().iter().all(|tunnel| tunnel == "account1.blob.core.windows.net:443"));
}

#[test]
fn it_is_stuck_on_a_lease_without_its_note_until_the_lease_is_broken() {
    if !is_there() {
        return;
    }
    let place = Account::new("");
    place.succeeds(&["apply", "-auto-approve"]);
    place
        .server
        .fault(Fault::refuse(403, "AuthorizationPermissionMismatch", None).on("PUT", "*?comp=metadata*"));
    place.fails(&["apply", "-auto-approve", "-var", "v=2"]);
    place.server.clear_faults();
    // The lease stays, and nothing says whose it is.
    assert!(place.server.lease_id("b", "p/a.tfstate").is_some());
    let text = place.fails(&["apply", "-auto-approve", "-var", "v=2"]);
    assert!(text.contains("terraformlockid"), "{text}");
    place.fails(&["force-unlock", "-force", ID]);
    place.server.break_lease("b", "p/a.tfstate");
    place.succeeds(&["apply", "-auto-approve", "-var", "v=2"]);
    place.succeeds(&["workspace", "new", "dev"]);
    place.succeeds(&["workspace", "select", "default"]);
    place.succeeds(&["workspace", "delete", "dev"]);
    assert_eq!(place.server.blobs("b"), ["p/a.tfstate"]);
}
