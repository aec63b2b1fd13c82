//! Each request of each operation fails, gets lost, or is the last one of a process that is killed.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use groundstate_conformance::{Fault, FaultyBlobs, block_on};
use groundstate_versioned::blobs::{BlobStore, ListOptions, MemoryBlobs};
use groundstate_versioned::common::{FixedClock, Timestamp};
use groundstate_versioned::{
    BreakOutcome, Document, ErrorKind, Expect, Head, LockOutcome, Name, NewLock, RenewOutcome, Result,
    Settings, Step, SweepOptions, UnlockOutcome, WriteOptions, WriteOutcome,
};

use crate::support::{open, text, write, written};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A document on blobs that fail, and a client of it that they do not fail for.
struct Scene {
    faulty: FaultyBlobs,
    clock: Arc<FixedClock>,
    document: Document,
    calm: Document,
}

impl Scene {
    /// Version 1 is `one`, and `L1` has the lock.
    fn new() -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
        let memory = MemoryBlobs::with_clock("tests", Arc::<FixedClock>::clone(&clock));
        let faulty = FaultyBlobs::new(memory.clone());
        let settings = Settings::default().with_inline_limit(4).with_part_size(4);
        let name = Name::parse("prod").unwrap();
        let document = open(Arc::new(faulty.clone()), &clock, settings.clone()).document(&name);
        let calm = open(Arc::new(memory), &clock, settings).document(&name);
        block_on(async {
            write(&calm, "one").await;
            calm.lock(&NewLock::new("L1").lease(Some(DAY))).await.unwrap();
        });
        Self { faulty, clock, document, calm }
    }

    /// How many blobs there are of the document's data.
    async fn blobs(&self) -> usize {
        self.faulty.inner().list("data/", &ListOptions::default()).await.unwrap().blobs.len()
    }
}

/// An operation, what it leaves, and how many blobs of data there are then.
struct Case {
    name: &'static str,
    run: fn(&Document) -> groundstate_conformance::BoxFuture<'_, Result<()>>,
    /// Whether a head and the present text show that it was done.
    is_done: fn(&Head, Option<&str>) -> bool,
    blobs: usize,
}

fn options() -> WriteOptions {
    WriteOptions::default().lock("L1")
}

const CASES: [Case; 9] = [
    Case {
        name: "renew",
        run: |document| {
            Box::pin(async {
                let renewed = document.renew("L1", None).await?;
                assert!(matches!(renewed, RenewOutcome::Renewed(lock) if lock.token == 1));
                Ok(())
            })
        },
        is_done: |head, _| head.lock().is_some_and(|lock| lock.expires.is_none()),
        blobs: 1,
    },
    Case {
        name: "unlock",
        run: |document| {
            Box::pin(async {
                let outcome = document.unlock("L1").await?;
                assert!(
                    matches!(outcome, UnlockOutcome::Unlocked(_) | UnlockOutcome::Already(_)),
                    "{outcome:?}"
                );
                Ok(())
            })
        },
        is_done: |head, _| head.recorded_lock().is_none(),
        blobs: 1,
    },
    Case {
        name: "break",
        run: |document| {
            Box::pin(async {
                let outcome = document.break_lock(Some("L1"), "ana", "gone").await?;
                assert!(matches!(outcome, BreakOutcome::Broken(_) | BreakOutcome::NotLocked), "{outcome:?}");
                Ok(())
            })
        },
        is_done: |head, _| head.recorded_lock().is_none(),
        blobs: 1,
    },
    Case {
        name: "lock again",
        run: |document| {
            Box::pin(async {
                let outcome = document.lock(&NewLock::new("L1").document("mine")).await?;
                assert!(matches!(outcome, LockOutcome::Locked(lock) if lock.token == 1));
                Ok(())
            })
        },
        is_done: |head, _| head.lock().is_some_and(|lock| lock.document == "mine"),
        blobs: 1,
    },
    Case {
        name: "write a small content",
        run: |document| {
            Box::pin(async {
                let content = document.content("two").await?;
                let outcome = document.write(&content, &options()).await?;
                assert!(
                    matches!(outcome, WriteOutcome::Written(_) | WriteOutcome::Unchanged(_)),
                    "{outcome:?}"
                );
                Ok(())
            })
        },
        is_done: |_, text| text == Some("two"),
        blobs: 2,
    },
    Case {
        name: "write parts",
        run: |document| {
            Box::pin(async {
                let content = document.content("two and more").await?;
                let outcome = document.write(&content, &options()).await?;
                assert!(
                    matches!(outcome, WriteOutcome::Written(_) | WriteOutcome::Unchanged(_)),
                    "{outcome:?}"
                );
                Ok(())
            })
        },
        is_done: |_, text| text == Some("two and more"),
        blobs: 2 + 3,
    },
    Case {
        name: "delete",
        run: |document| {
            Box::pin(async {
                let outcome = document.delete(&options()).await?;
                assert!(
                    matches!(outcome, WriteOutcome::Written(_) | WriteOutcome::Unchanged(_)),
                    "{outcome:?}"
                );
                Ok(())
            })
        },
        is_done: |head, _| head.last().is_some_and(|last| last.deleted),
        blobs: 2,
    },
    Case {
        name: "restore",
        run: |document| {
            Box::pin(async {
                let options = options().expect(Expect::Number(1));
                let outcome = document.restore(1, &options).await?;
                assert!(
                    matches!(outcome, WriteOutcome::Written(_) | WriteOutcome::Conflict(_)),
                    "{outcome:?}"
                );
                Ok(())
            })
        },
        is_done: |head, text| head.number() == 2 && text == Some("one"),
        blobs: 2,
    },
    Case {
        name: "pin",
        run: |document| Box::pin(async { document.pin(1, true).await.map(drop) }),
        is_done: |head, _| head.pins().eq([1]),
        blobs: 1,
    },
];

