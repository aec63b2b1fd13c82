//! Azure Blob Storage, through object_store and by hand.

use groundstate_testkit::AzureServer;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};
use reqwest::Response;

use crate::stores::check_all;
use crate::support::{ACCOUNT_KEY, azure, azure_builder, http};

#[tokio::test(flavor = "multi_thread")]
async fn an_object_store_finds_all_it_needs() {
    let (server, client) = azure().await;
    server.require_key("devstoreaccount1", ACCOUNT_KEY);
    check_all(client).await;
}

/// The code of an error, which HEAD answers have only in a header.
fn code(answer: &Response) -> (u16, String) {
    let code = answer.headers().get("x-ms-error-code").map_or("", |code| code.to_str().unwrap());
    (answer.status().as_u16(), code.to_owned())
}

async fn put(server: &AzureServer, headers: &[(&str, &str)]) -> Response {
    let mut request =
        http().put(format!("{}/b/k", server.account_endpoint())).header("x-ms-blob-type", "BlockBlob");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body("x").send().await.unwrap()
}

#[tokio::test]
async fn preconditions_answer_as_the_service_does() {
    let (server, _) = azure().await;
    assert_eq!(code(&put(&server, &[("if-match", "\"0x1\"")]).await), (412, "ConditionNotMet".to_owned()));
    assert_eq!(put(&server, &[("if-none-match", "*")]).await.status(), 201);
    assert_eq!(code(&put(&server, &[("if-none-match", "*")]).await), (409, "BlobAlreadyExists".to_owned()));
    let etag = server.blob("b", "k").unwrap().etag;
    let answer = put(&server, &[("if-match", &etag)]).await;
    assert_eq!(answer.status(), 201);
    assert_ne!(answer.headers()["etag"], etag.as_str(), "the same bytes are another version");
    assert_eq!(code(&put(&server, &[("if-match", &etag)]).await).0, 412);
}

#[tokio::test]
async fn a_missing_container_and_a_missing_blob_are_told_apart() {
    let (server, _) = azure().await;
    for (path, expected) in [
        ("b/k", "BlobNotFound"),
        ("c/k", "ContainerNotFound"),
        ("c?restype=container&comp=list", "ContainerNotFound"),
    ] {
        let url = format!("{}/{path}", server.account_endpoint());
        assert_eq!(code(&http().get(&url).send().await.unwrap()), (404, expected.to_owned()), "{path}");
    }
    let head = http().head(format!("{}/b/k", server.account_endpoint())).send().await.unwrap();
    assert_eq!(code(&head), (404, "BlobNotFound".to_owned()));
}

#[tokio::test]
async fn metadata_is_replaced_as_a_whole_and_changes_the_etag() {
    let (server, _) = azure().await;
    put(&server, &[("x-ms-meta-a", "1"), ("x-ms-blob-content-type", "application/json")]).await;
    let before = server.blob("b", "k").unwrap();
    let url = format!("{}/b/k?comp=metadata", server.account_endpoint());
    let answer = http().put(&url).header("x-ms-meta-b", "2").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let after = server.blob("b", "k").unwrap();
    assert_ne!(before.etag, after.etag);
    assert_eq!(answer.headers()["etag"], after.etag.as_str());
    let names: Vec<&str> = after.headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["content-type", "x-ms-meta-b"]);
    assert_eq!(&after.bytes[..], b"x");
    // A write without metadata erases it.
    put(&server, &[]).await;
    assert!(!server.blob("b", "k").unwrap().headers.contains_key("x-ms-meta-b"));
}

