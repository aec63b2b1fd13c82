//! Events of engines.

use serde_json::{Value, json};

use super::calls::{Service, Update, ask, error, gzip};

fn event(sequence: u64) -> Value {
    json!({"sequence": sequence, "timestamp": 1_800_000_000, "stdoutEvent": {"message": format!("line {sequence}\n"), "color": "raw"}})
}

async fn numbers(service: &Service, update: &Update, query: &str) -> (Vec<u64>, Value) {
    let page = service.get(&update.path(&format!("/events{query}"))).await.is(200).json();
    let numbers = page["events"].as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap());
    (numbers.collect(), page["continuationToken"].clone())
}

#[tokio::test]
async fn events_in_any_order_and_twice_are_stored_once_and_read_in_order() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    assert_eq!(numbers(&service, &update, "").await, (vec![], Value::Null));
    let batches = [
        vec![event(4), event(3)],
        vec![event(7)],
        vec![event(0), event(1), event(2)],
        vec![event(6), event(5)],
    ];
    for batch in batches.iter().chain(&batches) {
        update.events(batch).await.is(204);
    }
    assert_eq!(numbers(&service, &update, "").await, ((0..8).collect(), Value::Null));
    assert_eq!(numbers(&service, &update, "?continuationToken=5").await.0, [5, 6, 7]);
    for wrong in ["x", "-1", "18446744073709551616"] {
        error(service.get(&update.path(&format!("/events?continuationToken={wrong}"))).await, 400);
    }
    // They are there when the update has ended, and for no other update.
    update.complete("succeeded").await.is(204);
    assert_eq!(numbers(&service, &update, "").await.0.len(), 8);
    let other = service.started("update").await;
    assert!(numbers(&service, &other, "").await.0.is_empty());
    error(service.get(&format!("{}none/events", update.path("").replace(&update.id, ""))).await, 404);
}

#[tokio::test]
async fn many_events_are_read_page_by_page() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    for batch in (0..2_500_u64).collect::<Vec<_>>().chunks(50).rev() {
        let events: Vec<Value> = batch.iter().map(|number| event(*number)).collect();
        update.events(&events).await.is(204);
    }
    let (mut all, mut pages, mut query) = (Vec::new(), 0, String::new());
    loop {
        let (numbers, next) = numbers(&service, &update, &query).await;
        all.extend(numbers);
        pages += 1;
        let Some(next) = next.as_str() else { break };
        query = format!("?continuationToken={next}");
    }
    assert_eq!(all, (0..2_500).collect::<Vec<_>>());
    assert!(pages > 1);
}

#[tokio::test]
async fn an_event_keeps_its_text_whatever_is_in_it() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let text =
        r#"{"later":{"b":1.0,"a":"<é>\n"},"sequence":0,"resourcePreEvent":{"metadata":{"urn":"urn:x"}}}"#;
    // Written over many lines, packed.
    let pretty = text.replace(",\"", ",\n\t \"");
    let body = format!("{{\"events\": [\n{pretty}\n]}}");
    let headers =
        [("authorization", &*format!("update-token {}", update.token)), ("content-encoding", "gzip")];
    let url = update.path("/events/batch");
    ask(&service.server.stranger(), "POST", &url, &headers, gzip(body.as_bytes())).await.is(204);
    let page = service.get(&update.path("/events")).await.is(200);
    let expected: Value = serde_json::from_str(text).unwrap();
    assert_eq!(page.json(), json!({"events": [expected], "continuationToken": null}));
    assert!(page.text().contains("1.0"), "{}", page.text());
}

#[tokio::test]
async fn events_are_chosen_by_kind_and_by_resource() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let pre = json!({"sequence": 1, "resourcePreEvent": {"metadata": {"urn": "urn:a", "op": "create"}}});
    let outputs = json!({"sequence": 2, "resOutputsEvent": {"metadata": {"urn": "urn:ab", "op": "create"}}});
    update.events(&[event(0), pre, outputs]).await.is(204);
    for (query, expected) in [
        ("?type=stdoutEvent", &[0][..]),
        ("?type=stdoutEvent&type=resOutputsEvent", &[0, 2]),
        ("?type=none", &[]),
        ("?urn=urn:a", &[1]),
        ("?urn=urn%3Aab&include_non_activated=true", &[2]),
    ] {
        assert_eq!(numbers(&service, &update, query).await.0, expected, "{query}");
    }
}

#[tokio::test]
async fn the_summary_counts_in_the_history() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let summary = json!({"maybeCorrupt": false, "durationSeconds": 1, "resourceChanges": {"create": 3, "same": 1}, "isPreview": false});
    update.events(&[event(0), json!({"sequence": 1, "summaryEvent": summary})]).await.is(204);
    update.complete("succeeded").await.is(204);
    assert_eq!(service.history().await[0]["resourceChanges"], json!({"create": 3, "same": 1}));
}

#[tokio::test]
async fn a_batch_may_be_empty_and_what_is_no_event_is_refused() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let send = async |body: &str| update.send("POST", "/events/batch", body.to_owned()).await;
    for body in ["", "{}", r#"{"events":null}"#, r#"{"events":[]}"#] {
        send(body).await.is(204);
    }
    for body in [
        r#"{"events":[7]}"#,
        r#"{"events":["hunter2"]}"#,
        r#"{"events":[[]]}"#,
        r#"{"events":[{"sequence":-1}]}"#,
        r#"{"events":[{"sequence":"hunter2"}]}"#,
        r#"{"events":[{"sequence":1.5}]}"#,
        r#"{"events":{}}"#,
        "[]",
        "{",
    ] {
        let message = error(send(body).await, 400);
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert!(numbers(&service, &update, "").await.0.is_empty());
    let last = json!({"sequence": u64::MAX, "cancelEvent": {}});
    update.events(&[last]).await.is(204);
    assert_eq!(numbers(&service, &update, "").await, (vec![u64::MAX], Value::Null));
    assert_eq!(numbers(&service, &update, &format!("?continuationToken={}", u64::MAX)).await.0, [u64::MAX]);
}
