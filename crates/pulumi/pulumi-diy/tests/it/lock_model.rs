//! A model check of the locks: two lockers in every order of their requests, three in random ones. Never two holders.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as Task, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, FixedClock, SequenceIds, Timestamp};
use groundstate_conformance::block_on;
use groundstate_pulumi_diy::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, Context, DeleteOptions, GetOptions, Key,
    Leases, ListOptions, MemoryBlobs, Page, PutOptions, Result,
};
use groundstate_pulumi_diy::{Backend, ErrorKind, Guard, Holder, LockOptions, Options, Stack};

use crate::support::stack;

const FOLDER: &str = ".pulumi/locks/organization/p/s/";
const LEASE: Duration = Duration::from_secs(300);

/// A store that gives way before each request, so that the scheduler decides which client makes the next one.
#[derive(Debug)]
struct Stepped(MemoryBlobs);

/// Pending once.
#[derive(Default)]
struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

impl fmt::Display for Stepped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Stepped {
    fn capabilities(&self) -> BlobCapabilities {
        self.0.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        Turn::default().await;
        self.0.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        Turn::default().await;
        self.0.head(key).await
    }

    async fn put(&self, key: &Key, bytes: bytes::Bytes, options: &PutOptions) -> Result<BlobVersion> {
        Turn::default().await;
        self.0.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        Turn::default().await;
        self.0.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        Turn::default().await;
        self.0.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

/// Who takes the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locker {
    Ours,
    /// Ours, allowed to take over what has ended.
    Heir,
    /// The protocol of `pulumi`, written down from its description.
    Pulumi,
    /// The same without the second look, to see that the check finds it.
    Careless,
}

/// A process that believes that it holds the lock.
#[derive(Debug)]
struct Holding {
    who: usize,
    /// When its lease ends, if it has one.
    expires: Option<Timestamp>,
    /// Whether another took the lock after the end of its lease.
    is_overtaken: bool,
}

/// What has happened in a run.
#[derive(Default)]
struct Seen {
    holding: Vec<Holding>,
    taken: usize,
    violation: Option<String>,
}

#[derive(Clone)]
struct World {
    store: Arc<MemoryBlobs>,
    clock: Arc<FixedClock>,
    seen: Rc<RefCell<Seen>>,
}

impl World {
    fn new(can: BlobCapabilities) -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()));
        let times: Arc<FixedClock> = Arc::clone(&clock);
        let store = MemoryBlobs::with_clock("bucket", times).limited_to(can);
        Self { store: Arc::new(store), clock, seen: Rc::default() }
    }

    fn violation(&self, what: String) {
        self.seen.borrow_mut().violation.get_or_insert(what);
    }

    fn enter(&self, who: usize, expires: Option<Timestamp>) {
        let now = self.clock.now();
        let has_ended = |expires: Option<Timestamp>| expires.is_some_and(|expires| expires <= now);
        let mut seen = self.seen.borrow_mut();
        seen.taken += 1;
        // Who comes with an ended lease was overtaken before it knew.
        let mut own = Holding { who, expires, is_overtaken: false };
        let mut both = None;
        for other in &mut seen.holding {
            if has_ended(other.expires) {
                other.is_overtaken = true;
            } else if has_ended(expires) {
                own.is_overtaken = true;
            } else {
                both = Some(format!("{} and {who} hold the lock", other.who));
            }
        }
        seen.holding.push(own);
        drop(seen);
        both.into_iter().for_each(|both| self.violation(both));
    }

    fn leave(&self, who: usize) {
        self.seen.borrow_mut().holding.retain(|holding| holding.who != who);
    }

    fn is_overtaken(&self, who: usize) -> bool {
        self.seen.borrow().holding.iter().any(|holding| holding.who == who && holding.is_overtaken)
    }

    async fn lock_as_ours(self, stack: Stack, who: usize, options: LockOptions) {
        let pid = u32::try_from(who).unwrap();
        let holder = Holder { pid, user: "bo".into(), host: "here".into(), started: None };
        let lock = match stack.lock(&holder, &options).await {
            Ok(lock) => lock,
            Err(error) if error.kind() == ErrorKind::Locked => return,
            Err(error) => return self.violation(format!("{who}: {error}")),
        };
        self.enter(who, lock.expires());
        for _ in 0..2 {
            let was_overtaken = self.is_overtaken(who);
            match lock.check().await {
                Ok(()) if was_overtaken => self.violation(format!("{who} is overtaken and does not notice")),
                Ok(()) => {
                    for holding in &mut self.seen.borrow_mut().holding {
                        if holding.who == who {
                            holding.expires = lock.expires();
                        }
                    }
                }
                Err(error) => {
                    let has_ended = lock.expires().is_some_and(|expires| expires <= self.clock.now());
                    if error.kind() != ErrorKind::LockLost || !(has_ended || self.is_overtaken(who)) {
                        self.violation(format!("{who} lost a lock that nothing took: {error}"));
                    }
                    break;
                }
            }
        }
        self.leave(who);
        if let Err(error) = lock.release().await {
            self.violation(format!("{who}: {error}"));
        }
    }

    /// Lists, writes, lists again; gives way if there is another lock.
    async fn lock_as_pulumi(self, store: Stepped, who: usize, looks_again: bool) {
        let own = Key::parse(&format!("{FOLDER}{who}.json")).unwrap();
        if has_others(&store, &own).await {
            return;
        }
        let text = r#"{"pid":1,"username":"ana","hostname":"build-7","timestamp":"2026-11-23T04:00:00Z"}"#;
        store.put(&own, text.into(), &PutOptions::default()).await.unwrap();
        if !(looks_again && has_others(&store, &own).await) {
            self.enter(who, None);
            store.head(&own).await.unwrap();
            self.leave(who);
        }
        store.delete(&own, &DeleteOptions::default()).await.unwrap();
    }

    fn locker(&self, who: usize, locker: Locker) -> Pin<Box<dyn Future<Output = ()>>> {
        let world = self.clone();
        let store = Stepped((*self.store).clone());
        let options = LockOptions::default().lease(LEASE);
        let options = match locker {
            Locker::Ours => options,
            Locker::Heir => options.take_over_expired(),
            Locker::Pulumi | Locker::Careless => {
                return Box::pin(world.lock_as_pulumi(store, who, locker == Locker::Pulumi));
            }
        };
        let clock: Arc<FixedClock> = Arc::clone(&self.clock);
        let ids = SequenceIds::starting_at(u64::try_from(who).unwrap() << 32);
        let context = Context::new(clock, Arc::clone(&self.clock) as _, Arc::new(ids));
        let backend = block_on(Backend::open(Arc::new(store), context, Options::default())).unwrap();
        Box::pin(world.lock_as_ours(backend.stack(&stack("s")), who, options))
    }
}

