//! Digests in the table: written, compared, waited for, repaired.

use std::time::Duration;

use bytes::Bytes;
use groundstate_common::{Clock, Timestamp};
use groundstate_statemgr::{ErrorKind, Expect, StateStore, WorkspaceName, WriteOptions};
use groundstate_testkit::Fault;

use crate::s3::support::{BUCKET, Cloud, KEY, Locks, TABLE, info, state};

const STALE: &str = "00000000000000000000000000000000";

fn put_digest(cloud: &Cloud, digest: &str) {
    cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}-md5"), &[("Digest", digest)]);
}

#[tokio::test]
async fn the_digest_is_written_and_removed_with_the_state() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::Row);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    assert_eq!(cloud.digest().as_deref(), Some("99914b932bd37a50b983c5e7c90ae93b"));
    assert_eq!(store.read().await.unwrap().unwrap().bytes, b"{}");
    store.delete(&WriteOptions::any()).await.unwrap();
    assert_eq!((cloud.state(), cloud.digest()), (None, None));
}

#[tokio::test]
async fn a_stale_digest_is_waited_for_named_and_repaired() {
    let cloud = Cloud::new();
    let backend = cloud.backend(Locks::Row.options());
    let store = backend.open(&WorkspaceName::default_name()).unwrap();
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    put_digest(&cloud, STALE);
    let error = store.read().await.unwrap_err();
    let waited = cloud.clock.now().duration_since(Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(waited, Duration::from_secs(10));
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{text}");
    for part in [
        STALE,
        "99914b932bd37a50b983c5e7c90ae93b",
        "repair the digest",
        "states/network/prod.tfstate-md5",
        TABLE,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let repaired = backend.repair_digest(&WorkspaceName::default_name(), &info("repair")).await.unwrap();
    assert_eq!((repaired.before.as_deref(), repaired.changed()), (Some(STALE), true));
    assert_eq!(store.read().await.unwrap().unwrap().bytes, b"{}");
    let again = backend.repair_digest(&WorkspaceName::default_name(), &info("repair")).await.unwrap();
    assert!(!again.changed());
    assert!(!cloud.is_locked());
}

#[tokio::test]
async fn a_stale_digest_is_said_with_what_tells_whether_the_state_is_right() {
    for (stored, part) in
        [(state(17), "a whole state of serial 17"), (b"{\"version\":4".to_vec(), "not a whole state")]
    {
        let cloud = Cloud::new();
        cloud.server.put_object(BUCKET, KEY, stored);
        put_digest(&cloud, STALE);
        let text = cloud.store(Locks::Row).read().await.unwrap_err().to_string();
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[tokio::test]
async fn a_late_digest_is_waited_for() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::Row);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let right = cloud.digest().unwrap();
    put_digest(&cloud, STALE);
    // The third look, after four seconds, finds the digest of a writer that was slow.
    let late = async {
        while cloud.clock.now() < Timestamp::from_unix(4, 0).unwrap() {
            tokio::task::yield_now().await;
        }
        put_digest(&cloud, &right);
    };
    let (read, ()) = tokio::join!(store.read(), late);
    assert_eq!(read.unwrap().unwrap().bytes, b"{}");
    assert!(cloud.clock.now() < Timestamp::from_unix(10, 0).unwrap());
}

#[tokio::test]
async fn a_digest_that_cannot_be_written_is_ambiguous_and_says_how_to_repair_it() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::Row);
    cloud.server.fault(Fault::before_500().on("POST", "/"));
    let error =
        store.write(Bytes::from_static(b"{}"), &WriteOptions::expecting(Expect::Absent)).await.unwrap_err();
    let text = error.to_string();
    // What is not known is whether the whole of it happened; no other kind may leave the new state behind.
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{text}");
    for part in [
        "99914b932bd37a50b983c5e7c90ae93b",
        "states/network/prod.tfstate-md5",
        "the state is stored",
        "repair the digest",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(cloud.state().as_deref(), Some(&b"{}"[..]));
    cloud.server.clear_faults();
    cloud
        .backend(Locks::Row.options())
        .repair_digest(&WorkspaceName::default_name(), &info("repair"))
        .await
        .unwrap();
    assert_eq!(store.read().await.unwrap().unwrap().bytes, b"{}");
}

#[tokio::test]
async fn a_digest_whose_first_answers_fail_is_still_written() {
    for fault in
        [Fault::before_500(), Fault::after_commit_500(), Fault::drop_after_commit(), Fault::throttle()]
    {
        let cloud = Cloud::new();
        cloud.server.fault(fault.clone().on("POST", "/").times(2));
        cloud.store(Locks::Row).write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        assert_eq!(cloud.store(Locks::Row).read().await.unwrap().unwrap().bytes, state(1), "{fault:?}");
    }
}

#[tokio::test]
async fn what_is_no_digest_is_ignored_and_a_digest_without_a_state_is_not() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::Row);
    put_digest(&cloud, "not a digest");
    assert!(store.read().await.unwrap().is_none());
    put_digest(&cloud, STALE);
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("no state"), "{error}");
    // Without a state the digest goes.
    cloud
        .backend(Locks::Row.options())
        .repair_digest(&WorkspaceName::default_name(), &info("repair"))
        .await
        .unwrap();
    assert_eq!(cloud.digest(), None);
    assert!(store.read().await.unwrap().is_none());
    cloud.server.put_object(BUCKET, KEY, state(1));
    put_digest(&cloud, "D41D8CD98F00B204E9800998ECF8427");
    assert!(store.read().await.unwrap().is_some());
}

#[tokio::test]
async fn without_a_table_there_is_no_digest_to_repair() {
    let cloud = Cloud::new();
    let backend = cloud.backend(Locks::File.options());
    let error = backend.repair_digest(&WorkspaceName::default_name(), &info("repair")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(!cloud.is_locked());
}
