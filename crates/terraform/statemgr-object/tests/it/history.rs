//! Histories: the conformance suite on a store that keeps one, what is kept and for how long, and what is left by fault.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, Key, ListOptions, MemoryBlobs, PutOptions};
use groundstate_common::{FixedClock, SystemClock, Timestamp};
use groundstate_conformance::{Fault, FaultyBlobs, Harness, TestStore};
use groundstate_statemgr::{
    Error, ErrorKind, Expect, History, HistoryId, Result, SharedMemory, StateStore, Version, WriteOptions,
};
use groundstate_statemgr_object::history::{BlobHistory, Retention, WithHistory};
use groundstate_statemgr_object::{FolderLayout, Layout, ObjectStateStore, S3Layout};

struct Kept;

#[async_trait]
impl Harness for Kept {
    fn name(&self) -> String {
        "memory, with a history".to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let history = BlobHistory::new(Arc::new(MemoryBlobs::new("history")), &key());
        Ok(Arc::new(OnePlace { place: SharedMemory::new("prod"), history }))
    }
}

struct OnePlace {
    place: SharedMemory,
    history: BlobHistory,
}

#[async_trait]
impl TestStore for OnePlace {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        let retention = Retention::everything().keep(NonZeroUsize::new(3));
        Ok(Arc::new(WithHistory::new(
            self.place.open(),
            self.history.clone(),
            retention,
            Arc::new(SystemClock),
        )))
    }
}

groundstate_conformance::suite!(Kept);

fn key() -> Key {
    Key::parse("prod/terraform.tfstate").expect("it is a key")
}

fn state(serial: u64) -> Vec<u8> {
    format!(r#"{{"version":4,"serial":{serial},"lineage":"a-b","outputs":{{}},"resources":[]}}"#).into_bytes()
}

/// A state in blobs, its history beside it, and the clock that dates it.
struct Kit {
    blobs: MemoryBlobs,
    clock: Arc<FixedClock>,
}

impl Kit {
    fn new() -> Self {
        let start = Timestamp::parse("2026-11-21T20:00:00Z").expect("it is a time");
        Self { blobs: MemoryBlobs::new("states"), clock: Arc::new(FixedClock::new(start)) }
    }

    fn plain(&self) -> ObjectStateStore {
        ObjectStateStore::new(Arc::new(self.blobs.clone()), key())
    }

    fn history(&self) -> BlobHistory {
        BlobHistory::new(Arc::new(self.blobs.clone()), &key())
    }

    fn open(&self, retention: Retention) -> WithHistory<ObjectStateStore> {
        WithHistory::new(self.plain(), self.history(), retention, Arc::<FixedClock>::clone(&self.clock))
    }

    fn open_with(&self, blobs: &FaultyBlobs) -> WithHistory<ObjectStateStore> {
        let blobs: Arc<dyn BlobStore> = Arc::new(blobs.clone());
        let history = BlobHistory::new(Arc::clone(&blobs), &key());
        WithHistory::new(
            ObjectStateStore::new(blobs, key()),
            history,
            Retention::everything(),
            Arc::<FixedClock>::clone(&self.clock),
        )
    }

    async fn serials(&self) -> Result<Vec<u64>> {
        let entries = self.history().list().await?;
        Ok(entries.iter().filter_map(|entry| entry.serial).map(|serial| serial.get()).collect())
    }

    /// The snapshots that are kept, the newest first.
    async fn snapshots(&self) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        for entry in self.history().list().await? {
            all.push(self.history().read(&entry.id).await?.bytes);
        }
        Ok(all)
    }
}

async fn write_all(store: &dyn StateStore, serials: impl IntoIterator<Item = u64>) -> Result<Version> {
    let mut last = None;
    for serial in serials {
        let stored = store.read().await?;
        let expect = stored.map_or(Expect::Absent, |stored| Expect::Version(stored.version));
        last = Some(
            store.write(Bytes::copy_from_slice(&state(serial)), &WriteOptions::expecting(expect)).await?,
        );
    }
    Ok(last.expect("there was something to write"))
}

#[tokio::test]
async fn every_snapshot_is_kept_and_listed_without_being_read() -> Result<(), Error> {
    let kit = Kit::new();
    let store = kit.open(Retention::everything());
    for serial in 1..=3 {
        write_all(&store, [serial]).await?;
        kit.clock.advance(Duration::from_secs(60));
    }
    let entries = kit.history().list().await?;
    let shown: Vec<String> =
        entries.iter().map(|entry| format!("{} {}", entry.stored_at, entry.size)).collect();
    assert_eq!(shown, ["2026-11-21T20:02:00Z 68", "2026-11-21T20:01:00Z 68", "2026-11-21T20:00:00Z 68"]);
    assert!(
        entries.iter().all(|entry| entry.lineage.as_ref().is_some_and(|lineage| lineage.as_str() == "a-b"))
    );
    assert_eq!(kit.snapshots().await?, [state(3), state(2), state(1)]);
    Ok(())
}

