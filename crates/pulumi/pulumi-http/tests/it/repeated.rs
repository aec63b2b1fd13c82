//! What is repeated, and what is not.

use std::collections::BTreeMap;
use std::net::TcpListener;

use groundstate_pulumi_http::ErrorKind;
use groundstate_testkit::{Answer, Fault, Recorder, Traced};

use crate::support::{TOKEN, options, sent, service, service_with, stack};

const USER: &str = r#"{"githubLogin":"ana"}"#;

#[tokio::test]
async fn reads_are_repeated_while_the_service_has_no_time() {
    for fault in [Fault::before_500(), Fault::unavailable(1), Fault::throttle(), Fault::drop_before()] {
        let server = Recorder::start(Answer::new(200).body(USER));
        server.fault(fault.times(3));
        service(&server).user().await.unwrap();
        assert_eq!(server.requests().len(), 4, "{:?}", server.requests());
    }
    let server = Recorder::start(Answer::new(500));
    let error = service(&server).user().await.unwrap_err();
    assert_eq!((error.kind(), server.requests().len()), (ErrorKind::Unavailable, 4), "{error}");
    assert!(error.to_string().contains("after 4 attempts"), "{error}");
}

#[tokio::test]
async fn a_long_wait_is_not_waited_for() {
    let server = Recorder::start(Answer::new(503).header("retry-after", "3600"));
    let error = service(&server).user().await.unwrap_err();
    assert_eq!((error.kind(), server.requests().len()), (ErrorKind::Unavailable, 1));
    assert!(error.to_string().contains("asks to wait 3600 s"), "{error}");
}

#[tokio::test]
async fn what_changes_a_stack_is_sent_once_and_doubt_is_said() {
    for fault in [Fault::after_commit_500(), Fault::drop_after_commit(), Fault::drop_before()] {
        let server = Recorder::start(Answer::new(200).body("{}"));
        server.fault(fault);
        let error = stack(&server).remove(false).await.unwrap_err();
        assert_eq!((error.kind(), server.requests().len()), (ErrorKind::Ambiguous, 1), "{error}");
    }
    // A service that has no time for it has not done it.
    let server = Recorder::start(Answer::new(200).body("{}"));
    server.fault(Fault::refuse(429, "slow", Some(1)).times(2));
    stack(&server).create(BTreeMap::new(), None).await.unwrap();
    assert_eq!(sent(&server), ["POST /api/stacks/acme/shop"; 3]);
}

#[tokio::test]
async fn cancelling_twice_comes_to_the_same_so_it_is_repeated() {
    let server = Recorder::start(Answer::new(204));
    server.fault(Fault::drop_after_commit().times(1));
    stack(&server).cancel("u").await.unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_service_that_is_not_there_is_unavailable_and_nothing_is_in_doubt() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let service = service_with(&format!("http://127.0.0.1:{port}"), options());
    let path = groundstate_pulumi_http::protocol::StackPath::new("o", "p", "s");
    let error = service.stack(path).remove(true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("does not answer"), "{error}");
}

#[tokio::test]
async fn calls_are_traced_with_what_they_do_where_and_how_often_and_no_values() {
    let server = Recorder::start(Answer::new(200).body(r#"{"version":3,"deployment":{"a":"hunter2"}}"#));
    server.fault(Fault::refuse(503, "slow", Some(0)).times(2));
    let traced = Traced::spans();
    stack(&server).export().await.unwrap();
    let text = traced.text();
    assert!(!text.contains(TOKEN) && !text.contains("hunter2"), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let closed = lines.filter(|line| line["fields"]["message"] == "close").map(|line| line["span"].clone());
    let calls: Vec<_> = closed.filter(|span| span["name"] == "call").collect();
    assert_eq!(calls.len(), 1, "{text}");
    assert_eq!((&calls[0]["op"], &calls[0]["attempt"]), (&"export".into(), &3.into()), "{}", calls[0]);
    assert_eq!(calls[0]["place"], format!("stack acme/shop/prod of {}", server.endpoint()));
}
