//! Who asks, and what that principal may do.
//!
//! - [`Principal`] is who asks: it has [`Grant`]s, each a [`Role`] on the projects and states that match its [`Pattern`]s.
//! - [`Tokens`] are made, listed and revoked in the store that all nodes share; a [`Token`] is shown once and stored as its hash.
//! - [`AuthSettings`] are the issuers of OpenID Connect and the certificates that are accepted beside tokens, and whether clients of
//!   this machine need any of it.
//! - [`Authenticator`] says who sends a request, and [`require`] puts it in front of a router.

mod authenticator;
mod cache;
mod certificate;
mod credentials;
mod failures;
mod layer;
mod oidc;
mod pattern;
mod principal;
mod settings;
mod token;
mod tokens;

pub use authenticator::{Authenticator, Peer, Refusal};
pub use cache::STALENESS;
pub use certificate::CertificateRule;
pub use layer::{ClientCertificate, require};
pub use oidc::{ClaimRule, IssuerSettings};
pub use pattern::Pattern;
pub use principal::{Grant, Principal, PrincipalKind, Role};
pub use settings::{Anonymous, AuthSettings, InvalidAuth};
pub use token::{InvalidToken, Token, TokenId};
pub use tokens::{
    NewToken, Revocation, RevokedToken, TokenError, TokenInfo, TokenName, TokenStatus, Tokens, name_or_id,
};
