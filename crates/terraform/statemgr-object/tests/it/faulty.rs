//! Blobs in memory that count what they are asked, and at one request do wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, LeaseDuration, LeaseId, Leases, ListOptions, MemoryBlobs, Op, Page, Precondition, PutOptions,
    Result,
};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is refused, and nothing has happened.
    Refused,
    /// Nothing has happened, and the caller cannot know.
    LostBefore,
    /// It was carried out, and the caller cannot know.
    LostAfter,
    /// It and all that follow are refused.
    Down,
    /// It is denied.
    Denied,
}

pub(crate) const TROUBLES: [Trouble; 5] =
    [Trouble::Refused, Trouble::LostBefore, Trouble::LostAfter, Trouble::Down, Trouble::Denied];

/// A client of blobs in memory.
#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    blobs: MemoryBlobs,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug, Default)]
struct Plan {
    asked: Vec<&'static str>,
    trouble: Option<(usize, Trouble)>,
    meanwhile: Option<(usize, Key, Bytes)>,
}

impl Faulty {
    pub(crate) fn new(blobs: MemoryBlobs) -> Self {
        Self { blobs, plan: Arc::default() }
    }

    /// The request with this number from now on, counted from zero, is in trouble.
    pub(crate) fn trouble(&self, at: usize, trouble: Trouble) {
        let mut plan = self.plan.lock().expect("no thread panics while it holds the lock");
        plan.asked.clear();
        plan.trouble = Some((at, trouble));
    }

    /// Before the request with this number, another client stores this.
    pub(crate) fn meanwhile(&self, at: usize, key: Key, bytes: Bytes) {
        let mut plan = self.plan.lock().expect("no thread panics while it holds the lock");
        plan.asked.clear();
        plan.meanwhile = Some((at, key, bytes));
    }

    /// What was asked since the last time, in order.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.plan.lock().expect("no thread panics while it holds the lock").asked)
    }

    /// Counts a request and says what is to happen to it.
    fn next(&self, what: &'static str) -> Option<Trouble> {
        let mut plan = self.plan.lock().expect("no thread panics while it holds the lock");
        let number = plan.asked.len();
        plan.asked.push(what);
        let (at, trouble) = plan.trouble?;
        (number == at || number > at && trouble == Trouble::Down).then_some(trouble)
    }

    /// Carries a request out, or not.
    async fn carry_out<T>(
        &self,
        what: &'static str,
        changes: bool,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let others = {
            let mut plan = self.plan.lock().expect("no thread panics while it holds the lock");
            let number = plan.asked.len();
            plan.meanwhile.take_if(|(at, _, _)| *at == number)
        };
        if let Some((_, key, bytes)) = others {
            self.blobs.put(&key, bytes, &PutOptions::default()).await?;
        }
        let error = |kind| Err(Error::new(kind, Op::Other("ask"), &self.blobs));
        let lost = if changes { ErrorKind::Ambiguous } else { ErrorKind::Unavailable };
        match self.next(what) {
            None => work.await,
            Some(Trouble::Refused | Trouble::Down) => error(ErrorKind::Unavailable),
            Some(Trouble::Denied) => error(ErrorKind::Denied),
            Some(Trouble::LostBefore) => error(lost),
            Some(Trouble::LostAfter) => match work.await {
                Ok(_) => error(lost),
                Err(error) => Err(error),
            },
        }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Faulty {
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
        Some(self)
    }
}

#[async_trait]
impl Leases for Faulty {
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
