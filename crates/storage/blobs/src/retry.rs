//! A store that is asked again, and recognises what it wrote itself.

use std::fmt;
use std::iter::Take;
use std::time::Duration;

use bytes::Bytes;
use groundstate_common::{Backoff, jittered};
use tracing::{Span, debug};

use crate::blob::Blob;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::op::Op;
use crate::options::{DeleteOptions, GetOptions, Precondition, PutOptions};
use crate::store::BlobStore;
use crate::version::BlobVersion;

mod leases;
mod operations;

/// How often to try, and how long to wait between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of attempts, the first included; zero counts as one.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles each time. Half of every wait is random.
    pub first_delay: Duration,
    /// The longest wait that is our own choice.
    pub longest_delay: Duration,
    /// The longest wait that a service may ask for by `Retry-After`. If it asks for more, there is no further attempt.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    /// Five attempts in about six seconds.
    fn default() -> Self {
        Self {
            attempts: 5,
            first_delay: Duration::from_millis(400),
            longest_delay: Duration::from_secs(8),
            longest_asked: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// Sets the number of attempts.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the first and the longest wait.
    #[must_use]
    pub fn delays(mut self, first: Duration, longest: Duration) -> Self {
        self.first_delay = first;
        self.longest_delay = longest;
        self
    }

    /// Sets the longest wait that a service may ask for.
    #[must_use]
    pub fn longest_asked(mut self, longest: Duration) -> Self {
        self.longest_asked = longest;
        self
    }
}

/// Repeats what fails because the service does not answer, and finds out what happened when an answer got lost.
///
/// A conditional write whose answer got lost may have been carried out. A client that only repeats it is refused by its own
/// write, and takes it for another client's. This one reads back: if bytes and metadata are its own, the write has happened, and
/// its version is adopted; if what was expected is still there, the write is repeated; anything else is a
/// `PreconditionFailed` that carries what was found. Refusals are looked at in the same way, since a request may arrive
/// twice without anybody here knowing.
#[derive(Clone, Debug)]
pub struct Retry<S> {
    store: S,
    policy: RetryPolicy,
    context: Context,
}

impl<S> Retry<S> {
    /// The store, asked again as the policy says.
    pub fn new(store: S, policy: RetryPolicy, context: Context) -> Self {
        Self { store, policy, context }
    }

    /// The store inside, where every operation is one attempt.
    pub fn inner(&self) -> &S {
        &self.store
    }

    fn attempts(&self) -> Attempts<'_> {
        Attempts {
            made: 0,
            waits: Backoff::new(self.policy.first_delay, self.policy.longest_delay)
                .take(self.policy.attempts.max(1) as usize - 1),
            policy: &self.policy,
            context: &self.context,
        }
    }
}

/// Counts the attempts of one operation and waits between them.
struct Attempts<'a> {
    made: u32,
    waits: Take<Backoff>,
    policy: &'a RetryPolicy,
    context: &'a Context,
}

impl Attempts<'_> {
    /// Waits before the next attempt, at least for as long as the service asks for; `false` if there is none.
    async fn next(&mut self, error: &Error) -> bool {
        let asked = error.retry_after().unwrap_or_default();
        if asked > self.policy.longest_asked {
            return false;
        }
        let Some(delay) = self.waits.next() else { return false };
        // Without a random number everybody waits the same time, which is all that is lost.
        let share = self.context.ids.number().unwrap_or(u32::MAX);
        let jitter = jittered(delay, share) - delay / 2;
        // Many may have been told the same time, so the random part comes on top.
        let delay = asked.max(delay / 2) + jitter;
        self.made += 1;
        let attempt = self.made + 1;
        debug!(attempt, delay = delay.as_secs_f64(), error = ?error.kind(), "waiting before another attempt");
        self.context.sleeper.sleep(delay).await;
        Span::current().record("attempt", attempt);
        true
    }
}

/// Evaluates a call that changes nothing until it gives something other than a transient error.
macro_rules! again {
    ($self:expr, $call:expr) => {{
        let mut attempts = $self.attempts();
        loop {
            match $call.await {
                Err(error) if (error.kind().is_transient() || error.kind() == ErrorKind::Ambiguous) => {
                    if !attempts.next(&error).await {
                        return Err(error);
                    }
                }
                outcome => return outcome,
            }
        }
    }};
}
pub(crate) use again;

