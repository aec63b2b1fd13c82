//! Updates of the real pulumi that are in each other's way, that die, and whose server dies.

use groundstate_server::auth::Role;
use groundstate_testkit::{PulumiPlace, RoundRobin, pulumi_has_journals, pulumi_takes_part};
use serde_json::Value;

use super::service::Service;
use crate::listening::Listening;

fn pending(state: &Value) -> usize {
    state["deployment"]["pending_operations"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_update_is_refused_with_words_and_the_first_ends_well() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    let running = service.project.holds("dev");
    let refused = service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(refused.contains("[409] Conflict: Another update is currently in progress."), "{refused}");
    assert_eq!(service.get("dev").await["currentOperation"]["kind"], "update");
    service.pulumi(&["preview", "--stack", "dev"]).succeeds();
    let refused = service.pulumi(&["stack", "rename", "prod", "--stack", "dev"]).fails();
    assert!(refused.contains("409"), "{refused}");
    running.release().succeeds();
    assert_eq!(service.latest().await["result"], "succeeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_that_another_user_cancels_ends_and_frees_its_stack() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    let never = service.pulumi(&["cancel", "--yes", "dev"]).fails();
    assert!(never.contains("has never been updated"), "{never}");
    let running = service.project.holds("dev");
    service.pulumi(&["cancel", "--yes", "dev"]).succeeds();
    let ended = running.release().fails();
    assert!(ended.contains("[403] admin cancelled the update"), "{ended}");
    assert_eq!(service.latest().await["result"], "failed");
    service.up();
    service.pulumi(&["cancel", "--yes", "dev"]).succeeds();
    assert_eq!(service.latest().await["result"], "succeeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_whose_process_is_killed_ends_with_its_lease() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    service.up();
    service.project.holds("dev").kill();
    let refused = service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(refused.contains("409"), "{refused}");
    service.wait(301);
    service.up();
    let history = service.get("dev/updates").await;
    let results: Vec<_> =
        history["updates"].as_array().unwrap().iter().map(|update| &update["result"]).collect();
    assert_eq!(results, ["succeeded", "failed", "succeeded"]);
    assert_eq!(history["updates"][1]["message"], "the lease expired");
    assert_eq!(pending(&service.get("dev/export").await), 0);
    service.project.preview_is_clean("dev");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sleeps_past_its_lease_is_refused_and_what_came_meanwhile_stays() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    service.up();
    let sleeping = service.project.holds("dev");
    service.wait(361);
    service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev", "-c", "n=2"]).succeeds();
    let state = service.get("dev/export").await;
    let late = sleeping.release().fails();
    assert!(late.contains("403"), "{late}");
    assert_eq!(service.get("dev/export").await, state);
    assert_eq!(service.get("dev").await["version"], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn creations_whose_outcome_is_not_known_are_shown_by_the_next_command() {
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    service.init();
    service.up();
    let mut state = service.get("dev/export").await;
    let mut resources = state["deployment"]["resources"].as_array().unwrap().iter();
    let first = resources.find(|it| it["urn"].as_str().unwrap().ends_with("::first")).unwrap();
    let mut resource = first.clone();
    resource["urn"] = "urn:pulumi:dev::shop::pulumi:index:Stash::third".into();
    state["deployment"]["pending_operations"] =
        serde_json::json!([{"type": "creating", "resource": resource}]);
    service.client.call("POST", "/api/stacks/admin/shop/dev/import", state.to_string()).await.is(200);
    assert_eq!(pending(&service.get("dev/export").await), 1);
    let next = service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]);
    let told = format!("{}{}", next.stdout, next.stderr);
    assert!(told.contains("1 pending operation") && told.contains("third"), "{told}");
    service
        .pulumi(&["refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", "dev"])
        .succeeds();
    assert_eq!(pending(&service.get("dev/export").await), 0);
    service.project.preview_is_clean("dev");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_whose_server_dies_ends_well_at_the_next_one() {
    if !pulumi_takes_part() {
        return;
    }
    let mut service = Service::new();
    let address = |listening: &Listening| listening.endpoint().replace("http://", "");
    let proxy = RoundRobin::start(&[&address(&service.listening)]);
    service.project.set("PULUMI_BACKEND_URL", &format!("http://{}", proxy.address()));
    service.init();
    let running = service.project.holds("dev");
    let next = Listening::start(&service.node(), Role::Admin);
    proxy.replace(0, &address(&next));
    // Its connections break, and what it remembers of the journal is gone.
    service.listening = next;
    running.release().succeeds();
    assert_eq!(service.latest().await["result"], "succeeded");
    service.project.preview_is_clean("dev");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_nodes_behind_a_proxy_are_one_service() {
    if !pulumi_takes_part() {
        return;
    }
    let mut service = Service::new();
    let nodes: Vec<Listening> = (0..3).map(|_| Listening::start(&service.node(), Role::Admin)).collect();
    let addresses: Vec<String> = nodes.iter().map(|node| node.endpoint().replace("http://", "")).collect();
    let proxy = RoundRobin::start(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
    service.project.set("PULUMI_BACKEND_URL", &format!("http://{}", proxy.address()));
    service.init();
    service.up();
    service.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev", "-c", "n=2"]).succeeds();
    service.project.preview_is_clean("dev");
    service.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();
    assert_eq!(service.get("dev").await["version"], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_not_of_the_server_is_a_login_that_is_required() {
    use groundstate_server::auth::{AuthSettings, Authenticator, Tokens, require};
    if !pulumi_takes_part() {
        return;
    }
    let service = Service::new();
    let context = crate::support::context(&service.clock, 1);
    let clock = std::sync::Arc::clone(&context.clock);
    let tokens = Tokens::new(std::sync::Arc::clone(&service.blobs), context);
    let mut settings = AuthSettings::default();
    settings.anonymous = groundstate_server::auth::Anonymous::Never;
    let authenticator = Authenticator::new(tokens, &settings, clock).unwrap();
    let router = require(groundstate_server::router(service.server.app.clone()), authenticator, None);
    let guarded = Listening::serve(router);
    let asked = guarded.raw(b"GET /api/cli/version HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert!(asked.starts_with("HTTP/1.1 200 "), "the CLI asks before it has a token: {asked}");
    let place = PulumiPlace::service(&guarded.endpoint(), "pul-hunter2");
    let project = groundstate_testkit::PulumiProject::new(&place);
    let refused = project.pulumi(&["whoami"]).fails();
    // Its own words; earlier releases print those of the server.
    assert!(refused.contains("Unauthorized") || !pulumi_has_journals(), "{refused}");
    assert!(!refused.contains("hunter2"), "{refused}");
}
