//! Conditional writes whose answers get lost: done once, known as done, and never taken for another's.

use groundstate_blobs::{
    Attributes, Blob, BlobStore, ErrorKind, GetOptions, MemoryBlobs, Precondition, PutOptions, Result,
};
use groundstate_conformance::{Fault, block_on};

use super::{key, seed, stores, with_attempts};

/// What is stored, with its version as text.
fn stored(blobs: &MemoryBlobs) -> (Vec<u8>, String) {
    let blob: Blob = block_on(blobs.get(&key(), &GetOptions::default())).unwrap().unwrap();
    (blob.bytes.to_vec(), blob.version().to_string())
}

#[test]
fn a_creation_whose_answer_got_lost_is_recognised_and_not_repeated() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    faulty.fail_puts(&[Fault::LoseAnswer]);
    let version = block_on(store.put(&key(), "1".into(), &PutOptions::expecting(Precondition::Absent)))?;
    assert_eq!(faulty.calls(), ["put", "get"]);
    assert_eq!(stored(faulty.inner()), (b"1".to_vec(), version.to_string()));
    Ok(())
}

#[test]
fn a_write_that_never_arrived_is_sent_again() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let old = seed(&faulty, "1");
    faulty.fail_puts(&[Fault::LoseRequest, Fault::LoseRequest]);
    let condition = Precondition::Version(old);
    let version = block_on(store.put(&key(), "2".into(), &PutOptions::expecting(condition)))?;
    assert_eq!(faulty.calls(), ["put", "get", "put", "get", "put"]);
    assert_eq!(stored(faulty.inner()), (b"2".to_vec(), version.to_string()));
    Ok(())
}

#[test]
fn a_write_without_a_condition_is_repeated_without_a_look() -> Result<()> {
    for fault in [Fault::Refuse, Fault::LoseRequest, Fault::LoseAnswer] {
        let (faulty, store) = stores(MemoryBlobs::new("m"));
        faulty.fail_puts(&[fault]);
        let version = block_on(store.put(&key(), "1".into(), &PutOptions::default()))?;
        assert_eq!(faulty.calls(), ["put", "put"], "{fault:?}");
        assert_eq!(stored(faulty.inner()), (b"1".to_vec(), version.to_string()));
    }
    Ok(())
}

#[test]
fn a_write_after_which_another_content_is_found_failed_and_shows_that_content() {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let old = seed(&faulty, "1");
    faulty.fail_puts(&[Fault::LoseRequest]);
    faulty.meanwhile(1, key(), "theirs".into());
    let options = PutOptions::expecting(Precondition::Version(old));
    let error = block_on(store.put(&key(), "2".into(), &options)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(
        error.to_string(),
        "cannot put memory://m: generation 2 is stored where generation 1 was expected"
    );
    assert_eq!(error.found().map(|blob| &blob.bytes[..]), Some(&b"theirs"[..]));
    assert_eq!(stored(faulty.inner()).0, b"theirs");
}

#[test]
fn a_write_after_which_nothing_is_found_failed() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let old = seed(&faulty, "1");
    block_on(faulty.inner().delete(&key(), &groundstate_blobs::DeleteOptions::default()))?;
    let options = PutOptions::expecting(Precondition::Version(old));
    let error = block_on(store.put(&key(), "2".into(), &options)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write memory://m/a: nothing is stored where generation 1 was expected"
    );
    assert!(error.found().is_none());
    Ok(())
}

#[test]
fn equal_bytes_are_taken_for_ones_own_unless_the_write_is_contended() -> Result<()> {
    let once = PutOptions::expecting(Precondition::Absent);
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let theirs = seed(&faulty, "same");
    assert_eq!(block_on(store.put(&key(), "same".into(), &once))?, theirs);
    assert_eq!(faulty.calls(), ["put", "get"]);
    let error = block_on(store.put(&key(), "same".into(), &once.clone().contended())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(faulty.calls(), ["put"], "a refusal stands, without a look");
    Ok(())
}

#[test]
fn a_contended_write_whose_own_answer_got_lost_is_recognised() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    faulty.fail_puts(&[Fault::LoseAnswer]);
    let options = PutOptions::expecting(Precondition::Absent).contended();
    let version = block_on(store.put(&key(), "1".into(), &options))?;
    assert_eq!(stored(faulty.inner()), (b"1".to_vec(), version.to_string()));
    Ok(())
}

#[test]
fn metadata_tell_writers_of_equal_bytes_apart() -> Result<()> {
    let by = |name: &str| Attributes::default().with_metadata("writer", name);
    let once = |name| PutOptions::expecting(Precondition::Absent).attributes(by(name));
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let first = block_on(store.put(&key(), "same".into(), &once("me")))?;
    let error = block_on(store.put(&key(), "same".into(), &once("you"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    faulty.calls();
    assert_eq!(block_on(store.put(&key(), "same".into(), &once("me")))?, first);
    Ok(())
}

#[test]
fn after_the_last_attempt_a_look_still_decides_what_happened() -> Result<()> {
    let once = PutOptions::expecting(Precondition::Absent);
    let (faulty, store) = with_attempts(MemoryBlobs::new("m"), 1);
    faulty.fail_puts(&[Fault::LoseAnswer]);
    block_on(store.put(&key(), "1".into(), &once))?;
    assert_eq!(faulty.calls(), ["put", "get"]);

    let (faulty, store) = with_attempts(MemoryBlobs::new("m"), 1);
    faulty.fail_puts(&[Fault::LoseRequest]);
    let error = block_on(store.put(&key(), "1".into(), &once)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "it may still arrive");
    let expected = "cannot write memory://m/a: the answer was lost, so the operation may or may not have been carried out";
    assert_eq!(error.to_string(), expected);
    Ok(())
}

#[test]
fn a_doubt_that_cannot_be_looked_into_remains_one() {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    faulty.fail_puts(&[Fault::LoseAnswer]);
    faulty.fail_at(1, Fault::Down);
    let once = PutOptions::expecting(Precondition::Absent);
    let error = block_on(store.put(&key(), "1".into(), &once)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous);
    assert_eq!(faulty.calls(), ["put", "get", "get", "get"]);
}

#[test]
fn a_refusal_that_cannot_be_looked_into_remains_one() {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "theirs");
    faulty.fail_at(1, Fault::Down);
    let once = PutOptions::expecting(Precondition::Absent);
    let error = block_on(store.put(&key(), "1".into(), &once)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
}

#[test]
fn a_denied_write_is_not_looked_into() {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    faulty.fail_at(0, Fault::Deny);
    let once = PutOptions::expecting(Precondition::Absent);
    assert_eq!(block_on(store.put(&key(), "1".into(), &once)).unwrap_err().kind(), ErrorKind::Denied);
    assert_eq!(faulty.calls(), ["put"]);
}
