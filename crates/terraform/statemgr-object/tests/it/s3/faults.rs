//! Everything that can happen to a request, at every step of a change, under every way to lock.

use std::time::Duration;

use bytes::Bytes;
use groundstate_statemgr::{Error, ErrorKind, Expect, LockInfo, StateStore, WorkspaceName, WriteOptions};
use groundstate_testkit::Fault;

use crate::s3::support::{Cloud, Locks, info, state};

/// What can happen, for ever or once.
fn faults() -> Vec<(&'static str, Fault)> {
    let mut all = vec![
        ("reply lost after commit", Fault::drop_after_commit()),
        ("500 after commit", Fault::after_commit_500()),
        ("500 before", Fault::before_500()),
        ("connection closed before", Fault::drop_before()),
        ("duplicate request", Fault::duplicate()),
        ("throttled", Fault::throttle()),
        ("slow down", Fault::unavailable(0)),
        ("answer cut midway", Fault::cut_body(3)),
        ("late", Fault::delay(Duration::from_millis(5))),
        ("late answer", Fault::delay_answer(Duration::from_millis(5))),
    ];
    all.iter_mut().for_each(|(_, fault)| *fault = fault.clone().on("*", "*"));
    // Only S3 answers so, to writers that meet.
    all.push(("conflict", Fault::conflict().on("PUT", "/states/*")));
    all
}

/// How far a change got.
#[derive(Debug, Default)]
struct Run {
    locked: bool,
    written: bool,
    errors: Vec<Error>,
}

/// Lock, read, write and unlock, as a program does them: whatever fails, the lock is released if it was taken.
async fn change(store: &dyn StateStore, lock: &LockInfo) -> Run {
    let mut run = Run::default();
    let grant = match store.lock(lock).await {
        Ok(grant) => grant,
        Err(error) => {
            run.errors.push(error);
            return run;
        }
    };
    run.locked = true;
    let outcome = async {
        let expect = match store.read().await? {
            Some(read) => Expect::Version(read.version),
            None => Expect::Absent,
        };
        store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(expect)).await
    };
    match outcome.await {
        Ok(_) => run.written = true,
        Err(error) => run.errors.push(error),
    }
    if let Err(error) = store.unlock(&grant.id).await {
        run.errors.push(error);
    }
    run
}

/// The requests of an undisturbed change, to know how many steps there are.
async fn steps(locks: Locks) -> u64 {
    let cloud = prepared(locks).await;
    let run = change(&cloud.store(locks), &info("change")).await;
    assert!(run.written && run.errors.is_empty(), "{run:?}");
    cloud.server.requests().len() as u64
}

/// A cloud with a state of serial 1, and an empty log.
async fn prepared(locks: Locks) -> Cloud {
    let cloud = Cloud::new();
    cloud.store(locks).write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    cloud.server.clear_requests();
    cloud
}

