//! The real pulumi against this server, over the network of this machine.

use std::path::Path;
use std::sync::Arc;

use groundstate_server::Policies;
use groundstate_server::auth::Role;
use groundstate_server::blobs::{BlobStore, MemoryBlobs};
use groundstate_testkit::{PulumiPlace, PulumiProject, Ran, pulumi_takes_part};
use serde_json::Value;

use crate::listening::Listening;
use crate::support::{Client, Server};

/// A service that listens, and a project whose stacks are there.
struct Service {
    listening: Listening,
    project: PulumiProject,
    client: Client,
}

impl Service {
    fn new() -> Self {
        Self::on(Arc::new(MemoryBlobs::new("stacks")), Policies::default())
    }

    fn on(blobs: Arc<dyn BlobStore>, policies: Policies) -> Self {
        let server = Server::on(blobs, policies);
        let listening = Listening::start(&server, Role::Admin);
        let place = PulumiPlace::service(&listening.endpoint(), "any");
        Self { project: PulumiProject::new(&place), listening, client: server.admin() }
    }

    #[track_caller]
    fn pulumi(&self, arguments: &[&str]) -> Ran {
        self.project.pulumi(arguments)
    }

    async fn get(&self, path: &str) -> Value {
        self.client.get(&format!("/api/stacks/admin/shop/{path}")).await.is(200).json()
    }

    fn secret_config(&self, stack: &str) -> String {
        std::fs::read_to_string(self.project.path().join(format!("Pulumi.{stack}.yaml"))).unwrap_or_default()
    }
}

fn has_file(folder: &Path, name: &str) -> bool {
    folder.join(name).is_file()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stack_lives_its_whole_life_at_the_server() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.pulumi(&["login", &service.listening.endpoint()]).succeeds();
    assert_eq!(service.pulumi(&["whoami"]).succeeds().trim(), "admin");
    service.pulumi(&["stack", "init", "dev"]).succeeds();
    let again = service.pulumi(&["stack", "init", "dev"]).fails();
    assert!(again.contains("already exists"), "{again}");
    service.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    assert!(
        has_file(service.project.path(), "Pulumi.dev.yaml")
            && !service.secret_config("dev").contains("hunter2")
    );
    assert_eq!(service.pulumi(&["config", "get", "password", "--stack", "dev"]).succeeds().trim(), "hunter2");

    service.pulumi(&["preview", "--stack", "dev"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 0);
    assert_eq!(service.get("dev").await["activeUpdate"], "");
    service.pulumi(&["up", "--yes", "--stack", "dev", "-m", "the first"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 1);
    service.project.preview_is_clean("dev");
    service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev", "-c", "n=2"]).succeeds();
    let listed = service.pulumi(&["stack", "ls", "--json"]).succeeds();
    assert!(listed.contains("\"resourceCount\": 4"), "{listed}");
    service.pulumi(&["refresh", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();

    let history = service.get("dev/updates").await;
    let kinds: Vec<&str> = history["updates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|update| update["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["refresh", "update", "update"]);
    let first = &history["updates"][2];
    assert_eq!((&first["message"], &first["result"]), (&"the first".into(), &"succeeded".into()));
    assert_eq!(first["resourceChanges"]["create"], 3);
    assert!(service.pulumi(&["stack", "history", "--stack", "dev"]).succeeds().contains("the first"));

    let second = service.pulumi(&["stack", "export", "--version", "1", "--stack", "dev"]).succeeds();
    service.project.write("one.json", &second);
    service.pulumi(&["stack", "import", "--file", "one.json", "--stack", "dev"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 4);
    service.pulumi(&["stack", "tag", "set", "team", "web", "--stack", "dev"]).succeeds();
    assert_eq!(service.pulumi(&["stack", "tag", "get", "team", "--stack", "dev"]).succeeds().trim(), "web");

    service.pulumi(&["stack", "rename", "prod", "--stack", "dev"]).succeeds();
    assert_eq!(
        service.pulumi(&["config", "get", "password", "--stack", "prod"]).succeeds().trim(),
        "hunter2"
    );
    service.pulumi(&["config", "set", "n", "1", "--stack", "prod"]).succeeds();
    service.project.preview_is_clean("prod");
    let refused = service.pulumi(&["stack", "rm", "--yes", "prod"]).fails();
    assert!(refused.contains("--force"), "{refused}");
    service.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "prod"]).succeeds();
    service.pulumi(&["stack", "rm", "--yes", "prod"]).succeeds();
    let gone = service.pulumi(&["stack", "select", "prod"]).fails();
    assert!(gone.contains("no stack named 'prod' found"), "{gone}");
}
