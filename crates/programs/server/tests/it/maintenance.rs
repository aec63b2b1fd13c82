//! Retention, on one of many nodes at a time.

use std::sync::Arc;
use std::time::Duration;

use groundstate_server::blobs::{BlobStore, Context, MemoryBlobs};
use groundstate_server::common::{FixedClock, IdSource, IdSourceError, Timestamp};
use groundstate_server::versioned::Retention;
use groundstate_server::{Maintenance, MaintenanceError, MaintenanceOptions, Parts};

use crate::support::{Server, context, state};

const API: &str = "/api/v1/states/shop/network/default";

fn node(blobs: &Arc<dyn BlobStore>, clock: &Arc<FixedClock>, ids: u64) -> Server {
    let mut parts = Parts::new(Arc::clone(blobs));
    parts.context = context(clock, ids);
    Server::of(parts)
}

#[tokio::test]
async fn one_node_sweeps_in_each_interval_and_keeps_what_is_to_be_kept() {
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let time: Arc<FixedClock> = Arc::clone(&clock);
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::with_clock("states", time));
    let (a, b) = (node(&blobs, &clock, 1), node(&blobs, &clock, 1_000_000));
    let client = a.admin();
    for serial in 1..=5 {
        client.post("", state(serial)).await.is(200);
    }
    client.call("PUT", &format!("{API}/versions/1/pin"), "").await.is(204);
    let mut options = MaintenanceOptions::default();
    options.retention = Retention::Newest { count: 2, younger: None };
    let [first, second] = [&a, &b].map(|node| Maintenance::new(node.app.clone(), options));

    let report = first.take_turn().await.unwrap().unwrap();
    assert_eq!(report.swept.versions, 2, "{report:?}");
    let page = client.get(&format!("{API}/versions")).await.is(200).json();
    let kept: Vec<u64> =
        page["versions"].as_array().unwrap().iter().map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!(kept, [5, 4, 1]);
    client.get(&format!("{API}/versions/2/content")).await.is(404);

    // The turn of this interval is taken, for every node.
    assert!(second.take_turn().await.unwrap().is_none());
    assert!(first.take_turn().await.unwrap().is_none());
    client.post("", state(6)).await.is(200);
    clock.advance(Duration::from_secs(3600));
    assert_eq!(second.take_turn().await.unwrap().unwrap().swept.versions, 1);
    assert!(first.take_turn().await.unwrap().is_none());
}

/// A generator that does not answer.
#[derive(Debug)]
struct NoIds;

impl IdSource for NoIds {
    fn fill(&self, _: &mut [u8]) -> Result<(), IdSourceError> {
        Err(IdSourceError::new("no entropy"))
    }
}

#[tokio::test]
async fn a_node_without_random_numbers_takes_no_turn_and_says_so() {
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let [time, timer] = [(); 2].map(|()| Arc::<FixedClock>::clone(&clock));
    let mut parts = Parts::new(Arc::new(MemoryBlobs::new("states")));
    parts.context = Context::new(time, timer, Arc::new(NoIds));
    let maintenance = Maintenance::new(Server::of(parts).app, MaintenanceOptions::default());
    assert!(matches!(maintenance.take_turn().await, Err(MaintenanceError::Random(_))));
    assert!(matches!(maintenance.take_settling_turn().await, Err(MaintenanceError::Random(_))));
}

#[tokio::test]
async fn the_lock_of_the_maintenance_is_no_state() {
    let server = Server::new();
    Maintenance::new(server.app.clone(), MaintenanceOptions::default()).take_turn().await.unwrap().unwrap();
    assert_eq!(server.admin().get("/api/v1/locks").await.json(), serde_json::json!({"locks": []}));
}