#[tokio::test]
async fn what_another_program_wrote_is_kept_before_it_is_replaced_or_deleted() -> Result<(), Error> {
    let kit = Kit::new();
    let (plain, store) = (kit.plain(), kit.open(Retention::everything()));
    write_all(&plain, [1]).await?;
    write_all(&store, [2]).await?;
    assert_eq!(kit.serials().await?, [2, 1]);
    write_all(&plain, [3]).await?;
    let found = store.read().await?.expect("it was just written");
    store.delete(&WriteOptions::expecting(Expect::Version(found.version))).await?;
    assert_eq!(kit.serials().await?, [3, 2, 1]);
    assert_eq!(store.read().await?, None);
    Ok(())
}

#[tokio::test]
async fn a_refused_write_is_no_part_of_the_history() -> Result<(), Error> {
    let kit = Kit::new();
    let store = kit.open(Retention::everything());
    write_all(&store, [1]).await?;
    let error = store
        .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Absent))
        .await
        .expect_err("it is there");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(kit.serials().await?, [1]);
    Ok(())
}

#[tokio::test]
async fn no_state_is_without_its_entry_whatever_happens() -> Result<(), Error> {
    for fault in Fault::ANSWERED {
        for at in 0.. {
            let kit = Kit::new();
            let faulty = FaultyBlobs::new(kit.blobs.clone());
            let store = kit.open_with(&faulty);
            write_all(&store, [1]).await?;
            faulty.fail_at(at, fault);
            let stored = store.read().await;
            let outcome = match stored {
                Ok(Some(stored)) => store
                    .write(
                        Bytes::copy_from_slice(&state(2)),
                        &WriteOptions::expecting(Expect::Version(stored.version)),
                    )
                    .await
                    .map(drop),
                _ => Ok(()),
            };
            let case = format!("{fault:?} at request {at}: {outcome:?}");
            let count = faulty.calls().len();
            let present = kit.plain().read().await?.expect("there is a state").bytes;
            let kept = kit.snapshots().await?;
            assert!(kept.contains(&state(1)), "{case}");
            assert!(kept.contains(&present), "{case}");
            if let Err(error) = &outcome {
                assert!(error.kind() == ErrorKind::Ambiguous || present == state(1), "{case}");
            }
            // Whatever was left, the next one goes on.
            faulty.fail_at(usize::MAX, Fault::Refuse);
            write_all(&store, [3]).await?;
            assert_eq!(kit.snapshots().await?.first(), Some(&state(3)), "{case}");
            if count <= at {
                assert_eq!(count, 3, "a read, an entry and a state");
                break;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_state_is_not_written_when_its_entry_cannot_be() -> Result<(), Error> {
    for (fault, kind) in [
        (Fault::Refuse, ErrorKind::Unavailable),
        (Fault::LoseAnswer, ErrorKind::Unavailable),
        (Fault::Deny, ErrorKind::Denied),
    ] {
        let kit = Kit::new();
        let faulty = FaultyBlobs::new(kit.blobs.clone());
        let store = kit.open_with(&faulty);
        faulty.fail_at(1, fault);
        let error = store
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any())
            .await
            .expect_err("the entry comes first");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("nothing was changed"), "{error}");
        assert_eq!(kit.plain().read().await?, None);
        // A second try is none more than the first.
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn writing_costs_one_list_for_each_client_and_one_request_for_each_entry() -> Result<(), Error> {
    let kit = Kit::new();
    let faulty = FaultyBlobs::new(kit.blobs.clone());
    let store = kit.open_with(&faulty);
    let first =
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent)).await?;
    assert_eq!(faulty.calls(), ["list", "put", "put"]);
    store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(first))).await?;
    assert_eq!(faulty.calls(), ["put", "put"]);
    Ok(())
}

