//! Deletions that are asked for again.

use groundstate_blobs::{BlobStore, DeleteOptions, ErrorKind, GetOptions, MemoryBlobs, Result};
use groundstate_conformance::{Fault, block_on};

use super::{key, seed, stores};

#[test]
fn a_deletion_whose_answer_got_lost_is_known_to_have_removed_something() -> Result<()> {
    for (fault, was_there) in [(Fault::LoseAnswer, true), (Fault::LoseRequest, true), (Fault::Refuse, true)] {
        let (faulty, store) = stores(MemoryBlobs::new("m"));
        seed(&faulty, "1");
        faulty.fail_at(0, fault);
        assert_eq!(block_on(store.delete(&key(), &DeleteOptions::default()))?, was_there, "{fault:?}");
        assert_eq!(faulty.calls(), ["delete", "delete"]);
        assert_eq!(block_on(store.get(&key(), &GetOptions::default()))?, None);
    }
    Ok(())
}

#[test]
fn a_deletion_of_nothing_says_so_when_it_was_only_refused_before() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    faulty.fail_at(0, Fault::Refuse);
    assert!(!block_on(store.delete(&key(), &DeleteOptions::default()))?);
    Ok(())
}

#[test]
fn a_deletion_of_another_version_is_refused_at_once() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    let old = seed(&faulty, "1");
    seed(&faulty, "2");
    let error = block_on(store.delete(&key(), &DeleteOptions::version(&old))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(faulty.calls(), ["delete"]);
    assert!(block_on(store.head(&key()))?.is_some());
    Ok(())
}
