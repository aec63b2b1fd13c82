//! Damage beside the states that the operations of a store cannot mend: stale digests, locks without a holder.

use std::fmt;

use async_trait::async_trait;
use groundstate_statemgr::{Result, WorkspaceName};

/// Looks for damage that a back end's own programs leave behind, and mends it when it is told to.
///
/// Nothing is mended by looking.
#[async_trait]
pub trait Upkeep: fmt::Debug + Send + Sync + 'static {
    /// What is wrong around the state of a workspace; nothing, if all is well.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, `Denied`, `Unavailable`.
    async fn inspect(&self, workspace: &WorkspaceName) -> Result<Vec<Damage>>;

    /// Mends damage of one kind, and says what was done.
    ///
    /// # Errors
    ///
    /// `NotFound` when there is no such damage, `Unsupported` when this back end has none of the kind, `Locked` when
    /// somebody is at work there, `Denied`, `Unavailable`.
    async fn mend(&self, workspace: &WorkspaceName, kind: DamageKind) -> Result<String>;
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Which kind it is.
    pub kind: DamageKind,
    /// What is wrong, in a sentence that names the place.
    pub message: String,
}

impl Damage {
    /// Damage of a kind, in words.
    pub fn new(kind: DamageKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DamageKind {
    /// The digest beside a state is not that of the state, so that Terraform refuses to read it.
    StaleDigest,
    /// Something is locked by nobody who could be named, so that nobody can unlock it.
    LockWithoutHolder,
}
