//! Leases: one update at a time, renewed, over, cancelled, ended twice.

use std::time::Duration;

use groundstate_pulumi_service::common::Clock as _;
use groundstate_pulumi_service::json::RawJson;
use groundstate_pulumi_service::{
    ErrorKind, Event, LeaseToken, StartOptions, UpdateRequest, UpdateResult, UpdateStatus,
};
use serde_json::json;

use crate::support::{Service, bytes, dies_after, entry, path, stash, state, urn, urns};

fn create(sequence: u64, name: &str) -> [String; 2] {
    let operation = json!({"operation": {"resource": stash(name), "type": "creating"}});
    [entry(sequence, 0, sequence, operation), entry(sequence + 1, 1, sequence, json!({"state": stash(name)}))]
}

#[tokio::test]
async fn one_update_has_the_lease_and_previews_need_none() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    assert_eq!(lease.version, 1);
    let other =
        stack.create_update(&UpdateRequest::new("destroy", "bob", service.clock.now())).await.unwrap();
    assert_eq!(other.start(&StartOptions::default()).await.unwrap_err().kind(), ErrorKind::Running);
    for error in [
        stack.import(br#"{"version":3,"deployment":{}}"#, None, "bob").await.unwrap_err(),
        stack.rename(&path("prod"), "bob").await.unwrap_err(),
        stack.remove(true, "bob").await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Running, "{error}");
    }
    stack.set_tags(&[("a".to_owned(), "b".to_owned())].into(), "bob").await.unwrap();
    let (preview, shown) = service.started(&stack, "preview").await;
    assert_eq!((shown.version, preview.status().await.unwrap()), (0, UpdateStatus::Running));
    preview.complete(&shown.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(preview.store_events(&shown.token, &[], None).await.unwrap_err().kind(), ErrorKind::LeaseLost);
    let now = stack.state().await.unwrap();
    assert_eq!((now.version, now.last_update.as_deref()), (0, Some(update.id())));
    assert_eq!(now.current.unwrap().author, "ann");
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(other.start(&StartOptions::default()).await.unwrap().version, 2);
}

