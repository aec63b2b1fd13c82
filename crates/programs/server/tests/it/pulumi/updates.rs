//! The life of updates.

use serde_json::{Value, json};

use super::calls::{PROJECT, STACK, Service, ask, entry, error, names, root, stash};

#[tokio::test]
async fn an_update_is_created_started_and_completed() {
    let service = Service::with_stack().await;
    let id = service.created("update", &json!({"options": null, "metadata": null, "config": null})).await;
    let path = format!("{STACK}/update/{id}");
    assert_eq!(service.get(&path).await.is(200).json()["status"], "not started");
    assert_eq!(service.stack().await["activeUpdate"], "");
    let started =
        service.post(&path, &json!({"tags": {"team": "web"}, "journalVersion": 1})).await.is(200).json();
    assert_eq!((&started["version"], &started["journalVersion"]), (&json!(1), &json!(1)));
    assert_eq!(started["tokenExpiration"], 1_800_000_300);
    let stack = service.stack().await;
    let current = json!({"kind": "update", "author": "admin", "started": 1_800_000_000});
    assert_eq!((&stack["currentOperation"], &stack["activeUpdate"]), (&current, &json!(id)));
    assert_eq!((&stack["version"], &stack["tags"]), (&json!(0), &json!({"team": "web"})));
    assert_eq!(service.get(&path).await.is(200).json()["status"], "running");
    let token = format!("update-token {}", started["token"].as_str().unwrap());
    for word in ["update", "preview", "refresh", "destroy"] {
        let url = format!("{STACK}/{word}/{id}/renew_lease");
        ask(&service.server.stranger(), "POST", &url, &[("authorization", &token)], "{}").await.is(200);
    }
    let (url, body) = (format!("{path}/complete"), r#"{"status":"succeeded"}"#);
    ask(&service.server.stranger(), "POST", &url, &[("authorization", &token)], body).await.is(204);
    let stack = service.stack().await;
    assert_eq!((&stack["version"], &stack["activeUpdate"]), (&json!(1), &json!(id)));
    assert!(stack.get("currentOperation").is_none(), "{stack}");
    assert_eq!(service.get(&path).await.is(200).json()["status"], "succeeded");
}

#[tokio::test]
async fn of_two_updates_the_second_waits_and_says_so() {
    let service = Service::with_stack().await;
    let first = service.started("update").await;
    let second = service.created("refresh", &json!({})).await;
    let start = async || service.post(&format!("{STACK}/update/{second}"), &json!({})).await;
    assert_eq!(error(start().await, 409), "Conflict: Another update is currently in progress.");
    first.append(&[&entry(1, 0, 1, json!({}))]).await.is(204);
    // The first one goes on, and cannot be started again now.
    error(service.post(&first.path(""), &json!({"journalVersion": 1})).await, 409);
    first.complete("succeeded").await.is(204);
    assert_eq!(start().await.is(200).json()["version"], 2);
    error(service.post(&first.path(""), &json!({})).await, 409);
    error(service.post(&format!("{STACK}/update/none"), &json!({})).await, 404);
}

#[tokio::test]
async fn an_update_whose_start_was_lost_is_started_again_with_another_token() {
    let service = Service::with_stack().await;
    let lost = service.started("update").await;
    let again = service.post(&lost.path(""), &json!({"journalVersion": 1})).await.is(200).json();
    let again = lost.by_token(again["token"].as_str().unwrap());
    error(lost.renew().await, 403);
    again.complete("succeeded").await.is(204);
}

#[tokio::test]
async fn a_journal_is_agreed_on_at_the_start_and_otherwise_checkpoints_are_taken() {
    let service = Service::with_stack().await;
    for (start, expected) in [
        (json!({}), Value::Null),
        (json!({"journalVersion": null, "tags": null}), Value::Null),
        (json!({"journalVersion": 0}), Value::Null),
        (json!({"journalVersion": 1}), json!(1)),
        (json!({"journalVersion": 2}), json!(1)),
    ] {
        let id = service.created("update", &json!({})).await;
        let started = service.post(&format!("{STACK}/update/{id}"), &start).await.is(200).json();
        assert_eq!(started["journalVersion"], expected, "{start}");
        service.post(&format!("{STACK}/update/{id}/cancel"), &json!({})).await.is(204);
    }
    let update = service.started_without_journal().await;
    let message = error(update.append(&[&entry(1, 0, 1, json!({}))]).await, 400);
    assert!(message.contains("without a journal"), "{message}");
    let checkpoint =
        json!({"isInvalid": false, "version": 3, "features": null, "deployment": {"resources": [root()]}});
    update.send("PATCH", "/checkpoint", checkpoint.to_string()).await.is(204);
    update.complete("succeeded").await.is(204);
    assert_eq!(names(&service.export().await).len(), 1);
}

#[tokio::test]
async fn previews_change_nothing_and_wait_for_nothing() {
    let service = Service::with_stack().await;
    let dry = json!({"options": {"dryRun": true}});
    for (kind, body) in
        [("preview", json!({})), ("update", dry.clone()), ("refresh", dry.clone()), ("destroy", dry)]
    {
        let id = service.created(kind, &body).await;
        let path = format!("{STACK}/update/{id}");
        let started = service.post(&path, &json!({"journalVersion": 1})).await.is(200).json();
        assert_eq!(started["version"], 0);
        let token = format!("update-token {}", started["token"].as_str().unwrap());
        assert!(token.len() > 64);
        let send = async |method: &str, tail: &str, body: String| {
            let (client, url) = (service.server.stranger(), format!("{path}{tail}"));
            ask(&client, method, &url, &[("authorization", &token)], body).await
        };
        let other = service.post(&format!("{STACK}/preview"), &json!({})).await.is(200).json();
        let other = format!("{STACK}/update/{}", other["updateID"].as_str().unwrap());
        service.post(&other, &json!({})).await.is(200);
        send("POST", "/renew_lease", "{}".to_owned()).await.is(200);
        let events = json!({"events": [{"sequence": 0, "timestamp": 1, "cancelEvent": {}}]});
        send("POST", "/events/batch", events.to_string()).await.is(204);
        let entries = json!({"entries": [entry(1, 0, 1, json!({}))]}).to_string();
        let refused = send("PATCH", "/journalentries", entries).await;
        assert!([400, 403].contains(&refused.status.as_u16()), "{}", refused.text());
        for _ in 0..2 {
            send("POST", "/complete", r#"{"status":"succeeded"}"#.to_owned()).await.is(204);
        }
        error(send("POST", "/complete", r#"{"status":"failed"}"#.to_owned()).await, 409);
        error(send("POST", "/renew_lease", "{}".to_owned()).await, 403);
        error(send("POST", "/events/batch", events.to_string()).await, 403);
        assert_eq!(service.get(&path).await.is(200).json()["status"], "succeeded");
    }
    let stack = service.stack().await;
    assert_eq!((&stack["version"], &stack["activeUpdate"]), (&json!(0), &json!("")));
    assert!(service.history().await.is_empty() && stack.get("currentOperation").is_none(), "{stack}");
}

#[tokio::test]
async fn an_update_completes_once_however_often_it_says_so() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    for wrong in [
        json!({}),
        json!({"status": "running"}),
        json!({"status": null}),
        json!({"status": "done"}),
        json!([]),
    ] {
        error(update.send("POST", "/complete", wrong.to_string()).await, 400);
    }
    for _ in 0..3 {
        update.complete("failed").await.is(204);
    }
    error(update.complete("succeeded").await, 409);
    let history = service.history().await;
    assert_eq!((history.len(), &history[0]["result"]), (1, &json!("failed")));
    for refused in [
        update.append(&[&entry(1, 0, 1, json!({}))]).await,
        update.renew().await,
        update.events(&[json!({"sequence": 0})]).await,
        update.send("PATCH", "/checkpoint", r#"{"version":3,"deployment":{}}"#).await,
    ] {
        error(refused, 403);
    }
}

#[tokio::test]
async fn a_cancelled_update_keeps_what_it_had_stored_and_is_refused() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    update.append(&[&entry(1, 0, 1, json!({})), &entry(2, 1, 1, json!({"state": root()}))]).await.is(204);
    let cancel = async || service.post(&update.path("/cancel"), &json!({})).await;
    cancel().await.is(204);
    let message = error(update.append(&[&entry(3, 1, 2, json!({"state": stash("a")}))]).await, 403);
    assert!(message.contains("cancelled"), "{message}");
    error(update.complete("succeeded").await, 403);
    error(update.renew().await, 403);
    // It is free at once, and to cancel what has ended is no error.
    cancel().await.is(204);
    assert_eq!(service.export().await["deployment"]["resources"], json!([root()]));
    let newest = &service.history().await[0];
    assert_eq!(
        (&newest["result"], &newest["message"]),
        (&json!("failed"), &json!("admin cancelled the update"))
    );
    let next = service.started("update").await;
    next.complete("succeeded").await.is(204);
    service.post(&next.path("/cancel"), &json!({})).await.is(204);
    error(service.post(&format!("{STACK}/update/none/cancel"), &json!({})).await, 404);
    error(service.post(&format!("{PROJECT}/none/update/{}/cancel", next.id), &json!({})).await, 404);
}
