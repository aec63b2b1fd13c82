//! Who the user is, what the server can do, and how errors look.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_server::Parts;
use groundstate_server::auth::{Grant, Pattern, Principal, PrincipalKind, Role};
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::config::Sources;
use groundstate_server::edge::{self, Metrics};
use serde_json::{Value, json};

use super::calls::{PROJECT, STACK, Service, ask, error};
use crate::support::Client;

#[tokio::test]
async fn every_error_has_the_code_of_its_status_in_its_body() {
    let service = Service::with_stack().await;
    let stack = |tail: &str| format!("{STACK}{tail}");
    for (method, path, body, status) in [
        ("GET", "/api/esc/environments/acme".to_owned(), "", 404),
        ("GET", "/api/".to_owned(), "", 404),
        ("POST", "/api/agents/signup".to_owned(), "{}", 404),
        ("GET", "/api/stacks/acme".to_owned(), "", 404),
        ("GET", format!("{PROJECT}/none"), "", 404),
        ("GET", format!("{PROJECT}/none/export"), "", 404),
        ("GET", stack("/export/99"), "", 404),
        ("GET", stack("/updates/latest"), "", 404),
        ("GET", stack("/nothing"), "", 404),
        ("GET", stack("/update/none"), "", 404),
        ("GET", "/api/user/organizations/default".to_owned(), "", 404),
        ("DELETE", "/api/user".to_owned(), "", 404),
        ("PATCH", stack("/tags"), "{", 400),
        ("PUT", stack("/config"), "{}", 400),
        ("POST", PROJECT.to_owned(), r#"{"stackName":"dev"}"#, 409),
    ] {
        let answer = ask(&service.user, method, &path, &[], body).await;
        let message = error(answer, status);
        assert!(!message.is_empty(), "{method} {path}");
    }
    let packed = ask(&service.user, "POST", PROJECT, &[("content-encoding", "br")], "{}").await;
    error(packed, 415);
    for path in ["/api/user", "/api/user/stacks", STACK] {
        error(ask(&service.server.stranger(), "GET", path, &[], "").await, 401);
    }
    // The other API of the server has errors of its own.
    assert_eq!(service.get("/api/v1/nothing").await.is(404).problem(), "no-such-route");
}

#[tokio::test]
async fn what_the_layer_of_credentials_refuses_has_a_code_too() {
    let text = "store = \"memory:\"\nlisten = [\"127.0.0.1:0\"]\n";
    let config = Sources::new().file("server.toml".as_ref(), text).unwrap().build(&|_| None).unwrap();
    let context = Parts::new(Arc::new(MemoryBlobs::new("stacks"))).context;
    let store = Arc::new(MemoryBlobs::new("stacks"));
    let service = edge::Service::open(&config, store, &context, &Metrics::new(), "node-1").unwrap();
    let client = Client::of(service.parts().app);
    for authorization in ["token none", "Bearer none", "Basic bm9uZTpub25l", "token", "nothing at all"] {
        let headers = [("authorization", authorization)];
        error(ask(&client, "GET", "/api/user", &headers, "").await, 401);
        error(ask(&client, "POST", &format!("{STACK}/import"), &headers, "{}").await, 401);
    }
    error(ask(&client, "GET", "/api/user", &[], "").await, 401);
    // An update token opens nothing but the calls of its update.
    let headers = [("authorization", "update-token none")];
    error(ask(&client, "GET", "/api/user", &headers, "").await, 401);
    error(ask(&client, "GET", &format!("{STACK}/export"), &headers, "").await, 401);
    error(ask(&client, "POST", &format!("{STACK}/update/none/complete"), &headers, "{}").await, 403);
    let states = client.get("/api/v1/projects").await.is(401);
    assert_eq!(states.problem(), "unauthenticated");
}

#[tokio::test]
async fn the_user_is_an_owner_and_so_are_the_owners_it_has_roles_on() {
    let service = Service::new();
    let grants = ["acme", "beta", "acme", "x-*"]
        .map(|owner| Grant::project(Role::Write, Pattern::parse(owner).unwrap()));
    let ann = Principal::new("ann", PrincipalKind::Token, grants.to_vec());
    let user = ask(&service.server.client_of(ann), "GET", "/api/user", &[], "").await.is(200).json();
    assert_eq!((&user["githubLogin"], &user["tokenInfo"]["name"]), (&json!("ann"), &json!("ann")));
    let logins: Vec<_> =
        user["organizations"].as_array().unwrap().iter().map(|o| &o["githubLogin"]).collect();
    assert_eq!(logins, ["ann", "acme", "beta"]);
    let message = error(service.get("/api/user/organizations/default").await, 404);
    assert!(message.contains("stacks belong to the user"), "{message}");
}

#[tokio::test]
async fn differences_of_checkpoints_are_offered_only_where_the_policy_says_so() {
    let offered = async |service: Service| -> BTreeMap<String, Value> {
        let answer = service.get("/api/capabilities").await.is(200).json();
        let offers = answer["capabilities"].as_array().unwrap().clone();
        offers.into_iter().map(|offer| (offer["capability"].as_str().unwrap().to_owned(), offer)).collect()
    };
    let usual = offered(Service::new()).await;
    let names = [
        "batch-encrypt",
        "deployment-schema-version",
        "groundstate-append-versions",
        "groundstate-conditional-import",
        "groundstate-stack-locks",
    ];
    assert_eq!(usual.keys().collect::<Vec<_>>(), names);
    assert_eq!(usual["deployment-schema-version"]["configuration"]["version"], 4);
    let with = offered(Service::with(|parts| parts.policies.pulumi_deltas_from = Some(4096))).await;
    let deltas = &with["delta-checkpoint-uploads-v2"];
    assert_eq!(deltas["version"], 2);
    assert_eq!(deltas["configuration"]["checkpointCutoffSizeBytes"], 4096);
}

#[tokio::test]
async fn no_release_is_recommended() {
    let service = Service::new();
    let answer = ask(&service.server.stranger(), "GET", "/api/cli/version", &[], "").await.is(200).json();
    assert_eq!(answer["latestVersion"], "");
}

#[tokio::test]
async fn releases_that_speak_an_older_protocol_are_told_so() {
    let service = Service::with_stack().await;
    for (accept, status) in [
        ("application/vnd.pulumi+9", 200),
        ("application/vnd.pulumi+8", 200),
        ("application/json", 200),
        ("application/vnd.pulumi+hunter2", 200),
        ("application/vnd.pulumi+7", 400),
    ] {
        let answer = ask(&service.user, "GET", STACK, &[("accept", accept)], "").await;
        assert_eq!(answer.status.as_u16(), status, "{accept}");
    }
}
