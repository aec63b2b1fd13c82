//! Answers that are made to hurt: too long, too slow, compressed without end, or not what they say.

use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use groundstate_statemgr::{Backend, ErrorKind, HistoryId, StateStore, WorkspaceName, WriteOptions};
use groundstate_testkit::{Answer, Fault, HttpFlaw, HttpStateServer, Recorder};

use crate::support::{PATH, backend, client, config, info, open, state};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[tokio::test]
async fn a_compressed_answer_is_read_and_a_bomb_is_not() {
    let gzip = |body: Vec<u8>| Answer::new(200).header("content-encoding", "gzip").body(body);
    let server = Recorder::start(gzip(packed(&state(1))));
    assert_eq!(client(&server).read().await.unwrap().unwrap().bytes, state(1));
    let bomb = Recorder::start(gzip(packed(&vec![b' '; 64 << 20])));
    let mut small = config(&bomb);
    small.max_state_size = 1 << 20;
    let error = open(&small).read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("GROUNDSTATE_MAX_STATE_SIZE"), "{error}");
    assert_eq!(bomb.requests().len(), 1);
    for (encoding, body) in [("gzip", state(1)), ("gzip", packed(&state(1))[..20].to_vec()), ("br", state(1))]
    {
        let server = Recorder::start(Answer::new(200).header("content-encoding", encoding).body(body));
        assert_eq!(client(&server).read().await.unwrap_err().kind(), ErrorKind::Corrupt, "{encoding}");
    }
    // In a refusal it hides the holder, and nothing else.
    let refusing = Recorder::start(
        Answer::new(423).header("content-encoding", "gzip").body(packed(&vec![b' '; 64 << 20])),
    );
    let refused = client(&refusing).lock(&info("7")).await.unwrap_err();
    assert!(refused.kind() == ErrorKind::Locked && refused.holder().is_none(), "{refused}");
}

#[tokio::test]
async fn answers_without_end_are_cut_off() {
    let endless = || Answer::new(200).body(vec![b'x'; 1 << 16]);
    for answer in [endless().endless(), endless().declaring(1 << 40).endless()] {
        let server = Recorder::start(answer);
        let mut small = config(&server);
        small.max_state_size = 1 << 20;
        let error = open(&small).read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        // A write is done once its status says so, whatever follows.
        open(&small).write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    }
    for status in [423, 403, 500] {
        let server = Recorder::start(Answer::new(status).body(vec![b'{'; 1 << 16]).endless());
        let error = client(&server).lock(&info("7")).await.unwrap_err();
        let kind = match status {
            423 => ErrorKind::Locked,
            403 => ErrorKind::Denied,
            _ => ErrorKind::Ambiguous,
        };
        assert_eq!(error.kind(), kind, "{status}: {error}");
    }
}

