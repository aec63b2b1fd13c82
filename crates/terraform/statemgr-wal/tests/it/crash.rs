//! A crash before and after every call, in runs and in the recoveries after them.

use std::sync::Arc;

use groundstate_statemgr::{Locker, Persister, Reader, Refresher, Result, Writer, write_and_persist};
use groundstate_statemgr_wal::{JournalOptions, JournaledManager};
use groundstate_states::State;

use crate::outage::OutageStore;
use crate::support::{World, assert_same, lock, over, set_instance, set_output, state};
use crate::trap::{Fuse, TrappedJournal, TrappedStore};

/// What the run knows: the state that was acknowledged last, and the one it was about to store.
#[derive(Default)]
pub(crate) struct Knowledge {
    pub(crate) acknowledged: State,
    pub(crate) tried: State,
}

impl Knowledge {
    /// Whether the state is the acknowledged one, or the one that was not acknowledged.
    #[track_caller]
    pub(crate) fn check(&self, found: &State, what: &str) {
        if !groundstate_statefile::encode_equally(found, &self.tried) {
            assert_same(found, &self.acknowledged, what);
        }
    }
}

pub(crate) fn trapped(world: &World, fuse: &Fuse) -> JournaledManager {
    trapped_with_outages(world, fuse).0
}

/// The same, with a store that may fail before.
pub(crate) fn trapped_with_outages(world: &World, fuse: &Fuse) -> (JournaledManager, OutageStore) {
    let store = OutageStore::new(TrappedStore(world.place.open(), fuse.clone()));
    let journal = Arc::new(TrappedJournal(world.journal.clone(), fuse.clone()));
    let options = JournalOptions::default().checkpoint_bytes(600);
    (over(Arc::new(store.clone()), journal).journal_options(options), store)
}

/// Recovers, on a manager that may die.
pub(crate) async fn recover(manager: &JournaledManager) -> Result<State> {
    let grant = lock(manager).await?;
    manager.refresh_state().await?;
    let state = manager.state().unwrap_or_default();
    manager.unlock(&grant.id).await?;
    Ok(state)
}

const CHANGES: u32 = 9;

/// One change of the run.
fn change_number(state: &mut State, number: u32) {
    match number % 4 {
        0 => set_instance(state, &format!("null_resource.a[{number}]"), &number.to_string()),
        1 => set_output(state, "last", &number.to_string()),
        2 => set_instance(state, "module.child.null_resource.b", &number.to_string()),
        _ => state.forget_resource_instance_all(
            &groundstate_states::addr::AbsResourceInstance::parse("null_resource.a[0]").unwrap(),
        ),
    }
}

pub(crate) async fn step(manager: &JournaledManager, known: &mut Knowledge, number: u32) -> Result<()> {
    manager.mutate_state(&mut |state| change_number(state.get_or_insert_default(), number))?;
    known.tried = manager.state().unwrap_or_default();
    manager.persist_state().await?;
    known.acknowledged = known.tried.clone();
    Ok(())
}

/// A run with changes, a checkpoint on purpose and some by length, and a good end.
async fn run(manager: &JournaledManager, known: &mut Knowledge) -> Result<()> {
    let grant = lock(manager).await?;
    manager.refresh_state().await?;
    for number in 0..CHANGES {
        step(manager, known, number).await?;
        if number == 3 {
            manager.checkpoint().await?;
        }
    }
    manager.unlock(&grant.id).await
}

/// A world with a state.
pub(crate) async fn world() -> (World, Knowledge) {
    let world = World::new();
    let base = state(&["base"]);
    let manager = world.manager();
    write_and_persist(&manager, &base).await.unwrap();
    (world, Knowledge { acknowledged: base.clone(), tried: base })
}

#[tokio::test]
async fn a_crash_at_any_moment_loses_nothing_that_was_acknowledged() {
    let (mut moments, mut stored_already) = (0, 0);
    loop {
        let (world, mut known) = world().await;
        let fuse = Fuse::at(moments);
        let manager = trapped(&world, &fuse);
        let outcome = run(&manager, &mut known).await;
        drop(manager);
        if !fuse.has_blown() {
            outcome.unwrap();
            assert_same(&world.object().await.state, &known.acknowledged, "after a good end");
            break;
        }
        world.free().await;
        let manager = world.manager();
        let left = manager.pending().await.unwrap().map_or(0, |pending| pending.changes);
        let found = recover(&manager).await.unwrap();
        let applied = manager.last_recovery().map_or(0, |recovery| recovery.changes);
        stored_already += usize::from(left > 0 && applied == 0);
        known.check(&found, &format!("moment {moments}"));
        assert_same(&world.object().await.state, &found, "the ordinary object");
        assert!(!world.has_journal().await, "moment {moments}");
        moments += 1;
    }
    assert!(moments > 60, "{moments} moments are too few");
    assert!(stored_already > 2, "a crash between a write and the end of the journal leaves nothing to apply");
}

#[tokio::test]
async fn a_crash_at_any_moment_of_a_recovery_leaves_it_to_the_next() {
    let (mut outer, mut inner_moments) = (0, 0);
    loop {
        let mut inner = 0;
        let outlived = loop {
            let (world, mut known) = world().await;
            let fuse = Fuse::at(outer);
            drop(run(&trapped(&world, &fuse), &mut known).await);
            if !fuse.has_blown() {
                break true;
            }
            world.free().await;
            let second = Fuse::at(inner);
            drop(recover(&trapped(&world, &second)).await);
            world.free().await;
            let found = recover(&world.manager()).await.unwrap();
            known.check(&found, &format!("moment {outer} of the run and {inner} of the recovery"));
            assert_same(&world.object().await.state, &found, "the ordinary object");
            assert!(!world.has_journal().await);
            if !second.has_blown() {
                break false;
            }
            inner += 1;
            inner_moments += 1;
        };
        if outlived {
            break;
        }
        // Every third moment of the run is enough for a matrix of both.
        outer += 3;
    }
    assert!(inner_moments > 200, "{inner_moments} moments of recoveries are too few");
}

#[tokio::test]
async fn the_serial_grows_with_each_checkpoint_and_not_with_each_change() {
    let (world, mut known) = world().await;
    let before = world.object().await.serial.get();
    let manager = world.manager();
    let grant = lock(&manager).await.unwrap();
    manager.refresh_state().await.unwrap();
    for number in 0..CHANGES {
        step(&manager, &mut known, number).await.unwrap();
    }
    assert_eq!(world.object().await.serial.get(), before);
    manager.unlock(&grant.id).await.unwrap();
    assert_eq!(world.object().await.serial.get(), before + 1);
}
