//! Why a configuration cannot be used.

use groundstate_common::one_line;
use thiserror::Error;

use super::value::Place;

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// The text cannot be parsed.
    #[error("{place}: it cannot be parsed")]
    Syntax {
        /// Where it stops.
        place: Place,
    },
    /// A block or an attribute that encryption does not have, or that it has once only.
    #[error("{place}: {}", one_line(.why))]
    Structure {
        /// Where it stands.
        place: Place,
        /// What is wrong.
        why: String,
    },
    /// An option that cannot be used.
    #[error("{place}: option `{}` of {}: {}", one_line(.name), one_line(.owner), one_line(.why))]
    Option {
        /// Where it stands.
        place: Place,
        /// The block it belongs to.
        owner: String,
        /// The option.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// A reference to a block that is not there.
    #[error("{place}: there is no {} in the encryption block", one_line(.address))]
    Undeclared {
        /// Where the reference stands.
        place: Place,
        /// The address.
        address: String,
    },
    /// Key providers that need each other.
    #[error("{place}: {} needs its own key, through the providers that it is chained to", one_line(.address))]
    Circular {
        /// Where a provider of the circle stands.
        place: Place,
        /// Its address.
        address: String,
    },
    /// A method in the clear where encryption is enforced.
    #[error("{place}: unencrypted method is forbidden: `enforced` is true and {} leaves states in the clear", one_line(.address))]
    Forbidden {
        /// Where the method is used.
        place: Place,
        /// Its address.
        address: String,
    },
}

impl ConfigurationError {
    pub(super) fn structure(place: Place, why: impl Into<String>) -> Self {
        Self::Structure { place, why: why.into() }
    }
}
