//! Names that other tools give to objects, and answers of servers that implement a protocol in part.

use groundstate_blobs::{BlobStore, GetOptions, Key, ListOptions};
use groundstate_blobs_cloud::{AzureBlobs, GcsBlobs, S3Blobs};
use groundstate_testkit::{Answer, AzureServer, GcsServer, Recorder, S3Server};

use crate::context::context;
use crate::{azure, gcs, s3};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A folder marker of a console, a name with an empty part, and keys around them.
const NAMES: [&str; 4] = ["a", "a/", "a//b", "a/b"];

async fn lists_all(store: &dyn BlobStore) -> Outcome {
    let page = store.list("a", &ListOptions::default()).await?;
    let names: Vec<&str> = page.blobs.iter().map(|listed| &*listed.name).collect();
    assert_eq!(names, NAMES, "{store:?}");
    let page = store.list("a/", &ListOptions::default().delimited()).await?;
    let names: Vec<&str> = page.blobs.iter().map(|listed| &*listed.name).collect();
    assert_eq!((&names[..], &page.prefixes[..]), (&["a/", "a/b"][..], &["a//".to_owned()][..]), "{store:?}");
    Ok(())
}

#[tokio::test]
async fn lists_have_names_that_are_no_keys_as_they_are() -> Outcome {
    let server = S3Server::start().await;
    NAMES.iter().for_each(|name| server.put_object("b", name, "1"));
    lists_all(&S3Blobs::open(&s3::settings(&server.endpoint(), "b"), &context())?).await?;
    let server = GcsServer::start().await;
    NAMES.iter().for_each(|name| server.put_object("b", name, "1"));
    lists_all(&GcsBlobs::open(&gcs::settings(&server.endpoint(), "b"))?).await?;
    let server = AzureServer::start().await;
    NAMES.iter().for_each(|name| server.put_blob("b", name, "1"));
    lists_all(&AzureBlobs::open(&azure::settings(&server.account_endpoint(), azure::KEY, "b"))?).await
}

/// The whole, and a part that the server sends whole, with neither a date nor the range among the headers.
async fn reads_all(store: &dyn BlobStore) -> Outcome {
    let key = Key::parse("k")?;
    let blob = store.get(&key, &GetOptions::default()).await?.ok_or("it is there")?;
    assert_eq!((&blob.bytes[..], blob.version().e_tag()), (&b"0123456789"[..], Some("\"1\"")), "{store:?}");
    let part = store.get(&key, &GetOptions::default().range(2..5)).await?.ok_or("it is there")?;
    assert_eq!((&part.bytes[..], part.meta.size), (&b"234"[..], 10), "{store:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_without_ranges_and_dates_is_read() -> Outcome {
    let server = Recorder::start(Answer::new(200).header("etag", "\"1\"").body("0123456789"));
    let endpoint = server.endpoint();
    reads_all(&S3Blobs::open(&s3::settings(&endpoint, "b"), &context())?).await?;
    reads_all(&GcsBlobs::open(&gcs::settings(&endpoint, "b"))?).await?;
    let account = format!("{endpoint}/devstoreaccount1");
    reads_all(&AzureBlobs::open(&azure::settings(&account, azure::KEY, "b"))?).await
}
