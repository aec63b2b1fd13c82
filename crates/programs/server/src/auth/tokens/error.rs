//! Why an operation on tokens did not happen.

use groundstate_blobs::Error as BlobError;
use groundstate_common::Timestamp;
use thiserror::Error;

use super::info::TokenName;
use crate::auth::token::TokenId;

/// Why tokens cannot be made, listed, found or revoked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// There is a token of this name already.
    #[error("there is a token {name} already, with the id {id}; revoke it first, or use another name")]
    Exists {
        /// The name that is taken.
        name: TokenName,
        /// The id of the other one.
        id: TokenId,
    },
    /// It would end before it begins.
    #[error("the token would expire at {0}, which is past")]
    Past(Timestamp),
    /// It would be for nothing.
    #[error("a token needs at least one role")]
    NoGrant,
    /// A grant matches no name, so it would allow nothing.
    #[error("{0}")]
    NeverMatches(groundstate_common::InvalidId),
    /// There is none of this name or id.
    #[error("there is no token {0}")]
    NotFound(String),
    /// Two active tokens have the name: they were created at the same time.
    #[error("{} active tokens have the name {name}: {}; revoke each by its id", ids.len(), listed(ids))]
    SeveralNamed {
        /// The name that they share.
        name: String,
        /// Their ids.
        ids: Vec<TokenId>,
    },
    /// Other processes change the document all the time.
    #[error("the token {0} is being changed by other processes, try again")]
    Contended(TokenId),
    /// A document is damaged.
    #[error("the token in {object} of {store} is damaged")]
    Damaged {
        /// The store, without secrets.
        store: String,
        /// The object.
        object: String,
        /// What is wrong with its JSON; none if its content is what is wrong.
        source: Option<serde_json::Error>,
    },
    /// The store fails.
    #[error("cannot use the tokens in {store}")]
    Store {
        /// The store, without secrets.
        store: String,
        /// What the store said.
        source: BlobError,
    },
    /// No random bits can be had.
    #[error(transparent)]
    Random(#[from] groundstate_common::IdSourceError),
}

fn listed(ids: &[TokenId]) -> String {
    ids.iter().map(TokenId::as_str).collect::<Vec<_>>().join(", ")
}