/// Checks what there is after a fault, then repeats the operation without one and sweeps.
async fn check(scene: &Scene, case: &Case, at: usize, fault: &str, outcome: Option<Result<()>>) {
    let place = format!("{}: {fault} at request {at}", case.name);
    let is_done = async || {
        let head = scene.calm.head().await.unwrap();
        (case.is_done)(&head, text(&scene.calm).await.as_deref())
    };
    let done = is_done().await;
    match outcome {
        Some(Ok(())) => assert!(done, "{place}: it succeeded and is not done"),
        Some(Err(error)) if error.kind() == ErrorKind::Ambiguous => {}
        Some(Err(error)) => assert!(!done, "{place}: it is done, and failed: {error}"),
        None => {}
    }
    (case.run)(&scene.calm).await.unwrap();
    assert!(is_done().await, "{place}: repeated");
    let head = scene.calm.head().await.unwrap();
    let page = scene.calm.versions(None, 10).await.unwrap();
    assert_eq!((page.versions.len() as u64, page.missing.len()), (head.number(), 0), "{place}");
    assert!(head.number() <= 2 && head.token() == 1, "{place}: something was done twice");
    for _ in 0..3 {
        scene.calm.sweep(&SweepOptions::default()).await.unwrap();
        scene.clock.advance(DAY);
    }
    assert_eq!(scene.blobs().await, case.blobs, "{place}: something was left");
    assert!(is_done().await, "{place}: swept");
}

#[test]
fn whatever_request_fails_the_error_is_true_and_the_operation_can_be_repeated() {
    for case in &CASES {
        for fault in Fault::ANSWERED {
            for at in 0.. {
                let scene = Scene::new();
                scene.faulty.fail_at(at, fault);
                let outcome = block_on((case.run)(&scene.document));
                let calls = scene.faulty.calls().len();
                block_on(check(&scene, case, at, &format!("{fault:?}"), Some(outcome)));
                if calls <= at {
                    assert!(at > 1, "{}", case.name);
                    break;
                }
            }
        }
    }
}

#[test]
fn whatever_request_is_the_last_before_a_kill_the_document_goes_on() {
    for case in &CASES {
        for at in 0.. {
            let scene = Scene::new();
            scene.faulty.fail_at(at, Fault::NeverAnswer);
            let outcome =
                match pin!((case.run)(&scene.document)).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(outcome) => Some(outcome),
                    Poll::Pending => None,
                };
            let was_killed = outcome.is_none();
            block_on(check(&scene, case, at, "killed", outcome));
            if !was_killed {
                break;
            }
        }
    }
}

#[tokio::test]
async fn requests_for_common_operations_are_few() {
    let scene = Scene::new();
    let calls = async |case: &Case| {
        scene.faulty.calls();
        (case.run)(&scene.document).await.unwrap();
        scene.faulty.calls()
    };
    let case = |name| CASES.iter().find(|case| case.name == name).unwrap();
    assert_eq!(calls(case("write a small content")).await, ["get", "put", "put"]);
    // The document of a large content has a head already; its epoch is looked up before the first part.
    assert_eq!(calls(case("write parts")).await, ["get", "put", "put", "put", "get", "put", "put"]);
    scene.faulty.calls();
    assert_eq!(text(&scene.document).await.unwrap(), "two and more");
    assert_eq!(scene.faulty.calls(), ["get", "get", "get", "get", "get"]);
    assert_eq!(calls(case("unlock")).await, ["get", "put"]);
    scene.document.lock(&NewLock::new("L2")).await.unwrap();
    assert_eq!(scene.faulty.calls(), ["get", "put"]);
}

#[tokio::test]
async fn a_failure_after_a_lost_answer_leaves_the_outcome_unknown() {
    let scene = Scene::new();
    scene.faulty.fail_puts(&[Fault::LoseRequest, Fault::Refuse]);
    let error = scene.document.unlock("L1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous);

    scene.faulty.fail_puts(&[Fault::LoseRequest]);
    let mut asked = 0;
    let mut refuse_later = |_: &Head| {
        asked += 1;
        if asked == 1 { Ok(Step::release()) } else { Err("refused") }
    };
    let error = scene.document.step(&mut refuse_later).await.unwrap_err();
    assert_eq!((error.kind(), asked), (ErrorKind::Ambiguous, 2));
}

#[tokio::test]
async fn a_sweep_sees_all_versions_that_it_may_not_touch() {
    let scene = Scene::new();
    scene.calm.unlock("L1").await.unwrap();
    let options = SweepOptions::default();
    // An upload of an epoch that the next sweep gives up, and something for the sweep to do.
    let content = scene.calm.content("long enough").await.unwrap();
    scene.calm.content("an orphan").await.unwrap();
    scene.calm.sweep(&options).await.unwrap();
    scene.clock.advance(DAY);
    let calm = scene.calm.clone();
    let hooked = crate::hooked::Hooked::new(scene.faulty.inner().clone(), async move {
        calm.write(&content, &WriteOptions::default()).await.unwrap();
        written(&calm, "x", &WriteOptions::default()).await;
    });
    let sweeper = open(Arc::new(hooked), &scene.clock, Settings::default()).document(scene.calm.name());
    assert!(sweeper.sweep(&options).await.unwrap().parts > 0);
    let version = scene.calm.version(2).await.unwrap();
    assert_eq!(scene.calm.open(&version).await.unwrap().collect(99).await.unwrap(), "long enough");
}
