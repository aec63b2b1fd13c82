//! How much memory a large state takes.

use std::process::Command;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use groundstate_blobs_fs::FileBlobs;
use groundstate_server::Parts;
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use http::Request;
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::support::{Server, URL};

/// In a process of its own, as other tests need memory too.
const WITHIN: &str = "GROUNDSTATE_TEST_WITHIN";
/// Bytes of a piece, as they come from a connection.
const PIECE: usize = 64 << 10;
const PIECES: usize = 3200;
/// What a process of tests needs at all, with what is in memory at a time of a state: a part for each step on its way.
const MOST: usize = 96 << 20;

/// The most memory that this process ever had, in bytes.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// A state of 200 MiB, in pieces: an output and thousands of resources.
fn pieces() -> impl Iterator<Item = Bytes> + Send {
    let head = r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {"a": {"value": 1, "type": "number"}}, "resources": ["#;
    let filler = "x".repeat(PIECE);
    let resources = (0..PIECES).map(move |number| {
        let comma = if number == 0 { "" } else { "," };
        Bytes::from(format!(
            r#"{comma}{{"mode": "managed", "type": "t", "name": "r{number}", "provider": "provider[\"acme/x\"]",
            "instances": [{{"schema_version": 0, "attributes": {{"x": "{filler}"}}}}]}}"#
        ))
    });
    std::iter::once(Bytes::from(head)).chain(resources).chain([Bytes::from("]}")])
}

#[test]
fn two_hundred_megabytes_are_written_and_read_in_bounded_memory() {
    if std::env::var_os(WITHIN).is_none() {
        let test = "memory::two_hundred_megabytes_are_written_and_read_in_bounded_memory";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let status = command.args(["--exact", test, "--nocapture"]).env(WITHIN, "1").status().unwrap();
        assert!(status.success());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::create(folder.path()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let size = runtime.block_on(async {
        let server = Server::of(Parts::new(Arc::new(blobs)));
        let client = server.writer();
        let body = Body::from_stream(stream::iter(pieces().map(Ok::<_, std::io::Error>)));
        client.send(Request::post(URL).body(body).unwrap()).await.is(200);
        let principal = Principal::new("r", PrincipalKind::Token, vec![Grant::everything(Role::Read)]);
        let service = groundstate_server::router(server.app.clone()).layer(axum::Extension(principal));
        let response = service.oneshot(Request::get(URL).body(Body::empty()).unwrap()).await.unwrap();
        let mut body = response.into_body();
        let mut size = 0;
        while let Some(frame) = body.frame().await {
            size += frame.unwrap().into_data().unwrap().len();
        }
        let outputs = client.get("/api/v1/states/shop/network/default/outputs").await.is(200).json();
        assert_eq!(outputs["outputs"][0]["value"], 1);
        let resources =
            client.get("/api/v1/states/shop/network/default/resources?limit=1").await.is(200).json();
        assert_eq!(resources["total"], PIECES);
        size
    });
    assert_eq!(size, pieces().map(|piece| piece.len()).sum::<usize>());
    let Some(peak) = peak() else {
        println!("not run: the system does not say how much memory was used");
        return;
    };
    println!("{size} bytes: {peak} bytes of memory");
    assert!(peak < MOST, "{peak}");
}
