//! Failures of operations and of stores.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_executor::{Executor, IntentLog, MemoryIntents, PlanNode, RunError};
use groundstate_ordering::effects::Intent;
use groundstate_schedule::walk::{Settled, WalkOptions};
use groundstate_statemgr::{Error, ErrorKind, InMemoryManager, Op, Result, TransientInMemory};
use groundstate_states::ObjectStatus;

use crate::planner::{Goal, first_versions, plan, refresh};
use crate::support::{Session, StoreKind, addr, show};
use crate::trap::Trap;
use crate::world::{Answer, Client, World};

/// Runs a goal with answers, and gives the state afterwards with the fates of the nodes.
async fn run(goal: Goal, answers: &[(&str, Answer)]) -> (World, StoreKind, String, Vec<String>) {
    let (world, place) = (World::default(), StoreKind::memory());
    place.store(&first_versions(&world, goal)).await;
    let fates = again(&world, &place, goal, answers).await;
    let stored = show(&place.stored().await);
    (world, place, stored, fates)
}

async fn again(world: &World, place: &StoreKind, goal: Goal, answers: &[(&str, Answer)]) -> Vec<String> {
    for (call, answer) in answers {
        world.answer(call, *answer);
    }
    let session = Session::begin(place, world, Trap::never()).await;
    let plan = plan(&session.state(), goal);
    let report = session.run(&plan, &WalkOptions::default()).await.unwrap();
    assert!(report.unsaved.is_none());
    assert_eq!(show(&session.state()), show(&place.stored().await), "what is in memory is stored");
    session.end().await;
    let fate = |node: usize| match report.walk.settled(node) {
        Settled::Succeeded => "done",
        Settled::Failed => "failed",
        Settled::SkippedUpstream => "skipped",
        Settled::SkippedStopped => "stopped",
    };
    (0..plan.nodes().len()).map(|node| fate(node).to_owned()).collect()
}

/// Each failure around a dependency that is replaced: what is in the state, and what each node came to.
#[tokio::test]
async fn failures_around_a_replaced_dependency() {
    use Answer::{FailsNull, FailsObject};
    // Nodes: net.a, net.a (destroy deposed 1), vm.b.
    for (answers, state, fates) in [
        (&[][..], "net.a: a-1; vm.b: b-0", ["done", "done", "done"]),
        (&[("create net.a", FailsNull)], "net.a: a-0; vm.b: b-0", ["failed", "skipped", "skipped"]),
        (
            &[("create net.a", FailsObject)],
            "net.a: a-1! 00000001:a-0; vm.b: b-0",
            ["failed", "skipped", "skipped"],
        ),
        (&[("update vm.b", FailsNull)], "net.a: a-1 00000001:a-0; vm.b: b-0", ["done", "skipped", "failed"]),
        (
            &[("destroy-deposed net.a", FailsNull)],
            "net.a: a-1 00000001:a-0; vm.b: b-0",
            ["done", "failed", "done"],
        ),
    ] {
        let (world, place, stored, found) = run(Goal::E8, answers).await;
        assert_eq!(stored, state, "{answers:?}");
        assert_eq!(found, fates, "{answers:?}");
        assert_eq!(world.violations(), [""; 0]);
        // A run without failures comes to the goal, whatever was left behind.
        let last = again(&world, &place, Goal::E8, &[]).await;
        assert!(last.iter().all(|fate| fate == "done"), "{answers:?}: {last:?}");
        let live = world.live();
        assert_eq!(live.len(), 2, "{answers:?}: {live:?}");
        assert_eq!(world.violations(), [""; 0]);
    }
}

#[tokio::test]
async fn a_failed_destroy_keeps_the_object_and_creates_nothing() {
    let (world, place, stored, fates) = run(Goal::E4, &[("destroy vm.b", Answer::FailsObject)]).await;
    assert_eq!(fates, ["skipped", "skipped", "skipped", "failed"]);
    assert_eq!(stored, "net.a: a-0; vm.b: b-0");
    assert_eq!(world.calls(), ["destroy vm.b"]);
    let state = place.stored().await;
    let b = state.resource_instance(&addr("vm.b")).unwrap().current.clone().unwrap();
    assert_eq!(crate::world::version(&b), 9, "the partial value is kept");
    assert_eq!(b.status, ObjectStatus::Ready);
    assert_eq!(b.dependencies.len(), 1, "the record is kept");
}

#[tokio::test]
async fn a_failed_creation_without_an_object_restores_the_old_one() {
    let (_, _, stored, fates) = run(Goal::E8, &[("create net.a", Answer::FailsNull)]).await;
    assert_eq!(stored, "net.a: a-0; vm.b: b-0", "the old object is current again, and none is deposed");
    assert_eq!(fates, ["failed", "skipped", "skipped"]);
}