/// Whether a content is what was sent: its bytes and its metadata, by which equal bytes of two writers can be told apart.
fn is_ours(blob: &Blob, bytes: &Bytes, options: &PutOptions) -> bool {
    let kept = &blob.meta.attributes.metadata;
    blob.bytes == *bytes
        && options.attributes.metadata.iter().all(|(name, value)| kept.get(name) == Some(value))
}

/// What a look at the store says of a write whose outcome is in doubt.
enum Found {
    /// It has happened.
    Ours(BlobVersion),
    /// What was expected is still there.
    Expected,
    /// Something else is, or nothing.
    Other(Option<Blob>),
}

impl<S: BlobStore> Retry<S> {
    async fn look(&self, key: &Key, bytes: &Bytes, options: &PutOptions) -> Result<Found> {
        let read = GetOptions::default().role(options.role);
        let blob = again_inner(self, key, &read).await?;
        Ok(match blob {
            Some(blob) if is_ours(&blob, bytes, options) => Found::Ours(blob.meta.version),
            blob if options.precondition.is_met_by(blob.as_ref().map(Blob::version)) => Found::Expected,
            blob => Found::Other(blob),
        })
    }

    /// Decides what a doubtful outcome of a conditional write was. `Ok(None)` asks for another attempt.
    async fn settle(
        &self,
        key: &Key,
        bytes: &Bytes,
        options: &PutOptions,
        error: Error,
    ) -> Result<Option<BlobVersion>> {
        match self.look(key, bytes, options).await {
            Ok(Found::Ours(version)) => Ok(Some(version)),
            // A refusal though the expected is there: it came meanwhile. A lost answer: it was not carried out.
            Ok(Found::Expected) if error.kind() == ErrorKind::PreconditionFailed => Err(error),
            Ok(Found::Expected) => Ok(None),
            Ok(Found::Other(found)) => {
                let there =
                    found.as_ref().map_or_else(|| "nothing".to_owned(), |blob| blob.version().to_string());
                Err(Error::new(ErrorKind::PreconditionFailed, error.op(), error.target())
                    .because(format!("{there} is stored where {} was expected", options.precondition))
                    .with_found(found)
                    .with_source(error))
            }
            // The outcome is unknown, so the first error is returned: a refusal is certain, and a lost answer remains one.
            Err(_) => Err(error),
        }
    }
}

async fn again_inner<S: BlobStore>(
    retry: &Retry<S>,
    key: &Key,
    options: &GetOptions,
) -> Result<Option<Blob>> {
    again!(retry, retry.store.get(key, options))
}

impl<S: fmt::Display> fmt::Display for Retry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: BlobStore> Retry<S> {
    async fn put_again(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        let mut attempts = self.attempts();
        let mut in_doubt = !options.contended;
        loop {
            let error = match self.store.put(key, bytes.clone(), options).await {
                Ok(version) => return Ok(version),
                Err(error) => error,
            };
            in_doubt |= error.kind() == ErrorKind::Ambiguous;
            let is_conditional = options.precondition != Precondition::Any;
            match error.kind() {
                ErrorKind::PreconditionFailed if !in_doubt => return Err(error),
                ErrorKind::Ambiguous | ErrorKind::PreconditionFailed if is_conditional => {
                    let is_certain = error.kind() == ErrorKind::PreconditionFailed;
                    // What lies between sending and this look may still arrive, so a lost answer is waited for first.
                    if !is_certain && !attempts.next(&error).await {
                        return match self.settle(key, &bytes, options, error).await? {
                            Some(version) => Ok(version),
                            None => Err(unknown(Op::Write, format!("{self}/{key}"))),
                        };
                    }
                    if let Some(version) = self.settle(key, &bytes, options, error).await? {
                        return Ok(version);
                    }
                }
                kind if kind.is_transient() || kind == ErrorKind::Ambiguous => {
                    if !attempts.next(&error).await {
                        return Err(error);
                    }
                }
                _ => return Err(error),
            }
        }
    }

    async fn delete_again(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        let mut attempts = self.attempts();
        let mut was_lost = false;
        loop {
            match self.store.delete(key, options).await {
                // It may have been this one's earlier attempt that removed it.
                Ok(was_there) => return Ok(was_there || was_lost),
                Err(error) if error.kind().is_transient() || error.kind() == ErrorKind::Ambiguous => {
                    was_lost |= error.kind() == ErrorKind::Ambiguous;
                    if !attempts.next(&error).await {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn unknown(op: Op, place: String) -> Error {
    Error::new(ErrorKind::Ambiguous, op, place)
}
