//! A crash at every point, also of the run that follows it.

use groundstate_ordering::effects::{Finding, Recovered};
use groundstate_schedule::walk::WalkOptions;
use groundstate_states::{ObjectSrc, State};

use crate::planner::{Goal, first_versions, plan, refresh};
use crate::support::{Session, StoreKind, addr, show};
use crate::trap::Trap;
use crate::world::{Answer, World, id};

const GOALS: [Goal; 4] = [Goal::E8, Goal::E4, Goal::E11, Goal::Gone];

/// Locks, recovers, refreshes, plans, and runs; says whether it came to the end. What was destroyed may be recorded
/// without a note where an earlier attempt has acknowledged it.
async fn attempt(place: &StoreKind, world: &World, goal: Goal, trap: Trap, acknowledged: bool) -> bool {
    let session = Session::begin(place, world, trap).await;
    let Some(recovered) = session.recover().await else { return false };
    check_slots(&session.state(), world, &recovered);
    if !acknowledged {
        check_ghosts(&session.state(), world, &recovered);
    }
    check_records(&session.state());
    look_for_lost_objects(&session.state(), world, &recovered);
    if recovered.iter().any(|one| one.finding != Finding::Settled) {
        assert!(recovered.iter().all(|one| !one.to_string().is_empty()));
    }
    let acknowledged = tokio::select! {
        done = session.executor.acknowledge(&session.guard) => { done.unwrap(); true }
        () = session.trap.sprung() => false,
    };
    if !acknowledged {
        return false;
    }
    let mut state = session.state();
    refresh(&mut state, world);
    groundstate_statemgr::Writer::write_state(&*session.manager, &state).unwrap();
    let plan = plan(&state, goal);
    let options = WalkOptions::default().parallelism(3);
    let Some(report) = session.run(&plan, &options).await else { return false };
    assert!(report.is_success(), "{goal:?}: {report:?}");
    session.end().await;
    true
}

/// I1 and I2: every object that exists is in one slot; one that is in none is being created, and that is noted.
fn check_slots(state: &State, world: &World, recovered: &[Recovered]) {
    let recorded: Vec<String> = state.objects().map(|(_, _, object)| id(object)).collect();
    for object in world.live().keys() {
        let slots = recorded.iter().filter(|known| *known == object).count();
        let instance = if object.starts_with('a') { "net.a" } else { "vm.b" };
        let noted = recovered
            .iter()
            .any(|one| one.finding == Finding::UnknownCreate && one.intent.addr == addr(instance));
        assert!(slots == 1 || slots == 0 && noted, "{object} is in {slots} slots of {}", show(state));
    }
}

/// I3 the other way round: what is recorded and does not exist is being destroyed, and that is noted.
fn check_ghosts(state: &State, world: &World, recovered: &[Recovered]) {
    for (at, generation, object) in state.objects() {
        let exists = world.live().contains_key(&id(object));
        let noted = recovered.iter().any(|one| {
            let deposed = match generation {
                groundstate_states::Generation::Deposed(key) => Some(key),
                groundstate_states::Generation::Current => None,
            };
            one.finding == Finding::UnknownDestroy
                && one.intent.addr == at
                && one.intent.to_operation().deposed() == deposed
        });
        assert!(exists || noted, "{} does not exist: {}", id(object), show(state));
    }
}

/// I6: records are never less than they were.
fn check_records(state: &State) {
    let recorded = |object: &ObjectSrc| object.dependencies.len();
    for (at, _, object) in state.objects() {
        assert_eq!(recorded(object), usize::from(at == addr("vm.b")), "{}", show(state));
    }
}

/// What a user does who was told that an unrecorded object may exist.
fn look_for_lost_objects(state: &State, world: &World, recovered: &[Recovered]) {
    let recorded: Vec<String> = state.objects().map(|(_, _, object)| id(object)).collect();
    for object in world.live().into_keys() {
        let instance = if object.starts_with('a') { "net.a" } else { "vm.b" };
        let told = recovered.iter().filter(|one| one.finding == Finding::UnknownCreate);
        if !recorded.contains(&object) && told.into_iter().any(|one| one.intent.addr == addr(instance)) {
            world.remove(&object);
        }
    }
}

async fn begin(place: &StoreKind, goal: Goal, answers: &[(&str, Answer)]) -> World {
    let world = World::default();
    place.store(&first_versions(&world, goal)).await;
    for (call, answer) in answers {
        world.answer(call, *answer);
    }
    world
}

async fn check_end(place: &StoreKind, world: &World, goal: Goal, context: &str) {
    let mut state = place.stored().await;
    refresh(&mut state, world);
    assert!(plan(&state, goal).nodes().is_empty(), "{goal:?}, {context}: {}", show(&state));
    let objects = if goal == Goal::Gone { 0 } else { 2 };
    assert_eq!(world.live().len(), objects, "{goal:?}, {context}: no object is lost");
    assert_eq!(state.objects().count(), objects, "{goal:?}, {context}");
    assert_eq!(world.violations(), [""; 0], "{goal:?}, {context}");
}

/// Crashes the first run at every point, and lets the next one come to the end.
async fn crash_everywhere(places: impl Fn() -> StoreKind, goal: Goal, answers: &[(&str, Answer)]) -> usize {
    for at in 0.. {
        let place = places();
        let world = begin(&place, goal, answers).await;
        let trap = Trap::at(at);
        if attempt_or_failure(&place, &world, goal, trap.clone()).await {
            assert!(at > 8, "there are points to crash at");
            return at;
        }
        world.forgive();
        assert!(attempt(&place, &world, goal, Trap::never(), false).await);
        check_end(&place, &world, goal, &trap.points()).await;
    }
    0
}

