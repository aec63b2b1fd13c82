//! The real pulumi, by turns at this server and directly at the bucket that it serves.

use std::sync::Arc;

use groundstate_server::auth::Role;
use groundstate_server::blobs::{Context, MemoryBlobs};
use groundstate_server::common::{OsIds, SystemClock};
use groundstate_server::pulumi_backends::BackendUrl;
use groundstate_server::{Parts, PulumiBucket};
use groundstate_statemgr::TokioSleeper;
use groundstate_testkit::{PulumiPlace, PulumiProject, RoundRobin, pulumi_takes_part};
use serde_json::Value;

use super::service::Service;
use crate::listening::Listening;

/// A service that serves the stacks of a place as those of `team`, and a project that uses both.
struct Shared {
    service: Service,
    direct: PulumiProject,
    place: Arc<PulumiPlace>,
}

const SERVED: &str = "team/shop/dev";

fn serve(parts: &mut Parts, place: &PulumiPlace) {
    // The locks and objects have the time of the machine, as those of the CLI.
    let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    let variables: std::collections::HashMap<String, String> = place.environment().iter().cloned().collect();
    let variable = |name: &str| variables.get(name).cloned();
    let url = BackendUrl::parse(place.url()).unwrap();
    let bucket = PulumiBucket::open(&url, "node-1", &context, &variable).unwrap();
    parts.buckets.push(("team".to_owned(), Arc::new(bucket)));
}

impl Shared {
    /// A stack `dev` that the CLI has made in the place.
    fn at(place: PulumiPlace) -> Self {
        let direct = PulumiProject::applied(&place, "dev");
        let service = Service::with(Arc::new(MemoryBlobs::new("own")), |parts| serve(parts, &place));
        let config = std::fs::read_to_string(direct.path().join("Pulumi.dev.yaml")).unwrap();
        service.project.write("Pulumi.dev.yaml", &config);
        Self { service, direct, place: Arc::new(place) }
    }

    /// Another node.
    fn node(&self) -> crate::support::Server {
        self.service.node_with(|parts| serve(parts, &self.place))
    }

    async fn get(&self, path: &str) -> Value {
        let path = format!("/api/stacks/team/shop/dev{path}");
        self.service.client.get(&path).await.is(200).json()
    }

    #[track_caller]
    fn served(&self, arguments: &[&str]) -> groundstate_testkit::Ran {
        self.service.pulumi(arguments)
    }
}

