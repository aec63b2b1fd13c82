//! Versions of other histories: appended in their order, each once.

use groundstate_pulumi_service::common::Timestamp;
use groundstate_pulumi_service::{
    ErrorKind, NewStack, OldVersion, Stack, StartOptions, UpdateResult, VersionSource,
};
use serde_json::json;

use crate::support::{Service, dies_after, path, root, stash, state, urn, urns};

fn old(key: &str, name: &str) -> OldVersion {
    let mut old = OldVersion::new(key, "update", UpdateResult::Succeeded);
    let deployment = json!({"manifest": {}, "resources": [root(), stash(name)], "metadata": {}});
    old.state = Some(json!({"version": 3, "deployment": deployment}).to_string().into());
    old.started = Timestamp::from_unix(1_500_000_000, 0).unwrap();
    old.ended = Timestamp::from_unix(1_500_000_060, 0).unwrap();
    old.changes = [("create".to_owned(), 1)].into();
    old.source = VersionSource::new(41, "bob");
    old
}

async fn kinds(stack: &Stack) -> Vec<(u64, String)> {
    let page = stack.versions(None, 100).await.unwrap();
    page.versions.into_iter().map(|version| (version.number, version.note.kind)).collect()
}

#[tokio::test]
async fn an_old_version_becomes_the_next_one_as_it_was() {
    let service = Service::new();
    let stack = service.stack().await;
    let appended = stack.append(&old("k1", "a"), "ann").await.unwrap();
    assert_eq!((appended.version, appended.is_new), (1, true));
    let version = stack.version(1).await.unwrap();
    assert_eq!(
        (version.note.started.seconds(), version.note.ended.seconds()),
        (1_500_000_000, 1_500_000_060)
    );
    assert_eq!((version.by.as_str(), version.note.resources), ("ann", 2));
    assert_eq!(version.note.changes["create"], 1);
    assert_eq!(version.note.update.as_deref(), Some(&*appended.update));
    let request = stack.update(&appended.update).request().await.unwrap();
    assert_eq!(request.source, Some(VersionSource::new(41, "bob")));
    assert!(urns(&state(&stack).await).contains(&&*urn("a")));
    let listed = service.stacks.list(&Default::default()).await.unwrap();
    assert_eq!(listed.stacks[0].updated, Some(version.note.ended));
}

#[tokio::test]
async fn an_update_that_left_no_state_keeps_the_one_before() {
    let service = Service::new();
    let stack = service.stack().await;
    let mut failed = OldVersion::new("k0", "update", UpdateResult::Failed);
    failed.message = "nothing was reached".to_owned();
    assert_eq!(stack.append(&failed, "ann").await.unwrap().version, 1);
    stack.append(&old("k1", "a"), "ann").await.unwrap();
    failed.key = "k2".to_owned();
    assert_eq!(stack.append(&failed, "ann").await.unwrap().version, 3);
    let version = stack.version(3).await.unwrap();
    assert_eq!((version.note.result, version.note.resources), (UpdateResult::Failed, 2));
    assert!(urns(&state(&stack).await).contains(&&*urn("a")));
}

#[tokio::test]
async fn a_key_that_is_known_appends_nothing() {
    let service = Service::new();
    let stack = service.stack().await;
    let first = stack.append(&old("k1", "a"), "ann").await.unwrap();
    stack.append(&old("k2", "b"), "ann").await.unwrap();
    // Secrets that are encrypted anew are other bytes.
    let again = stack.append(&old("k1", "c"), "eve").await.unwrap();
    assert_eq!((again.version, again.is_new, &again.update), (1, false, &first.update));
    assert_eq!(stack.state().await.unwrap().version, 2);
    // The key is that of a stack.
    let other = service.stacks.create(&path("prod"), "ann", NewStack::default()).await.unwrap();
    assert!(other.append(&old("k1", "a"), "ann").await.unwrap().is_new);
}

#[tokio::test]
async fn an_append_that_is_interrupted_anywhere_can_be_repeated() {
    for polls in 1..40 {
        let service = Service::new();
        let stack = service.stack().await;
        let dying = service.slow_node().stacks.stack(&path("dev")).await.unwrap();
        dies_after(polls, dying.append(&old("k1", "a"), "ann")).await;
        // Something may come in between.
        stack.append(&old("k2", "b"), "ann").await.unwrap();
        let appended = service.node().stacks.stack(&path("dev")).await.unwrap();
        let appended = appended.append(&old("k1", "a"), "ann").await.unwrap();
        assert_eq!(kinds(&stack).await.len(), 2, "after {polls} polls");
        let made = stack.version(appended.version).await.unwrap();
        assert_eq!(made.note.update.as_deref(), Some(&*appended.update), "after {polls} polls");
    }
}

#[tokio::test]
async fn a_key_that_two_nodes_have_at_once_is_one_version() {
    let service = Service::new();
    let stack = service.stack().await;
    let mut clients = Vec::new();
    for number in 0..6 {
        let node = service.slow_node();
        clients.push(tokio::spawn(async move {
            let stack = node.stacks.stack(&path("dev")).await.unwrap();
            stack.append(&old(if number % 2 == 0 { "k1" } else { "k2" }, "a"), "ann").await.unwrap()
        }));
    }
    let mut new = 0;
    for client in clients {
        new += usize::from(client.await.unwrap().is_new);
    }
    assert_eq!((new, kinds(&stack).await.len()), (2, 2));
}

#[tokio::test]
async fn nothing_is_appended_while_an_update_runs_and_nothing_that_is_no_state() {
    let service = Service::new();
    let stack = service.stack().await;
    stack.append(&old("k1", "a"), "ann").await.unwrap();
    let (update, lease) = service.started(&stack, "update").await;
    assert_eq!(stack.append(&old("k2", "b"), "ann").await.unwrap_err().kind(), ErrorKind::Running);
    assert!(!stack.append(&old("k1", "a"), "ann").await.unwrap().is_new);
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(stack.append(&old("k2", "b"), "ann").await.unwrap().version, 3);
    for (key, text) in [("", "{}"), ("k", ""), ("k", "{}"), ("k", r#"{"version":5,"deployment":{}}"#)] {
        let mut wrong = old(key, "a");
        wrong.state = Some(text.to_owned().into());
        assert_eq!(stack.append(&wrong, "ann").await.unwrap_err().kind(), ErrorKind::Invalid, "{key} {text}");
    }
    assert_eq!(
        stack.append(&old(&"k".repeat(257), "a"), "ann").await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(kinds(&stack).await.len(), 3);
}

#[tokio::test]
async fn an_old_version_cannot_be_started() {
    let service = Service::new();
    let stack = service.stack().await;
    let appended = stack.append(&old("k1", "a"), "ann").await.unwrap();
    let update = stack.update(&appended.update);
    let error = update.start(&StartOptions::new(Some(1), "v3.259.0")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    update.cancel("ann").await.unwrap();
    assert_eq!(stack.state().await.unwrap().last_update, Some(appended.update));
}
