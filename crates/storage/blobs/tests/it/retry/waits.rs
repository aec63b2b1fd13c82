//! How often, how long, and after which errors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseDuration, Leases, ListOptions, MemoryBlobs, Op, Page, Precondition, PutOptions, Result, Retry,
    RetryPolicy,
};
use groundstate_conformance::{Fault, block_on};

use super::{Waits, context, key, lease, seed, stores, with_attempts};

/// A service that refuses everything for one reason, and may say when to come back.
#[derive(Clone, Debug)]
struct Busy {
    kind: ErrorKind,
    asks: Option<Duration>,
    calls: Arc<AtomicU32>,
}

impl Busy {
    fn new(kind: ErrorKind, asks: Option<Duration>) -> Self {
        Self { kind, asks, calls: Arc::default() }
    }

    fn refuse<T>(&self, op: Op) -> Result<T> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let error = Error::new(self.kind, op, self);
        Err(self.asks.into_iter().fold(error, Error::with_retry_after))
    }
}

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("busy://b")
    }
}

#[async_trait]
impl BlobStore for Busy {
    fn capabilities(&self) -> BlobCapabilities {
        BlobCapabilities::none()
    }

    async fn get(&self, _: &Key, _: &GetOptions) -> Result<Option<Blob>> {
        self.refuse(Op::Read)
    }

    async fn head(&self, _: &Key) -> Result<Option<BlobMeta>> {
        self.refuse(Op::LookAt)
    }

    async fn put(&self, _: &Key, _: Bytes, _: &PutOptions) -> Result<BlobVersion> {
        self.refuse(Op::Write)
    }

    async fn delete(&self, _: &Key, _: &DeleteOptions) -> Result<bool> {
        self.refuse(Op::Delete)
    }