#[tokio::test]
async fn snapshots_stay_as_they_were_and_guard_the_blob() {
    let (server, _) = azure().await;
    let url = format!("{}/b/k", server.account_endpoint());
    let snapshot =
        |url: String| async move { http().put(format!("{url}?comp=snapshot")).send().await.unwrap() };
    assert_eq!(code(&snapshot(url.clone()).await), (404, "BlobNotFound".to_owned()));
    server.put_blob("b", "k", "old");
    let answer = snapshot(url.clone()).await;
    assert_eq!(answer.status(), 201);
    let moment = answer.headers()["x-ms-snapshot"].to_str().unwrap().to_owned();
    put(&server, &[]).await;
    let old = http().get(format!("{url}?snapshot={moment}")).send().await.unwrap();
    assert_eq!(old.text().await.unwrap(), "old");
    assert_eq!(code(&http().delete(&url).send().await.unwrap()), (409, "SnapshotsPresent".to_owned()));
    let delete = http().delete(&url).header("x-ms-delete-snapshots", "include");
    assert_eq!(delete.send().await.unwrap().status(), 202);
    assert_eq!((server.blobs("b").len(), server.snapshots("b", "k")), (0, 0));
}

#[tokio::test]
async fn lists_come_in_pages_with_their_leases() {
    let (server, _) = azure().await;
    for number in 0..5 {
        server.put_blob("b", &format!("kenv:{number}"), "x");
    }
    server.put_blob("b", "other", "x");
    let (mut names, mut marker) = (Vec::new(), String::new());
    loop {
        let query = "restype=container&comp=list&prefix=kenv:&maxresults=2&include=metadata";
        let url = format!("{}/b?{query}&marker={marker}", server.account_endpoint());
        let text = http().get(url).send().await.unwrap().text().await.unwrap();
        let inside = |open: &str, close: &str| -> Vec<String> {
            text.split(open).skip(1).map(|rest| rest.split(close).next().unwrap().to_owned()).collect()
        };
        names.extend(inside("<Name>", "</Name>"));
        assert!(inside("<LeaseState>", "</LeaseState>").iter().all(|state| state == "available"));
        marker = inside("<NextMarker>", "</NextMarker>").remove(0).replace('=', "%3D");
        if marker.is_empty() {
            break;
        }
    }
    assert_eq!(names, ["kenv:0", "kenv:1", "kenv:2", "kenv:3", "kenv:4"]);
}

#[tokio::test]
async fn an_object_under_a_customers_key_is_read_by_that_key_alone() {
    let (server, _) = azure().await;
    let key = [
        ("x-ms-encryption-algorithm", "AES256"),
        ("x-ms-encryption-key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ("x-ms-encryption-key-sha256", "Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU="),
    ];
    assert_eq!(put(&server, &key).await.status(), 201);
    let url = format!("{}/b/k", server.account_endpoint());
    let plain = http().get(&url).send().await.unwrap();
    assert_eq!(code(&plain), (409, "BlobUsesCustomerSpecifiedEncryption".to_owned()));
    let mut with_key = http().get(&url);
    for (name, value) in key {
        with_key = with_key.header(name, value);
    }
    assert_eq!(with_key.send().await.unwrap().text().await.unwrap(), "x");
    server.put_blob("b", "k", "plain");
    let mut with_key = http().get(&url);
    for (name, value) in key {
        with_key = with_key.header(name, value);
    }
    let answer = with_key.send().await.unwrap();
    assert_eq!(code(&answer), (409, "BlobCustomerSpecifiedEncryptionMismatch".to_owned()));
}

#[tokio::test]
async fn wrong_keys_clocks_and_permissions_are_refused() {
    let (server, client) = azure().await;
    server.put_blob("b", "k", "x");
    let key = Path::from("k");
    server.require_key("devstoreaccount1", ACCOUNT_KEY);
    client.get(&key).await.unwrap();
    let wrong = azure_builder(&server).with_access_key("b3RoZXI=").build().unwrap();
    let error = wrong.get(&key).await.unwrap_err();
    assert!(matches!(error, Error::PermissionDenied { .. }), "{error:?}");
    server.set_clock_skewed(true);
    assert!(matches!(client.get(&key).await, Err(Error::PermissionDenied { .. })));
    server.set_clock_skewed(false);
    server.deny("PUT", "*");
    assert!(matches!(client.put(&key, "y".into()).await, Err(Error::PermissionDenied { .. })));
    server.allow_all();
    client.put(&key, "y".into()).await.unwrap();
}
