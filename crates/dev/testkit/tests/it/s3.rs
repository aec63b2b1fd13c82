//! S3, through object_store and by hand.

use groundstate_testkit::S3Server;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::stores::check_all;
use crate::support::{http, s3, s3_builder};

#[tokio::test(flavor = "multi_thread")]
async fn an_object_store_finds_all_it_needs() {
    let (_server, client) = s3().await;
    check_all(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_and_checksums_of_an_object_store_are_right() {
    let server = S3Server::start().await;
    server.create_bucket("b");
    server.require_key("key", "secret");
    server.require_region("us-east-1");
    let builder = s3_builder(&server).with_checksum_algorithm(object_store::aws::Checksum::SHA256);
    check_all(std::sync::Arc::new(builder.build().unwrap())).await;
}

#[tokio::test]
async fn preconditions_answer_as_the_service_does() {
    let (server, _) = s3().await;
    let (http, url) = (http(), format!("{}/b/k", server.endpoint()));
    let put = |name: &'static str, value: &str| http.put(&url).header(name, value).body("x").send();
    // Without an object, a condition on its ETag is a 404.
    let answer = put("if-match", "\"a\"").await.unwrap();
    assert_eq!(answer.status(), 404);
    assert!(answer.text().await.unwrap().contains("<Code>NoSuchKey</Code>"));
    assert_eq!(put("if-none-match", "*").await.unwrap().status(), 200);
    let answer = put("if-none-match", "*").await.unwrap();
    assert_eq!(answer.status(), 412);
    assert!(answer.text().await.unwrap().contains("<Code>PreconditionFailed</Code>"));
    assert_eq!(put("if-match", "\"a\"").await.unwrap().status(), 412);
    assert_eq!(put("if-none-match", "\"a\"").await.unwrap().status(), 501);
    let delete = |value: &str| http.delete(&url).header("if-match", value).send();
    assert_eq!(delete("\"a\"").await.unwrap().status(), 412);
    let etag = server.object("b", "k").unwrap().etag;
    assert_eq!(delete(&etag).await.unwrap().status(), 204);
    assert_eq!(server.keys("b"), [""; 0]);
    // Without a condition, deleting nothing succeeds.
    assert_eq!(http.delete(&url).send().await.unwrap().status(), 204);
}

#[tokio::test]
async fn a_missing_bucket_and_a_missing_key_are_told_apart() {
    let (server, _) = s3().await;
    for (path, code) in [("b/k", "NoSuchKey"), ("c/k", "NoSuchBucket"), ("c?list-type=2", "NoSuchBucket")] {
        let answer = http().get(format!("{}/{path}", server.endpoint())).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        assert!(answer.text().await.unwrap().contains(&format!("<Code>{code}</Code>")), "{path}");
    }
}

#[tokio::test]
async fn what_does_not_fit_its_checksum_is_not_stored() {
    let (server, _) = s3().await;
    let url = format!("{}/b/k", server.endpoint());
    for (name, value) in [
        ("content-md5", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("x-amz-checksum-sha256", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ("x-amz-checksum-crc32", "AAAAAA=="),
    ] {
        let answer = http().put(&url).header(name, value).body("x").send().await.unwrap();
        assert_eq!(answer.status(), 400, "{name}");
        assert!(answer.text().await.unwrap().contains("<Code>BadDigest</Code>"), "{name}");
    }
    let wrong =
        http().put(&url).header("x-amz-content-sha256", "0".repeat(64)).body("x").send().await.unwrap();
    assert_eq!(wrong.status(), 400);
    assert_eq!(server.keys("b"), [""; 0]);
}

#[tokio::test]
async fn an_object_under_a_customers_key_is_read_by_that_key_alone() {
    let server = S3Server::start().await;
    server.create_bucket("b");
    // 32 bytes in base64 each, of other digits.
    let (right, wrong) = (with_digits(&server, "A"), with_digits(&server, "B"));
    let key = Path::from("k");
    right.put(&key, "secret".into()).await.unwrap();
    assert_eq!(right.get(&key).await.unwrap().bytes().await.unwrap(), "secret");
    let error = wrong.get(&key).await.unwrap_err();
    assert!(matches!(error, object_store::Error::PermissionDenied { .. }), "{error:?}");
    let plain = http().get(format!("{}/b/k", server.endpoint())).send().await.unwrap();
    assert_eq!(plain.status(), 400);
    assert!(plain.text().await.unwrap().contains("<Code>InvalidRequest</Code>"));
    let stored = server.object("b", "k").unwrap();
    assert!(stored.key_digest.is_some());
    assert_ne!(
        stored.etag,
        server_etag("secret"),
        "the ETag of an encrypted object is not the MD5 of its bytes"
    );
}

fn with_digits(server: &S3Server, digit: &str) -> object_store::aws::AmazonS3 {
    let key = format!("{}A=", digit.repeat(42));
    s3_builder(server).with_ssec_encryption(key).build().unwrap()
}

/// The ETag of these bytes without encryption.
fn server_etag(text: &str) -> String {
    let server = S3Server::start_blocking();
    server.put_object("b", "k", text.to_owned());
    server.object("b", "k").unwrap().etag
}

#[tokio::test]
async fn headers_of_encryption_are_kept_and_given_back() {
    let server = S3Server::start().await;
    server.create_bucket("b");
    let kms = s3_builder(&server).with_sse_kms_encryption("arn:key");
    kms.build().unwrap().put(&Path::from("k"), "x".into()).await.unwrap();
    let answer = http().head(format!("{}/b/k", server.endpoint())).send().await.unwrap();
    assert_eq!(answer.headers()["x-amz-server-side-encryption"], "aws:kms");
    assert_eq!(answer.headers()["x-amz-server-side-encryption-aws-kms-key-id"], "arn:key");
    assert_eq!(answer.headers()["content-length"], "1");
}

#[tokio::test]
async fn versions_are_kept_where_a_bucket_keeps_them() {
    let (server, client) = s3().await;
    server.keep_versions("b");
    let key = Path::from("k");
    let first = client.put(&key, "1".into()).await.unwrap().version.unwrap();
    let second = client.put(&key, "2".into()).await.unwrap().version.unwrap();
    assert_ne!(first, second);
    client.delete(&key).await.unwrap();
    assert_eq!(server.keys("b"), [""; 0]);
    for (version, bytes) in [(&first, "1"), (&second, "2")] {
        let url = format!("{}/b/k?versionId={version}", server.endpoint());
        assert_eq!(http().get(url).send().await.unwrap().text().await.unwrap(), bytes);
    }
    let list = http().get(format!("{}/b?versions", server.endpoint())).send().await.unwrap();
    assert_eq!(list.text().await.unwrap().matches("<VersionId>").count(), 2);
}
