//! What is wrong with settings, credentials, places and clocks is said with what to change.

use groundstate_blobs::{BlobStore, Error, ErrorKind, GetOptions, Key, ListOptions, PutOptions};
use groundstate_blobs_cloud::{AzureBlobs, GcsBlobs, S3Blobs};
use groundstate_testkit::{AzureServer, GcsServer, S3Server};

use crate::context::context;
use crate::{azure, gcs, s3};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The errors of a read, a write and a list.
async fn errors(store: &dyn BlobStore) -> Result<Vec<Error>, Box<dyn std::error::Error>> {
    let key = Key::parse("k")?;
    let read = store.get(&key, &GetOptions::default()).await.err().ok_or("the read succeeded")?;
    let write =
        store.put(&key, "1".into(), &PutOptions::default()).await.err().ok_or("the write succeeded")?;
    let list = store.list("", &ListOptions::default()).await.err().ok_or("the list succeeded")?;
    Ok(vec![read, write, list])
}

/// Checks kind and words of all three.
async fn all_say(store: &dyn BlobStore, kind: ErrorKind, words: &[&str]) -> Outcome {
    for error in errors(store).await? {
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{text}: {:?}", std::error::Error::source(&error));
        for word in words {
            assert!(text.contains(word), "{word} is missing: {text}");
        }
        for secret in ["s3cr3t", "t0ken", azure::KEY] {
            assert!(!format!("{error:?} {text}").contains(secret), "{text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn s3_says_what_to_change() -> Outcome {
    let server = S3Server::start().await;
    let open = || S3Blobs::open(&s3::settings(&server.endpoint(), "b"), &context());
    all_say(&open()?, ErrorKind::NotFound, &["there is no bucket b", "option `bucket`"]).await?;
    server.create_bucket("b");
    server.set_clock_skewed(true);
    all_say(&open()?, ErrorKind::ClockSkew, &["set the clock"]).await?;
    server.set_clock_skewed(false);
    server.deny("GET", "*");
    server.deny("PUT", "*");
    all_say(&open()?, ErrorKind::Denied, &["s3:"]).await?;
    server.allow_all();
    server.require_region("eu-west-1");
    all_say(&open()?, ErrorKind::WrongRegion, &["option `region`", "AWS_REGION", "eu-west-1"]).await?;
    server.redirect_to_region("eu-west-1");
    all_say(&open()?, ErrorKind::WrongRegion, &["option `region`", "AWS_REGION", "eu-west-1"]).await
}

#[tokio::test]
async fn s3_tells_wrong_keys_apart() -> Outcome {
    let server = S3Server::start().await;
    server.create_bucket("b");
    let open = || S3Blobs::open(&s3::settings(&server.endpoint(), "b"), &context());
    server.require_key("AKIAOTHER", "s3cr3t");
    all_say(&open()?, ErrorKind::Unauthenticated, &["`access_key`", "AWS_ACCESS_KEY_ID"]).await?;
    server.require_key("AKIATEST", "another");
    all_say(&open()?, ErrorKind::Unauthenticated, &["`secret_key`", "AWS_SECRET_ACCESS_KEY"]).await?;
    server.require_key("AKIATEST", "s3cr3t");
    assert_eq!(open()?.get(&Key::parse("k")?, &GetOptions::default()).await?, None);
    Ok(())
}

#[tokio::test]
async fn gcs_says_what_to_change() -> Outcome {
    let server = GcsServer::start().await;
    let open = || GcsBlobs::open(&gcs::settings(&server.endpoint(), "b"));
    all_say(&open()?, ErrorKind::NotFound, &["there is no bucket b", "option `bucket`"]).await?;
    server.create_bucket("b");
    server.deny("GET", "*");
    server.deny("PUT", "*");
    all_say(&open()?, ErrorKind::Denied, &["storage.objects."]).await
}

#[tokio::test]
async fn azure_says_what_to_change() -> Outcome {
    let server = AzureServer::start().await;
    let open = || AzureBlobs::open(&azure::settings(&server.account_endpoint(), azure::KEY, "c"));
    all_say(&open()?, ErrorKind::NotFound, &["there is no container c", "option `container_name`"]).await?;
    server.create_container("c");
    server.set_clock_skewed(true);
    all_say(&open()?, ErrorKind::ClockSkew, &["set the clock"]).await?;
    server.set_clock_skewed(false);
    server.require_key("devstoreaccount1", "b3RoZXI=");
    all_say(&open()?, ErrorKind::Unauthenticated, &["ARM_ACCESS_KEY", "ARM_SAS_TOKEN", "az login"]).await?;
    server.require_key("devstoreaccount1", azure::KEY);
    server.deny("GET", "*");
    server.deny("PUT", "*");
    all_say(&open()?, ErrorKind::Denied, &["Storage Blob Data Contributor"]).await
}
