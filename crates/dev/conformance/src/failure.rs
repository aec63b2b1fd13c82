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
    /// Where to look first.
    pub hint: String,
    /// A clause that comes before this one in the contract and is broken too: this failure may follow from it.
    pub more_basic: Option<Clause>,
    /// The last calls of the case and their answers, oldest first, with a letter for each client.
    pub calls: Vec<String>,
}

impl Failure {
    /// A failure of which is not known yet what was expected and seen.
    pub(crate) fn new(case: &'static str, clause: Clause, conditions: Conditions, seed: u64) -> Self {
        let (expected, seen, hint) = (String::new(), String::new(), clause.advice.to_owned());
        let (more_basic, calls) = (None, Vec::new());
        Self { case, clause, conditions, seed, expected, seen, hint, more_basic, calls }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, clause, conditions, seed, expected, seen, hint, more_basic, calls } = self;
        writeln!(f, "{case} failed: clause {clause} of the contract is broken")?;
        if let Some(first) = more_basic {
            writeln!(f, "  first:     {first} is broken too and more basic, this may follow from it")?;
        }
        writeln!(f, "  expected:  {expected}")?;
        writeln!(f, "  seen:      {seen}")?;
        if !hint.is_empty() {
            writeln!(f, "  next step: {hint}")?;
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
    /// The store claims something that this harness cannot show; the text says what and why.
    NotShown(String),
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
        /// Where to look, when what was seen says more than the clause.
        hint: Option<String>,
    },
    NotShown(String),
    NotApplicable(String),
}

impl Stop {
    /// Says where to look, unless that is said.
    pub(crate) fn hint(mut self, text: Option<&str>) -> Self {
        if let Self::Failed { hint, .. } = &mut self
            && hint.is_none()
        {
            *hint = text.map(ToOwned::to_owned);
        }
        self
    }
}

/// The result of a step of a case.
pub(crate) type Step<T = ()> = Result<T, Stop>;

/// What a failed case ends with.
pub(crate) fn failed(expected: impl Into<String>, seen: impl Into<String>) -> Stop {
    Stop::Failed { expected: expected.into(), seen: seen.into(), clause: None, hint: None }
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
        self.map_err(|error| {
            let kind = format!("{:?}", error.kind());
            failed(format!("{what} succeeds"), describe(&error)).hint(hint_for(&kind))
        })
    }

    fn refused_with(self, kinds: &[E::Kind], what: &str) -> Step<E> {
        let expected = || {
            let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind:?}`")).collect();
            format!("{what} is refused with {}", names.join(" or "))
        };
        match self {
            Ok(_) => fail(expected(), "it succeeded"),
            Err(error) if kinds.contains(&error.kind()) => Ok(error),
            Err(error) => {
                let hint =
                    "the call is refused, and callers act on the kind: answer the one that is expected";
                Err(failed(expected(), describe(&error)).hint(Some(hint)))
            }
        }
    }
}

/// Where to look when a call that should work is refused with this kind.
fn hint_for(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "Unsupported" => {
            "`capabilities` names what this call refuses: implement it, or take it out of `capabilities`"
        }
        "Denied" => "look at the service first: it refuses the credentials or permissions of the test",
        "Unavailable" => {
            "look at the service first: check that it runs, and that the harness has its address"
        }
        "Corrupt" => {
            "what is stored is not what was written: look at the bytes in the service, a column or a header may cut or convert \
             them"
        }
        "Locked" => {
            "a lock is left: find in the calls below which client took it, and have `unlock` remove that one where `lock` \
             looks for it"
        }
        "Conflict" => "compare the condition with the version that `read` and `write` give",
        "Ambiguous" => {
            "read what is stored before answering `Ambiguous`, the call may be known to have worked"
        }
        _ => return None,
    })
}

/// Where to look when other bytes are read than were written.
pub(crate) fn hint_for_bytes(written: &[u8], stored: Option<&Stored>) -> &'static str {
    let Some(stored) = stored else {
        return "nothing is there for this client: look whether `write` returns early, or the clients use different places";
    };
    if stored.bytes == written {
        return "the bytes are right and the version is not: give the version from `write` that `read` gives";
    }
    if written.starts_with(&stored.bytes) {
        return "the end is missing: look for a limit of a column, a buffer or a request";
    }
    if stored.bytes.starts_with(written) {
        return "old bytes follow the new ones: cut the old content off";
    }
    if stored.bytes.len() == written.len() {
        return "bytes of the same number were read: look for a conversion of text, or for an earlier write";
    }
    "other bytes were read: look for an earlier write (a cache), or for a store that formats or converts them"
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
