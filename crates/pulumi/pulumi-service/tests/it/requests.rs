//! How many requests what updates send costs.

use groundstate_pulumi_service::json::RawJson;
use groundstate_pulumi_service::{CheckpointUpload, ErrorKind, Event, LeaseToken};
use serde_json::json;

use crate::support::{Service, bytes, entry, path, stash, state, urn, urns};

#[tokio::test]
async fn a_batch_of_entries_is_stored_by_one_request_and_the_lease_read_by_another() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    let (node, requests) = service.watched_node();
    let send = async |sequence: u64| {
        let entry = entry(sequence, 0, sequence, json!({}));
        let token = LeaseToken::new(lease.token.expose());
        let there = node.stacks.leased_update(&path("dev"), update.id(), &token).await.unwrap();
        there.append(&token, &bytes([&entry])).await.unwrap();
    };
    send(1).await;
    requests.take();
    for sequence in 2..20 {
        send(sequence).await;
        let made = requests.take();
        assert_eq!(made.len(), 2, "{made:?}");
        assert!(made[0].starts_with("put 0") && made[1] == "get head", "{made:?}");
    }
    assert_eq!(update.journal(0).await.unwrap().entries.len(), 19);
}

#[tokio::test]
async fn a_checkpoint_is_stored_by_one_request_and_the_lease_read_by_another() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    let (node, requests) = service.watched_node();
    let save = async |service: &Service, name: &str| {
        let text = json!({"resources": [stash(name)]}).to_string();
        let deployment = RawJson::parse_as_written(&text).unwrap();
        let upload = CheckpointUpload::Whole { version: 3, features: &[], deployment: &deployment };
        let there = service.stacks.leased_update(&path("dev"), update.id(), &lease.token).await.unwrap();
        there.save(&lease.token, upload).await.unwrap();
    };
    save(&node, "a").await;
    requests.take();
    save(&node, "b").await;
    assert_eq!(requests.take(), ["put checkpoint", "get head"]);
    save(&node, "b").await;
    assert_eq!(requests.take(), ["get head"]);
    // Another node stores one: this one finds out, and goes on from there.
    save(&service, "c").await;
    save(&node, "d").await;
    assert_eq!(
        requests.take(),
        ["put checkpoint", "head checkpoint", "get checkpoint", "put checkpoint", "get head"]
    );
    service.wait(301);
    assert_eq!(urns(&state(&stack).await), [urn("d")]);
}

#[tokio::test]
async fn events_are_stored_by_one_request() {
    let service = Service::new();
    let stack = service.stack().await;
    for kind in ["update", "preview"] {
        let (update, lease) = service.started(&stack, kind).await;
        let (node, requests) = service.watched_node();
        for sequence in 0..3 {
            let text = RawJson::parse_as_written("{}").unwrap();
            let there = node.stacks.leased_update(&path("dev"), update.id(), &lease.token).await.unwrap();
            if sequence > 0 {
                requests.take();
            }
            there.store_events(&lease.token, &[Event { sequence, text }], None).await.unwrap();
        }
        assert_eq!(requests.take().len(), 1);
    }
}

#[tokio::test]
async fn a_lease_that_a_node_remembers_lets_nothing_count_that_comes_after_its_end() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    let node = service.node();
    let there = node.stacks.leased_update(&path("dev"), update.id(), &lease.token).await.unwrap();
    there.append(&lease.token, &bytes([&entry(1, 1, 1, json!({"state": stash("a")}))])).await.unwrap();
    // This node does not see the end.
    update.cancel("bob").await.unwrap();
    let late = entry(2, 1, 2, json!({"state": stash("b")}));
    let error = there.append(&lease.token, &bytes([&late])).await.unwrap_err();
    assert_eq!((error.kind(), error.reason()), (ErrorKind::LeaseLost, "bob cancelled the update".to_owned()));
    assert_eq!(urns(&state(&stack).await), [urn("a")]);
    let again = node.stacks.leased_update(&path("dev"), update.id(), &lease.token).await;
    assert_eq!(again.unwrap_err().kind(), ErrorKind::LeaseLost);
    // Another token is another lease, however often the right one was seen.
    let (next, lease) = service.started(&stack, "update").await;
    let there = node.stacks.leased_update(&path("dev"), next.id(), &lease.token).await.unwrap();
    let wrong = LeaseToken::new("hunter2");
    assert_eq!(there.append(&wrong, &[]).await.unwrap_err().kind(), ErrorKind::LeaseLost);
    there.append(&lease.token, &[]).await.unwrap();
}
