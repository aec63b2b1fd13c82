//! What is kept of old updates.

use std::time::Duration;

use groundstate_pulumi_service::blobs::ListOptions;
use groundstate_pulumi_service::common::Clock as _;
use groundstate_pulumi_service::json::RawJson;
use groundstate_pulumi_service::versioned::Retention;
use groundstate_pulumi_service::{
    Event, OldVersion, PruneOptions, PruneReport, Stack, StartOptions, UpdateRequest, UpdateResult,
    UpdateStatus,
};
use serde_json::json;

use crate::support::{Service, bytes, dies_after, entry, path, stash, state, urn, urns};

const DAY: u64 = 24 * 60 * 60;

fn newest(count: u64) -> PruneOptions {
    PruneOptions::default().retention(Retention::Newest { count, younger: None })
}

/// An update with entries and events that ends, and its id.
async fn ended(service: &Service, stack: &Stack, kind: &str, result: UpdateResult) -> String {
    let (update, lease) = service.started(stack, kind).await;
    if kind != "preview" {
        let entry = entry(1, 1, 1, json!({"state": stash("a")}));
        update.append(&lease.token, &bytes([&entry])).await.unwrap();
    }
    let event = Event { sequence: 0, text: RawJson::parse_as_written("{}").unwrap() };
    update.store_events(&lease.token, &[event], Some(&[("create".to_owned(), 1)].into())).await.unwrap();
    update.complete(&lease.token, result).await.unwrap();
    service.wait(1);
    update.id().to_owned()
}

/// What is stored of an update: the first parts of the names.
async fn stored(service: &Service, stack: &Stack, update: &str) -> Vec<String> {
    let prefix = format!("pulumi/updates/{}/{update}/", stack.id());
    let listed = service.blobs.list(&prefix, &ListOptions::default()).await.unwrap();
    let mut found: Vec<String> = listed
        .blobs
        .iter()
        .map(|blob| blob.name[prefix.len()..].split('/').next().unwrap().to_owned())
        .collect();
    found.dedup();
    found
}

async fn prune(service: &Service, options: &PruneOptions) -> PruneReport {
    let report = service.stacks.prune(options).await.unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
    report
}

#[tokio::test]
async fn events_and_journals_of_the_newest_updates_are_kept_and_what_the_history_needs() {
    let service = Service::new();
    let stack = service.stack().await;
    let mut updates = Vec::new();
    for kind in ["update", "preview", "destroy", "preview", "update", "preview"] {
        updates.push(ended(&service, &stack, kind, UpdateResult::Failed).await);
    }
    assert_eq!(prune(&service, &newest(2)).await.blobs, 0, "all are young");
    service.wait(2 * DAY);
    assert_eq!(prune(&service, &PruneOptions::default()).await.blobs, 0);
    let report = prune(&service, &newest(2)).await;
    assert_eq!((report.stacks, report.updates), (1, 4), "{report:?}");
    let whole = vec!["events", "journal", "request", "summary"];
    for (update, expected) in updates.iter().zip([
        vec!["request"],
        vec![],
        vec!["request"],
        vec![],
        whole,
        vec!["events", "preview", "request", "summary"],
    ]) {
        assert_eq!(stored(&service, &stack, update).await, expected);
    }
    assert_eq!(prune(&service, &newest(2)).await.blobs, 0);
    let history = stack.versions(None, 10).await.unwrap().versions;
    assert_eq!(history.len(), 3);
    for version in history {
        stack.update(version.note.update.as_deref().unwrap()).request().await.unwrap();
    }
    assert!(stack.update(&updates[0]).events(0, 10).await.unwrap().events.is_empty());
}

#[tokio::test]
async fn what_clients_said_goes_with_the_versions() {
    let service = Service::new();
    let stack = service.stack().await;
    let mut updates = Vec::new();
    for _ in 0..5 {
        updates.push(ended(&service, &stack, "update", UpdateResult::Succeeded).await);
    }
    service.wait(2 * DAY);
    prune(&service, &newest(1)).await;
    assert_eq!(stored(&service, &stack, &updates[0]).await, ["request"]);
    let retention = Retention::Newest { count: 2, younger: None };
    let document = service.versions(&stack);
    document
        .sweep(&groundstate_pulumi_service::versioned::SweepOptions::default().retention(retention))
        .await
        .unwrap();
    prune(&service, &newest(1)).await;
    let mut left = Vec::new();
    for update in &updates {
        left.push(!stored(&service, &stack, update).await.is_empty());
    }
    assert_eq!(left, [false, false, false, true, true]);
}

