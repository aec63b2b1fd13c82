//! The error of managers.

use groundstate_pulumi_deployment::SecretsError;
use groundstate_pulumi_integrity::{IntegrityError, NormalizeError};
use groundstate_pulumi_journal::{OperationId, RecordError, ReplayError};
use groundstate_pulumi_snapshot::Urn;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What managers return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be recorded or written. What the engine told before still counts, and so does this, unless the
/// variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The manager was closed before.
    #[error("snapshot manager closed")]
    Closed,
    /// The journal was closed before.
    #[error("journal is already closed")]
    JournalClosed,
    /// The engine's step is invalid; it does not count.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A step begins before one that it depends on has ended; it does not count.
    #[error(
        "the step of {urn} begins before that of {before} has ended, which it depends on; wait for that one"
    )]
    Overtakes {
        /// What the step is about.
        urn: Urn,
        /// What it depends on.
        before: Urn,
    },
    /// Names cannot be brought up to date.
    #[error("failed to normalize URN references: {0}")]
    Normalize(#[from] NormalizeError),
    /// The entries do not give a snapshot.
    #[error("failed to create snapshot: {0}")]
    Replay(#[from] ReplayError),
    /// Secrets cannot be encrypted.
    #[error("failed to serialize journal entry: {0}")]
    Seal(#[from] SecretsError),
    /// The snapshot could not be stored.
    #[error("failed to save snapshot: {0}")]
    Save(#[source] BoxError),
    /// The snapshot was stored, and is broken.
    #[error("failed to verify snapshot: {0}")]
    Integrity(Box<IntegrityError>),
    /// The journal could not be stored, so that nothing later can count: the engine must stop.
    #[error("failed to append to the journal: {0}")]
    Append(String),
    /// An entry that was not waited for could not be stored, and this one speaks of it.
    #[error("dependent elided entry (operation {operation}) failed: {cause}")]
    Elided {
        /// The operation that the entry belongs to.
        operation: OperationId,
        /// Why it could not be stored.
        cause: String,
    },
}

impl Error {
    /// The integrity error of a snapshot that was stored nevertheless.
    pub fn integrity(&self) -> Option<&IntegrityError> {
        match self {
            Self::Integrity(error) => Some(error),
            _ => None,
        }
    }
}