    async fn list(&self, _: &str, _: &ListOptions) -> Result<Page> {
        self.refuse(Op::List)
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

fn policy() -> RetryPolicy {
    RetryPolicy::default().delays(Duration::from_secs(1), Duration::from_secs(4))
}

/// The waits in milliseconds between attempts on a store that never answers.
fn waits(policy: RetryPolicy, dice: Option<u8>, asks: Option<Duration>) -> Vec<u128> {
    let waits = Waits::default();
    let store = Retry::new(Busy::new(ErrorKind::Throttled, asks), policy, context(&waits, dice));
    assert_eq!(block_on(store.head(&key())).unwrap_err().kind(), ErrorKind::Throttled);
    let waits: Vec<_> = waits.take().iter().map(Duration::as_millis).collect();
    assert_eq!(store.inner().calls.load(Ordering::Relaxed) as usize, waits.len() + 1);
    waits
}

#[test]
fn waits_double_up_to_the_longest_and_half_of_each_is_random() {
    let six = policy().attempts(6);
    assert_eq!(waits(six, Some(0), None), [500, 1000, 2000, 2000, 2000]);
    assert_eq!(waits(six, Some(0xff), None), [1000, 2000, 4000, 4000, 4000]);
    assert_eq!(
        waits(six, None, None),
        [1000, 2000, 4000, 4000, 4000],
        "without a random number, the longest wait"
    );
}

#[test]
fn the_default_is_five_attempts_in_about_six_seconds() {
    assert_eq!(waits(RetryPolicy::default(), Some(0xff), None), [400, 800, 1600, 3200]);
}

#[test]
fn one_attempt_and_none_are_a_single_call() {
    for attempts in [0, 1] {
        assert_eq!(waits(policy().attempts(attempts), Some(0), None), [0; 0]);
    }
    assert_eq!(waits(policy().attempts(2), Some(0), None), [500]);
}

#[test]
fn a_service_is_given_the_time_it_asks_for_and_the_random_part_on_top() {
    let three = policy().attempts(3);
    let asks = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(waits(three, Some(0), asks(7)), [7000, 7000]);
    assert_eq!(waits(three, Some(0xff), asks(7)), [7500, 8000]);
    assert_eq!(waits(three, Some(0), asks(0)), [500, 1000], "no less than would be waited anyway");
    assert_eq!(waits(three, Some(0), asks(60)), [60_000, 60_000]);
    assert_eq!(waits(three, Some(0), asks(61)), [0; 0], "more than a minute is not waited");
    assert_eq!(waits(three.longest_asked(Duration::from_secs(90)), Some(0), asks(61)), [61_000, 61_000]);
}

#[test]
fn only_errors_that_time_may_heal_are_repeated() {
    let cases = [
        (ErrorKind::Throttled, true),
        (ErrorKind::Unavailable, true),
        (ErrorKind::Ambiguous, true),
        (ErrorKind::NotFound, false),
        (ErrorKind::PreconditionFailed, false),
        (ErrorKind::NotModified, false),
        (ErrorKind::LeaseHeld, false),
        (ErrorKind::LeaseLost, false),
        (ErrorKind::Denied, false),
        (ErrorKind::Unauthenticated, false),
        (ErrorKind::WrongRegion, false),
        (ErrorKind::ClockSkew, false),
        (ErrorKind::Unsupported, false),
        (ErrorKind::LimitExceeded, false),
        (ErrorKind::Invalid, false),
        (ErrorKind::Corrupt, false),
        (ErrorKind::Internal, false),
    ];
    for (kind, repeated) in cases {
        let store =
            Retry::new(Busy::new(kind, None), policy().attempts(4), context(&Waits::default(), Some(0)));
        let key = key();
        let read = block_on(store.get(&key, &GetOptions::default())).map(drop);
        let looked = block_on(store.head(&key)).map(drop);
        let wrote = block_on(store.put(&key, "1".into(), &PutOptions::default())).map(drop);
        let deleted = block_on(store.delete(&key, &DeleteOptions::default())).map(drop);
        let listed = block_on(store.list("", &ListOptions::default())).map(drop);
        for outcome in [read, looked, wrote, deleted, listed] {
            assert_eq!(outcome.unwrap_err().kind(), kind);
        }
        let calls = if repeated { 20 } else { 5 };
        assert_eq!(store.inner().calls.load(Ordering::Relaxed), calls, "{kind:?}");
    }
}

#[test]
fn reads_and_lists_succeed_once_the_service_answers_again() -> Result<()> {
    let (faulty, store) = stores(MemoryBlobs::new("m"));
    seed(&faulty, "1");
    for fault in [Fault::Refuse, Fault::LoseAnswer] {
        faulty.fail_at(0, fault);
        assert_eq!(&block_on(store.get(&key(), &GetOptions::default()))?.unwrap().bytes[..], b"1");
        assert_eq!(faulty.calls(), ["get", "get"]);
        faulty.fail_at(0, fault);
        assert_eq!(block_on(store.head(&key()))?.unwrap().size, 1);
        assert_eq!(faulty.calls(), ["head", "head"]);
        faulty.fail_at(0, fault);
        assert_eq!(block_on(store.list("", &ListOptions::default()))?.blobs.len(), 1);
        assert_eq!(faulty.calls(), ["list", "list"]);
    }
    Ok(())
}

#[test]
fn every_operation_gives_up_with_the_error_of_the_last_attempt() {
    let (faulty, store) = with_attempts(MemoryBlobs::new("m"), 3);
    seed(&faulty, "1");
    let leases = store.leases().unwrap();
    let (key, id) = (key(), lease('0'));
    let down = |call: &str, outcome: Result<()>| {
        assert_eq!(
            outcome.unwrap_err().to_string(),
            format!("cannot {call} memory://m: the service is not available")
        );
        assert_eq!(faulty.calls(), [call; 3]);
        faulty.fail_at(0, Fault::Down);
    };
    faulty.fail_at(0, Fault::Down);
    down("get", block_on(store.get(&key, &GetOptions::default())).map(drop));
    down("head", block_on(store.head(&key)).map(drop));
    down("list", block_on(store.list("", &ListOptions::default())).map(drop));
    down("put", block_on(store.put(&key, "2".into(), &PutOptions::default())).map(drop));
    down(
        "put",
        block_on(store.put(&key, "2".into(), &PutOptions::expecting(Precondition::Absent))).map(drop),
    );
    down("delete", block_on(store.delete(&key, &DeleteOptions::default())).map(drop));
    down("acquire", block_on(leases.acquire(&key, &id, LeaseDuration::Infinite)));
    down("renew", block_on(leases.renew(&key, &id)));
    down("release", block_on(leases.release(&key, &id)));
    down("break", block_on(leases.break_lease(&key)).map(drop));
    down("snapshot", block_on(leases.snapshot(&key, None)).map(drop));
    let none = BTreeMap::new();
    down("describe", block_on(leases.set_metadata(&key, &none, &Precondition::Any, None)).map(drop));
}

#[test]
fn the_store_inside_shows_through() {
    let limited = MemoryBlobs::new("m").limited_to(BlobCapabilities::none());
    let (_, store) = stores(limited.clone());
    assert_eq!((store.to_string(), store.capabilities()), (limited.to_string(), BlobCapabilities::none()));
    assert!(store.leases().is_none());
    assert!(stores(MemoryBlobs::new("m")).1.leases().is_some());
    let leases: &dyn Leases = &store;
    let error = block_on(leases.renew(&key(), &lease('0'))).unwrap_err();
    assert_eq!(error.to_string(), "cannot lease memory://m: the store has no leases");
}