#[tokio::test]
async fn what_old_updates_of_stacks_left_goes_with_the_sweep_and_the_history_stays() {
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let time: Arc<FixedClock> = Arc::clone(&clock);
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::with_clock("states", time));
    let server = node(&blobs, &clock, 1);
    let client = server.admin();
    let call = async |method: &str, path: &str, body: &str, token: &str| {
        let mut request = http::Request::builder().method(method).uri(format!("/api/stacks/acme/{path}"));
        if !token.is_empty() {
            request = request.header("authorization", format!("update-token {token}"));
        }
        let answer = client.send(request.body(body.to_owned().into()).unwrap()).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text());
        if answer.body.is_empty() { serde_json::Value::Null } else { answer.json() }
    };
    call("POST", "p", r#"{"stackName": "dev"}"#, "").await;
    let mut updates = Vec::new();
    for _ in 0..3 {
        let created = call("POST", "p/dev/update", r#"{"metadata": {"message": "kept"}}"#, "").await;
        let update = format!("p/dev/update/{}", created["updateID"].as_str().unwrap());
        let started = call("POST", &update, "{}", "").await;
        let token = started["token"].as_str().unwrap();
        call("POST", &format!("{update}/events/batch"), r#"{"events": [{"sequence": 0}]}"#, token).await;
        call("POST", &format!("{update}/complete"), r#"{"status": "succeeded"}"#, token).await;
        updates.push(update);
        clock.advance(Duration::from_secs(1));
    }
    let events = async || {
        let mut found = Vec::new();
        for update in &updates {
            let read = call("GET", &format!("{update}/events"), "", "").await;
            found.push(read["events"].as_array().unwrap().len());
        }
        found
    };
    let mut options = MaintenanceOptions::default();
    options.updates = Retention::Newest { count: 1, younger: None };
    let maintenance = Maintenance::new(server.app.clone(), options);
    maintenance.take_turn().await.unwrap().unwrap();
    assert_eq!(events().await, [1, 1, 1], "they are younger than the grace");
    for _ in 0..2 {
        clock.advance(Duration::from_secs(24 * 3600));
        maintenance.take_turn().await.unwrap().unwrap();
    }
    assert_eq!(events().await, [0, 0, 1]);
    let history = call("GET", "p/dev/updates", "", "").await;
    let messages: Vec<_> =
        history["updates"].as_array().unwrap().iter().map(|update| &update["message"]).collect();
    assert_eq!(messages, ["kept", "kept", "kept"]);
}

#[tokio::test]
async fn retention_does_not_believe_a_clock_that_left_the_times_of_the_store() {
    let start = Timestamp::parse("2026-03-01T12:00:00Z").unwrap();
    let (clock, store_clock) = (Arc::new(FixedClock::new(start)), Arc::new(FixedClock::new(start)));
    let time: Arc<FixedClock> = Arc::clone(&store_clock);
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::with_clock("states", time));
    let server = node(&blobs, &clock, 1);
    let client = server.admin();
    for serial in 1..=3 {
        client.post("", state(serial)).await.is(200);
    }
    let mut options = MaintenanceOptions::default();
    options.retention = Retention::Newest { count: 1, younger: Some(Duration::from_secs(90 * 24 * 3600)) };
    let maintenance = Maintenance::new(server.app.clone(), options);
    let removed = async || maintenance.take_turn().await.unwrap().unwrap().swept.versions;
    assert_eq!(removed().await, 0);
    // The clock of the machine alone is ahead.
    clock.advance(Duration::from_secs(400 * 24 * 3600));
    assert_eq!(removed().await, 0);
    // That of the store too, as that of a directory is, an hour and a day long.
    store_clock.advance(Duration::from_secs(400 * 24 * 3600));
    for _ in 0..23 {
        for clock in [&clock, &store_clock] {
            clock.advance(Duration::from_secs(3600));
        }
        assert_eq!(removed().await, 0);
    }
    for clock in [&clock, &store_clock] {
        clock.advance(Duration::from_secs(3600));
    }
    assert_eq!(removed().await, 2);
}
