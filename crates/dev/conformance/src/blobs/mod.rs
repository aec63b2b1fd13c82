//! The suite of blob stores: a case or more for every clause of the contract of
//! [`BlobStore`](groundstate_blobs::BlobStore).
//!
//! It stands here and not in the crate of the contract so that nothing of it reaches a program, as with the suite of states.

mod cases;
mod changing;
mod leases;
mod listing;
mod macros;
mod reading;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, Result};

pub use cases::{BLOB_CASES, BlobCase};

use crate::executor::{BoxFuture, block_on};

/// Makes containers for the cases.
#[async_trait]
pub trait BlobHarness: Send + Sync + 'static {
    /// A fresh container: nothing is in it, and no other test uses it.
    ///
    /// # Errors
    ///
    /// When there is none to be had; the case counts as failed.
    async fn container(&self) -> Result<Arc<dyn Container>>;

    /// Runs a future to its end; a store that needs a runtime enters it here.
    fn block_on(&self, future: BoxFuture<'_, ()>) {
        block_on(future);
    }
}

/// One container.
#[async_trait]
pub trait Container: Send + Sync + 'static {
    /// One more client, as another process would open it.
    ///
    /// # Errors
    ///
    /// Those of opening the store.
    async fn open(&self) -> Result<Arc<dyn BlobStore>>;
}

/// Why a case failed.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobFailure {
    /// The name of the case.
    pub case: &'static str,
    /// The clause of the contract that is broken.
    pub clause: &'static str,
    /// What was expected and what was seen.
    pub what: String,
}

impl fmt::Display for BlobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: clause {} of the contract is broken: {}", self.case, self.clause, self.what)
    }
}

impl fmt::Debug for BlobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for BlobFailure {}

/// Runs one case on a fresh container. `Ok` with a text says why the case does not concern the store.
///
/// # Errors
///
/// What the store did instead of what the contract says, and an unknown name.
pub fn check_blobs(
    harness: &dyn BlobHarness,
    name: &str,
) -> std::result::Result<Option<String>, Box<dyn std::error::Error>> {
    let case = BLOB_CASES.iter().find(|case| case.name == name).ok_or("there is no such case")?;
    let mut outcome = None;
    harness.block_on(Box::pin(async {
        outcome = Some(run(harness, case).await);
    }));
    let failure = |what| BlobFailure { case: case.name, clause: case.clause, what };
    match outcome.ok_or("the harness ran nothing")? {
        Ok(()) => Ok(None),
        Err(End::NotApplicable(why)) => Ok(Some(why)),
        Err(End::Failed(what)) => Err(failure(what).into()),
    }
}

async fn run(harness: &dyn BlobHarness, case: &BlobCase) -> Step {
    let container = harness.container().await.map_err(|error| End::Failed(chain(&error)))?;
    (case.run)(Cx { container }).await
}

/// What a case works with.
pub(crate) struct Cx {
    container: Arc<dyn Container>,
}

/// Ends a case before its end.
#[derive(Debug)]
pub(crate) enum End {
    Failed(String),
    NotApplicable(String),
}

pub(crate) type Step<T = ()> = std::result::Result<T, End>;

impl Cx {
    pub(crate) async fn open(&self) -> Step<Arc<dyn BlobStore>> {
        self.container
            .open()
            .await
            .map_err(|error| End::Failed(format!("opening a client: {}", chain(&error))))
    }

    pub(crate) async fn two(&self) -> Step<(Arc<dyn BlobStore>, Arc<dyn BlobStore>)> {
        Ok((self.open().await?, self.open().await?))
    }
}

/// An error with its causes.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

/// What a step expects of an answer.
pub(crate) trait Answer<T>: Sized {
    fn succeeds(self, what: &str) -> Step<T>;
    fn refused(self, kind: groundstate_blobs::ErrorKind, what: &str) -> Step<groundstate_blobs::Error>;
}

impl<T: fmt::Debug> Answer<T> for Result<T> {
    fn succeeds(self, what: &str) -> Step<T> {
        self.map_err(|error| {
            End::Failed(format!("{what} was refused with {:?}: {}", error.kind(), chain(&error)))
        })
    }

    fn refused(self, kind: groundstate_blobs::ErrorKind, what: &str) -> Step<groundstate_blobs::Error> {
        match self {
            Err(error) if error.kind() == kind => Ok(error),
            Err(error) => Err(End::Failed(format!(
                "{what}: {kind:?} was expected, not {:?}: {}",
                error.kind(),
                chain(&error)
            ))),
            Ok(answer) => {
                Err(End::Failed(format!("{what}: {kind:?} was expected, but it succeeded with {answer:?}")))
            }
        }
    }
}

/// Goes on if both are the same.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(what: &str, seen: &T, expected: &T) -> Step {
    if seen == expected {
        Ok(())
    } else {
        Err(End::Failed(format!("{what}: {expected:?} was expected, not {seen:?}")))
    }
}

/// Goes on if the condition holds.
pub(crate) fn ensure(holds: bool, expected: &str) -> Step {
    if holds { Ok(()) } else { Err(End::Failed(format!("expected: {expected}"))) }
}

/// Goes on if the store can do it.
pub(crate) fn needs(can: bool, what: &str) -> Step {
    if can { Ok(()) } else { Err(End::NotApplicable(format!("the store has no {what}"))) }
}

/// Runs all futures at the same time.
pub(crate) async fn together<T>(futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Some(future), None)).collect();
    std::future::poll_fn(move |context| {
        let mut is_done = true;
        for (future, output) in &mut futures {
            if let Some(running) = future {
                match running.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => (*future, *output) = (None, Some(value)),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done {
            let outputs = futures.iter_mut().filter_map(|(_, output)| output.take()).collect();
            return std::task::Poll::Ready(outputs);
        }
        std::task::Poll::Pending
    })
    .await
}