/// After any fault: the state is old or new, what was said of it is true, and what is left of a lock is seen and freed.
async fn is_sound(cloud: &Cloud, locks: Locks, lock: &LockInfo, run: &Run, what: &str) {
    cloud.server.clear_faults();
    let stored = cloud.state().unwrap();
    assert!(stored == state(1) || stored == state(2), "{what}: {run:?}");
    if run.written {
        assert_eq!(stored, state(2), "{what}: {run:?}");
    }
    let said_nothing = run.errors.iter().all(|error| error.kind() != ErrorKind::Ambiguous);
    if !run.written && said_nothing {
        assert_eq!(stored, state(1), "{what}: {run:?}");
    }
    let backend = cloud.backend(locks.options());
    let found = backend.locks(&WorkspaceName::default_name()).await.unwrap();
    let store = backend.open(&WorkspaceName::default_name()).unwrap();
    if found.is_empty() {
        assert!(!cloud.is_locked(), "{what}: an invisible lock");
    } else {
        // A lock stays only after an error that names it and the id that frees it.
        let named = run.errors.iter().any(|error| error.to_string().contains(lock.id.as_str()));
        assert!(named, "{what}: a lock is left without a word: {run:?}");
        for left in &found {
            assert_eq!(left.holder.id, lock.id, "{what}");
        }
        assert_eq!(store.lock_holder().await.unwrap().unwrap().id, lock.id, "{what}");
        store.force_unlock(&lock.id).await.unwrap();
        assert!(!cloud.is_locked(), "{what}");
    }
    if locks.has_table() && store.read().await.is_err() {
        let said = run.errors.iter().any(|error| error.to_string().contains("digest"));
        assert!(said, "{what}: the digest is stale without a word: {run:?}");
        backend.repair_digest(&WorkspaceName::default_name(), &info("repair")).await.unwrap();
    }
    // Life goes on.
    let next = info("next");
    let again = change(&store, &next).await;
    assert!(again.written && again.errors.is_empty(), "{what}: {again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_fault_at_any_step_is_survived() {
    for locks in Locks::LOCKING {
        for step in 1..=steps(locks).await {
            for (name, fault) in faults() {
                let what = format!("{locks:?}, step {step}, {name}");
                let cloud = prepared(locks).await;
                let lock = info("change");
                cloud.server.fault(fault.nth(step));
                let run = change(&cloud.store(locks), &lock).await;
                // One fault is not enough to stop anything. But a half of two locks whose removal arrives twice looks
                // like one that another process removed, and that is told.
                let halved = locks == Locks::Both && name == "duplicate request";
                let told = |error: &Error| halved && error.kind() == ErrorKind::LockLost;
                assert!(run.locked && run.written && run.errors.iter().all(told), "{what}: {run:?}");
                is_sound(&cloud, locks, &lock, &run, &what).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lasting_faults_from_any_step_leave_nothing_unseen() {
    for locks in Locks::LOCKING {
        for step in 1..=steps(locks).await {
            for (name, fault) in faults() {
                let what = format!("{locks:?}, from step {step} on, {name}");
                let cloud = prepared(locks).await;
                let lock = info("change");
                cloud.server.fault(fault.after(step - 1));
                let run = change(&cloud.store(locks), &lock).await;
                is_sound(&cloud, locks, &lock, &run, &what).await;
            }
        }
    }
}

#[tokio::test]
async fn a_process_that_dies_at_any_step_leaves_a_lock_that_is_seen_and_freed() {
    for locks in Locks::LOCKING {
        for step in 1..=steps(locks).await {
            let cloud = prepared(locks).await;
            let lock = info("change");
            // The request is carried out, and the process does not live to hear of it.
            cloud.server.fault(Fault::delay_answer(Duration::from_secs(60)).nth(step));
            let store = cloud.store(locks);
            let died = tokio::time::timeout(Duration::from_millis(60), change(&store, &lock)).await;
            assert!(died.is_err(), "{locks:?}, step {step}");
            cloud.server.clear_faults();
            let backend = cloud.backend(locks.options());
            let what = format!("{locks:?}, dead at step {step}");
            for left in backend.locks(&WorkspaceName::default_name()).await.unwrap() {
                assert_eq!(left.holder.id, lock.id, "{what}");
            }
            let fresh = backend.open(&WorkspaceName::default_name()).unwrap();
            if cloud.is_locked() {
                assert_eq!(fresh.lock_holder().await.unwrap().unwrap().id, lock.id, "{what}");
                fresh.force_unlock(&lock.id).await.unwrap();
            }
            assert!(!cloud.is_locked(), "{what}");
            let stored = cloud.state().unwrap();
            assert!(stored == state(1) || stored == state(2), "{what}");
            if fresh.read().await.is_err() {
                backend.repair_digest(&WorkspaceName::default_name(), &info("repair")).await.unwrap();
            }
            assert_eq!(fresh.read().await.unwrap().unwrap().bytes, stored, "{what}");
        }
    }
}
