//! Long runs: the journal stays short, whether the ordinary object can be written or not, and can be read in between.

use std::path::Path;
use std::sync::Arc;

use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statemgr::{Locker, Reader, Refresher, write_and_persist};
use groundstate_statemgr_fs::{Backup, FsOptions, FsStore};
use groundstate_statemgr_wal::{JournalOptions, JournaledManager, journal_folder};
use groundstate_states::State;
use groundstate_wal::fs::{FsJournal, FsJournalOptions};
use groundstate_wal::{JournalStore, read_all};

use crate::crash::{Knowledge, recover, step, trapped, trapped_with_outages, world};
use crate::outage::{ForgetfulJournal, Outage, OutageStore};
use crate::support::{World, assert_same, change, lock, over, set_instance, state};
use crate::trap::Fuse;

/// Instance after instance changes, comes and goes.
fn change_number(state: &mut State, number: usize) {
    let addr = format!("null_resource.a[{}]", number * 7 % 40);
    if number % 5 == 4 {
        state.forget_resource_instance_all(
            &groundstate_states::addr::AbsResourceInstance::parse(&addr).unwrap(),
        );
    } else {
        set_instance(state, &addr, &number.to_string());
    }
}

fn open_on_disk(path: &Path) -> JournaledManager {
    let options = FsOptions::new().backup(Backup::None);
    let clock = Arc::new(groundstate_common::SystemClock);
    let store = FsStore::with_options(path, options, clock).unwrap();
    let options = FsJournalOptions::default().segment_bytes(4_000);
    let journal = FsJournal::with_options(journal_folder(path), options);
    over(Arc::new(store), Arc::new(journal))
        .journal_options(JournalOptions::default().checkpoint_bytes(10_000))
}

/// How many bytes the files in a folder have; none if it is not there.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.map(|entry| entry.unwrap().metadata().map_or(0, |meta| meta.len())).sum()
}

#[tokio::test]
async fn thousands_of_changes_keep_the_journal_on_disk_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terraform.tfstate");
    let manager = open_on_disk(&path);
    let grant = lock(&manager).await.unwrap();
    manager.refresh_state().await.unwrap();
    write_and_persist(&manager, &state(&["base"])).await.unwrap();
    let mut longest = 0;
    for number in 0..3_000 {
        change(&manager, |state| change_number(state, number)).await.unwrap();
        longest = longest.max(bytes_in(&journal_folder(&path)));
        if number % 100 == 0 {
            let left = open_on_disk(&path).recovered().await.unwrap();
            let bytes = left.unwrap_or_else(|| std::fs::read(&path).unwrap());
            let found = decode(&bytes, &DecodeOptions::default()).unwrap().state;
            assert_same(&found, &manager.state().unwrap(), "read in between");
        }
    }
    // A base, and as many bytes of changes as the state has.
    let len = std::fs::metadata(&path).unwrap().len();
    assert!(longest > 10_000 && longest < 3 * len.max(10_000), "{longest} bytes beside {len}");
    let expected = manager.state().unwrap();
    manager.unlock(&grant.id).await.unwrap();
    let found = decode(&std::fs::read(&path).unwrap(), &DecodeOptions::default()).unwrap();
    assert_same(&found.state, &expected, "the ordinary file");
    assert!(found.serial.get() > 20, "serial {} tells of too few checkpoints", found.serial.get());
}

/// The bytes in a journal.
async fn bytes_of(journal: &dyn JournalStore) -> usize {
    let Some(contents) = read_all(journal).await.unwrap() else { return 0 };
    let records = contents.records.iter().map(|record| record.as_bytes().len());
    contents.head.base.as_bytes().len() + records.sum::<usize>()
}

/// A run during an outage, on a state that is stored. Gives the longest the journal has been.
async fn run_in_outage(
    world: &World,
    journal: Arc<dyn JournalStore>,
    outage: Outage,
    changes: usize,
) -> (JournaledManager, OutageStore, usize) {
    write_and_persist(&world.manager(), &state(&["base"])).await.unwrap();
    let store = OutageStore::new(world.place.open());
    let options = JournalOptions::default().checkpoint_bytes(4_000);
    let manager = over(Arc::new(store.clone()), journal).journal_options(options);
    lock(&manager).await.unwrap();
    manager.refresh_state().await.unwrap();
    store.set(outage);
    let mut longest = 0;
    for number in 0..changes {
        change(&manager, |state| change_number(state, number)).await.unwrap();
        longest = longest.max(bytes_of(&world.journal).await);
        if number % 50 == 0 {
            let bytes = world.manager().recovered().await.unwrap().expect("a journal");
            let found = decode(&bytes, &DecodeOptions::default()).unwrap().state;
            assert_same(&found, &manager.state().unwrap(), "read in between");
        }
    }
    (manager, store, longest)
}

