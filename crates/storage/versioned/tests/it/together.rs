//! Several clients on one document, in every order and with every trouble that the dice give.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groundstate_versioned::blobs::{BlobStore, Context, MemoryBlobs};
use groundstate_versioned::common::{FixedClock, SequenceIds, Timestamp};
use groundstate_versioned::{
    Document, Documents, ErrorKind, LockOutcome, Name, NewLock, Retention, Same, Settings, SweepOptions,
    UnlockOutcome, Version, WriteOptions, WriteOutcome,
};

use crate::chaos::{Chaos, Dice, Task, Trouble, run_in_random_order};
use crate::support::number;

/// The seeds that each test runs; a campaign runs more.
fn seeds() -> std::ops::Range<u64> {
    let first = number("GROUNDSTATE_VERSIONED_SEED", 1);
    first..first + number("GROUNDSTATE_VERSIONED_CASES", 40)
}

/// A time in the order of events.
type Moment = u64;

/// What clients saw, to be checked when all have ended.
#[derive(Default)]
struct Log {
    moment: AtomicU64,
    /// Each accepted version, and when the write began and was answered.
    written: Mutex<Vec<(Version, String, Moment, Moment)>>,
    /// Contents whose writes were begun.
    begun: Mutex<Vec<String>>,
    /// What was read, and from when to when.
    read: Mutex<Vec<(u64, String, Moment, Moment)>>,
    /// Locks: the token, since when it was surely held, and until when.
    held: Mutex<Vec<(u64, Moment, Moment)>>,
    /// Accepted writes without a lock.
    bare: Mutex<Vec<(Moment, Moment)>>,
}

