//! Why a journal cannot be replayed.

use groundstate_pulumi_integrity::NormalizeError;

use crate::entry::EntryKind;
use crate::ids::{OperationId, SequenceId};

/// Why an entry is refused, or the entries together have no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// An entry has no place among the others.
    #[error("a journal entry of kind {kind} has no sequence ID, so its place among the others is not known")]
    NoSequence {
        /// What the entry is.
        kind: EntryKind,
    },
    /// An entry of a kind that is not known.
    #[error("journal entry {sequence} has the unknown kind {kind}; replay it with a newer version")]
    UnknownKind {
        /// The entry.
        sequence: SequenceId,
        /// The number of its kind.
        kind: u64,
    },
    /// An entry lacks what its kind is about.
    #[error("journal entry {sequence} of kind {kind} has no {what}")]
    Incomplete {
        /// The entry.
        sequence: SequenceId,
        /// What the entry is.
        kind: EntryKind,
        /// What is missing.
        what: &'static str,
    },
    /// Two entries have one number and differ.
    #[error(
        "there are two different journal entries {sequence}; they come from two updates, so replay one of them"
    )]
    Conflict {
        /// The number.
        sequence: SequenceId,
    },
    /// Two entries begin one operation.
    #[error("journal entry {second} begins operation {operation}, which entry {first} has begun already")]
    BeganTwice {
        /// The operation.
        operation: OperationId,
        /// The entry that is known.
        first: SequenceId,
        /// The entry that is refused.
        second: SequenceId,
    },
    /// Two entries end one operation.
    #[error("journal entry {second} ends operation {operation}, which entry {first} has ended already")]
    EndedTwice {
        /// The operation.
        operation: OperationId,
        /// The entry that is known.
        first: SequenceId,
        /// The entry that is refused.
        second: SequenceId,
    },
    /// The base is exchanged although entries speak of the one before.
    #[error(
        "journal entry {write} writes another base, but entry {step} before it speaks of the base there was"
    )]
    LateWrite {
        /// The entry that has the new base.
        write: SequenceId,
        /// The first entry that must not stand before it.
        step: SequenceId,
    },
    /// The base was rebuilt with new resources in it, and yet there are further entries.
    #[error(
        "journal entry {sequence} rebuilds the base with {resources} new resources, so it has to be the last one, \
         but entry {next} follows"
    )]
    RebuiltNotLast {
        /// The entry that rebuilds the base.
        sequence: SequenceId,
        /// How many resources are new.
        resources: usize,
        /// The entry after it.
        next: SequenceId,
    },
    /// An entry speaks of a resource that the base does not have.
    #[error(
        "journal entry {sequence} speaks of resource {index} of the base, which has {resources}; \
         the journal belongs to another base"
    )]
    IndexOutOfRange {
        /// The entry.
        sequence: SequenceId,
        /// The index.
        index: u64,
        /// How many resources the base has.
        resources: usize,
    },
    /// The names in the result cannot be brought up to date.
    #[error("failed to normalize URN references: {0}")]
    Normalize(#[from] NormalizeError),
}
