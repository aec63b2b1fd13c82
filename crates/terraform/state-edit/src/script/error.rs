//! What is wrong with a script, and where.

use groundstate_states::addr::{AddrError, ConfigResource};

use crate::{MoveError, RemoveError, ReplaceProviderError, TaintError};
use groundstate_statefile::ReadError;

/// A script that cannot be read, or a statement that was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
#[non_exhaustive]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub fault: ScriptFault,
}

/// What is wrong at one place of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptFault {
    /// A verb that does not exist.
    #[error(
        "unknown verb `{verb}`; use mv, rm, rm-dependency, rm-identity, replace-provider, taint or untaint"
    )]
    UnknownVerb {
        /// The word that stands there.
        verb: String,
    },
    /// Too many words behind a verb, or too few.
    #[error("{verb} takes {wanted}, but {found} follow it")]
    WordCount {
        /// The verb.
        verb: &'static str,
        /// What it takes.
        wanted: &'static str,
        /// How many words there are.
        found: usize,
    },
    /// A quote that does not end on its line.
    #[error("this {quote} is not closed on its line")]
    Unclosed {
        /// The kind of quote.
        quote: char,
    },
    /// A word follows a quoted one without white space.
    #[error("white space is missing between two words")]
    Glued,
    /// An address or provider that cannot be read.
    #[error(transparent)]
    Address(#[from] AddrError),
    /// A pattern or destination that cannot be read.
    #[error("{why}")]
    Pattern {
        /// What is wrong and what to write.
        why: &'static str,
    },
    /// A reference to something that the pattern does not capture.
    #[error("${number} refers to nothing: the source has {stars} wildcards")]
    NoCapture {
        /// The number.
        number: usize,
        /// How many wildcards there are.
        stars: usize,
    },
    /// A captured text does not fit into its place.
    #[error("{address} would become {text}, where {wanted} is needed")]
    Unfit {
        /// What the pattern matched.
        address: String,
        /// What stands there with the captures put in.
        text: String,
        /// What could stand there.
        wanted: &'static str,
    },
    /// A pattern that nothing in the state matches.
    #[error("{pattern} matches nothing in the state; list the state to see the addresses it has")]
    NothingMatched {
        /// The pattern.
        pattern: String,
    },
    /// The text is an address that the state has, and as a pattern it matches more.
    #[error(
        "{text} is an address in the state, and as a pattern it also matches {others} more; write {address} for that \
         address alone, or {pattern} for all of them"
    )]
    Ambiguous {
        /// Address as the script has it.
        text: String,
        /// How many other addresses the pattern matches.
        others: usize,
        /// The spelling of the address alone.
        address: String,
        /// The spelling of the pattern.
        pattern: String,
    },
    /// No object there records the dependency.
    #[error("{address} records no dependency on {dependency}; look at the `dependencies` of its objects")]
    NoDependency {
        /// Object that was looked at.
        address: String,
        /// What it does not depend on.
        dependency: ConfigResource,
    },
    /// No object there has a recorded identity.
    #[error("{address} records no identity; look at the `identity` of its objects")]
    NoIdentity {
        /// Object that was looked at.
        address: String,
    },
    /// A move was refused.
    #[error(transparent)]
    Move(MoveError),
    /// A removal was refused.
    #[error(transparent)]
    Remove(RemoveError),
    /// A replacement of a provider was refused.
    #[error(transparent)]
    ReplaceProvider(#[from] ReplaceProviderError),
    /// A change of a status was refused.
    #[error(transparent)]
    Taint(TaintError),
    /// A part of the document could not be decoded.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl ScriptFault {
    /// Whether it says that something is not there.
    pub(super) fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::NothingMatched { .. }
                | Self::NoDependency { .. }
                | Self::NoIdentity { .. }
                | Self::Move(MoveError::SourceMissing { .. })
                | Self::Remove(RemoveError::NothingMatched { .. } | RemoveError::NoDeposed { .. })
                | Self::Taint(TaintError::Missing { .. })
                | Self::ReplaceProvider(ReplaceProviderError::NothingMatched { .. })
        )
    }
}