impl Log {
    fn now(&self) -> Moment {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Actor {
    number: u64,
    document: Document,
    clock: Arc<FixedClock>,
    dice: Dice,
    log: Arc<Log>,
    sweep: Option<SweepOptions>,
}

impl Actor {
    async fn act(self, steps: u64) {
        for step in 0..steps {
            match self.dice.below(10) {
                0..4 => self.cycle(step).await,
                4..6 => drop(self.write(step, None).await),
                6..8 => self.read().await,
                8 => self.delete_and_restore().await,
                _ => self.look_and_sweep().await,
            }
            self.clock.advance(Duration::from_secs(self.dice.below(200)));
        }
    }

    /// Locks, reads, writes and unlocks.
    async fn cycle(&self, step: u64) {
        let lock = NewLock::new(format!("{}-{step}", self.number));
        for _ in 0..3 {
            match self.document.lock(&lock).await {
                Ok(LockOutcome::Locked(held)) => {
                    let since = self.log.now();
                    drop(self.write(step, Some(&lock.id)).await);
                    self.read().await;
                    let until = self.log.now();
                    self.log.held.lock().unwrap().push((held.token, since, until));
                    self.unlock(&lock.id).await;
                    return;
                }
                // It may be held now, and then nothing else would free it.
                Err(error) if error.kind() == ErrorKind::Ambiguous => self.unlock(&lock.id).await,
                Ok(_) => return,
                Err(error) => assert!(error.kind().is_transient(), "{error}"),
            }
        }
    }

    async fn unlock(&self, id: &str) {
        loop {
            match self.document.unlock(id).await {
                Ok(UnlockOutcome::Unlocked(_) | UnlockOutcome::Already(_) | UnlockOutcome::Lost(_)) => return,
                Ok(outcome) => panic!("{outcome:?}"),
                Err(error) => {
                    assert!(error.kind().is_transient() || error.kind() == ErrorKind::Ambiguous, "{error}")
                }
            }
        }
    }

    /// Writes a content that no other write has.
    async fn write(&self, step: u64, lock: Option<&str>) -> Option<Version> {
        let text =
            format!("{}/{step}/{}/{}", self.number, lock.is_some(), "x".repeat(self.dice.below(20) as usize));
        self.log.begun.lock().unwrap().push(text.clone());
        let mut options = WriteOptions::default().same(Same::Never);
        if let Some(lock) = lock {
            options = options.lock(lock);
        }
        let from = self.log.now();
        let content = match self.document.content(text.clone()).await {
            Ok(content) => content,
            Err(error) => return assert_tolerable(&error),
        };
        match self.document.write(&content, &options).await {
            Ok(WriteOutcome::Written(version)) => {
                let to = self.log.now();
                self.log.written.lock().unwrap().push((version.clone(), text, from, to));
                if lock.is_none() {
                    self.log.bare.lock().unwrap().push((from, to));
                }
                Some(version)
            }
            Ok(WriteOutcome::Held(held)) => {
                assert!(lock.is_none(), "{held:?}");
                None
            }
            Ok(outcome) => panic!("{outcome:?}"),
            Err(error) => assert_tolerable(&error),
        }
    }

    async fn read(&self) {
        let from = self.log.now();
        match self.document.read().await {
            Ok(Some(reader)) => {
                let number = reader.version().number;
                match reader.collect(1 << 20).await {
                    Ok(bytes) => {
                        let text = String::from_utf8(bytes.to_vec()).unwrap();
                        self.log.read.lock().unwrap().push((number, text, from, self.log.now()));
                    }
                    Err(error) => {
                        assert!(error.kind().is_transient() || error.kind() == ErrorKind::NotKept, "{error}")
                    }
                }
            }
            Ok(None) => {}
            Err(error) => assert!(error.kind().is_transient(), "{error}"),
        }
    }

    async fn delete_and_restore(&self) {
        let options = WriteOptions::default();
        match self.document.delete(&options).await {
            Ok(_) => {}
            Err(error) => return assert_tolerable(&error).unwrap_or(()),
        }
        let Ok(head) = self.document.head().await else { return };
        let number = 1 + self.dice.below(head.number().max(1));
        match self.document.restore(number, &options).await {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotKept | ErrorKind::Invalid) => {}
            Err(error) => assert_tolerable(&error).unwrap_or(()),
        }
    }

    async fn look_and_sweep(&self) {
        match self.document.versions(None, 5).await {
            Ok(page) => {
                let falling = page.versions.windows(2).all(|two| two[0].number > two[1].number);
                assert!(falling, "{page:?}");
            }
            Err(error) => assert!(error.kind().is_transient(), "{error}"),
        }
        if let Some(options) = &self.sweep {
            match self.document.sweep(options).await {
                Ok(_) => {}
                Err(error) => assert_tolerable(&error).unwrap_or(()),
            }
        }
    }
}

/// The errors that trouble explains.
fn assert_tolerable<T>(error: &groundstate_versioned::Error) -> Option<T> {
    let is_explained =
        error.kind().is_transient() || matches!(error.kind(), ErrorKind::Ambiguous | ErrorKind::Expired);
    assert!(is_explained, "{error}");
    None
}

/// One case: actors on one document, each with a client of its own.
struct Case {
    seed: u64,
    blobs: MemoryBlobs,
    store: Chaos,
    clock: Arc<FixedClock>,
    log: Arc<Log>,
}

impl Case {
    fn new(seed: u64, dice: &Dice, trouble: Trouble) -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
        let blobs = MemoryBlobs::with_clock("tests", Arc::<FixedClock>::clone(&clock));
        let store = Chaos::new(blobs.clone(), dice.clone(), trouble);
        Self { seed, blobs, store, clock, log: Arc::default() }
    }

    fn document(&self, store: Arc<dyn BlobStore>, ids: u64) -> Document {
        let ids = Arc::new(SequenceIds::starting_at(ids << 32));
        let context =
            Context::new(Arc::<FixedClock>::clone(&self.clock), Arc::<FixedClock>::clone(&self.clock), ids);
        let settings = Settings::default().with_inline_limit(12).with_part_size(6);
        Documents::open(store, context, settings).unwrap().document(&Name::parse("team/prod").unwrap())
    }

    fn run(&self, dice: &Dice, sweep: Option<SweepOptions>) {
        let tasks = (1..=4).map(|number| {
            let document = self.document(Arc::new(self.store.clone()), number);
            let (clock, log) = (Arc::clone(&self.clock), Arc::clone(&self.log));
            let actor = Actor { number, document, clock, dice: dice.clone(), log, sweep };
            Box::pin(actor.act(6)) as Task
        });
        run_in_random_order(dice, tasks.collect());
    }

