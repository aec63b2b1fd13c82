//! The error of this crate: a coarse kind for callers to act on, the place, the reason and the next step.

use crate::Op;

/// What this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a service did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, why, and what to do next. The words
    /// of the service are on one line, and no text has an access token in it.
    pub struct Error { kind: ErrorKind, op: Op, more: More }
}

/// What is known beyond the reason.
#[derive(Debug, Default)]
struct More {
    status: Option<u16>,
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// The stack, the update or the version does not exist. Name another.
        NotFound = "it does not exist",
        /// It exists already. Choose another name.
        Exists = "it exists already",
        /// An update of the stack is running, or the service finds another conflict. Wait, or cancel the update.
        Running = "an update is running",
        /// The state is not the one that was to be replaced. Read it, do the work again.
        Changed = "the state has changed meanwhile",
        /// The lock has ended or belongs to another client. Take it again, and read what is stored.
        LockLost = "the lock was lost",
        /// The stack has resources. Destroy them, or force the removal.
        HasResources = "the stack still has resources",
        /// The user has not logged in, or the token is not valid any more. Log in.
        NotLoggedIn = "there is no valid access token",
        /// The user may not do it. Ask for the right.
        Denied = "permission was denied",
        /// The arguments, the address or the settings are not valid. Fix them.
        Invalid = "the arguments are not valid",
        /// The service refuses the size, or an answer is larger than the caller allows.
        TooLarge = "it is too large",
        /// What answers is no Pulumi service: a page, a redirect, another program. Check the address.
        NotService = "what answers there is no Pulumi service",
        /// The service cannot do it. Use another way.
        Unsupported = "the service cannot do it",
        /// The service does not answer, and nothing has happened. Try again later.
        Unavailable = "the service is not available, try again later",
        /// The answer got lost: it may have happened or not. Read before anything else.
        Ambiguous = "the operation may or may not have been carried out; read again what is stored",
        /// There is a defect in this program. Report it.
        Internal = "there is a defect in the client",
    }
}

impl Error {
    /// The status of the answer that is the error; nothing where there was no answer.
    pub fn status(&self) -> Option<u16> {
        self.0.more.status
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.0.more.status = Some(status);
        self
    }
}
