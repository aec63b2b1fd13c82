//! Retries, against servers that do wrong what they are told to.

use std::sync::Arc;

use groundstate_blobs::{
    BlobStore, Context, DeleteOptions, ErrorKind, GetOptions, Key, Precondition, PutOptions, Retry,
};
use groundstate_blobs_cloud::{AzureBlobs, GcsBlobs, S3Blobs};
use groundstate_common::{FixedClock, OsIds, Timestamp};
use groundstate_testkit::{Answer, AzureServer, Fault, GcsServer, Recorder, S3Server};

use crate::s3::settings;
use crate::{azure, gcs};

type Outcome = Result<(), Box<dyn std::error::Error>>;
/// A name, and what goes wrong.
type Trouble = (&'static str, fn() -> Fault);

/// A store whose waits cost no time.
fn quick() -> Context {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    Context::new(Arc::clone(&clock) as _, clock, Arc::new(OsIds))
}

fn store(server: &S3Server) -> groundstate_blobs::Result<Retry<S3Blobs>> {
    server.create_bucket("b");
    let blobs = S3Blobs::open(&settings(&server.endpoint(), "b"), &quick())?;
    let policy = blobs.retry_policy();
    Ok(Retry::new(blobs, policy, quick()))
}

/// What may go wrong with one request without the caller having to know.
fn troubles() -> Vec<Trouble> {
    vec![
        ("500 before", Fault::before_500),
        ("500 after the commit", Fault::after_commit_500),
        ("closed before", Fault::drop_before),
        ("closed after the commit", Fault::drop_after_commit),
        ("twice", Fault::duplicate),
        ("throttled", Fault::throttle),
        ("in conflict", Fault::conflict),
    ]
}

#[tokio::test]
async fn creations_swaps_and_deletions_happen_once_whatever_gets_lost() -> Outcome {
    for (name, fault) in troubles() {
        let server = S3Server::start().await;
        let (store, key) = (store(&server)?, Key::parse("k")?);
        server.fault(fault().on("PUT", "*").nth(1));
        let first = store.put(&key, "1".into(), &PutOptions::expecting(Precondition::Absent)).await;
        let first = first.map_err(|error| format!("{name}, creation: {error}"))?;

        server.fault(fault().on("PUT", "*").nth(1));
        let swap = PutOptions::expecting(Precondition::Version(first.clone()));
        let second =
            store.put(&key, "2".into(), &swap).await.map_err(|error| format!("{name}, swap: {error}"))?;
        let blob = store.get(&key, &GetOptions::default()).await?.ok_or("it is gone")?;
        assert_eq!((&blob.bytes[..], blob.version().same_as(&second)), (&b"2"[..], true), "{name}");

        server.fault(fault().on("DELETE", "*").nth(1));
        let deleted = store.delete(&key, &DeleteOptions::version(&second)).await;
        // The second of two equal requests finds nothing, and its answer is the one that arrives.
        let was_there = deleted.map_err(|error| format!("{name}, deletion: {error}"))?;
        assert_eq!(was_there, name != "twice", "{name}");
        assert_eq!(store.get(&key, &GetOptions::default()).await?, None, "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn reads_are_repeated_and_never_cut_short() -> Outcome {
    let mut troubles = troubles();
    troubles.push(("cut midway", || Fault::cut_body(1000)));
    for (name, fault) in troubles {
        let server = S3Server::start().await;
        let (store, key) = (store(&server)?, Key::parse("k")?);
        let bytes = vec![7; 100_000];
        store.put(&key, bytes.clone().into(), &PutOptions::default()).await?;
        server.fault(fault().on("GET", "*").nth(1));
        let blob =
            store.get(&key, &GetOptions::default()).await.map_err(|error| format!("{name}: {error}"))?;
        assert_eq!(blob.map(|blob| blob.bytes.len()), Some(100_000), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn the_write_of_another_is_not_taken_for_ones_own() -> Outcome {
    let server = S3Server::start().await;
    let (store, key) = (store(&server)?, Key::parse("k")?);
    server.put_object("b", "k", "theirs");
    server.fault(Fault::drop_before().on("PUT", "*").nth(1));
    let once = PutOptions::expecting(Precondition::Absent);
    let error = store.put(&key, "mine".into(), &once).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    // Asking who holds a lock needs no second read.
    assert_eq!(error.found().map(|blob| &blob.bytes[..]), Some(&b"theirs"[..]));
    Ok(())
}

#[tokio::test]
async fn a_server_that_never_answers_leaves_the_question_open() -> Outcome {
    let server = S3Server::start().await;
    let (store, key) = (store(&server)?, Key::parse("k")?);
    server.fault(Fault::drop_before());
    let once = PutOptions::expecting(Precondition::Absent);
    let error = store.put(&key, "1".into(), &once).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    let error = store.get(&key, &GetOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    Ok(())
}

#[tokio::test]
async fn a_write_without_a_listener_did_not_happen() -> Outcome {
    let server = S3Server::start().await;
    let (store, key) = (store(&server)?, Key::parse("k")?);
    drop(server);
    let error = store.put(&key, "1".into(), &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("AWS_ENDPOINT_URL_S3"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_write_is_one_request_when_nothing_goes_wrong() -> Outcome {
    let server = S3Server::start().await;
    let (store, key) = (store(&server)?, Key::parse("k")?);
    let version = store.put(&key, "1".into(), &PutOptions::expecting(Precondition::Absent)).await?;
    store.get(&key, &GetOptions::default()).await?;
    store.delete(&key, &DeleteOptions::version(&version)).await?;
    assert_eq!(server.requests().len(), 3);
    Ok(())
}

/// The seconds that a read waits in all whose answers are those, and what comes of it.
async fn wait_of_read(
    answers: Vec<Answer>,
) -> Result<(u64, Option<String>, usize), Box<dyn std::error::Error>> {
    let answers = std::sync::Mutex::new(answers.into_iter());
    let server = Recorder::answering(move |_| {
        let next = answers.lock().expect("nothing panics with it").next();
        next.unwrap_or_else(|| Answer::new(404).body("<Error><Code>NoSuchKey</Code></Error>"))
    });
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let context = Context::new(Arc::clone(&clock) as _, Arc::clone(&clock) as _, Arc::new(OsIds));
    let blobs = S3Blobs::open(&settings(&server.endpoint(), "b"), &context)?;
    let store = Retry::new(blobs, groundstate_blobs::RetryPolicy::default(), context);
    let outcome = store.get(&Key::parse("k")?, &GetOptions::default()).await;
    let waited = groundstate_common::Clock::now(&*clock).seconds();
    Ok((u64::try_from(waited)?, outcome.err().map(|error| error.to_string()), server.requests().len()))
}

#[tokio::test]
async fn waits_as_long_as_the_service_asks_for() -> Outcome {
    let busy = |header: &str| Answer::new(503).header("retry-after", header);
    let (waited, error, requests) = wait_of_read(vec![busy("30"), busy("20")]).await?;
    assert_eq!((error, requests), (None, 3));
    assert!((50..55).contains(&waited), "{waited}");
    let date = busy("Sat, 21 Nov 2026 00:32:24 GMT").header("date", "Sat, 21 Nov 2026 00:32:00 GMT");
    let (waited, error, _) = wait_of_read(vec![date]).await?;
    assert!(error.is_none() && (24..26).contains(&waited), "{waited}");
    // What is no wait leaves the usual one.
    for text in ["soon", "-1", "99999999999999999999999", "", "Sat, 21 Nov 2026 00:32:24 GMT"] {
        let (waited, error, requests) = wait_of_read(vec![busy(text)]).await?;
        assert_eq!((error, requests), (None, 2), "{text}");
        assert!(waited < 2, "{text}: {waited}");
    }
    Ok(())
}

#[tokio::test]
async fn gives_up_when_the_service_asks_for_too_long_a_wait() -> Outcome {
    let (waited, error, requests) =
        wait_of_read(vec![Answer::new(503).header("retry-after", "3600")]).await?;
    assert_eq!((waited, requests), (0, 1));
    assert!(error.ok_or("it succeeded")?.contains("3600 seconds"));
    Ok(())
}

/// Writes, replaces, reads and removes, where the first request of each meets another client's.
async fn meets_others(
    name: &str,
    store: &dyn BlobStore,
    conflict: impl Fn(Fault),
    code: &'static str,
) -> Outcome {
    let key = Key::parse("k")?;
    let meet = || conflict(Fault::refuse(409, code, None).on("*", "*").nth(1));
    meet();
    let first = store.put(&key, "1".into(), &PutOptions::expecting(Precondition::Absent)).await;
    let first = first.map_err(|error| format!("{name}, creation: {error}"))?;
    meet();
    let swap = PutOptions::expecting(Precondition::Version(first));
    store.put(&key, "2".into(), &swap).await.map_err(|error| format!("{name}, swap: {error}"))?;
    meet();
    let blob = store.get(&key, &GetOptions::default()).await?.ok_or("it is gone")?;
    assert_eq!(&blob.bytes[..], b"2", "{name}");
    meet();
    store.delete(&key, &DeleteOptions::default()).await.map_err(|error| format!("{name}: {error}"))?;
    assert!(store.get(&key, &GetOptions::default()).await?.is_none(), "{name}");
    Ok(())
}

#[tokio::test]
async fn conflict_with_another_client_is_retried_at_google_and_azure() -> Outcome {
    let google = GcsServer::start().await;
    google.create_bucket("b");
    let blobs = GcsBlobs::open(&gcs::settings(&google.endpoint(), "b"))?;
    let policy = blobs.retry_policy();
    meets_others("google", &Retry::new(blobs, policy, quick()), |fault| google.fault(fault), "conflict")
        .await?;

    let server = AzureServer::start().await;
    server.create_container("b");
    let blobs = AzureBlobs::open(&azure::settings(&server.account_endpoint(), azure::KEY, "b"))?;
    let policy = blobs.retry_policy();
    let store = Retry::new(blobs, policy, quick());
    meets_others("azure", &store, |fault| server.fault(fault), "OperationInProgress").await
}
