//! The error of a service's stacks: a coarse kind for callers to act on, the stack, the reason and the next step.

use std::fmt;

use groundstate_versioned as versioned;

use crate::Op;

/// What operations on stacks return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a stack did not happen. Callers act on the [`kind`](Self::kind).
    pub struct Error { kind: ErrorKind, op: Op }
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// There is no such stack, update or version. Name another.
        NotFound = "it does not exist",
        /// The name is taken. Choose another.
        Exists = "it already exists",
        /// Another update of the stack is running. Wait, or cancel it.
        Running = "another update is currently in progress",
        /// Another program has locked the stack in its bucket. Wait, or end that program.
        Locked = "another program has locked it",
        /// The stack is in a bucket that this node does not know. Configure it.
        NoBucket = "its bucket is not configured",
        /// The lease of the update is over, or it was never this one. The update has ended; nothing of it is taken any more.
        LeaseLost = "the lease of the update is over",
        /// What is stored does not fit the request. Read, do the work again.
        Conflict = "what is stored does not fit the request",
        /// The state is not what was expected. Read it, do the work again.
        Changed = "the state has changed meanwhile",
        /// The stack has resources. Destroy them, or force the removal.
        HasResources = "the stack still contains resources",
        /// The request is wrong. Fix it.
        Invalid = "the request is not valid",
        /// A limit is exceeded. Send less.
        TooLarge = "it is larger than it may be",
        /// The service has no key for secrets. Configure one.
        NoKey = "the service has no key for the secrets of stacks",
        /// What is stored is damaged, or a later release wrote it. Restore it, or upgrade.
        Corrupt = "what is stored is damaged",
        /// The store has gone, is read-only, or refuses these credentials. An operator has to look at it.
        Unusable = "the store cannot be used",
        /// The store or the key service does not answer. Retry later.
        Unavailable = "the store does not answer",
        /// There is a defect in this crate or in the store. Report it.
        Internal = "there is a defect in the service",
    }
}

impl Error {
    /// The error of an operation that the versioned document ended.
    pub(crate) fn of_document(op: Op, target: impl fmt::Display, error: versioned::Error) -> Self {
        use versioned::ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::NotKept => ErrorKind::NotFound,
            Kind::Expired => ErrorKind::Conflict,
            Kind::TooLarge => ErrorKind::TooLarge,
            Kind::Invalid => ErrorKind::Invalid,
            Kind::Corrupt | Kind::Unsupported => ErrorKind::Corrupt,
            Kind::Busy | Kind::Ambiguous | Kind::Throttled | Kind::Unavailable => ErrorKind::Unavailable,
            Kind::NoContainer | Kind::Denied => ErrorKind::Unusable,
            _ => ErrorKind::Internal,
        };
        Self::new(kind, op, target).because(error.message()).with_source(error)
    }

    /// The error of an operation that the blob store ended.
    pub(crate) fn of_blobs(op: Op, target: impl fmt::Display, error: groundstate_blobs::Error) -> Self {
        use groundstate_blobs::ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::Ambiguous | Kind::Throttled | Kind::Unavailable | Kind::LeaseHeld => ErrorKind::Unavailable,
            Kind::PreconditionFailed => ErrorKind::Conflict,
            Kind::InvalidKey | Kind::Invalid => ErrorKind::Invalid,
            Kind::Corrupt | Kind::LimitExceeded => ErrorKind::Corrupt,
            Kind::NotFound | Kind::Denied | Kind::Unauthenticated => ErrorKind::Unusable,
            _ => ErrorKind::Internal,
        };
        Self::new(kind, op, target).because(error.message()).with_source(error)
    }

    /// The error of an operation that the journal ended.
    pub(crate) fn of_journal(op: Op, target: impl fmt::Display, error: groundstate_wal::Error) -> Self {
        use groundstate_wal::ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::Corrupt => ErrorKind::Corrupt,
            Kind::Invalid => ErrorKind::TooLarge,
            Kind::Denied => ErrorKind::Unusable,
            _ => ErrorKind::Unavailable,
        };
        Self::new(kind, op, target).because(error.message()).with_source(error)
    }
}
