//! How a case ends, and what is said when it fails.

use std::fmt;

use groundstate_statemgr::{Error, ErrorKind, Result, Stored};

use crate::clause::Clause;
use crate::fault::Conditions;

/// Why a case failed: what the contract has there, what the store did instead, and how to see it again.
///
/// `Debug` is the same text, because that is what a test shows that returns it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The name of the case.
    pub case: &'static str,
    /// The clause that is broken.
    pub clause: &'static Clause,
    /// Under which conditions it ran.
    pub conditions: Conditions,
    /// The seed of the run; the same one gives the same run, as far as the store and threads let it.
    pub seed: u64,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// The last calls of the case and their answers, oldest first, with a letter for each client.
    pub calls: Vec<String>,
}

impl Failure {
    /// Where to look first.
    pub fn next_step(&self) -> &'static str {
        self.clause.advice
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, clause, conditions, seed, expected, seen, calls } = self;
        writeln!(f, "{case} failed: clause {clause} of the contract is broken")?;
        writeln!(f, "  expected:  {expected}")?;
        writeln!(f, "  seen:      {seen}")?;
        writeln!(f, "  next step: {}", self.next_step())?;
        write!(f, "  again:     conditions {conditions}, seed {seed} ({}={seed})", crate::SEED_VARIABLE)?;
        if !calls.is_empty() {
            f.write_str("\n  calls:")?;
            calls.iter().try_for_each(|call| write!(f, "\n    {call}"))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Failure {}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Everything was as the clause says.
    Passed,
    /// Something was not.
    Failed(Box<Failure>),
    /// The clause does not concern this store, or the harness cannot bring about what it is about; the text says which.
    NotApplicable(String),
}

/// Ends a case before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Failed {
        expected: String,
        seen: String,
        /// The clause that is broken when it is not the case's own.
        clause: Option<&'static str>,
    },
    NotApplicable(String),
}

/// The result of a step of a case.
pub(crate) type Step<T = ()> = std::result::Result<T, Stop>;

/// Ends a case as failed.
pub(crate) fn fail<T>(expected: impl Into<String>, seen: impl Into<String>) -> Step<T> {
    Err(Stop::Failed { expected: expected.into(), seen: seen.into(), clause: None })
}

/// Ends a case as not applicable.
pub(crate) fn not_applicable<T>(why: impl Into<String>) -> Step<T> {
    Err(Stop::NotApplicable(why.into()))
}

/// Goes on if the condition holds.
pub(crate) fn ensure(holds: bool, expected: &str, seen: impl FnOnce() -> String) -> Step {
    if holds { Ok(()) } else { fail(expected, seen()) }
}

/// Goes on if both are the same.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(what: &str, seen: &T, expected: &T) -> Step {
    ensure(seen == expected, &format!("{what}: {expected:?}"), || format!("{seen:?}"))
}

/// What a step expects of an answer of the store.
pub(crate) trait Answer<T>: Sized {
    /// The call worked.
    fn succeeds(self, what: &str) -> Step<T>;

    /// The call was refused with one of these kinds.
    fn refused_with(self, kinds: &[ErrorKind], what: &str) -> Step<Error>;

    /// The call was refused with this kind.
    fn refused(self, kind: ErrorKind, what: &str) -> Step<Error> {
        self.refused_with(&[kind], what)
    }
}

impl<T> Answer<T> for Result<T> {
    fn succeeds(self, what: &str) -> Step<T> {
        self.or_else(|error| fail(format!("{what} succeeds"), describe(&error)))
    }

    fn refused_with(self, kinds: &[ErrorKind], what: &str) -> Step<Error> {
        let expected = || {
            let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind:?}`")).collect();
            format!("{what} is refused with {}", names.join(" or "))
        };
        match self {
            Ok(_) => fail(expected(), "it succeeded"),
            Err(error) if kinds.contains(&error.kind()) => Ok(error),
            Err(error) => fail(expected(), describe(&error)),
        }
    }
}

/// An error with its kind and its causes.
pub(crate) fn describe(error: &Error) -> String {
    let mut text = format!("`{:?}`: {error}", error.kind());
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

/// What is stored, in few words.
pub(crate) fn describe_stored(stored: Option<&Stored>) -> String {
    match stored {
        None => "nothing".to_owned(),
        Some(stored) => format!("{} of version {:?}", describe_bytes(&stored.bytes), stored.version.as_str()),
    }
}

/// Bytes by their size and a digest, since they may be long.
pub(crate) fn describe_bytes(bytes: &[u8]) -> String {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold);
    format!("{} bytes with the digest {digest:016x}", bytes.len())
}
