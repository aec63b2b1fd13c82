//! On a disk, beside Terraform's file.

use std::path::Path;
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statemgr::{Locker, ManagerOptions, Reader, Refresher, write_and_persist};
use groundstate_statemgr_fs::{Backup, FsOptions, FsStore};
use groundstate_statemgr_wal::{JournaledManager, journal_folder};
use groundstate_wal::fs::FsJournal;

use crate::support::{assert_same, change, lock, set_instance, state};

fn open(path: &Path) -> JournaledManager {
    let options = FsOptions::new().backup(Backup::None);
    let store = FsStore::with_options(path, options, Arc::new(SystemClock)).unwrap();
    let journal = Arc::new(FsJournal::new(journal_folder(path)));
    JournaledManager::new(
        Arc::new(store),
        journal,
        Arc::new(SystemClock),
        Arc::new(OsIds),
        ManagerOptions::default(),
    )
}

fn on_disk(path: &Path) -> groundstate_states::State {
    decode(&std::fs::read(path).unwrap(), &DecodeOptions::default()).unwrap().state
}

#[tokio::test]
async fn a_run_that_dies_is_recovered_by_the_next_and_leaves_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terraform.tfstate");
    let manager = open(&path);
    lock(&manager).await.unwrap();
    manager.refresh_state().await.unwrap();
    write_and_persist(&manager, &state(&["base"])).await.unwrap();
    let before = on_disk(&path);
    for at in 0..20 {
        change(&manager, |state| set_instance(state, &format!("null_resource.a[{at}]"), "x")).await.unwrap();
    }
    let expected = manager.state().unwrap();
    assert_same(&on_disk(&path), &before, "the ordinary file during the run");
    // The lock goes with the process, or with its store.
    drop(manager);
    let next = open(&path);
    let grant = lock(&next).await.unwrap();
    next.refresh_state().await.unwrap();
    assert_eq!(next.last_recovery().map(|recovery| recovery.changes), Some(20));
    next.unlock(&grant.id).await.unwrap();
    assert_same(&on_disk(&path), &expected, "the ordinary file");
    assert!(!journal_folder(&path).exists(), "no journal is left beside it");
}