#[tokio::test]
async fn a_start_whose_answer_got_lost_can_be_repeated_until_something_is_stored() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lost) = service.started(&stack, "update").await;
    let again = update.start(&StartOptions::new(Some(1), "v3.259.0")).await.unwrap();
    assert_eq!(update.append(&lost.token, &[]).await.unwrap_err().kind(), ErrorKind::LeaseLost);
    update.append(&again.token, &bytes(&create(1, "a"))).await.unwrap();
    assert_eq!(update.start(&StartOptions::default()).await.unwrap_err().kind(), ErrorKind::Conflict);
    update.complete(&again.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(update.start(&StartOptions::default()).await.unwrap_err().kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn an_update_whose_client_never_said_a_word_is_in_the_way_for_a_minute() {
    for speaks in [false, true] {
        let service = Service::new();
        let stack = service.stack().await;
        let (silent, lease) = service.started(&stack, "update").await;
        if speaks {
            let event = Event { sequence: 0, text: RawJson::parse(r#"{"sequence":0}"#).unwrap() };
            silent.store_events(&lease.token, &[event], None).await.unwrap();
        }
        let other =
            stack.create_update(&UpdateRequest::new("update", "bob", service.clock.now())).await.unwrap();
        assert_eq!(other.start(&StartOptions::default()).await.unwrap_err().kind(), ErrorKind::Running);
        service.wait(61);
        let started = other.start(&StartOptions::default()).await;
        let is_lost = silent.append(&lease.token, &bytes(&create(1, "a"))).await.is_err();
        assert_eq!((started.is_ok(), is_lost), (!speaks, !speaks));
    }
}

#[tokio::test]
async fn an_update_that_waits_too_long_for_its_start_is_not_started() {
    let service = Service::new();
    let stack = service.stack().await;
    let update =
        stack.create_update(&UpdateRequest::new("update", "ann", service.clock.now())).await.unwrap();
    service.wait(3601);
    assert_eq!(update.start(&StartOptions::default()).await.unwrap_err().kind(), ErrorKind::Conflict);
    let none = stack.update("00000000-0000-0000-0000-000000000000");
    assert_eq!(none.start(&StartOptions::default()).await.unwrap_err().kind(), ErrorKind::NotFound);
    for id in ["../x", "", "a/b", "%2e", "\0", &"a".repeat(100)] {
        let hostile = stack.update(id);
        assert_eq!(hostile.status().await.unwrap_err().kind(), ErrorKind::NotFound, "{id}");
        assert!(hostile.events(0, 10).await.unwrap().events.is_empty());
    }
}

#[tokio::test]
async fn a_renewed_lease_lasts_and_the_token_stays() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    for _ in 0..4 {
        service.wait(200);
        let end = update.renew(&lease.token, Some(Duration::from_secs(300))).await.unwrap();
        assert_eq!(end.seconds() - service.clock.now().seconds(), 300);
    }
    let error = update.renew(&LeaseToken::new("another"), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseLost);
    assert!(!format!("{lease:?} {error:?}").contains(lease.token.expose()));
    // No client gets an endless lease, or one that ends at once.
    let end = update.renew(&lease.token, Some(Duration::from_secs(1_000_000))).await.unwrap();
    assert_eq!(end.seconds() - service.clock.now().seconds(), 600);
    let end = update.renew(&lease.token, Some(Duration::ZERO)).await.unwrap();
    assert_eq!(end.seconds() - service.clock.now().seconds(), 60);
}

#[tokio::test]
async fn what_comes_after_the_end_of_a_lease_is_refused_and_what_was_acknowledged_counts() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    update.append(&lease.token, &bytes(&create(1, "a"))).await.unwrap();
    service.wait(301);
    let node = service.node();
    assert_eq!(node.stacks.settle_all().await.unwrap(), 1);
    assert_eq!(node.stacks.settle_all().await.unwrap(), 0);
    for error in [
        update.append(&lease.token, &bytes(&create(3, "b"))).await.unwrap_err(),
        update.renew(&lease.token, None).await.unwrap_err(),
        update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::LeaseLost, "{error}");
    }
    assert_eq!(urns(&state(&stack).await), [urn("a")]);
    let (next, lease) = service.started(&stack, "update").await;
    next.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(urns(&state(&stack).await), [urn("a")]);
}

#[tokio::test]
async fn a_node_that_dies_while_it_ends_an_update_is_followed_by_another() {
    for polls in 1..40 {
        let service = Service::new();
        let stack = service.stack().await;
        let (update, lease) = service.started(&stack, "update").await;
        update.append(&lease.token, &bytes(&create(1, "a"))).await.unwrap();
        service.wait(301);
        let dying = service.slow_node();
        dies_after(polls, async { dying.stacks.stack(&path("dev")).await.unwrap().state().await }).await;
        service.wait(61);
        assert_eq!(urns(&state(&stack).await), [urn("a")], "after {polls} polls");
        assert_eq!(stack.state().await.unwrap().version, 1);
        assert_eq!(update.status().await.unwrap(), UpdateStatus::Ended(UpdateResult::Failed));
    }
}

#[tokio::test]
async fn a_node_that_dies_while_a_client_ends_its_update_loses_nothing() {
    for polls in 1..40 {
        let service = Service::new();
        let stack = service.stack().await;
        let (update, lease) = service.started(&stack, "update").await;
        update.append(&lease.token, &bytes(&create(1, "a"))).await.unwrap();
        let dying = service.slow_node().stacks.stack(&path("dev")).await.unwrap().update(update.id());
        dies_after(polls, dying.complete(&lease.token, UpdateResult::Succeeded)).await;
        // The client asks again.
        update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
        assert_eq!(urns(&state(&stack).await), [urn("a")], "after {polls} polls");
        let version = stack.state().await.unwrap();
        assert_eq!((version.version, version.note.result), (1, UpdateResult::Succeeded));
    }
}

#[tokio::test]
async fn entries_that_a_dying_node_took_are_there_or_are_sent_again() {
    for polls in 1..30 {
        let service = Service::new();
        let stack = service.stack().await;
        let (update, lease) = service.started(&stack, "update").await;
        let dying = service.slow_node().stacks.stack(&path("dev")).await.unwrap().update(update.id());
        let entries = create(1, "a");
        dies_after(polls, dying.append(&lease.token, &bytes(&entries))).await;
        update.append(&lease.token, &bytes(&entries)).await.unwrap();
        update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
        assert_eq!(urns(&state(&stack).await), [urn("a")], "after {polls} polls");
    }
}

#[tokio::test]
async fn a_cancelled_update_is_over_at_once_and_says_by_whom() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    update.append(&lease.token, &bytes(&create(1, "a")[..1])).await.unwrap();
    update.cancel("bob").await.unwrap();
    update.cancel("bob").await.unwrap();
    let error = update.append(&lease.token, &bytes(&create(1, "a"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseLost);
    let version = stack.version(1).await.unwrap();
    assert_eq!(version.note.reason.as_deref(), Some("bob cancelled the update"));
    assert_eq!((version.note.pending, version.by.as_str()), (1, "ann"));
    service.started(&stack, "update").await;
    let none = stack.update("00000000-0000-0000-0000-000000000000");
    assert_eq!(none.cancel("bob").await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn ending_twice_is_ending_once_unless_the_ends_differ() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    let error = update.complete(&lease.token, UpdateResult::Failed).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(stack.state().await.unwrap().version, 1);
    update.cancel("bob").await.unwrap();
    assert_eq!(stack.version(1).await.unwrap().note.result, UpdateResult::Succeeded);
}

#[tokio::test]
async fn of_many_starts_at_once_one_has_the_lease() {
    let service = Service::new();
    let stack = service.stack().await;
    let mut starts = Vec::new();
    for _ in 0..8 {
        let update =
            stack.create_update(&UpdateRequest::new("update", "ann", service.clock.now())).await.unwrap();
        starts.push(tokio::spawn(async move { update.start(&StartOptions::default()).await }));
    }
    let mut granted = 0;
    for start in starts {
        match start.await.unwrap() {
            Ok(_) => granted += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Running),
        }
    }
    assert_eq!(granted, 1);
}
