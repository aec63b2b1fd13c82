//! Leases of blobs: who gets one, how it ends, and what it keeps others from.

use std::time::Duration;

use groundstate_testkit::AzureServer;

use crate::support::http;

const A: &str = "aaaaaaaa-0000-0000-0000-000000000000";
const B: &str = "bbbbbbbb-0000-0000-0000-000000000000";

/// A server with a blob.
fn server() -> AzureServer {
    let server = AzureServer::start_blocking();
    server.put_blob("b", "k", "x");
    server
}

/// Sends a request about the blob, and returns the status and the code of an error.
async fn send(server: &AzureServer, method: &str, query: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let url = format!("{}/b/k{query}", server.account_endpoint());
    let mut request = http().request(method.parse().unwrap(), url).header("x-ms-blob-type", "BlockBlob");
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(*name, *value);
    }
    let answer = request.body("").send().await.unwrap();
    let code = answer.headers().get("x-ms-error-code").map_or("", |code| code.to_str().unwrap());
    (answer.status().as_u16(), code.to_owned())
}

/// An operation on the lease: its name, the lease it names, the one it proposes, and for how long.
async fn lease(server: &AzureServer, action: &str, id: &str, proposed: &str, seconds: &str) -> (u16, String) {
    let headers = [
        ("x-ms-lease-action", action),
        ("x-ms-lease-id", id),
        ("x-ms-proposed-lease-id", proposed),
        (if action == "break" { "x-ms-lease-break-period" } else { "x-ms-lease-duration" }, seconds),
    ];
    send(server, "PUT", "?comp=lease", &headers).await
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

fn done(status: u16) -> (u16, String) {
    (status, String::new())
}

#[tokio::test]
async fn a_lease_is_held_by_one_until_it_is_released() {
    let server = server();
    assert_eq!(lease(&server, "acquire", "", A, "-1").await, done(201));
    assert_eq!(server.lease_id("b", "k").as_deref(), Some(A));
    assert_eq!(lease(&server, "acquire", "", B, "-1").await, refused(409, "LeaseAlreadyPresent"));
    // Whose answer was lost asks again.
    assert_eq!(lease(&server, "acquire", "", A, "-1").await, done(201));
    assert_eq!(lease(&server, "release", B, "", "").await, refused(409, "LeaseIdMismatchWithLeaseOperation"));
    assert_eq!(lease(&server, "renew", A, "", "").await, done(200));
    assert_eq!(lease(&server, "release", A, "", "").await, done(200));
    assert_eq!(lease(&server, "release", A, "", "").await, refused(409, "LeaseNotPresentWithLeaseOperation"));
    assert_eq!(server.lease_id("b", "k"), None);
}

#[tokio::test]
async fn writes_need_the_lease_and_reads_do_not() {
    let server = server();
    assert_eq!(lease(&server, "acquire", "", A, "-1").await, done(201));
    let with = |id: &'static str| [("x-ms-lease-id", id)];
    for (method, query, success) in
        [("PUT", "", 201), ("PUT", "?comp=metadata", 200), ("PUT", "?comp=properties", 200)]
    {
        assert_eq!(send(&server, method, query, &[]).await, refused(412, "LeaseIdMissing"), "{query}");
        let wrong = send(&server, method, query, &with(B)).await;
        assert_eq!(wrong, refused(412, "LeaseIdMismatchWithBlobOperation"), "{query}");
        assert_eq!(send(&server, method, query, &with(A)).await, done(success), "{query}");
    }
    assert_eq!(send(&server, "DELETE", "", &[]).await, refused(412, "LeaseIdMissing"));
    assert_eq!(send(&server, "PUT", "?comp=block&blockid=YQ==", &[]).await, refused(412, "LeaseIdMissing"));
    assert_eq!(send(&server, "GET", "", &[]).await, done(200));
    assert_eq!(send(&server, "GET", "", &with(A)).await, done(200));
    assert_eq!(send(&server, "GET", "", &with(B)).await, refused(412, "LeaseIdMismatchWithBlobOperation"));
    assert_eq!(send(&server, "DELETE", "", &with(A)).await, done(202));
    assert_eq!(server.lease_id("b", "k"), None);
}

#[tokio::test]
async fn a_broken_lease_lets_others_in_and_its_holder_out() {
    let server = server();
    assert_eq!(
        send(&server, "PUT", "", &[("x-ms-lease-id", A)]).await,
        refused(412, "LeaseNotPresentWithBlobOperation")
    );
    assert_eq!(lease(&server, "break", "", "", "").await, refused(409, "LeaseNotPresentWithLeaseOperation"));
    lease(&server, "acquire", "", A, "-1").await;
    assert_eq!(lease(&server, "break", "", "", "").await, done(202));
    assert_eq!(send(&server, "PUT", "", &[("x-ms-lease-id", A)]).await, refused(412, "LeaseLost"));
    assert_eq!(lease(&server, "renew", A, "", "").await, refused(409, "LeaseIsBrokenAndCannotBeRenewed"));
    assert_eq!(send(&server, "PUT", "", &[]).await, done(201));
    assert_eq!(lease(&server, "acquire", "", B, "-1").await, done(201));
    server.break_lease("b", "k");
    assert_eq!(server.lease_id("b", "k"), None);
}

#[tokio::test]
async fn a_lease_may_break_later() {
    let server = server();
    lease(&server, "acquire", "", A, "-1").await;
    assert_eq!(lease(&server, "break", "", "", "30").await, done(202));
    assert_eq!(lease(&server, "acquire", "", B, "-1").await, refused(409, "LeaseAlreadyPresent"));
    assert_eq!(
        lease(&server, "acquire", "", A, "-1").await,
        refused(409, "LeaseIsBreakingAndCannotBeAcquired")
    );
    assert_eq!(send(&server, "PUT", "", &[("x-ms-lease-id", A)]).await, done(201));
    server.advance(Duration::from_secs(31));
    assert_eq!(lease(&server, "acquire", "", B, "-1").await, done(201));
}

#[tokio::test]
async fn a_lease_of_some_seconds_ends_unless_it_is_renewed() {
    let server = server();
    assert_eq!(lease(&server, "acquire", "", A, "15").await, done(201));
    server.advance(Duration::from_secs(10));
    assert_eq!(lease(&server, "renew", A, "", "").await, done(200));
    server.advance(Duration::from_secs(10));
    assert_eq!(server.lease_id("b", "k").as_deref(), Some(A));
    server.advance(Duration::from_secs(10));
    assert_eq!(server.lease_id("b", "k"), None);
    assert_eq!(lease(&server, "acquire", "", B, "60").await, done(201));
    assert_eq!(lease(&server, "renew", A, "", "").await, refused(409, "LeaseIdMismatchWithLeaseOperation"));
}

#[tokio::test]
async fn a_lease_may_get_another_id() {
    let server = server();
    assert_eq!(lease(&server, "change", A, B, "").await, refused(409, "LeaseNotPresentWithLeaseOperation"));
    lease(&server, "acquire", "", A, "-1").await;
    assert_eq!(lease(&server, "change", A, B, "").await, done(200));
    assert_eq!(lease(&server, "change", A, B, "").await, done(200));
    assert_eq!(server.lease_id("b", "k").as_deref(), Some(B));
}

#[tokio::test]
async fn what_is_no_lease_is_refused() {
    let server = server();
    for (action, proposed, seconds) in
        [("acquire", "x", "-1"), ("acquire", A, "5"), ("acquire", A, ""), ("take", A, "-1")]
    {
        let answer = lease(&server, action, "", proposed, seconds).await;
        assert_eq!(answer, refused(400, "InvalidHeaderValue"), "{action} {proposed} {seconds}");
    }
    server.remove_blob("b", "k");
    assert_eq!(lease(&server, "acquire", "", A, "-1").await, refused(404, "BlobNotFound"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_acquire_at_once_one_does() {
    let server = std::sync::Arc::new(server());
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let server = std::sync::Arc::clone(&server);
            tokio::spawn(async move {
                let id = format!("{number:08x}-0000-0000-0000-000000000000");
                lease(&server, "acquire", "", &id, "-1").await.0 == 201
            })
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        winners += usize::from(task.await.unwrap());
    }
    assert_eq!(winners, 1);
}