async fn a_stack_of_a_bucket_is_served_and_stays_one_of_the_bucket(shared: Shared) {
    let Shared { service, direct, .. } = &shared;
    service.pulumi(&["login", &service.listening.endpoint()]).succeeds();
    let listed = shared.served(&["stack", "ls", "--organization", "team", "--json"]).succeeds();
    assert!(listed.contains("team/shop/dev") || listed.contains("dev"), "{listed}");
    shared.served(&["preview", "--expect-no-changes", "--stack", SERVED]).succeeds();
    shared.served(&["config", "set", "--secret", "password", "hunter2", "--stack", SERVED]).succeeds();
    let config = std::fs::read_to_string(service.project.path().join("Pulumi.dev.yaml")).unwrap();
    assert!(config.contains("encryptionsalt") && !config.contains("hunter2"), "{config}");
    shared.served(&["up", "--yes", "--stack", SERVED, "-c", "n=2", "-m", "by the server"]).succeeds();
    assert_eq!(shared.get("").await["version"], 2);
    shared.served(&["refresh", "--yes", "--skip-preview", "--stack", SERVED]).succeeds();
    let history = shared.served(&["stack", "history", "--stack", SERVED]).succeeds();
    assert!(history.contains("by the server"), "{history}");

    // Directly, everything is there.
    let config = std::fs::read_to_string(service.project.path().join("Pulumi.dev.yaml")).unwrap();
    direct.write("Pulumi.dev.yaml", &config);
    direct.preview_is_clean("dev");
    let history = direct.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds();
    let history: Value = serde_json::from_str(&history).unwrap();
    let kinds: Vec<&str> =
        history.as_array().unwrap().iter().map(|update| update["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["refresh", "update", "update"]);
    assert_eq!(history[1]["message"], "by the server");
    assert_eq!(history[1]["config"]["shop:n"]["value"], "2", "{}", history[1]["config"]);
    assert_eq!(history[1]["config"]["shop:password"]["secret"], true, "{}", history[1]["config"]);
    assert_eq!(direct.pulumi(&["config", "get", "password", "--stack", "dev"]).succeeds().trim(), "hunter2");
    direct
        .pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev", "-c", "n=3", "-m", "directly"])
        .succeeds();

    // And the server sees that at once.
    let latest = shared.get("/updates/latest").await;
    assert_eq!((&latest["info"]["message"], &latest["info"]["version"]), (&"directly".into(), &4.into()));
    service
        .project
        .write("Pulumi.dev.yaml", &std::fs::read_to_string(direct.path().join("Pulumi.dev.yaml")).unwrap());
    shared.served(&["preview", "--expect-no-changes", "--stack", SERVED]).succeeds();
    let second = shared.served(&["stack", "export", "--version", "2", "--stack", SERVED]).succeeds();
    service.project.write("two.json", &second);
    shared.served(&["stack", "import", "--file", "two.json", "--stack", SERVED]).succeeds();
    shared.served(&["stack", "tag", "set", "team", "web", "--stack", SERVED]).succeeds();
    assert_eq!(direct.pulumi(&["stack", "tag", "get", "team", "--stack", "dev"]).succeeds().trim(), "web");
    shared.served(&["stack", "rename", "team/shop/prod", "--stack", SERVED]).succeeds();
    assert!(direct.pulumi(&["stack", "ls"]).succeeds().contains("prod"));
    direct.pulumi(&["up", "--yes", "--skip-preview", "--stack", "prod"]).succeeds();
    shared.served(&["destroy", "--yes", "--skip-preview", "--stack", "team/shop/prod"]).succeeds();
    shared.served(&["stack", "rm", "--yes", "team/shop/prod"]).succeeds();
    assert!(!direct.pulumi(&["stack", "ls"]).succeeds().contains("prod"));

    shared.served(&["stack", "init", "team/shop/new", "--secrets-provider", "passphrase"]).succeeds();
    service.project.up("team/shop/new");
    assert!(direct.pulumi(&["stack", "ls"]).succeeds().contains("new"));
    // Secrets of the service are refused with what to do; what has none needs no provider.
    shared.served(&["stack", "init", "team/shop/plain"]).succeeds();
    let set = ["config", "set", "--secret", "password", "hunter2", "--stack", "team/shop/plain"];
    let refused = shared.served(&set).fails();
    assert!(refused.contains("--secrets-provider passphrase"), "{refused}");
    service.project.up("team/shop/plain");
    assert_eq!(direct.exported("plain")["deployment"]["secrets_providers"], Value::Null);
}

mod life {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn in_a_directory() {
        let folder = tempfile::tempdir().unwrap();
        if pulumi_takes_part() {
            let shared = Shared::at(PulumiPlace::folder(folder.path()));
            a_stack_of_a_bucket_is_served_and_stays_one_of_the_bucket(shared).await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn in_s3() {
        if pulumi_takes_part() {
            a_stack_of_a_bucket_is_served_and_stays_one_of_the_bucket(Shared::at(PulumiPlace::s3())).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stack_without_secrets_needs_no_provider_however_its_state_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    if !pulumi_takes_part() {
        return;
    }
    let mut shared = Shared::at(PulumiPlace::folder(folder.path()));
    // Checkpoints; the entry of the provider in one batch with others; and each entry alone.
    let ways = [
        ("PULUMI_DISABLE_JOURNALING", "true"),
        ("PULUMI_JOURNALING_BATCH_PERIOD", "500"),
        ("PULUMI_JOURNALING_BATCH_SIZE", "1"),
    ];
    for (number, (name, value)) in ways.into_iter().enumerate() {
        shared.service.project.set(name, value);
        let stack = format!("plain{number}");
        let served = format!("team/shop/{stack}");
        shared.served(&["stack", "init", &served]).succeeds();
        shared.service.project.up(&served);
        shared.served(&["up", "--yes", "--skip-preview", "--stack", &served, "-c", "n=2"]).succeeds();
        assert_eq!(shared.direct.exported(&stack)["deployment"]["secrets_providers"], Value::Null, "{name}");
        shared.direct.up(&stack);
        shared.service.project.set(name, "");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_updates_at_once_one_is_refused_with_the_holder_named() {
    let folder = tempfile::tempdir().unwrap();
    if !pulumi_takes_part() {
        return;
    }
    let shared = Shared::at(PulumiPlace::folder(folder.path()));
    let running = shared.direct.holds("dev");
    let refused = shared.served(&["up", "--yes", "--skip-preview", "--stack", SERVED]).fails();
    assert!(refused.contains("[409] Conflict: Another update is currently in progress"), "{refused}");
    assert!(refused.contains(&format!("pid {}", running.id())), "{refused}");
    shared.served(&["preview", "--stack", SERVED]).succeeds();
    running.release().succeeds();

    let running = shared.service.project.holds(SERVED);
    let refused = shared.direct.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(
        refused.contains("currently locked") && refused.contains("groundstate-server at node-1"),
        "{refused}"
    );
    running.release().succeeds();
    shared.direct.preview_is_clean("dev");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_whose_cli_or_server_is_killed_leaves_the_bucket_whole_and_free() {
    let folder = tempfile::tempdir().unwrap();
    if !pulumi_takes_part() {
        return;
    }
    let mut shared = Shared::at(PulumiPlace::folder(folder.path()));
    shared.service.project.holds(SERVED).kill();
    let refused = shared.direct.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(refused.contains("currently locked"), "{refused}");
    shared.service.wait(301);
    assert_eq!(shared.get("/updates/latest").await["info"]["result"], "failed");
    shared.direct.up("dev");

    // The server dies, and another node takes its place.
    let address = |listening: &Listening| listening.endpoint().replace("http://", "");
    let proxy = RoundRobin::start(&[&address(&shared.service.listening)]);
    shared.service.project.set("PULUMI_BACKEND_URL", &format!("http://{}", proxy.address()));
    let running = shared.service.project.holds(SERVED);
    let next = Listening::start(&shared.node(), Role::Admin);
    proxy.replace(0, &address(&next));
    shared.service.listening = next;
    running.release().succeeds();
    shared.direct.preview_is_clean("dev");
    shared.direct.up("dev");
}
