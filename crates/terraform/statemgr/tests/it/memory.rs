//! The in-memory store beyond what the conformance suite asks of every store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_common::{FixedClock, Timestamp};
use groundstate_statemgr::{
    ErrorKind, Expect, LockId, LockInfo, Result, SharedMemory, StateStore, Version, WriteOptions,
};

fn info(id: &str) -> LockInfo {
    LockInfo { id: LockId::new(id), who: "ann@host".to_owned(), ..LockInfo::default() }
}

fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[tokio::test]
async fn a_version_does_not_come_twice() -> Result<()> {
    let store = SharedMemory::new("prod").open();
    let first = store.write(Bytes::from_static(b"a"), &WriteOptions::any()).await?;
    store.delete(&WriteOptions::any()).await?;
    let second = store.write(Bytes::from_static(b"a"), &WriteOptions::expecting(Expect::Absent)).await?;
    assert_ne!(first, second);
    assert_eq!(
        kind(store.write(Bytes::from_static(b"b"), &WriteOptions::expecting(Expect::Version(first))).await),
        Some(ErrorKind::Conflict)
    );
    Ok(())
}

#[tokio::test]
async fn a_conflict_says_what_was_expected_and_found() -> Result<()> {
    let store = SharedMemory::new("prod").open();
    let expect = WriteOptions::expecting(Expect::Version(Version::new("9")));
    let error = store.write(Bytes::from_static(b"a"), &expect).await.unwrap_err();
    assert_eq!(error.mismatch(), Some(("version 9", "nothing")));
    let text = "cannot write memory:prod: it has changed meanwhile, refresh and try again (expected version 9, found nothing)";
    assert_eq!(error.to_string(), text);
    Ok(())
}

#[tokio::test]
async fn a_paused_holder_is_refused_after_its_lease_went_to_another() -> Result<()> {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let place = SharedMemory::with_lease("prod", Duration::from_secs(60), Arc::<FixedClock>::clone(&clock));
    let (a, b) = (place.open(), place.open());
    let old = a.lock(&info("a")).await?;
    clock.advance(Duration::from_secs(61));
    let new = b.lock(&info("b")).await?;
    assert!(new.fence > old.fence);
    let late = WriteOptions::any().fence(old.fence);
    assert_eq!(kind(a.write(Bytes::from_static(b"late"), &late).await), Some(ErrorKind::LockLost));
    assert_eq!(kind(a.delete(&late).await), Some(ErrorKind::LockLost));
    assert_eq!(kind(a.renew(&old.id).await), Some(ErrorKind::LockLost));
    assert_eq!(kind(a.unlock(&old.id).await), Some(ErrorKind::LockLost));
    b.write(Bytes::from_static(b"new"), &WriteOptions::any().fence(new.fence)).await?;
    b.unlock(&new.id).await
}

#[tokio::test]
async fn a_lock_broken_by_force_is_fenced_at_once() -> Result<()> {
    let place = SharedMemory::new("prod");
    let (a, b) = (place.open(), place.open());
    let grant = a.lock(&info("a")).await?;
    assert_eq!(kind(b.force_unlock(&LockId::new("x")).await), Some(ErrorKind::Locked));
    b.force_unlock(&grant.id).await?;
    assert_eq!(
        kind(a.write(Bytes::from_static(b"late"), &WriteOptions::any().fence(grant.fence)).await),
        Some(ErrorKind::LockLost)
    );
    assert_eq!(kind(a.unlock(&grant.id).await), Some(ErrorKind::LockLost));
    assert_eq!(kind(a.unlock(&grant.id).await), Some(ErrorKind::NotFound), "it was told once");
    Ok(())
}

#[tokio::test]
async fn a_refusal_names_the_holder() -> Result<()> {
    let place = SharedMemory::new("prod");
    let grant = place.open().lock(&info("1")).await?;
    let error = place.open().lock(&info("2")).await.unwrap_err();
    assert_eq!(error.holder().map(|holder| &holder.id), Some(&grant.id));
    assert_eq!(error.to_string(), "cannot lock memory:prod: it is locked by ann@host (lock id 1)");
    Ok(())
}

#[tokio::test]
async fn debug_shows_no_content() -> Result<()> {
    let store = SharedMemory::new("prod").open();
    store.write(Bytes::from_static(b"hunter2"), &WriteOptions::any()).await?;
    let shown = format!("{store:?} {:?}", store.read().await?);
    assert!(!shown.contains("hunter2") && !shown.contains("104, 117"), "{shown}");
    Ok(())
}
