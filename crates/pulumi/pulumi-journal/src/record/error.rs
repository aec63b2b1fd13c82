//! Why something cannot be recorded.

use groundstate_pulumi_snapshot::Urn;

use crate::engine::StepKind;

/// Why something cannot be recorded. These are faults of the engine; the journal stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A step lacks a state that its kind is about.
    #[error("a step of kind {kind} has no {what}")]
    Incomplete {
        /// What the step does.
        kind: StepKind,
        /// What is missing.
        what: &'static str,
    },
    /// A state is neither in the base nor was it recorded.
    #[error("could not find resource in snapshot or new resources: {urn}")]
    UnknownState {
        /// The URN of the resource.
        urn: Urn,
    },
    /// A resource that is protected is deleted.
    #[error("cannot delete protected resource '{urn}'; unprotect it first")]
    Protected {
        /// The URN of the resource.
        urn: Urn,
    },
    /// The base is exchanged after something was said about it.
    #[error("the base can only be written before the first step, and there have been {operations}")]
    LateWrite {
        /// How many operations have begun.
        operations: u64,
    },
    /// The base was rebuilt with new resources in it, which ends the journal.
    #[error("cannot add additional entries; already sent RebuiltBaseState with new resources")]
    Ended,
}