    /// Checks everything that was seen against what there is at the end.
    async fn check(&self, keeps_all: bool) {
        let seed = self.seed;
        self.store.arrive().await;
        let document = self.document(Arc::new(self.blobs.clone()), 99);
        let head = document.head().await.unwrap();
        let page = document.versions(None, 1000).await.unwrap();
        assert!(page.missing.is_empty() && page.next.is_none(), "seed {seed}: {:?}", page.missing);
        let numbers: Vec<u64> = page.versions.iter().map(|version| version.number).collect();
        assert_eq!(numbers, (head.oldest()..=head.number()).rev().collect::<Vec<_>>(), "seed {seed}");
        assert!(!keeps_all || head.oldest() == 1, "seed {seed}");

        let mut contents = BTreeMap::new();
        let mut tokens = Vec::new();
        for version in page.versions.iter().rev() {
            tokens.extend(version.token);
            if version.deleted {
                continue;
            }
            let bytes = document.open(version).await.unwrap().collect(1 << 20).await.unwrap();
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            contents.insert(version.number, (version.id.clone(), version.restored.is_some(), text));
        }
        assert!(tokens.is_sorted(), "seed {seed}: {tokens:?}");

        let log = &self.log;
        let written = log.written.lock().unwrap();
        for (version, text, _, _) in written.iter().filter(|(version, ..)| version.number >= head.oldest()) {
            let (id, _, stored) = &contents[&version.number];
            assert_eq!((id, stored), (&version.id, text), "seed {seed}: an accepted write is lost");
        }
        let begun = log.begun.lock().unwrap();
        for text in begun.iter() {
            let times = contents.values().filter(|(_, restored, stored)| !restored && stored == text).count();
            assert!(times <= 1, "seed {seed}: {text} was written {times} times");
        }
        for (a, _, _, to) in written.iter() {
            for (b, _, from, _) in written.iter() {
                assert!(
                    to >= from || a.number < b.number,
                    "seed {seed}: {} came after {}",
                    a.number,
                    b.number
                );
            }
            for (read, _, from, _) in log.read.lock().unwrap().iter() {
                assert!(
                    to >= from || a.number <= *read,
                    "seed {seed}: version {read} was read after {}",
                    a.number
                );
            }
        }
        for (number, text, _, _) in
            log.read.lock().unwrap().iter().filter(|(number, ..)| *number >= head.oldest())
        {
            assert_eq!(&contents[number].2, text, "seed {seed}");
        }
        let held = log.held.lock().unwrap();
        for (at, (token, since, until)) in held.iter().enumerate() {
            for (other, from, to) in held.iter().skip(at + 1) {
                assert_ne!(token, other, "seed {seed}");
                assert!(
                    until < from || to < since,
                    "seed {seed}: tokens {token} and {other} are held at one time"
                );
                assert_eq!(until < from, token < other, "seed {seed}: tokens go back");
            }
            for (from, to) in log.bare.lock().unwrap().iter() {
                assert!(from < since || to > until, "seed {seed}: a write without the lock came through");
            }
        }
    }
}

fn check_all(trouble: Trouble, sweep: Option<SweepOptions>) {
    let mut accepted = 0;
    for seed in seeds() {
        let dice = Dice::new(seed);
        let case = Case::new(seed, &dice, trouble);
        case.run(&dice, sweep);
        let keeps_all = sweep.is_none_or(|options| options.retention == Retention::Everything);
        run_in_random_order(
            &dice,
            vec![Box::pin({
                let case = Arc::new(case);
                let task = Arc::clone(&case);
                accepted += case.log.written.lock().unwrap().len();
                async move { task.check(keeps_all).await }
            })],
        );
    }
    assert!(accepted > 40, "{accepted}");
}

#[test]
fn clients_in_any_order_lose_nothing_and_never_hold_a_lock_together() {
    check_all(Trouble::default(), None);
}

#[test]
fn lost_late_and_failed_requests_lose_nothing_and_do_nothing_twice() {
    check_all(Trouble::EVERYTHING, None);
}

#[test]
fn sweeps_remove_nothing_that_a_version_has() {
    let options = SweepOptions::default().grace(Duration::from_secs(300));
    check_all(Trouble::EVERYTHING, Some(options));
    check_all(Trouble::EVERYTHING, Some(options.grace(Duration::ZERO)));
}

#[test]
fn retention_removes_old_versions_only() {
    let newest = Retention::Newest { count: 3, younger: Some(Duration::from_secs(500)) };
    let options = SweepOptions::default().grace(Duration::from_secs(300)).retention(newest);
    check_all(Trouble::EVERYTHING, Some(options));
    check_all(Trouble::default(), Some(options.grace(Duration::ZERO)));
}
