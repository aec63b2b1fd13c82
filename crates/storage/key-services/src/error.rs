//! The error of key services: a kind for callers to act on, the key, the reason and the next step.

use std::time::Duration;

use crate::Op;

/// What key services return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why a key was not wrapped or unwrapped.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, with which key, why, and what to change. The cause,
    /// if there is one, is in [`source`](std::error::Error::source) and not in the text.
    pub struct Error { kind: ErrorKind, op: Op, more: More }
}

/// What is known beyond the reason.
#[derive(Debug, Default)]
struct More {
    retry_after: Option<Duration>,
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// The key, or the version of it that is needed, is disabled. Enable it.
        KeyDisabled = "the key is disabled",
        /// The key is to be deleted soon. Cancel that, and copy what it protects to another key.
        KeyPendingDeletion = "the key is about to be deleted",
        /// The key that wrapped this is gone. Bring back a backup of the key, or a state from before.
        KeyGone = "the key does not exist any more",
        /// Another key wrapped this. Name that one.
        WrongKey = "another key wrapped this",
        /// The wrapped key was changed, or wrapped with another context. Bring back a backup, or name the context.
        BadCiphertext = "the wrapped key was changed, or belongs to another key or context",
        /// There is no such key, mount or vault. Create it, or correct its name.
        NotFound = "there is no such key",
        /// The credentials are known and do not allow this. Grant the right that is named.
        Denied = "permission was denied",
        /// There are no credentials, or they are not valid. Fix them.
        Unauthenticated = "the credentials are missing or not valid",
        /// This machine's clock is too far from the service's. Set it.
        ClockSkew = "the clock of this machine is wrong",
        /// The service asks for fewer requests. Retry later.
        Throttled = "the service asks for fewer requests",
        /// The service does not answer. Retry later.
        Unavailable = "the service is not available",
        /// The service cannot do this. Do without.
        Unsupported = "the service cannot do this",
        /// The arguments or settings are invalid. Fix them.
        Invalid = "the arguments are not valid",
        /// The answer is not what the service promises. Look at who answers.
        Corrupt = "the answer is damaged",
        /// A defect of this crate or of the service. Report it.
        Internal = "there is a defect in the client or the service",
    }
}

impl ErrorKind {
    /// Whether the same call may succeed later without anything being done about it.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::Unavailable)
    }
}

impl Error {
    /// Says how long to wait before the next attempt.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.more.retry_after = wait;
        self
    }

    /// How long the service asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.more.retry_after
    }
}
