//! Every kind of fault at every request of a run that locks, writes and releases: the state is the old or the new one, and
//! no lock is lost, or held without a way to see and free it. And how many requests there are.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::MemoryBlobs;
use groundstate_common::{FixedClock, Timestamp};
use groundstate_conformance::{BoxFuture, Fault, FaultyBlobs, block_on};
use groundstate_statemgr::{
    Backend, DeleteWorkspace, Error, ErrorKind, Expect, LockId, LockInfo, Result, StateStore, WorkspaceName,
    WriteOptions,
};
use groundstate_statemgr_object::history::{Keeping, Retention};
use groundstate_statemgr_object::{AzureBackend, FolderLayout, GenerationLocks, ObjectBackend};

use crate::support::AtOnce;

const OLD: &[u8] = br#"{"version":4,"serial":1,"lineage":"a"}"#;
const NEW: &[u8] = br#"{"version":4,"serial":2,"lineage":"a"}"#;

type Make = fn(FaultyBlobs) -> Result<Arc<dyn Backend>>;

fn gcs(blobs: FaultyBlobs) -> Result<Arc<dyn Backend>> {
    let locks = GenerationLocks::new("states", Arc::new(AtOnce));
    Ok(Arc::new(ObjectBackend::new(Arc::new(blobs), Arc::new(FolderLayout::new("p"))).equip(Arc::new(locks))))
}

fn azure(blobs: FaultyBlobs) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(AzureBackend::new(Arc::new(blobs), "states", "prod.tfstate")?))
}

fn keeping() -> Keeping {
    Keeping::new(Retention::everything(), Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)))
}

fn gcs_keeping(blobs: FaultyBlobs) -> Result<Arc<dyn Backend>> {
    let locks = GenerationLocks::new("states", Arc::new(AtOnce)).verify_lock(true);
    let layout = Arc::new(FolderLayout::new("p"));
    Ok(Arc::new(ObjectBackend::new(Arc::new(blobs), layout).equip(Arc::new(locks)).keep_history(keeping())))
}

fn azure_keeping(blobs: FaultyBlobs) -> Result<Arc<dyn Backend>> {
    let backend = AzureBackend::new(Arc::new(blobs), "states", "prod.tfstate")?;
    Ok(Arc::new(backend.snapshot(true).keep_history(keeping())))
}

const BACKENDS: [(&str, Make); 4] =
    [("gcs", gcs), ("azure", azure), ("gcs, keeping", gcs_keeping), ("azure, keeping", azure_keeping)];

fn lock_info(number: u8) -> LockInfo {
    let id = LockId::new(&format!("00000000-0000-0000-0000-0000000000{number:02}"));
    LockInfo { id, who: "me@here".to_owned(), operation: "test".to_owned(), ..LockInfo::default() }
}

fn default_name() -> WorkspaceName {
    WorkspaceName::default_name()
}

/// What a run was told.
#[derive(Debug, Default)]
struct Told {
    locked: Option<Result<()>>,
    written: Option<Result<()>>,
    released: Option<Result<()>>,
}

/// Locks, reads, writes and releases, as far as it gets. What was stored is the new state or nothing.
async fn run(store: &dyn StateStore, told: &mut Told) {
    let grant = match store.lock(&lock_info(1)).await {
        Ok(grant) => grant,
        Err(error) => return told.locked = Some(Err(error)),
    };
    told.locked = Some(Ok(()));
    if let Ok(Some(stored)) = store.read().await {
        let options = WriteOptions::expecting(Expect::Version(stored.version));
        told.written = Some(store.write(Bytes::copy_from_slice(NEW), &options).await.map(drop));
    }
    told.released = Some(store.unlock(&grant.id).await);
}

fn is_known(outcome: Option<&Result<()>>) -> Option<bool> {
    match outcome {
        None => Some(false),
        Some(Ok(())) => Some(true),
        Some(Err(error)) if error.kind() == ErrorKind::Ambiguous => None,
        Some(Err(_)) => Some(false),
    }
}