#[tokio::test]
async fn a_failed_creation_with_an_object_keeps_both() {
    let (_, place, stored, fates) = run(Goal::E8, &[("create net.a", Answer::FailsObject)]).await;
    assert_eq!(stored, "net.a: a-1! 00000001:a-0; vm.b: b-0");
    assert_eq!(fates, ["failed", "skipped", "skipped"]);
    // The next plan replaces the tainted object under another key, and destroys the leftover too.
    let next = plan(&place.stored().await, Goal::E8);
    let deposed = next.nodes().iter().filter_map(|node| match node {
        PlanNode::Operation(operation) => operation.deposed().map(|key| key.to_string()),
        _ => None,
    });
    assert_eq!(deposed.collect::<Vec<_>>(), ["00000001", "00000002"]);
}

#[tokio::test]
async fn each_failed_replacement_deposes_one_more_object() {
    let (world, place) = (World::default(), StoreKind::memory());
    place.store(&first_versions(&world, Goal::E8)).await;
    for count in 1..=3 {
        again(&world, &place, Goal::E8, &[("create net.a", Answer::FailsObject)]).await;
        let state = place.stored().await;
        let instance = state.resource_instance(&addr("net.a")).unwrap().clone();
        // Leftovers whose destruction does not wait for the failing create would shrink the list.
        assert_eq!(instance.deposed.len(), count, "{}", show(&state));
        assert_eq!(instance.current.unwrap().status, ObjectStatus::Tainted);
    }
    again(&world, &place, Goal::E8, &[]).await;
    assert!(place.stored().await.resource_instance(&addr("net.a")).unwrap().deposed.is_empty());
    assert_eq!(world.live().len(), 2);
    assert_eq!(world.violations(), [""; 0]);
}

#[tokio::test]
async fn a_failed_destroy_of_a_deposed_object_keeps_it() {
    let answers = [("destroy-deposed net.a", Answer::FailsObject)];
    let (_, place, stored, _) = run(Goal::E8, &answers).await;
    assert_eq!(stored, "net.a: a-1 00000001:a-0; vm.b: b-0");
    let state = place.stored().await;
    let deposed = state.resource_instance(&addr("net.a")).unwrap().deposed.values().next().unwrap();
    assert_eq!(crate::world::version(deposed), 9);
    assert!(deposed.create_before_destroy, "the flag of the record is kept");
}

#[tokio::test]
async fn a_failed_update_does_not_taint() {
    let (_, place, _, fates) = run(Goal::E8, &[("update vm.b", Answer::FailsObject)]).await;
    assert_eq!(fates, ["done", "skipped", "failed"]);
    let state = place.stored().await;
    let b = state.resource_instance(&addr("vm.b")).unwrap().current.clone().unwrap();
    assert_eq!((b.status, crate::world::version(&b)), (ObjectStatus::Ready, 2));
    assert_eq!(b.dependencies.len(), 1);
}

#[tokio::test]
async fn a_success_without_an_object_restores_the_old_one() {
    let (_, _, stored, fates) = run(Goal::E8, &[("create net.a", Answer::SaysNothing)]).await;
    assert_eq!((stored.as_str(), fates[0].as_str()), ("net.a: a-0; vm.b: b-0", "failed"));
}

#[tokio::test]
async fn a_panic_is_a_failure_that_stays_noted() {
    let (world, place) = (World::default(), StoreKind::memory());
    place.store(&first_versions(&world, Goal::E8)).await;
    world.answer("create net.a", Answer::Panics);
    let session = Session::begin(&place, &world, Trap::never()).await;
    let report = session.run(&plan(&session.state(), Goal::E8), &WalkOptions::default()).await.unwrap();
    assert_eq!(report.walk.failures()[&0], "the operation panicked: the provider broke");
    assert_eq!(show(&session.state()), "net.a: a-0; vm.b: b-0", "the old object is back");
    assert_eq!(report.open.len(), 1, "there may be a new one");
    assert!(!report.is_success());
    session.end().await;

    let session = Session::begin(&place, &world, Trap::never()).await;
    let refused = session
        .executor
        .run(&session.guard, &plan(&session.state(), Goal::E8), &WalkOptions::default(), &mut |_| ())
        .await;
    assert!(matches!(refused, Err(RunError::Interrupted(1))), "nothing starts before it was read");
    let recovered = session.recover().await.unwrap();
    assert!(recovered[0].to_string().contains("net.a was being created"), "{}", recovered[0]);
    session.executor.acknowledge(&session.guard).await.unwrap();
    assert!(session.recover().await.unwrap().is_empty());
    session.end().await;
}

/// A log that fails from its n-th write on.
#[derive(Debug)]
struct FailingLog {
    inner: MemoryIntents,
    left: std::sync::Mutex<usize>,
}

#[async_trait]
impl IntentLog for FailingLog {
    async fn read(&self) -> Result<Vec<Intent>> {
        self.inner.read().await
    }

    async fn replace(&self, open: &[Intent]) -> Result<()> {
        let may = {
            let mut left = self.left.lock().unwrap();
            let may = *left > 0;
            *left = left.saturating_sub(1);
            may
        };
        if !may {
            return Err(Error::new(ErrorKind::Unavailable, Op::Write, "log"));
        }
        self.inner.replace(open).await
    }
}

