//! Leases that are asked for again.

use std::collections::BTreeMap;

use groundstate_blobs::{
    BlobStore, ErrorKind, LeaseDuration, LeaseState, Leases, MemoryBlobs, Precondition, Result,
};
use groundstate_conformance::{Fault, FaultyBlobs, block_on};

use super::{key, lease, seed, stores};

/// Whether a lease is held, past all faults.
fn state(faulty: &FaultyBlobs) -> Option<LeaseState> {
    block_on(faulty.inner().head(&key())).unwrap().unwrap().lease
}

#[test]
fn a_lease_whose_answer_got_lost_is_held_under_its_id() -> Result<()> {
    for fault in [Fault::LoseAnswer, Fault::LoseRequest, Fault::Refuse] {
        let (faulty, store) = stores(MemoryBlobs::new("m"));
        seed(&faulty, "1");
        faulty.fail_at(0, fault);
        block_on(store.acquire(&key(), &lease('0'), LeaseDuration::Infinite))?;
        assert_eq!(
            (faulty.calls(), state(&faulty)),
            (vec!["acquire"; 2], Some(LeaseState::Held)),
            "{fault:?}"
        );
        let other = block_on(store.acquire(&key(), &lease('1'), LeaseDuration::Infinite)).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::LeaseHeld);
        faulty.fail_at(0, fault);
        block_on(store.renew(&key(), &lease('0')))?;
        assert_eq!(faulty.calls(), ["renew"; 2]);
    }
    Ok(())
}

#[test]
fn a_release_whose_answer_got_lost_has_released() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "1");
    block_on(faulty.inner().acquire(&key(), &lease('0'), LeaseDuration::Infinite))?;
    faulty.fail_at(0, Fault::LoseAnswer);
    block_on(store.release(&key(), &lease('0')))?;
    assert_eq!((faulty.calls(), state(&faulty)), (vec!["release"; 2], Some(LeaseState::Free)));
    Ok(())
}

#[test]
fn a_release_of_a_lease_that_is_not_in_force_is_refused_even_after_a_refusal() {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "1");
    for fault in [None, Some(Fault::Refuse)] {
        if let Some(fault) = fault {
            faulty.fail_at(0, fault);
        }
        let error = block_on(store.release(&key(), &lease('0'))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LeaseLost, "{fault:?}");
    }
}

#[test]
fn breaking_tells_whether_a_lease_was_held_also_when_the_answer_got_lost() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "1");
    assert!(!block_on(store.break_lease(&key()))?);
    faulty.fail_at(0, Fault::Refuse);
    assert!(!block_on(store.break_lease(&key()))?);
    block_on(faulty.inner().acquire(&key(), &lease('0'), LeaseDuration::Infinite))?;
    faulty.fail_at(0, Fault::LoseAnswer);
    assert!(block_on(store.break_lease(&key()))?);
    assert_eq!((faulty.calls(), state(&faulty)), (vec!["break"; 2], Some(LeaseState::Free)));
    Ok(())
}

#[test]
fn breaking_the_lease_of_a_missing_blob_is_an_error() {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let error = block_on(store.break_lease(&key())).unwrap_err();
    assert_eq!(error.to_string(), "cannot break the lease of memory://m/a: it does not exist");
    assert_eq!(faulty.calls(), ["break"]);
}

#[test]
fn a_description_whose_answer_got_lost_is_recognised_by_its_metadata() -> Result<()> {
    let metadata = BTreeMap::from([("who".to_owned(), "me".to_owned())]);
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let old = Precondition::Version(seed(&faulty, "1"));
    faulty.fail_at(0, Fault::LoseAnswer);
    let version = block_on(store.set_metadata(&key(), &metadata, &old, None))?;
    assert_eq!(faulty.calls(), ["describe", "describe", "head"]);
    let meta = block_on(faulty.inner().head(&key()))?.unwrap();
    assert_eq!((meta.version, meta.attributes.metadata), (version, metadata));

    let others = BTreeMap::from([("who".to_owned(), "you".to_owned())]);
    let error = block_on(store.set_metadata(&key(), &others, &old, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(faulty.calls(), ["describe", "head"]);
    Ok(())
}

#[test]
fn a_description_is_sent_again_and_what_time_does_not_heal_is_not() -> Result<()> {
    let metadata = BTreeMap::from([("who".to_owned(), "me".to_owned())]);
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "1");
    faulty.fail_at(0, Fault::Refuse);
    block_on(store.set_metadata(&key(), &metadata, &Precondition::Any, None))?;
    assert_eq!(faulty.calls(), ["describe"; 2]);
    faulty.fail_at(0, Fault::Deny);
    let error = block_on(store.set_metadata(&key(), &metadata, &Precondition::Any, None)).unwrap_err();
    assert_eq!((error.kind(), faulty.calls()), (ErrorKind::Denied, vec!["describe"]));
    Ok(())
}

#[test]
fn a_snapshot_is_taken_again_when_its_name_got_lost() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "1");
    faulty.fail_at(0, Fault::LoseAnswer);
    let name = block_on(store.snapshot(&key(), None))?;
    let names: Vec<_> = faulty.inner().snapshots(&key()).into_iter().map(|(name, _)| name).collect();
    assert_eq!((names.len(), names.last()), (2, Some(&name)));
    Ok(())
}
