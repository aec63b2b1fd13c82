//! The length of batches: the same in every store, and refused before anything is written.

use std::sync::Arc;

use groundstate_blobs::MemoryBlobs;
use groundstate_common::SequenceIds;
use groundstate_conformance::block_on;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::fs::FsJournal;
use groundstate_wal::{ErrorKind, JournalStore, MAX_BATCH, MemoryJournal, OpenOptions, Record, read_all};

/// A batch of the greatest length, of one short record many times over.
fn longest() -> Vec<Record> {
    let record = Record::from(vec![0; (1 << 20) - 4]);
    vec![record; MAX_BATCH >> 20]
}

#[test]
fn a_batch_that_is_a_record_too_long_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ids = Arc::new(SequenceIds::new());
    let objects = BlobJournal::new(Arc::new(MemoryBlobs::new("b")), "j/", ids).unwrap();
    let stores: [Arc<dyn JournalStore>; 3] = [
        Arc::new(MemoryJournal::new("m")),
        Arc::new(FsJournal::new(folder.path().join("j"))),
        Arc::new(objects),
    ];
    let mut long = longest();
    long.push(Record::default());
    for store in stores {
        block_on(async {
            let writer = store.open(&OpenOptions::new("ann")).await.unwrap();
            writer.begin(&Record::default()).await.unwrap();
            let error = writer.append(&long).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert_eq!(
                error.to_string(),
                format!("cannot append to {store}: the batch is too long, split it")
            );
            writer.append(&[Record::from(&b"short"[..])]).await.unwrap();
            let records = read_all(&*store).await.unwrap().unwrap().records;
            assert_eq!(records, [Record::from(&b"short"[..])]);
        });
    }
}

#[test]
fn a_batch_of_the_greatest_length_is_taken() {
    let journal = MemoryJournal::new("m");
    let batch = longest();
    let receipt = block_on(async {
        let writer = journal.open(&OpenOptions::new("ann")).await?;
        writer.begin(&Record::default()).await?;
        writer.append(&batch).await
    });
    assert_eq!(receipt.unwrap().next.get(), batch.len() as u64);
}