async fn has_others(store: &Stepped, own: &Key) -> bool {
    let page = store.list(FOLDER, &ListOptions::default().delimited()).await.unwrap();
    page.blobs.iter().any(|listed| listed.name != own.as_str())
}

/// Lets the lockers make their requests in the order that `choose` gives: the number of one that is not at its end, out of so many.
fn run(can: BlobCapabilities, lockers: &[Locker], choose: &mut dyn FnMut(&World, usize) -> usize) -> Seen {
    let world = World::new(can);
    let mut running: Vec<_> =
        lockers.iter().enumerate().map(|(who, locker)| world.locker(who, *locker)).collect();
    let mut task = Task::from_waker(Waker::noop());
    while !running.is_empty() {
        let next = choose(&world, running.len());
        if pin!(&mut running[next]).poll(&mut task).is_ready() {
            drop(running.remove(next));
        }
    }
    let page = block_on(world.store.list(".pulumi/locks/", &ListOptions::default())).unwrap();
    if let Some(left) = page.blobs.first() {
        world.violation(format!("{} is left", left.name));
    }
    world.seen.take()
}

/// Runs every order. Gives how many there are, in how many the lock was taken, and the first violation.
fn every_order(can: BlobCapabilities, lockers: &[Locker]) -> (usize, usize, Option<String>) {
    let mut path: Vec<(usize, usize)> = Vec::new();
    let (mut orders, mut taken) = (0, 0);
    loop {
        let mut depth = 0;
        let seen = run(can, lockers, &mut |_, choices| {
            if depth == path.len() {
                path.push((0, choices));
            }
            depth += 1;
            path[depth - 1].0
        });
        orders += 1;
        taken += usize::from(seen.taken > 0);
        if seen.violation.is_some() {
            return (orders, taken, seen.violation);
        }
        while let Some((chosen, choices)) = path.pop() {
            if chosen + 1 < choices {
                path.push((chosen + 1, choices));
                break;
            }
        }
        if path.is_empty() {
            return (orders, taken, None);
        }
    }
}

fn with_and_without_conditions() -> [BlobCapabilities; 2] {
    let mut without = BlobCapabilities::all();
    (without.conditional_put, without.conditional_delete) = (false, false);
    [BlobCapabilities::all(), without]
}

#[test]
fn two_lockers_never_both_hold_the_lock_in_any_order_of_their_requests() {
    use Locker::{Heir, Ours, Pulumi};
    for can in with_and_without_conditions() {
        for lockers in [[Ours, Ours], [Ours, Pulumi], [Heir, Pulumi], [Pulumi, Pulumi]] {
            let (orders, taken, violation) = every_order(can, &lockers);
            assert_eq!(violation, None, "{lockers:?}");
            assert!(orders > 50 && taken > 0, "{lockers:?}: {orders} orders, {taken}");
            if can.conditional_put && lockers == [Ours, Ours] {
                assert_eq!(taken, orders, "of two of ours one always gets it");
            }
        }
    }
}

#[test]
fn a_protocol_without_the_second_look_is_found_out() {
    use Locker::{Careless, Ours, Pulumi};
    for lockers in [[Careless, Careless], [Careless, Pulumi], [Ours, Careless]] {
        let (_, _, violation) = every_order(BlobCapabilities::all(), &lockers);
        assert!(violation.is_some_and(|what| what.contains("hold the lock")), "{lockers:?}");
    }
}

/// Also while time passes, so that leases end and are taken over or renewed.
#[test]
fn three_lockers_never_hold_the_lock_together_in_random_orders() {
    use Locker::{Heir, Ours, Pulumi};
    let mixes = [
        [Ours, Ours, Ours],
        [Ours, Ours, Pulumi],
        [Ours, Pulumi, Pulumi],
        [Heir, Heir, Pulumi],
        [Heir, Heir, Heir],
        [Heir, Heir, Ours],
    ];
    for can in with_and_without_conditions() {
        let mut taken = 0;
        for seed in 0..600 {
            let mut dice = fastrand::Rng::with_seed(seed);
            let lockers = mixes[usize::try_from(seed).unwrap() % mixes.len()];
            let time_passes = can.conditional_put && seed % 2 == 0;
            let seen = run(can, &lockers, &mut |world, choices| {
                if time_passes && dice.u8(..12) == 0 {
                    world.clock.advance(LEASE / 2 + Duration::from_secs(1));
                }
                dice.usize(..choices)
            });
            assert_eq!(seen.violation, None, "{lockers:?}, seed {seed}");
            taken += usize::from(seen.taken > 0);
        }
        assert!(taken > 100, "{taken}");
    }
}
