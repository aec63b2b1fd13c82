//! The error of journals: a coarse kind for callers to act on, and what they need to act.

use std::fmt;

/// What stores and writers of journals return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation on a journal did not happen.
///
/// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, and why. The cause, if there
/// is one, is in [`source`](std::error::Error::source) and not in the text.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    op: &'static str,
    target: String,
    message: Option<String>,
    place: Option<String>,
    source: Option<BoxError>,
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another writer is open and alive. Wait for it, or take over.
    Locked,
    /// A newer writer has taken over. Give up: what this one still wanted to write is not stored.
    Fenced,
    /// The writer was closed, or ended by an error before this one. Open again, and read what is stored.
    Closed,
    /// No epoch has begun, or the one that was asked for is over. Begin one, or read the head again.
    NoEpoch,
    /// What is stored cannot be understood, at the [`place`](Error::place) that is named. Bring back a copy, or give it up.
    Corrupt,
    /// Credentials or permissions do not suffice. Fix them.
    Denied,
    /// The place does not answer, or has no room, and nothing has happened. Try again later.
    Unavailable,
    /// The answer got lost: the batch is stored, as a whole, or it is not. Open again, and read what is stored.
    Ambiguous,
    /// The caller's arguments are invalid. Fix the call.
    Invalid,
    /// A defect of the store. Report it.
    Internal,
}

impl ErrorKind {
    /// The kind in words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Locked => "another writer has it open",
            Self::Fenced => "a newer writer has taken over, this one has to give up",
            Self::Closed => "this writer has ended, open the journal again",
            Self::NoEpoch => "there is no such epoch, begin one or read the head again",
            Self::Corrupt => "what is stored is damaged",
            Self::Denied => "permission was denied",
            Self::Unavailable => "its place is not available, try again later",
            Self::Ambiguous => "it is not known whether it happened, open the journal again and read it",
            Self::Invalid => "the arguments are not valid",
            Self::Internal => "there is a defect in the store",
        }
    }
}

impl Error {
    /// An error of `kind`: `op` is a verb such as `append to`, `target` names the journal without secrets.
    pub fn new(kind: ErrorKind, op: &'static str, target: impl fmt::Display) -> Self {
        let target = target.to_string();
        Self(Box::new(Inner { kind, op, target, message: None, place: None, source: None }))
    }

    /// Says in words why, in place of the kind's own words; lower case, no full stop, no secrets.
    #[must_use]
    pub fn because(mut self, message: impl Into<String>) -> Self {
        self.0.message = Some(message.into());
        self
    }

    /// Says where the damage is.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.0.place = Some(place.into());
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed, a verb.
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// The journal it failed at.
    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// Where the damage is, if the error is about that.
    pub fn place(&self) -> Option<&str> {
        self.0.place.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, op, target, message, place, .. } = &*self.0;
        write!(f, "cannot {op} {target}: {}", message.as_deref().unwrap_or(kind.summary()))?;
        place.iter().try_for_each(|place| write!(f, " ({place})"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};

    #[test]
    fn says_only_its_own_level_and_where() {
        let cause = std::io::Error::other("the wire is cut");
        let error =
            Error::new(ErrorKind::Corrupt, "read", "memory:prod").at("byte 7 of a.log").with_source(cause);
        assert_eq!(error.to_string(), "cannot read memory:prod: what is stored is damaged (byte 7 of a.log)");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the wire is cut");
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