/// As [`attempt`], where operations may fail.
async fn attempt_or_failure(place: &StoreKind, world: &World, goal: Goal, trap: Trap) -> bool {
    let session = Session::begin(place, world, trap).await;
    let plan = plan(&session.state(), goal);
    let ended = session.run(&plan, &WalkOptions::default()).await.is_some();
    if ended {
        session.end().await;
    }
    ended
}

#[tokio::test]
async fn a_crash_at_every_point_in_memory_is_recovered() {
    for goal in GOALS {
        crash_everywhere(StoreKind::memory, goal, &[]).await;
    }
}

#[tokio::test]
async fn a_crash_at_every_point_with_a_log_beside_the_state_is_recovered() {
    for goal in GOALS {
        crash_everywhere(StoreKind::journaled, goal, &[]).await;
    }
    let answers = [("create net.a", Answer::FailsObject), ("create vm.b", Answer::FailsNull)];
    for answer in answers {
        crash_everywhere(StoreKind::journaled, Goal::E8, &[answer]).await;
    }
}

#[tokio::test]
async fn a_crash_at_every_point_on_disk_is_recovered() {
    let folders = std::sync::Mutex::new(Vec::new());
    let places = || {
        let folder = tempfile::tempdir().unwrap();
        let place = StoreKind::files(&folder);
        folders.lock().unwrap().push(folder);
        place
    };
    // Syncing takes its time, and this goal has every kind of step.
    crash_everywhere(places, Goal::E11, &[]).await;
}

#[tokio::test]
async fn a_crash_at_every_point_while_operations_fail_is_recovered() {
    use Answer::{FailsNull, FailsObject};
    for (goal, call, answer) in [
        (Goal::E8, "create net.a", FailsNull),
        (Goal::E8, "create net.a", FailsObject),
        (Goal::E8, "update vm.b", FailsObject),
        (Goal::E8, "destroy-deposed net.a", FailsNull),
        (Goal::E4, "create vm.b", FailsNull),
        (Goal::E4, "create net.a", FailsObject),
        (Goal::E11, "create vm.b", FailsObject),
        (Goal::E11, "create vm.b", FailsNull),
        (Goal::E11, "destroy-deposed vm.b", FailsNull),
    ] {
        crash_everywhere(StoreKind::memory, goal, &[(call, answer)]).await;
    }
}

/// The run after the crash, with its recovery, crashes too, at every point.
#[tokio::test]
async fn a_second_crash_does_no_more_harm() {
    for goal in [Goal::E8, Goal::E11, Goal::E4] {
        for first in 0.. {
            let mut ended = false;
            for second in 0.. {
                let place = StoreKind::memory();
                let world = begin(&place, goal, &[]).await;
                ended = attempt_or_failure(&place, &world, goal, Trap::at(first)).await;
                if ended {
                    break;
                }
                let trap = Trap::at(second);
                if attempt(&place, &world, goal, trap.clone(), false).await {
                    break;
                }
                assert!(attempt(&place, &world, goal, Trap::never(), true).await);
                check_end(&place, &world, goal, &format!("{first}, {}", trap.points())).await;
            }
            if ended {
                break;
            }
        }
    }
}

#[tokio::test]
async fn findings_are_as_tabled() {
    // Where the run crashes, what is found, and what is in the slots after the recovery.
    for (goal, point, finding, slots) in [
        (Goal::E8, "before create net.a", Some(Finding::UnknownCreate), "net.a: a-0; vm.b: b-0"),
        (Goal::E8, "after create net.a", Some(Finding::UnknownCreate), "net.a: a-0; vm.b: b-0"),
        (Goal::E8, "before update vm.b", Some(Finding::UnknownUpdate), "net.a: a-1 00000001:a-0; vm.b: b-0"),
        (
            Goal::E8,
            "after destroy-deposed net.a",
            Some(Finding::UnknownDestroy),
            "net.a: a-1 00000001:a-0; vm.b: b-0",
        ),
        (Goal::E4, "before destroy vm.b", Some(Finding::UnknownDestroy), "net.a: a-0; vm.b: b-0"),
        (Goal::E4, "after create net.a", Some(Finding::UnknownCreate), ""),
        (Goal::E4, "before intents", None, "net.a: a-0; vm.b: b-0"),
    ] {
        let place = StoreKind::memory();
        let world = begin(&place, goal, &[]).await;
        let mut at = 0;
        loop {
            let trap = Trap::at(at);
            let place_now = StoreKind::memory();
            let world_now = begin(&place_now, goal, &[]).await;
            assert!(!attempt_or_failure(&place_now, &world_now, goal, trap.clone()).await, "no {point}");
            if trap.points().ends_with(point) {
                break;
            }
            at += 1;
        }
        assert!(!attempt_or_failure(&place, &world, goal, Trap::at(at)).await);
        let session = Session::begin(&place, &world, Trap::never()).await;
        let recovered = session.recover().await.unwrap();
        assert_eq!(recovered.first().map(|one| one.finding), finding, "{goal:?} {point}");
        assert_eq!(show(&session.state()), slots, "{goal:?} {point}");
        assert_eq!(show(&place.stored().await), slots, "the recovery is stored: {goal:?} {point}");
        session.end().await;
    }
}