#[tokio::test]
async fn a_history_that_is_missing_elsewhere_or_in_another_form_is_refused() {
    let other = Recorder::start(Answer::new(200).body(r#"{"versions":[]}"#));
    let link = |address: &str| format!("<{address}>; rel=\"version-history\"");
    let elsewhere = link(&format!("{}/v", other.endpoint()));
    for (answer, kind, why) in [
        (Answer::new(200), ErrorKind::Unsupported, "no history"),
        (Answer::new(404), ErrorKind::Unsupported, "no history"),
        (Answer::new(200).header("link", elsewhere), ErrorKind::Invalid, "at another server"),
        (Answer::new(200).header("link", link("/v")).body("[]"), ErrorKind::Unsupported, "not known"),
    ] {
        let server = Recorder::start(answer);
        let history = backend(&config(&server)).history(&WorkspaceName::default_name()).unwrap().unwrap();
        let error = history.list().await.unwrap_err();
        assert!(error.kind() == kind && error.to_string().contains(why), "{error}");
    }
    assert_eq!(other.requests().len(), 0, "no credentials leave for it");
    // Pages that lead nowhere end.
    let page = r#"{"versions":[{"number":1,"time":"2026-01-01T00:00:00Z","size":2}],"next_before":7}"#;
    let server = Recorder::start(Answer::new(200).header("link", link("/v")).body(page));
    let history = backend(&config(&server)).history(&WorkspaceName::default_name()).unwrap().unwrap();
    assert_eq!(history.list().await.unwrap().len(), 2);
    let id = HistoryId::new("../../secret");
    assert_eq!(history.read(&id).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_history_of_empty_pages_without_end_is_given_up() {
    let server = Recorder::answering(|request| {
        let before = request
            .query()
            .find(|(name, _)| name == "before")
            .and_then(|(_, number)| number.parse::<u64>().ok());
        let next = before.map_or(u64::MAX, |before| before - 1);
        let page = format!(r#"{{"versions":[],"next_before":{next}}}"#);
        Answer::new(200).header("link", r#"</v>; rel="version-history""#).body(page)
    });
    let history = backend(&config(&server)).history(&WorkspaceName::default_name()).unwrap().unwrap();
    let error = history.list().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Unsupported && error.to_string().contains("1000 pages"), "{error}");
}

#[tokio::test]
async fn an_answer_in_drops_ends_with_the_time() {
    let server = Recorder::start(Answer::new(200).body("x").dripping(Duration::from_millis(50)));
    let mut config = config(&server);
    config.request_timeout = Duration::from_secs(1);
    let started = Instant::now();
    let error = open(&config).read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(started.elapsed() < Duration::from_secs(30), "{error}");
}

#[tokio::test]
async fn heads_without_end_are_no_answers() {
    let mut many = Answer::new(200).body(state(1));
    for number in 0..5_000 {
        many = many.header(&format!("x-{number}"), "x".repeat(200));
    }
    let server = Recorder::start(many);
    let error = client(&server).read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let long = Recorder::start(Answer::new(200).header("x-long", "x".repeat(4 << 20)).body(state(1)));
    assert_eq!(client(&long).read().await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_page_for_browsers_is_not_a_state() {
    let page = |text: &str| {
        Answer::new(200).header("content-type", "text/html; charset=utf-8").body(text.to_owned())
    };
    let server = Recorder::start(page("\n<!doctype html><title>Log in</title>"));
    let error = client(&server).read().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("login"), "{error}");
    // Servers that know no better send states so.
    let server = Recorder::start(page("{\"version\":4}"));
    assert_eq!(client(&server).read().await.unwrap().unwrap().bytes, b"{\"version\":4}");
    let server = Recorder::start(Answer::new(200).header("content-type", "image/png").body("<state>"));
    assert_eq!(client(&server).read().await.unwrap().unwrap().bytes, b"<state>", "bytes are bytes");
}

#[tokio::test]
async fn a_digest_of_other_bytes_is_damage() {
    let server = HttpStateServer::start_flawed(HttpFlaw::SendsWrongDigests);
    server.put_state(PATH, state(1));
    let error = client(&server).read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("Content-MD5"), "{error}");
    let odd = Recorder::start(Answer::new(200).header("content-md5", "hunter2!").body(state(1)));
    let error = client(&odd).read().await.unwrap_err();
    assert!(error.to_string().contains("not a digest"), "{error}");
}

#[tokio::test]
async fn what_a_server_says_reaches_no_terminal_as_it_is() {
    let holder = "{\"ID\":\"\\u001b[2J\\n7\",\"Who\":\"\\u001b]0;x\\u0007ana\\nhint: run this\",\"Operation\":\"\\u202e\"}";
    let server = Recorder::start(Answer::new(423).body(holder));
    let refused = client(&server).lock(&info("7")).await.unwrap_err().to_string();
    assert!(refused.contains("ana") && !refused.chars().any(groundstate_common::is_hidden), "{refused}");
    server.clear_requests();
    let talks = Recorder::start(Answer::new(400).text("\u{1b}[31m\u{202e}no\nhint: run this"));
    let error = client(&talks).read().await.unwrap_err().to_string();
    assert!(error.contains("no") && !error.contains("run this"), "{error}");
    assert!(!error.chars().any(groundstate_common::is_hidden), "{error}");
}

#[tokio::test]
async fn a_connection_that_ends_early_is_asked_for_again() {
    let server = HttpStateServer::start_blocking();
    server.put_state(PATH, state(1));
    server.fault(Fault::cut_body(10).on("GET", "*").times(2));
    assert_eq!(client(&server).read().await.unwrap().unwrap().bytes, state(1));
    assert_eq!(server.count("GET", "*"), 3);
}