/// Looks at what the run left, as another client does whose requests succeed.
async fn judge(case: &str, told: &Told, other: &dyn StateStore) -> Result<(), Error> {
    let stored = other.read().await?.expect("there was a state before").bytes;
    match is_known(told.written.as_ref()) {
        Some(true) => assert_eq!(stored, NEW, "{case}: {told:?}"),
        Some(false) => assert_eq!(stored, OLD, "{case}: {told:?}"),
        None => assert!(stored == OLD || stored == NEW, "{case}: {told:?}"),
    }
    let holder = other.lock_holder().await?;
    if is_known(told.locked.as_ref()) == Some(false) || is_known(told.released.as_ref()) == Some(true) {
        assert_eq!(holder, None, "{case}: {told:?}");
    }
    if let Some(holder) = holder {
        // Whatever is left can be seen and freed.
        assert!(!holder.id.is_empty(), "{case}: {holder:?}");
        let refused = other.lock(&lock_info(2)).await.expect_err(case);
        assert_eq!(refused.kind(), ErrorKind::Locked, "{case}: {refused}");
        other.force_unlock(&holder.id).await?;
    }
    let grant = other.lock(&lock_info(3)).await?;
    other.unlock(&grant.id).await
}

fn each_backend(test: impl Fn(&'static str, Make) -> BoxFuture<'static, Result<()>>) -> Result<(), Error> {
    for (name, make) in BACKENDS {
        let mut outcome = Ok(());
        block_on(async { outcome = test(name, make).await });
        outcome?;
    }
    Ok(())
}

#[test]
fn trouble_at_any_step_leaves_the_old_state_or_the_new_one_and_no_stuck_lock() -> Result<(), Error> {
    each_backend(|name, make| {
        Box::pin(async move {
            for fault in Fault::ANSWERED {
                for at in 0.. {
                    let blobs = MemoryBlobs::new("states");
                    let (mine, others) = (FaultyBlobs::new(blobs.clone()), FaultyBlobs::new(blobs));
                    let other = make(others)?.store(&default_name())?;
                    other
                        .write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent))
                        .await?;
                    let store = make(mine.clone())?.store(&default_name())?;
                    mine.fail_at(at, fault);
                    let mut told = Told::default();
                    run(&*store, &mut told).await;
                    let case = format!("{name}: {fault:?} at request {at}");
                    judge(&case, &told, &*other).await?;
                    if mine.calls().len() <= at {
                        break;
                    }
                }
            }
            Ok(())
        })
    })
}

#[test]
fn trouble_at_any_step_of_a_first_run_stores_all_or_nothing() -> Result<(), Error> {
    each_backend(|name, make| {
        Box::pin(async move {
            for fault in Fault::ANSWERED {
                for at in 0.. {
                    let blobs = MemoryBlobs::new("states");
                    let (mine, others) = (FaultyBlobs::new(blobs.clone()), FaultyBlobs::new(blobs));
                    let store = make(mine.clone())?.store(&default_name())?;
                    mine.fail_at(at, fault);
                    let case = format!("{name}: {fault:?} at request {at}");
                    let mut written = None;
                    if let Ok(grant) = store.lock(&lock_info(1)).await {
                        let options = WriteOptions::expecting(Expect::Absent);
                        written = Some(store.write(Bytes::copy_from_slice(NEW), &options).await.map(drop));
                        // A release that fails is looked at below.
                        drop(store.unlock(&grant.id).await);
                    }
                    let count = mine.calls().len();
                    let other = make(others)?.store(&default_name())?;
                    let stored = other.read().await?.map(|stored| stored.bytes);
                    match is_known(written.as_ref()) {
                        Some(true) => assert_eq!(stored.as_deref(), Some(NEW), "{case}"),
                        Some(false) => assert_eq!(stored, None, "{case}"),
                        None => assert!(stored.is_none_or(|bytes| bytes == NEW), "{case}"),
                    }
                    if let Some(holder) = other.lock_holder().await? {
                        other.force_unlock(&holder.id).await?;
                    }
                    let grant = other.lock(&lock_info(3)).await?;
                    other.unlock(&grant.id).await?;
                    if count <= at {
                        break;
                    }
                }
            }
            Ok(())
        })
    })
}

