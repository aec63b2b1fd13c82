//! Tokens of OpenID Connect issuers, such as the CI systems whose jobs have no secret of ours.
//!
//! Nothing in a token is believed before its signature is: not the key that it names, not an address, not its algorithm.
//! Algorithms are those of public keys, and a key is used only with those of its own kind. Signatures are checked by `ring`,
//! which TLS has linked already; there is no code for `none` and for shared secrets.

mod claims;
mod fetch;
mod issuer;
mod jwk;
mod jwt;
mod keys;

pub(crate) use fetch::{HttpFetch, KeySource};
pub(crate) use issuer::Issuers;
pub use issuer::{ClaimRule, IssuerSettings};

/// Why a token of an issuer is not accepted; nothing of it is quoted, and none of this reaches the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Rejected {
    #[error("the token is not a JSON Web Token: {0}")]
    Form(&'static str),
    #[error("the token is of no issuer of the configuration")]
    Issuer,
    #[error("the algorithm of the token is not accepted")]
    Algorithm,
    #[error("no key of the issuer has the id in the token")]
    Key,
    #[error("the signature is wrong")]
    Signature,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    Early,
    #[error("the keys of the issuer cannot be fetched: {0}")]
    Unavailable(#[from] fetch::FetchError),
}
