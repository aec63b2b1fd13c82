//! Blobs in memory whose requests take turns, fail, get lost and arrive late, all by a seed.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_versioned::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, Leases, ListOptions, MemoryBlobs, Op, Page, PutOptions, Result,
};

/// A work that runs beside others.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Random numbers from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Arc<Mutex<u64>>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635)))
    }

    /// A number below `limit`.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    pub(crate) fn chance(&self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}

/// Runs works in an order that the dice decide: after each request another one may go on.
pub(crate) fn run_in_random_order(dice: &Dice, mut tasks: Vec<Task>) {
    let mut context = Context::from_waker(Waker::noop());
    while !tasks.is_empty() {
        let at = usize::try_from(dice.below(tasks.len() as u64)).unwrap();
        if tasks[at].as_mut().poll(&mut context).is_ready() {
            drop(tasks.swap_remove(at));
        }
    }
}

/// How often requests go wrong, in a thousand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trouble {
    pub(crate) refuse: u64,
    pub(crate) lose_request: u64,
    pub(crate) lose_answer: u64,
    /// The answer is lost, and the request is carried out later, if its condition holds then.
    pub(crate) late: u64,
    /// A proxy sends it twice, and gives the answer to the second.
    pub(crate) twice: u64,
}

impl Trouble {
    pub(crate) const EVERYTHING: Self =
        Self { refuse: 20, lose_request: 30, lose_answer: 50, late: 50, twice: 50 };
}

#[derive(Clone, Debug)]
pub(crate) struct Chaos {
    blobs: MemoryBlobs,
    dice: Dice,
    trouble: Trouble,
    late: Arc<Mutex<Vec<(Key, Bytes, PutOptions)>>>,
}

impl Chaos {
    pub(crate) fn new(blobs: MemoryBlobs, dice: Dice, trouble: Trouble) -> Self {
        Self { blobs, dice, trouble, late: Arc::default() }
    }

    /// Carries out what is on its way.
    pub(crate) async fn arrive(&self) {
        let late = std::mem::take(&mut *self.late.lock().unwrap());
        for (key, bytes, options) in late {
            drop(self.blobs.put(&key, bytes, &options).await);
        }
    }

    async fn turn(&self) {
        for _ in 0..self.dice.below(3) {
            let mut waited = false;
            poll_fn(|context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        if self.dice.chance(200) {
            self.arrive().await;
        }
    }

    fn refused<T>(&self, op: Op) -> Option<Result<T>> {
        self.dice.chance(self.trouble.refuse).then(|| Err(Error::new(ErrorKind::Unavailable, op, self)))
    }

    fn lost<T>(&self, op: Op) -> Result<T> {
        Err(Error::new(ErrorKind::Ambiguous, op, self))
    }
}

impl fmt::Display for Chaos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Chaos {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.turn().await;
        match self.refused(Op::Read) {
            Some(refused) => refused,
            None => self.blobs.get(key, options).await,
        }
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.turn().await;
        self.blobs.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.turn().await;
        if let Some(refused) = self.refused(Op::Write) {
            return refused;
        }
        if self.dice.chance(self.trouble.lose_request) {
            return self.lost(Op::Write);
        }
        if self.dice.chance(self.trouble.late) {
            self.late.lock().unwrap().push((key.clone(), bytes, options.clone()));
            return self.lost(Op::Write);
        }
        if self.dice.chance(self.trouble.twice) {
            drop(self.blobs.put(key, bytes.clone(), options).await);
            self.turn().await;
        }
        let written = self.blobs.put(key, bytes, options).await?;
        self.turn().await;
        if self.dice.chance(self.trouble.lose_answer) { self.lost(Op::Write) } else { Ok(written) }
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.turn().await;
        match self.refused(Op::Delete) {
            Some(refused) => refused,
            None => self.blobs.delete(key, options).await,
        }
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.turn().await;
        // Short pages, so that the rest of a list is from a later time.
        let options = options.clone().limit(3);
        match self.refused(Op::List) {
            Some(refused) => refused,
            None => self.blobs.list(prefix, &options).await,
        }
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
