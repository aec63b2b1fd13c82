//! Leases, and who has the token of one.

use serde_json::json;

use super::calls::{STACK, Service, ask, entry, error, root};
use crate::support::Answer;

#[tokio::test]
async fn a_lease_is_renewed_under_the_same_token_for_as_long_as_asked() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    for (body, seconds) in [
        (r#"{"token":"","duration":300}"#, 300),
        ("{}", 300),
        ("", 300),
        (r#"{"token":null,"duration":null}"#, 300),
        (r#"{"duration":0}"#, 300),
        (r#"{"duration":1}"#, 60),
        (r#"{"duration":599}"#, 599),
        (r#"{"duration":9223372036854775807}"#, 600),
    ] {
        service.wait(50);
        let now = service.now();
        let answer = update.send("POST", "/renew_lease", body).await.is(200).json();
        assert_eq!(answer, json!({"token": update.token, "tokenExpiration": now + seconds}), "{body}");
    }
    for wrong in [r#"{"duration":"x"}"#, "[]", "{", "\"x\""] {
        error(update.send("POST", "/renew_lease", wrong).await, 400);
    }
}

#[tokio::test]
async fn ten_minutes_are_no_problem_for_a_client_that_renews() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    for round in 0..5 {
        service.wait(150);
        update.renew().await.is(200);
        update.append(&[&entry(round + 1, 0, round + 1, json!({}))]).await.is(204);
    }
    update.complete("succeeded").await.is(204);
}

#[tokio::test]
async fn when_the_lease_is_over_the_stack_is_free_and_what_was_acknowledged_counts() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    update.append(&[&entry(1, 0, 1, json!({})), &entry(2, 1, 1, json!({"state": root()}))]).await.is(204);
    service.wait(301);
    let refused = async || -> Vec<Answer> {
        vec![
            update.renew().await,
            update.append(&[&entry(3, 0, 2, json!({}))]).await,
            update.append(&[]).await,
            update.append(&[&json!("garbage")]).await,
            update.complete("succeeded").await,
            update.complete("failed").await,
            update.events(&[json!({"sequence": 0})]).await,
            update.send("PATCH", "/checkpoint", r#"{"version":3,"deployment":{}}"#).await,
            update.send("PATCH", "/checkpoint", "garbage").await,
        ]
    };
    for answer in refused().await {
        assert!([400, 403].contains(&answer.status.as_u16()), "{}", answer.text());
    }
    let next = service.started("update").await;
    assert_eq!(next.started["version"], 2);
    for (index, answer) in refused().await.into_iter().enumerate() {
        let is_garbage = matches!(index, 3 | 8);
        assert!(answer.status == 403 || is_garbage && answer.status == 400, "{index}: {}", answer.text());
    }
    next.complete("succeeded").await.is(204);
    assert_eq!(service.export().await["deployment"]["resources"], json!([root()]));
    let history = service.history().await;
    assert_eq!(
        (&history[1]["result"], &history[1]["message"]),
        (&json!("failed"), &json!("the lease expired"))
    );
    assert_eq!(service.get(&update.path("")).await.is(200).json()["status"], "failed");
}

#[tokio::test]
async fn a_token_opens_its_own_update_and_nothing_else() {
    let service = Service::with_stack().await;
    service.create("other").await;
    let update = service.started("update").await;
    let other = service.post("/api/stacks/acme/p/other/update", &json!({})).await.is(200).json();
    let other = format!("/api/stacks/acme/p/other/update/{}", other["updateID"].as_str().unwrap());
    service.post(&other, &json!({})).await.is(200);
    let preview = service.started("preview").await;
    let stranger = service.server.stranger();
    let calls = [
        ("POST", "/renew_lease"),
        ("POST", "/complete"),
        ("PATCH", "/journalentries"),
        ("PATCH", "/checkpoint"),
        ("PATCH", "/checkpointverbatim"),
        ("PATCH", "/checkpointdelta"),
        ("POST", "/events/batch"),
    ];
    let body = r#"{"status":"succeeded","version":3,"deployment":{},"untypedDeployment":{"version":3,"deployment":{}},"sequenceNumber":1,"checkpointHash":"","entries":[],"events":[{"sequence":0}]}"#;
    let long = "x".repeat(10_000);
    for (method, tail) in calls {
        for token in [&preview.token, "none", "", &long, &update.token.to_uppercase(), &update.token[1..]] {
            error(
                update.by_token(token).send(method, tail, body).await,
                if *token == long { 401 } else { 403 },
            );
        }
        // The token of one update under the ids of others.
        let headers = [("authorization", &*format!("update-token {}", update.token))];
        for path in [
            &other,
            &format!("{STACK}/update/{}", preview.id),
            &format!("{STACK}/update/none"),
            "/api/stacks/acme/p/none/update/x",
        ] {
            error(ask(&stranger, method, &format!("{path}{tail}"), &headers, body).await, 403);
        }
        // Users have no lease, whatever their roles are.
        error(ask(&service.user, method, &update.path(tail), &[], body).await, 401);
        let headers = [("authorization", &*format!("token {}", update.token))];
        error(ask(&service.user, method, &update.path(tail), &headers, body).await, 401);
    }
    for (method, path) in [
        ("GET", STACK.to_owned()),
        ("GET", format!("{STACK}/export")),
        ("POST", format!("{STACK}/import")),
        ("POST", format!("{STACK}/decrypt")),
        ("POST", format!("{STACK}/update")),
        ("POST", update.path("")),
        ("POST", update.path("/cancel")),
        ("GET", update.path("/events")),
        ("GET", update.path("")),
        ("GET", "/api/user".to_owned()),
        ("GET", "/api/user/stacks".to_owned()),
    ] {
        let headers = [("authorization", &*format!("update-token {}", update.token))];
        error(ask(&stranger, method, &path, &headers, "{}").await, 401);
    }
    update.complete("succeeded").await.is(204);
    preview.complete("succeeded").await.is(204);
}

#[tokio::test]
async fn a_token_is_in_no_answer_but_that_of_its_start_and_its_renewal() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    for path in [STACK.to_owned(), update.path(""), "/api/user/stacks".to_owned(), format!("{STACK}/updates")]
    {
        assert!(!service.get(&path).await.is(200).text().contains(&update.token));
    }
    let other = service.created("update", &json!({})).await;
    let refused = service.post(&format!("{STACK}/update/{other}"), &json!({})).await;
    assert!(!error(refused, 409).contains(&update.token));
}
