//! The digest of a state that is kept apart from it, so that a reader finds out when a store gives it an old state.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, Sleeper};
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statemgr::{Error, ErrorKind, Op, Result};
use tracing::debug;

use crate::document::md5_hex;

/// How long a reader waits for state and digest to agree, as the original does.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it waits between two looks.
const PAUSE: Duration = Duration::from_secs(2);
/// How often the digest is written before its state counts as stored without it.
const TRIES: u32 = 3;

/// The place of one state's digest. `Display` names it, such as `the row b/k-md5 of the table locks`.
#[async_trait]
pub trait DigestRow: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// The digest, as it stands there.
    ///
    /// # Errors
    ///
    /// `Denied`, `Unavailable`, `NotFound` for a missing table.
    async fn get(&self) -> Result<Option<String>>;

    /// Replaces the digest.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get), and `Ambiguous`.
    async fn put(&self, digest: &str) -> Result<()>;

    /// Removes the digest; where there is none that succeeds.
    ///
    /// # Errors
    ///
    /// Those of [`put`](Self::put).
    async fn delete(&self) -> Result<()>;
}

/// A state's digest, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Digests {
    row: Arc<dyn DigestRow>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
    timeout: Duration,
    pause: Duration,
}

/// What a repair of the digest has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairedDigest {
    /// Where the digest stands, in words.
    pub row: String,
    /// What stood there.
    pub before: Option<String>,
    /// What stands there now; nothing where there is no state.
    pub now: Option<String>,
}

impl RepairedDigest {
    /// Whether anything was written.
    pub fn changed(&self) -> bool {
        self.before != self.now
    }
}

/// Whether to take a state for the current one.
pub(crate) enum Verdict {
    Current,
    /// Read it again, some time has passed.
    Again,
}

impl Digests {
    /// The digest in `row`: readers look every two seconds, for ten.
    pub fn new(row: Arc<dyn DigestRow>, clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { row, clock, sleeper, timeout: PATIENCE, pause: PAUSE }
    }

    /// Sets how long a reader waits for state and digest to agree, and how long between two looks.
    #[must_use]
    pub fn waiting(mut self, timeout: Duration, pause: Duration) -> Self {
        self.timeout = timeout;
        self.pause = pause;
        self
    }

    pub(crate) fn wait(&self) -> Wait<'_> {
        Wait { digests: self, since: self.clock.now() }
    }

    /// Stores the digest of a state that was just written.
    pub(crate) async fn follow(&self, bytes: &[u8], target: &str) -> Result<()> {
        let digest = md5_hex(bytes);
        let Err(error) = self.put(&digest).await else { return Ok(()) };
        let message = format!(
            "the state is stored, but its digest is not, so that the next reader refuses it: repair the digest, or store \
             {digest} in {}; {error}",
            self.row
        );
        Err(Error::new(ErrorKind::Ambiguous, Op::Write, target).because(message).with_source(error))
    }

    /// A write that may have happened has not been followed by its digest.
    pub(crate) fn missed(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Ambiguous {
            return error;
        }
        let message = format!("{}; if it has, the digest in {} has to be repaired", error.reason(), self.row);
        Error::new(error.kind(), error.op(), error.target()).because(message).with_source(error)
    }

    async fn put(&self, digest: &str) -> Result<()> {
        self.persist(|| self.row.put(digest)).await
    }

    /// What stands in the row.
    #[cfg(feature = "dynamodb")]
    pub(crate) async fn stored(&self) -> Result<Option<String>> {
        self.row.get().await
    }

    /// Removes the digest.
    pub(crate) async fn remove(&self) -> Result<()> {
        self.persist(|| self.row.delete()).await
    }

    /// Removes the digest of a state that was just deleted.
    pub(crate) async fn forget(&self, target: &str) -> Result<()> {
        let Err(error) = self.remove().await else { return Ok(()) };
        let message = format!(
            "the state is deleted, but its digest is not, so that the next reader misses the state: repair the digest, or \
             delete {}; {error}",
            self.row
        );
        Err(Error::new(ErrorKind::Ambiguous, Op::Delete, target).because(message).with_source(error))
    }

    /// Repeats what is as good done twice, while there is hope.
    async fn persist<'a, F>(&'a self, mut step: impl FnMut() -> F) -> Result<()>
    where
        F: Future<Output = Result<()>> + 'a,
    {
        let mut tries = 1;
        loop {
            match step().await {
                Err(error)
                    if tries < TRIES
                        && matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Ambiguous) =>
                {
                    tries += 1;
                    debug!(row = self.row.to_string(), attempt = tries, error = ?error.kind(), "writing the digest again");
                    self.sleeper.sleep(self.pause / 2).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// Makes the digest that of these bytes.
    pub(crate) async fn repair(&self, bytes: Option<&[u8]>) -> Result<RepairedDigest> {
        let (before, now) = (self.row.get().await?, bytes.map(md5_hex));
        let repaired = RepairedDigest { row: self.row.to_string(), before, now };
        match &repaired.now {
            _ if !repaired.changed() => {}
            Some(digest) => self.put(digest).await?,
            None => self.remove().await?,
        }
        Ok(repaired)
    }
}

/// A read that goes on until state and digest agree, or the time for that is over.
pub(crate) struct Wait<'a> {
    digests: &'a Digests,
    since: groundstate_common::Timestamp,
}

impl Wait<'_> {
    /// Compares a state, or its absence, with the digest.
    pub(crate) async fn judge(&self, bytes: Option<&[u8]>, target: &str) -> Result<Verdict> {
        let Digests { row, clock, sleeper, timeout, pause } = self.digests;
        let Some(stored) = row.get().await?.filter(|digest| is_digest(digest)) else {
            return Ok(Verdict::Current);
        };
        let computed = bytes.map(md5_hex);
        if computed.as_ref().is_some_and(|digest| digest.eq_ignore_ascii_case(&stored)) {
            return Ok(Verdict::Current);
        }
        let passed = clock.now().duration_since(self.since).unwrap_or_default();
        if passed < *timeout {
            let delay = pause.as_secs_f64();
            debug!(
                place = target,
                row = row.to_string(),
                delay,
                "the digest is of another state, reading again"
            );
            sleeper.sleep(*pause).await;
            return Ok(Verdict::Again);
        }
        let what = match bytes {
            Some(bytes) => format!(
                "is not that of what is stored, {}: a client is about to write, or died before writing the digest, or \
                 something else was stored past the backend",
                described(bytes)
            ),
            None => "is there, but no state is: the state was removed past the backend".to_owned(),
        };
        let message = format!(
            "the digest in {row} {what}; once you know that what is stored is right, repair the digest"
        );
        let computed =
            computed.map_or_else(|| "no state".to_owned(), |digest| format!("a state of digest {digest}"));
        Err(Error::new(ErrorKind::Corrupt, Op::Read, target)
            .because(message)
            .expected_and_found(format!("a state of digest {stored}"), computed))
    }
}

/// What a user has to know of a state to tell whether it is the right one.
fn described(bytes: &[u8]) -> String {
    match decode(bytes, &DecodeOptions::default()) {
        Ok(file) => format!("a whole state of serial {} and lineage {}", file.serial, file.lineage),
        Err(_) => "which is not a whole state".to_owned(),
    }
}

/// The original ignores what is no MD5.
fn is_digest(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
