//! What S3 refuses for reasons other than the state of its objects.

use groundstate_testkit::S3Server;

use crate::support::{http, s3_builder};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};

async fn error_of(builder: AmazonS3Builder) -> Error {
    builder.build().unwrap().get(&Path::from("k")).await.unwrap_err()
}

fn server() -> S3Server {
    let server = S3Server::start_blocking();
    server.put_object("b", "k", "x");
    server
}

#[track_caller]
fn says(error: &Error, text: &str) {
    let mut all = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        all += &cause.to_string();
        source = cause.source();
    }
    assert!(all.contains(text), "{all}");
}

#[tokio::test]
async fn wrong_keys_are_refused_each_in_its_way() {
    let server = server();
    server.require_key("key", "secret");
    let right = s3_builder(&server).build().unwrap();
    assert_eq!(right.get(&Path::from("k")).await.unwrap().bytes().await.unwrap(), "x");
    says(&error_of(s3_builder(&server).with_access_key_id("other")).await, "InvalidAccessKeyId");
    says(&error_of(s3_builder(&server).with_secret_access_key("other")).await, "SignatureDoesNotMatch");
    let unsigned = http().get(format!("{}/b/k", server.endpoint())).send().await.unwrap();
    assert_eq!(unsigned.status(), 403);
    assert!(unsigned.text().await.unwrap().contains("<Code>AccessDenied</Code>"));
}

#[tokio::test]
async fn a_wrong_region_is_answered_with_the_right_one() {
    let server = server();
    server.require_region("eu-west-1");
    let error = error_of(s3_builder(&server)).await;
    says(&error, "AuthorizationHeaderMalformed");
    says(&error, "<Region>eu-west-1</Region>");
    let right = s3_builder(&server).with_region("eu-west-1").build().unwrap();
    right.get(&Path::from("k")).await.unwrap();
    server.redirect_to_region("eu-west-3");
    let answer = http().head(format!("{}/b", server.endpoint())).send().await.unwrap();
    assert_eq!(answer.status(), 301);
    assert_eq!(answer.headers()["x-amz-bucket-region"], "eu-west-3");
}

#[tokio::test]
async fn clocks_and_permissions_can_be_wrong() {
    let server = server();
    server.set_clock_skewed(true);
    says(&error_of(s3_builder(&server)).await, "RequestTimeTooSkewed");
    server.set_clock_skewed(false);
    server.deny("GET", "/b/*");
    assert!(matches!(error_of(s3_builder(&server)).await, Error::PermissionDenied { .. }));
    s3_builder(&server).build().unwrap().put(&Path::from("k"), "y".into()).await.unwrap();
    server.allow_all();
    s3_builder(&server).build().unwrap().get(&Path::from("k")).await.unwrap();
}

#[tokio::test]
async fn a_store_may_know_no_conditions() {
    let server = server();
    server.refuse_conditions();
    let url = format!("{}/b/new", server.endpoint());
    for name in ["if-none-match", "if-match"] {
        let answer = http().put(&url).header(name, "*").body("x").send().await.unwrap();
        assert_eq!(answer.status(), 501);
        assert!(answer.text().await.unwrap().contains("<Code>NotImplemented</Code>"));
    }
    assert_eq!(http().put(&url).body("x").send().await.unwrap().status(), 200);
}