#[tokio::test]
async fn entries_go_by_count_and_by_age_but_never_the_newest() -> Result<(), Error> {
    let kit = Kit::new();
    let retention = Retention::everything().keep(NonZeroUsize::new(3));
    write_all(&kit.open(retention), 1..=5).await?;
    assert_eq!(kit.serials().await?, [5, 4, 3]);
    kit.clock.advance(Duration::from_secs(3600));
    let retention = Retention::everything().max_age(Duration::from_secs(60));
    write_all(&kit.open(retention), [6]).await?;
    assert_eq!(kit.serials().await?, [6]);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_removed_fails_no_write_and_goes_later() -> Result<(), Error> {
    let kit = Kit::new();
    let faulty = FaultyBlobs::new(kit.blobs.clone());
    let blobs: Arc<dyn BlobStore> = Arc::new(faulty.clone());
    let retention = Retention::everything().keep(NonZeroUsize::new(1));
    let history = BlobHistory::new(Arc::clone(&blobs), &key());
    let store = WithHistory::new(
        ObjectStateStore::new(blobs, key()),
        history,
        retention,
        Arc::<FixedClock>::clone(&kit.clock),
    );
    let first = store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await?;
    faulty.fail_at(2, Fault::Deny);
    let second = store
        .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(first)))
        .await?;
    assert_eq!((faulty.calls(), kit.serials().await?), (vec!["put", "put", "delete"], vec![2, 1]));
    faulty.fail_at(usize::MAX, Fault::Deny);
    store.write(Bytes::copy_from_slice(&state(3)), &WriteOptions::expecting(Expect::Version(second))).await?;
    assert_eq!(kit.serials().await?, [3]);
    Ok(())
}

#[tokio::test]
async fn clocks_that_go_back_change_no_order() -> Result<(), Error> {
    let kit = Kit::new();
    write_all(&kit.open(Retention::everything()), [1, 2]).await?;
    kit.clock.set(Timestamp::UNIX_EPOCH);
    write_all(&kit.open(Retention::everything()), [3, 4]).await?;
    assert_eq!(kit.serials().await?, [4, 3, 2, 1]);
    Ok(())
}

#[tokio::test]
async fn a_snapshot_that_comes_back_is_an_entry_again() -> Result<(), Error> {
    let kit = Kit::new();
    let store = kit.open(Retention::everything());
    write_all(&store, [1, 2, 1]).await?;
    // Written twice in a row it is one entry.
    let stored = store.read().await?.expect("it is there");
    store
        .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Version(stored.version)))
        .await?;
    assert_eq!(kit.serials().await?, [1, 2, 1]);
    Ok(())
}

#[tokio::test]
async fn only_entries_are_read_and_only_if_they_are_what_they_say() -> Result<(), Error> {
    let kit = Kit::new();
    write_all(&kit.open(Retention::everything()), [1]).await?;
    let history = kit.history();
    let id = history.list().await?.remove(0).id;
    for other in ["", "x", "../terraform.tfstate", &id.as_str().replace("_1_", "_2_")] {
        let error = history.read(&HistoryId::new(other)).await.expect_err(other);
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    }
    let entry = Key::parse(&format!("{}{id}", history.prefix())).expect("it is a key");
    let stray = Key::parse(&format!("{}notes.txt", history.prefix())).expect("it is a key");
    for key in [&entry, &stray] {
        kit.blobs.put(key, Bytes::from("{}"), &PutOptions::default()).await.expect("it answers");
    }
    assert_eq!(history.list().await?.len(), 1);
    assert_eq!(history.read(&id).await.expect_err("it was changed").kind(), ErrorKind::Corrupt);
    Ok(())
}

#[tokio::test]
async fn no_layout_takes_an_entry_for_a_workspace() -> Result<(), Error> {
    let kit = Kit::new();
    write_all(&kit.open(Retention::everything()), [1]).await?;
    let page = kit.blobs.list(kit.history().prefix(), &ListOptions::default()).await.expect("it answers");
    let name = page.blobs[0].name.rsplit('/').next().expect("it has a last part").to_owned();
    let s3 = S3Layout::new("terraform.tfstate")?;
    let layouts: [(&dyn Layout, String); 5] = [
        (&s3, format!("env:/dev/terraform.tfstate.history/{name}")),
        (&s3, format!("terraform.tfstate.history/{name}")),
        (&FolderLayout::new("p"), format!("p/dev.tfstate.history/{name}")),
        // Not even where the history itself is made the folder of states.
        (&FolderLayout::new("p/dev.tfstate.history"), format!("p/dev.tfstate.history/{name}")),
        (&FolderLayout::new(""), format!("default.tfstate.history/{name}")),
    ];
    for (layout, key) in layouts {
        assert_eq!(layout.workspace(&key), None, "{key}");
    }
    Ok(())
}
