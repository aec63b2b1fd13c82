//! What the reference store does that the suite does not see: limits, and leases that end with time.

use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::{
    BlobCapabilities, BlobStore, ErrorKind, GetOptions, Key, LeaseDuration, LeaseId, LeaseState, ListOptions,
    MemoryBlobs, Precondition, PutOptions, Result,
};
use groundstate_common::{FixedClock, Timestamp};

use crate::harness::Harness;

/// A container in memory, which is the same for all names.
pub(crate) fn harness() -> Harness {
    let blobs = MemoryBlobs::new("suite");
    Harness::new(Arc::new(move |_| Ok(Arc::new(blobs.clone()))))
}

const MINE: &str = "681fbb37-7302-b5fd-bac8-6224f8cc5180";
const YOURS: &str = "681fbb37-7302-b5fd-bac8-6224f8cc5181";

#[tokio::test]
async fn a_limited_store_refuses_what_it_lacks_and_changes_nothing() -> Result<()> {
    let store = MemoryBlobs::new("m").limited_to(BlobCapabilities::none());
    let key = Key::parse("a")?;
    let once = PutOptions::expecting(Precondition::Absent);
    let error = store.put(&key, "1".into(), &once).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "cannot write memory://m/a: the store knows no conditions");
    assert_eq!(store.get(&key, &GetOptions::default()).await?, None);
    assert!(store.leases().is_none());
    let version = store.put(&key, "1".into(), &PutOptions::default()).await?;
    assert_eq!(version.generation(), None);
    assert!(version.e_tag().is_some());
    Ok(())
}

#[tokio::test]
async fn a_lease_ends_with_its_time_and_lasts_when_it_is_renewed() -> Result<()> {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let store = MemoryBlobs::with_clock("m", Arc::clone(&clock) as _);
    let (key, mine, yours) = (Key::parse("a")?, LeaseId::parse(MINE)?, LeaseId::parse(YOURS)?);
    store.put(&key, "1".into(), &PutOptions::default()).await?;
    let leases = store.leases().unwrap();
    let quarter = LeaseDuration::For(Duration::from_secs(15));

    leases.acquire(&key, &mine, quarter).await?;
    clock.advance(Duration::from_secs(14));
    leases.renew(&key, &mine).await?;
    clock.advance(Duration::from_secs(14));
    let refused = leases.acquire(&key, &yours, LeaseDuration::Infinite).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LeaseHeld);
    assert_eq!(store.head(&key).await?.unwrap().lease, Some(LeaseState::HeldForNow));

    clock.advance(Duration::from_secs(1));
    leases.acquire(&key, &yours, LeaseDuration::Infinite).await?;
    assert_eq!(leases.release(&key, &mine).await.unwrap_err().kind(), ErrorKind::LeaseLost);
    assert_eq!(store.head(&key).await?.unwrap().lease, Some(LeaseState::Held));
    Ok(())
}

#[tokio::test]
async fn snapshots_keep_what_was_there() -> Result<()> {
    let (store, key) = (MemoryBlobs::new("m"), Key::parse("a")?);
    for text in ["1", "2"] {
        store.put(&key, text.into(), &PutOptions::default()).await?;
        store.leases().unwrap().snapshot(&key, None).await?;
    }
    let kept: Vec<_> = store.snapshots(&key).into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(kept, ["1", "2"]);
    Ok(())
}

#[tokio::test]
async fn pages_go_on_behind_folders() -> Result<()> {
    let store = MemoryBlobs::new("m");
    for name in ["a", "b/1", "b/2", "b/2/3", "c", "d/1"] {
        store.put(&Key::parse(name)?, "".into(), &PutOptions::default()).await?;
    }
    let mut seen = Vec::new();
    let mut options = ListOptions::default().delimited().limit(1);
    loop {
        let page = store.list("", &options).await?;
        assert!(page.blobs.len() + page.prefixes.len() <= 1);
        seen.extend(page.blobs.into_iter().map(|blob| blob.name));
        seen.extend(page.prefixes);
        let Some(next) = page.next else { break };
        options = options.page(Some(next));
    }
    assert_eq!(seen, ["a", "b/", "c", "d/"]);
    Ok(())
}

#[tokio::test]
async fn debug_texts_show_no_content() -> Result<()> {
    let (store, key) = (MemoryBlobs::new("m"), Key::parse("a")?);
    store.put(&key, "s3cr3t".into(), &PutOptions::default()).await?;
    let blob = store.get(&key, &GetOptions::default()).await?;
    let text = format!("{store:?} {blob:?}");
    assert!(!text.contains("s3cr3t"), "{text}");
    Ok(())
}