#[test]
fn trouble_while_a_workspace_is_deleted_leaves_it_whole_or_gone() -> Result<(), Error> {
    each_backend(|name, make| {
        Box::pin(async move {
            let staging = WorkspaceName::parse("staging").expect("it is a name");
            for fault in Fault::ANSWERED {
                for at in 0.. {
                    let blobs = MemoryBlobs::new("states");
                    let (mine, others) = (FaultyBlobs::new(blobs.clone()), FaultyBlobs::new(blobs));
                    let (backend, other) = (make(mine.clone())?, make(others)?);
                    let store = other.store(&staging)?;
                    store
                        .write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent))
                        .await?;
                    mine.fail_at(at, fault);
                    let outcome = backend.delete(&staging, &DeleteWorkspace::new(lock_info(1))).await;
                    let count = mine.calls().len();
                    let case = format!("{name}: {fault:?} at request {at}: {outcome:?}");
                    let stored = store.read().await?.map(|stored| stored.bytes);
                    let is_listed = other.list().await?.contains(&staging);
                    assert_eq!(stored.is_some(), is_listed, "{case}");
                    match &outcome {
                        Ok(()) => assert_eq!(stored, None, "{case}"),
                        Err(_) => assert!(stored.is_none_or(|bytes| bytes == OLD), "{case}"),
                    }
                    if let Some(holder) = store.lock_holder().await? {
                        assert!(outcome.is_err(), "{case}");
                        store.force_unlock(&holder.id).await?;
                    }
                    if count <= at {
                        outcome?;
                        break;
                    }
                }
            }
            Ok(())
        })
    })
}

/// Requests of each operation: those of this crate, and how many the original program sends for the same.
#[test]
fn no_operation_takes_more_requests_than_the_original() -> Result<(), Error> {
    type Row = (&'static str, &'static [&'static str], usize);
    const GCS: [Row; 4] = [
        ("lock", &["put"], 1),
        ("refresh", &["get"], 2),
        ("persist", &["put"], 1),
        ("unlock", &["delete"], 1),
    ];
    const AZURE: [Row; 4] = [
        ("lock", &["head", "describe", "acquire", "describe"], 4),
        ("refresh", &["get"], 1),
        ("persist", &["put"], 2),
        ("unlock", &["head", "describe", "release"], 3),
    ];
    for (make, rows) in [(gcs as Make, GCS), (azure as Make, AZURE)] {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
        let store = make(blobs.clone())?.store(&default_name())?;
        let mut seen: Vec<Vec<&'static str>> = Vec::new();
        let mut outcome: Result<()> = Ok(());
        block_on(async {
            outcome = async {
                store.write(Bytes::copy_from_slice(OLD), &WriteOptions::any()).await?;
                drop(blobs.calls());
                let grant = store.lock(&lock_info(1)).await?;
                seen.push(blobs.calls());
                let stored = store.read().await?.expect("it was just written");
                seen.push(blobs.calls());
                store
                    .write(
                        Bytes::copy_from_slice(NEW),
                        &WriteOptions::expecting(Expect::Version(stored.version)),
                    )
                    .await?;
                seen.push(blobs.calls());
                store.unlock(&grant.id).await?;
                seen.push(blobs.calls());
                Ok(())
            }
            .await;
        });
        outcome?;
        for ((operation, expected, original), seen) in rows.iter().zip(&seen) {
            assert_eq!(seen, expected, "{operation}");
            assert!(seen.len() <= *original, "{operation}");
        }
    }
    Ok(())
}

#[test]
fn a_dropped_release_can_be_finished() -> Result<(), Error> {
    each_backend(|name, make| {
        Box::pin(async move {
            for at in 0..6 {
                let blobs = MemoryBlobs::new("states");
                let (mine, others) = (FaultyBlobs::new(blobs.clone()), FaultyBlobs::new(blobs));
                let store = make(mine.clone())?.store(&default_name())?;
                let grant = store.lock(&lock_info(1)).await?;
                mine.fail_at(at, Fault::Down);
                let first = store.unlock(&grant.id).await;
                mine.fail_at(usize::MAX, Fault::Refuse);
                let other = make(others)?.store(&default_name())?;
                if let Err(error) = first {
                    // A client that could not release finds it locked, and releases it later.
                    assert!(other.lock_holder().await?.is_some(), "{name} at {at}: {error}");
                    store.unlock(&grant.id).await?;
                }
                assert_eq!(other.lock_holder().await?, None, "{name} at {at}");
            }
            Ok(())
        })
    })
}
