//! The error of journals: a coarse kind for callers to act on, and what they need to act.

use std::fmt;

use crate::Op;

/// What stores and writers of journals return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a journal did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, and why. The cause, if there
    /// is one, is in [`source`](std::error::Error::source) and not in the text.
    pub struct Error { kind: ErrorKind, op: Op, told: More }
}

/// Where the damage is.
#[derive(Clone, Debug, Default)]
struct More(Option<String>);

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|place| write!(f, " ({place})"))
    }
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// Another writer is open and alive. Wait for it, or take over.
        Locked = "another writer has it open",
        /// A newer writer has taken over. Give up: what this one still wanted to write is not stored.
        Fenced = "a newer writer has taken over, this one has to give up",
        /// The writer was closed, or ended by an error before this one. Open again, and read what is stored.
        Closed = "this writer has ended, open the journal again",
        /// No epoch has begun, or the one that was asked for is over. Begin one, or read the head again.
        NoEpoch = "there is no such epoch, begin one or read the head again",
        /// What is stored cannot be understood, at the [`place`](Error::place) that is named. Bring back a copy, or give it up.
        Corrupt = "what is stored is damaged",
        /// Credentials or permissions do not suffice. Fix them.
        Denied = "permission was denied",
        /// The place does not answer, or has no room, and nothing has happened. Try again later.
        Unavailable = "its place is not available, try again later",
        /// The answer got lost: the batch is stored, as a whole, or it is not. Open again, and read what is stored.
        Ambiguous = "it is not known whether it happened, open the journal again and read it",
        /// The caller's arguments are invalid. Fix the call.
        Invalid = "the arguments are not valid",
        /// A defect of the store. Report it.
        Internal = "there is a defect in the store",
    }
}

impl Error {
    /// Says where the damage is.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.0.more = More(Some(place.into()));
        self
    }

    /// Where the damage is, if the error is about that.
    pub fn place(&self) -> Option<&str> {
        self.0.more.0.as_deref()
    }

    /// The same error for another caller; the cause stays with its text.
    #[cfg(any(feature = "blobs", feature = "fs"))]
    pub(crate) fn again(&self) -> Self {
        let Inner { kind, op, target, message, next_step, more, source } = &*self.0;
        let source = source.as_ref().map(|source| source.to_string().into());
        let (target, message, next_step, more) =
            (target.clone(), message.clone(), next_step.clone(), more.clone());
        Self(Box::new(Inner { kind: *kind, op: *op, target, message, next_step, more, source }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};
    use crate::Op;

    #[test]
    fn says_only_its_own_level_and_where() {
        let cause = std::io::Error::other("the wire is cut");
        let error =
            Error::new(ErrorKind::Corrupt, Op::Read, "memory:prod").at("byte 7 of a.log").with_source(cause);
        assert_eq!(error.to_string(), "cannot read memory:prod: what is stored is damaged (byte 7 of a.log)");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the wire is cut");
    }

    #[test]
    fn another_caller_gets_the_reason_and_the_place_too() {
        let error = Error::new(ErrorKind::Ambiguous, Op::Append, "memory:prod")
            .because("the disk is full")
            .at("a.log")
            .with_source("cut");
        let again = error.again();
        assert_eq!((again.kind(), again.to_string()), (error.kind(), error.to_string()));
        assert_eq!(std::error::Error::source(&again).unwrap().to_string(), "cut");
    }
}
