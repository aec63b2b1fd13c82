//! How a case ends, and what is said when it fails.

use std::fmt;

use groundstate_statemgr::Stored;

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
    pub clause: Clause,
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
    /// A failure of which is not known yet what was expected and seen.
    pub(crate) fn new(case: &'static str, clause: Clause, conditions: Conditions, seed: u64) -> Self {
        let (expected, seen, calls) = (String::new(), String::new(), Vec::new());
        Self { case, clause, conditions, seed, expected, seen, calls }
    }

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
        if !clause.advice.is_empty() {
            writeln!(f, "  next step: {}", clause.advice)?;
        }
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
pub(crate) type Step<T = ()> = Result<T, Stop>;

/// What a failed case ends with.
pub(crate) fn failed(expected: impl Into<String>, seen: impl Into<String>) -> Stop {
    Stop::Failed { expected: expected.into(), seen: seen.into(), clause: None }
}

/// Ends a case as failed.
pub(crate) fn fail<T>(expected: impl Into<String>, seen: impl Into<String>) -> Step<T> {
    Err(failed(expected, seen))
}

/// Ends a case as not applicable.
pub(crate) fn not_applicable<T>(why: impl Into<String>) -> Step<T> {
    Err(Stop::NotApplicable(why.into()))
}

/// Goes on if the condition holds.
pub(crate) fn ensure(holds: bool, expected: impl Into<String>, seen: impl FnOnce() -> String) -> Step {
    if holds { Ok(()) } else { fail(expected, seen()) }
}

/// Goes on if the condition holds, which says all that there is to see.
pub(crate) fn holds(condition: bool, expected: &str) -> Step {
    ensure(condition, expected, || "it is not so".to_owned())
}

/// Goes on if both are the same.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(what: &str, seen: &T, expected: &T) -> Step {
    ensure(seen == expected, format!("{what}: {expected:?}"), || format!("{seen:?}"))
}

/// The error of a contract.
pub(crate) trait Refusal: std::error::Error + Sized + 'static {
    type Kind: Copy + fmt::Debug + PartialEq;

    fn kind(&self) -> Self::Kind;
}

macro_rules! refusals {
    ($($of:ident),+) => {
        $(impl Refusal for $of::Error {
            type Kind = $of::ErrorKind;

            fn kind(&self) -> Self::Kind {
                self.kind()
            }
        })+
    };
}

refusals!(groundstate_blobs, groundstate_statemgr, groundstate_wal);

/// What a step expects of an answer of the store.
pub(crate) trait Answer<T, E: Refusal>: Sized {
    /// The call worked.
    fn succeeds(self, what: &str) -> Step<T>;

    /// The call was refused with one of these kinds.
    fn refused_with(self, kinds: &[E::Kind], what: &str) -> Step<E>;

    /// The call was refused with this kind.
    fn refused(self, kind: E::Kind, what: &str) -> Step<E> {
        self.refused_with(&[kind], what)
    }
}

impl<T, E: Refusal> Answer<T, E> for Result<T, E> {
    fn succeeds(self, what: &str) -> Step<T> {
        self.or_else(|error| fail(format!("{what} succeeds"), describe(&error)))
    }

    fn refused_with(self, kinds: &[E::Kind], what: &str) -> Step<E> {
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
pub(crate) fn describe<E: Refusal>(error: &E) -> String {
    let mut text = format!("`{:?}`: {error}", error.kind());
    let mut next = error.source();
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
