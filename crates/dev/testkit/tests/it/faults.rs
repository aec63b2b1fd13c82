//! What goes wrong on request.

use std::time::{Duration, Instant};

use groundstate_testkit::{Fault, S3Server};

use crate::support::http;

fn server() -> (S3Server, String) {
    let server = S3Server::start_blocking();
    server.create_bucket("b");
    let url = format!("{}/b/k", server.endpoint());
    (server, url)
}

/// Puts an object, and returns the status, if there is one, and whether the object is stored.
async fn put(fault: Fault) -> (Option<u16>, bool) {
    let (server, url) = server();
    server.fault(fault);
    let status = http().put(url).body("x").send().await.ok().map(|answer| answer.status().as_u16());
    (status, server.object("b", "k").is_some())
}

#[tokio::test]
async fn each_fault_either_commits_or_not() {
    for (fault, status, stored) in [
        (Fault::after_commit_500(), Some(500), true),
        (Fault::after_commit(503, "SlowDown"), Some(503), true),
        (Fault::before_500(), Some(500), false),
        (Fault::drop_before(), None, false),
        (Fault::drop_after_commit(), None, true),
        (Fault::unavailable(1), Some(503), false),
        (Fault::throttle(), Some(429), false),
        (Fault::conflict(), Some(409), false),
        (Fault::duplicate(), Some(200), true),
        (Fault::delay(Duration::from_millis(1)), Some(200), true),
    ] {
        let name = format!("{fault:?}");
        assert_eq!(put(fault).await, (status, stored), "{name}");
    }
}

#[tokio::test]
async fn a_duplicate_meets_its_own_effect() {
    let (server, url) = server();
    server.fault(Fault::duplicate());
    let answer = http().put(url).header("if-none-match", "*").body("x").send().await.unwrap();
    assert_eq!(answer.status(), 412);
    assert!(server.object("b", "k").is_some());
}

#[tokio::test]
async fn a_fault_hits_the_requests_that_fit_and_only_those() {
    let (server, url) = server();
    server.fault(Fault::before_500().on("PUT", "*.tflock").nth(2));
    let put = |suffix: &str| http().put(format!("{url}{suffix}")).body("x").send();
    for (suffix, status) in [("", 200), (".tflock", 200), ("", 200), (".tflock", 500), (".tflock", 200)] {
        assert_eq!(put(suffix).await.unwrap().status(), status, "{suffix}");
    }
    assert_eq!(server.count("PUT", "*.tflock"), 3);
    let hit: Vec<_> = server.requests().iter().map(|request| request.fault.is_some()).collect();
    assert_eq!(hit, [false, false, false, true, false]);
}

#[tokio::test]
async fn an_answer_may_end_early() {
    let (server, url) = server();
    server.put_object("b", "k", vec![1; 100_000]);
    server.fault(Fault::cut_body(70_000));
    let mut answer = http().get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut read = 0;
    let error = loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => read += chunk.len(),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(error.is_some());
    assert_eq!(read, 70_000);
    assert_eq!(server.requests()[0].answered, 70_000);
}

#[tokio::test]
async fn a_request_that_waits_is_carried_out_though_its_client_left() {
    let (server, url) = server();
    server.fault(Fault::delay(Duration::from_millis(300)));
    let left = http().put(url).body("x").timeout(Duration::from_millis(50)).send().await;
    assert!(left.unwrap_err().is_timeout());
    assert!(server.object("b", "k").is_none());
    let start = Instant::now();
    while server.object("b", "k").is_none() && start.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(server.object("b", "k").is_some());
}

#[tokio::test]
async fn chances_are_repeated_by_their_seed() {
    let mut runs = Vec::new();
    for seed in [3, 3, 4] {
        let (server, url) = server();
        server.seed(seed);
        server.fault(Fault::before_500().chance(0.5));
        let mut hits = Vec::new();
        for _ in 0..40 {
            hits.push(http().get(&url).send().await.unwrap().status() == 500);
        }
        runs.push(hits);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    assert!(runs[0].contains(&true) && runs[0].contains(&false));
}

#[tokio::test]
async fn traffic_is_counted_in_requests_and_bytes() {
    let (server, url) = server();
    http().put(&url).body("12345").send().await.unwrap();
    let mark = server.mark();
    http().get(&url).send().await.unwrap().bytes().await.unwrap();
    http().put(&url).header("authorization", "secret").body("123").send().await.unwrap();
    let traffic = server.traffic_since(mark);
    assert_eq!((traffic.requests, traffic.received, traffic.sent), (2, 3, 5));
    assert_eq!(traffic.to_string(), "2 requests, 3 bytes up, 5 bytes down, GET 1, PUT 1");
    assert_eq!(server.traffic().requests, 3);
    let text = format!("{:?}", server.requests());
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(server.requests_since(mark)[1].header("Authorization"), Some("secret"));
    server.clear_requests();
    assert_eq!(server.traffic().requests, 0);
}