#[tokio::test]
async fn an_update_of_long_ago_is_known_to_have_ended() {
    let service = Service::new();
    let stack = service.stack().await;
    let first = ended(&service, &stack, "update", UpdateResult::Failed).await;
    let never = stack.create_update(&UpdateRequest::new("update", "ann", service.clock.now())).await.unwrap();
    for _ in 0..101 {
        stack.import(br#"{"version":3,"deployment":{}}"#, None, "ann").await.unwrap();
    }
    service.wait(2 * DAY);
    prune(&service, &newest(1)).await;
    let status = stack.update(&first).status().await.unwrap();
    assert_eq!(status, UpdateStatus::Ended(UpdateResult::Failed));
    assert_eq!(never.status().await.unwrap(), UpdateStatus::NotStarted);
}

#[tokio::test]
async fn a_key_of_an_old_version_is_known_when_its_version_is_gone() {
    let service = Service::new();
    let stack = service.stack().await;
    for number in 0..4 {
        let old = OldVersion::new(format!("k{number}"), "update", UpdateResult::Succeeded);
        stack.append(&old, "ann").await.unwrap();
        service.wait(1);
    }
    service.wait(2 * DAY);
    let retention = Retention::Newest { count: 1, younger: None };
    let sweep = groundstate_pulumi_service::versioned::SweepOptions::default().retention(retention);
    service.versions(&stack).sweep(&sweep).await.unwrap();
    prune(&service, &newest(1)).await;
    assert_eq!(stack.versions(None, 10).await.unwrap().versions.len(), 1);
    let old = OldVersion::new("k0", "update", UpdateResult::Succeeded);
    let again = stack.append(&old, "ann").await.unwrap();
    assert_eq!((again.version, again.is_new), (1, false));
    assert_eq!(stored(&service, &stack, &again.update).await, ["appended"]);
}

#[tokio::test]
async fn an_age_keeps_more_than_a_number_does() {
    let service = Service::new();
    let stack = service.stack().await;
    let old = ended(&service, &stack, "preview", UpdateResult::Succeeded).await;
    service.wait(8 * DAY);
    let young = ended(&service, &stack, "preview", UpdateResult::Succeeded).await;
    service.wait(6 * DAY);
    ended(&service, &stack, "preview", UpdateResult::Succeeded).await;
    service.wait(2 * DAY);
    let younger = Some(Duration::from_secs(9 * DAY));
    prune(&service, &PruneOptions::default().retention(Retention::Newest { count: 1, younger })).await;
    assert!(stored(&service, &stack, &old).await.is_empty());
    assert!(!stored(&service, &stack, &young).await.is_empty());
}

#[tokio::test]
async fn what_runs_and_what_does_not_count_yet_stays_however_old_it_is() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    update.append(&lease.token, &bytes([&entry(1, 1, 1, json!({"state": stash("a")}))])).await.unwrap();
    let (preview, shown) = service.started(&stack, "preview").await;
    for _ in 0..3 {
        ended(&service, &stack, "preview", UpdateResult::Succeeded).await;
    }
    // Its lease is over, and no client has found that yet.
    service.wait(3 * DAY);
    let preview_ends = preview.renew(&shown.token, None).await;
    assert!(preview_ends.is_err());
    prune(&service, &newest(1)).await;
    assert_eq!(stored(&service, &stack, update.id()).await, ["journal", "request"]);
    assert!(stored(&service, &stack, preview.id()).await.is_empty());
    assert_eq!(urns(&state(&stack).await), [urn("a")]);
    prune(&service, &newest(1)).await;
    assert_eq!(stored(&service, &stack, update.id()).await, ["journal", "request"]);
    // An update that waits for its start is young.
    let waiting =
        stack.create_update(&UpdateRequest::new("update", "ann", service.clock.now())).await.unwrap();
    ended(&service, &stack, "preview", UpdateResult::Succeeded).await;
    service.wait(3000);
    prune(&service, &newest(1)).await;
    waiting.start(&StartOptions::default()).await.unwrap();
}

#[tokio::test]
async fn a_node_that_dies_while_it_prunes_is_followed_by_another() {
    for polls in 1..60 {
        let service = Service::new();
        let stack = service.stack().await;
        let mut updates = Vec::new();
        for kind in ["update", "preview", "update", "update"] {
            updates.push(ended(&service, &stack, kind, UpdateResult::Succeeded).await);
        }
        service.wait(2 * DAY);
        let before = state(&stack).await;
        let dying = service.slow_node();
        dies_after(polls, dying.stacks.prune(&newest(1))).await;
        for version in stack.versions(None, 10).await.unwrap().versions {
            stack.update(version.note.update.as_deref().unwrap()).request().await.unwrap();
        }
        prune(&service, &newest(1)).await;
        let mut left = Vec::new();
        for update in &updates {
            left.push(stored(&service, &stack, update).await.len());
        }
        assert_eq!(left, [1, 0, 1, 4], "after {polls} polls");
        assert_eq!(state(&stack).await, before);
    }
}

#[tokio::test]
async fn nodes_that_prune_at_once_and_stacks_that_are_gone_do_no_harm() {
    let service = Service::new();
    let stack = service.stack().await;
    for _ in 0..4 {
        ended(&service, &stack, "update", UpdateResult::Succeeded).await;
    }
    stack.remove(true, "ann").await.unwrap();
    service.wait(2 * DAY);
    let mut nodes = Vec::new();
    for _ in 0..3 {
        let node = service.slow_node();
        nodes.push(tokio::spawn(async move { node.stacks.prune(&newest(1)).await.unwrap() }));
    }
    for node in nodes {
        assert!(node.await.unwrap().failed.is_empty());
    }
    assert!(service.stacks.stack(&path("dev")).await.is_err());
    let prefix = format!("pulumi/updates/{}/", stack.id());
    let left = service.blobs.list(&prefix, &ListOptions::default()).await.unwrap().blobs;
    assert_eq!(left, []);
}
