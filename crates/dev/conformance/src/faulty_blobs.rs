//! Blobs in memory that record the calls they get, and fail those that a test plans.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseDuration, LeaseId, Leases, ListOptions, MemoryBlobs, Op, Page, Precondition, PutOptions,
    Result,
};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It fails before its effect, with `Unavailable`.
    Refuse,
    /// It has no effect, and the caller cannot know: a change is `Ambiguous`.
    LoseRequest,
    /// It has its effect, and the caller cannot know: a change is `Ambiguous`.
    LoseAnswer,
    /// It has its effect, and no answer ever comes.
    NeverAnswer,
    /// It and all calls after it are refused.
    Down,
    /// It is denied.
    Deny,
}

impl Fault {
    /// All that give an answer.
    pub const ANSWERED: [Self; 5] =
        [Self::Refuse, Self::LoseRequest, Self::LoseAnswer, Self::Down, Self::Deny];
}

/// Blobs in memory with planned faults. Clones share the blobs, the plan and the record.
///
/// ```
/// use groundstate_blobs::{BlobStore, ErrorKind, GetOptions, Key, MemoryBlobs, PutOptions};
/// use groundstate_conformance::{Fault, FaultyBlobs, block_on};
///
/// let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
/// let key = Key::parse("a")?;
/// blobs.fail_at(1, Fault::LoseAnswer);
/// assert!(block_on(blobs.head(&key))?.is_none());
/// let lost = block_on(blobs.put(&key, "1".into(), &PutOptions::default())).unwrap_err();
/// assert_eq!(lost.kind(), ErrorKind::Ambiguous);
/// assert!(block_on(blobs.get(&key, &GetOptions::default()))?.is_some(), "it was written nevertheless");
/// assert_eq!(blobs.calls(), ["head", "put", "get"]);
/// # Ok::<(), groundstate_blobs::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FaultyBlobs {
    blobs: MemoryBlobs,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug, Default)]
struct Plan {
    calls: Vec<&'static str>,
    at: Option<(usize, Fault)>,
    /// For the next writes, the last one first.
    puts: Vec<Fault>,
    meanwhile: Option<(usize, Key, Bytes)>,
    /// Calls for which there is no permission.
    denied: Vec<&'static str>,
}

impl Plan {
    /// Records a call and says what is to happen to it.
    fn next(&mut self, call: &'static str) -> Option<Fault> {
        let number = self.calls.len();
        self.calls.push(call);
        let planned = if call == "put" { self.puts.pop() } else { None };
        let planned = planned.or(self.denied.contains(&call).then_some(Fault::Deny));
        let hits = |at: usize, fault| number == at || number > at && fault == Fault::Down;
        planned.or(self.at.filter(|(at, fault)| hits(*at, *fault)).map(|(_, fault)| fault))
    }
}

impl FaultyBlobs {
    /// The blobs, with nothing planned.
    pub fn new(blobs: MemoryBlobs) -> Self {
        Self { blobs, plan: Arc::default() }
    }

    /// The blobs without faults.
    pub fn inner(&self) -> &MemoryBlobs {
        &self.blobs
    }

    /// Plans a fault for the call of this number from now on, counted from zero, whatever it is.
    pub fn fail_at(&self, number: usize, fault: Fault) {
        let mut plan = self.plan();
        plan.calls.clear();
        plan.at = Some((number, fault));
    }

    /// Plans faults for the next calls of `put`, first to last.
    pub fn fail_puts(&self, faults: &[Fault]) {
        self.plan().puts = faults.iter().rev().copied().collect();
    }

    /// Denies every call of these names from now on, such as `list` and `delete`, and no others.
    pub fn deny(&self, calls: &[&'static str]) {
        self.plan().denied = calls.to_vec();
    }

    /// Lets another client store this before the call of this number from now on.
    pub fn meanwhile(&self, number: usize, key: Key, bytes: Bytes) {
        let mut plan = self.plan();
        plan.calls.clear();
        plan.meanwhile = Some((number, key, bytes));
    }

    /// The calls since the last time, in order, such as `get` and `put`.
    pub fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.plan().calls)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries a call out, or not.
    async fn carry_out<T>(
        &self,
        call: &'static str,
        changes: bool,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let others = {
            let mut plan = self.plan();
            let number = plan.calls.len();
            plan.meanwhile.take_if(|(at, _, _)| *at == number)
        };
        if let Some((_, key, bytes)) = others {
            self.blobs.put(&key, bytes, &PutOptions::default()).await?;
        }
        let error = |kind| Err(Error::new(kind, Op::Other(call), &self.blobs));
        let lost = if changes { ErrorKind::Ambiguous } else { ErrorKind::Unavailable };
        let fault = self.plan().next(call);
        match fault {
            None => work.await,
            Some(Fault::Refuse | Fault::Down) => error(ErrorKind::Unavailable),
            Some(Fault::Deny) => error(ErrorKind::Denied),
            Some(Fault::LoseRequest) => error(lost),
            Some(Fault::LoseAnswer) => work.await.and_then(|_| error(lost)),
            Some(Fault::NeverAnswer) => {
                work.await?;
                std::future::pending().await
            }
        }
    }
}

impl fmt::Display for FaultyBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for FaultyBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.carry_out("get", false, self.blobs.get(key, options)).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.carry_out("head", false, self.blobs.head(key)).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.carry_out("put", true, self.blobs.put(key, bytes, options)).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.carry_out("delete", true, self.blobs.delete(key, options)).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.carry_out("list", false, self.blobs.list(prefix, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.blobs.leases().map(|_| self as &dyn Leases)
    }
}

#[async_trait]
impl Leases for FaultyBlobs {
    async fn acquire(&self, key: &Key, id: &LeaseId, duration: LeaseDuration) -> Result<()> {
        self.carry_out("acquire", true, Leases::acquire(&self.blobs, key, id, duration)).await
    }

    async fn renew(&self, key: &Key, id: &LeaseId) -> Result<()> {
        self.carry_out("renew", true, Leases::renew(&self.blobs, key, id)).await
    }

    async fn release(&self, key: &Key, id: &LeaseId) -> Result<()> {
        self.carry_out("release", true, Leases::release(&self.blobs, key, id)).await
    }

    async fn break_lease(&self, key: &Key) -> Result<bool> {
        self.carry_out("break", true, Leases::break_lease(&self.blobs, key)).await
    }

    async fn set_metadata(
        &self,
        key: &Key,
        metadata: &BTreeMap<String, String>,
        precondition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<BlobVersion> {
        self.carry_out("describe", true, self.blobs.set_metadata(key, metadata, precondition, lease)).await
    }

    async fn snapshot(&self, key: &Key, lease: Option<&LeaseId>) -> Result<String> {
        self.carry_out("snapshot", true, Leases::snapshot(&self.blobs, key, lease)).await
    }
}