#[tokio::test]
async fn while_the_object_cannot_be_written_the_journal_is_compacted() {
    for outage in [Outage::Refused, Outage::LostReply] {
        let world = World::new();
        let (manager, _, longest) =
            run_in_outage(&world, Arc::new(world.journal.clone()), outage, 2_000).await;
        assert!(longest < 60_000, "{outage:?}: {longest} bytes for a small state");
        let expected = manager.state().unwrap();
        drop(manager);
        world.free().await;
        assert_same(&recover(&world.manager()).await.unwrap(), &expected, "recovered");
        assert_same(&world.object().await.state, &expected, "the ordinary object");
        assert!(!world.has_journal().await);
    }
}

#[tokio::test]
async fn after_the_outage_the_run_goes_on_and_ends_as_ever() {
    for outage in [Outage::Refused, Outage::LostReply] {
        let world = World::new();
        let (manager, store, _) = run_in_outage(&world, Arc::new(world.journal.clone()), outage, 300).await;
        store.set(Outage::None);
        for number in 300..600 {
            change(&manager, |state| change_number(state, number)).await.unwrap();
        }
        let expected = manager.state().unwrap();
        let holder = manager.lock_holder().await.unwrap().unwrap();
        manager.unlock(&holder.id).await.unwrap();
        assert_same(&world.object().await.state, &expected, "the ordinary object");
        assert!(!world.has_journal().await);
    }
}

#[tokio::test]
async fn a_compaction_without_an_answer_is_found_out() {
    let world = World::new();
    let journal = ForgetfulJournal::new(world.journal.clone());
    let (manager, _, longest) =
        run_in_outage(&world, Arc::new(journal.clone()), Outage::Refused, 2_000).await;
    assert!(longest < 80_000 && journal.beginnings() > 20, "{longest} in {}", journal.beginnings());
    let expected = manager.state().unwrap();
    drop(manager);
    world.free().await;
    assert_same(&recover(&world.manager()).await.unwrap(), &expected, "recovered");
}

/// A run in an outage whose calls may all be the last. Whether it was compacted shows the number of records that are left.
async fn short_run(world: &World, fuse: &Fuse, outage: Outage, known: &mut Knowledge) {
    let (manager, store) = trapped_with_outages(world, fuse);
    let Ok(_) = lock(&manager).await else { return };
    let Ok(()) = manager.refresh_state().await else { return };
    store.set(outage);
    for number in 0..12 {
        if step(&manager, known, number).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_crash_at_any_moment_of_a_compaction_loses_nothing() {
    for outage in [Outage::Refused, Outage::LostReply] {
        let mut moments = 0;
        loop {
            let (world, mut known) = world().await;
            let fuse = Fuse::at(moments);
            short_run(&world, &fuse, outage, &mut known).await;
            world.free().await;
            let left = world.manager().pending().await.unwrap().map_or(0, |pending| pending.changes);
            let found = recover(&world.manager()).await.unwrap();
            known.check(&found, &format!("{outage:?}, moment {moments}"));
            assert_same(&world.object().await.state, &found, "the ordinary object");
            assert!(!world.has_journal().await);
            if !fuse.has_blown() {
                assert_same(&found, &known.acknowledged, "the whole run");
                assert!((1..12).contains(&left), "{left} of 12 changes are left in records of their own");
                break;
            }
            moments += 1;
        }
        assert!(moments > 50, "{moments} moments are too few");
    }
}

#[tokio::test]
async fn a_crash_at_any_moment_of_recovering_a_compacted_journal_leaves_it_to_the_next() {
    for outage in [Outage::Refused, Outage::LostReply] {
        let mut moments = 0;
        loop {
            let (world, mut known) = world().await;
            short_run(&world, &Fuse::at(usize::MAX), outage, &mut known).await;
            world.free().await;
            let fuse = Fuse::at(moments);
            drop(recover(&trapped(&world, &fuse)).await);
            world.free().await;
            let found = recover(&world.manager()).await.unwrap();
            assert_same(&found, &known.acknowledged, &format!("{outage:?}, moment {moments}"));
            if !fuse.has_blown() {
                break;
            }
            moments += 1;
        }
        assert!(moments > 20, "{moments} moments are too few");
    }
}