#[tokio::test]
async fn a_failed_write_ends_the_run() {
    // Each operation writes the log when it begins and when it ends; wherever that fails, nothing that waits starts.
    for (writes, calls) in [(0, &[][..]), (1, &["create net.a"]), (2, &["create net.a"])] {
        let (world, place) = (World::default(), StoreKind::memory());
        place.store(&first_versions(&world, Goal::E8)).await;
        let session = Session::begin(&place, &world, Trap::never()).await;
        let client = Client { world: world.clone(), trap: Trap::never() };
        let log = FailingLog { inner: MemoryIntents::new(), left: std::sync::Mutex::new(writes) };
        let executor = Executor::new(
            Arc::<dyn groundstate_statemgr::Full>::clone(&session.manager),
            Arc::new(client),
            Arc::new(log),
        );
        let plan = plan(&session.state(), Goal::E8);
        let report = executor.run(&session.guard, &plan, &WalkOptions::default(), &mut |_| ()).await.unwrap();
        assert_eq!(world.calls(), calls, "after {writes} writes");
        assert_ne!(report.walk.settled(2), Settled::Succeeded);
        assert!(!report.is_success());
        if writes == 0 {
            assert_eq!(show(&session.state()), "net.a: a-0; vm.b: b-0", "nothing was moved aside");
        }
        session.end().await;
    }
}

#[tokio::test]
async fn a_state_that_cannot_be_stored_stops_everything_and_is_handed_back() {
    // A fake whose persists fail: what was done is in memory only.
    let world = World::default();
    let state = first_versions(&world, Goal::E4);
    let place = StoreKind::memory();
    place.store(&state).await;
    let session = Session::begin(&place, &world, Trap::never()).await;
    let intruder = Session::begin(&place, &world, Trap::never()).await;
    let mut other = state.clone();
    other.forget_resource_instance_all(&addr("vm.b"));
    groundstate_statemgr::write_and_persist(&*intruder.manager, &other).await.unwrap();
    let plan = plan(&session.state(), Goal::E4);
    let report =
        session.executor.run(&session.guard, &plan, &WalkOptions::default(), &mut |_| ()).await.unwrap();
    assert_eq!(world.calls(), ["destroy vm.b"], "nothing follows");
    let failure = &report.walk.failures()[&3];
    assert!(failure.contains("vm.b: the outcome cannot be stored"), "{failure}");
    let unsaved = report.unsaved.unwrap().kind();
    assert!(matches!(unsaved, ErrorKind::Conflict | ErrorKind::LockLost), "{unsaved:?}");
    assert_eq!(show(&session.state()), "net.a: a-0", "the caller can save what was done elsewhere");
}

#[tokio::test]
async fn an_operation_that_does_not_fit_to_the_state_fails_before_any_call() {
    let (world, place) = (World::default(), StoreKind::memory());
    let state = first_versions(&world, Goal::E8);
    let plan = plan(&state, Goal::E8);
    let session = Session::begin(&place, &world, Trap::never()).await;
    let report = session.run(&plan, &WalkOptions::default()).await.unwrap();
    assert!(world.calls().is_empty());
    assert!(report.walk.failures()[&0].contains("net.a has no current object to replace"));
    session.end().await;
}

#[tokio::test]
async fn refreshing_and_planning_again_after_success_finds_nothing_to_do() {
    for goal in [Goal::E4, Goal::E8, Goal::E11, Goal::Gone] {
        let (world, place, _, fates) = run(goal, &[]).await;
        assert!(fates.iter().all(|fate| fate == "done"), "{goal:?}: {fates:?}");
        let mut state = place.stored().await;
        refresh(&mut state, &world);
        assert!(plan(&state, goal).nodes().is_empty(), "{goal:?}: {}", show(&state));
        assert_eq!(world.live().len(), if goal == Goal::Gone { 0 } else { 2 });
        assert_eq!(world.violations(), [""; 0]);
    }
}

#[tokio::test]
async fn any_manager_will_do() {
    let world = World::default();
    let fake = InMemoryManager::new(TransientInMemory::new(Some(first_versions(&world, Goal::E11))), None);
    let manager = Arc::new(fake);
    let client = Client { world: world.clone(), trap: Trap::never() };
    let info = groundstate_statemgr::LockInfo {
        id: groundstate_statemgr::LockId::new("x"),
        ..groundstate_statemgr::LockInfo::default()
    };
    let abandoned = Arc::new(groundstate_statemgr::AbandonedLocks::new());
    let waiting = groundstate_statemgr::Waiting::not_at_all();
    let guard = groundstate_statemgr::LockGuard::acquire(
        Arc::<InMemoryManager>::clone(&manager),
        info,
        waiting,
        abandoned,
    )
    .await
    .unwrap();
    let executor = Executor::new(
        Arc::<InMemoryManager>::clone(&manager),
        Arc::new(client),
        Arc::new(MemoryIntents::new()),
    );
    let state = groundstate_statemgr::Reader::state(&*manager).unwrap();
    let report =
        executor.run(&guard, &plan(&state, Goal::E11), &WalkOptions::default(), &mut |_| ()).await.unwrap();
    assert!(report.is_success());
    guard.release().await.unwrap();
}
