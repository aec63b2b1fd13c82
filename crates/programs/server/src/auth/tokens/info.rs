//! What is known of a token, and what a token that is to be made needs.

use std::fmt;

use groundstate_common::{InvalidId, Timestamp, string_id};
use serde::{Deserialize, Serialize};

use crate::auth::principal::{Grant, Principal, PrincipalKind};
use crate::auth::token::TokenId;

string_id! {
    /// The name of a token: 1 to 100 letters and digits of ASCII and `-_.@`, of which the first is a letter or a digit.
    pub struct TokenName: "token name" = check;
}

fn check(text: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    match text {
        "" => Err("it is empty"),
        long if long.len() > 100 => Err("it is longer than 100 bytes"),
        text if !text.chars().all(is_plain) => Err("it may have letters, digits and -_.@ only"),
        text if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            Err("it has to begin with a letter or a digit")
        }
        // Names and ids are given in the same place.
        text if TokenId::parse(text).is_some() => Err("it has the form of an id"),
        _ => Ok(()),
    }
}

/// What is known of a token; not the token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenInfo {
    /// The id, which is in logs too.
    pub id: TokenId,
    /// The name, which is that of the principal.
    pub name: TokenName,
    /// What it is for.
    pub grants: Vec<Grant>,
    /// When it was made.
    pub created: Timestamp,
    /// Who made it.
    pub created_by: String,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// When it was revoked, and by whom.
    pub revoked: Option<Revocation>,
    /// The last day on which it was used, such as `2026-03-01`, where that was asked for.
    pub last_used: Option<String>,
}

/// The end of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Revocation {
    /// When it was revoked.
    pub time: Timestamp,
    /// Who revoked it: a user of the service, or of the machine.
    pub by: String,
}

/// A token that is revoked now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevokedToken {
    /// What is known of it.
    pub info: TokenInfo,
    /// It had been revoked before, which stays as it was.
    pub was_revoked: bool,
}

/// Whether a token is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenStatus {
    /// It is accepted.
    Active,
    /// Its time is over.
    Expired,
    /// It was revoked.
    Revoked,
}

/// A token that is to be made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewToken {
    /// What it is called in lists and in the audit log.
    pub name: TokenName,
    /// What it is for; at least one.
    pub grants: Vec<Grant>,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// Who makes it.
    pub created_by: String,
}

impl NewToken {
    /// A token that never ends.
    pub fn new(name: TokenName, grants: Vec<Grant>, created_by: impl Into<String>) -> Self {
        Self { name, grants, expires: None, created_by: created_by.into() }
    }

    /// Ends it.
    #[must_use]
    pub fn expires(mut self, time: Timestamp) -> Self {
        self.expires = Some(time);
        self
    }
}

impl TokenInfo {
    /// Whether it is accepted at this time.
    pub fn status(&self, now: Timestamp) -> TokenStatus {
        match self.expires {
            _ if self.revoked.is_some() => TokenStatus::Revoked,
            Some(end) if end <= now => TokenStatus::Expired,
            _ => TokenStatus::Active,
        }
    }

    /// Who asks with it.
    pub fn principal(&self) -> Principal {
        Principal::new(&format!("token:{}", self.name), PrincipalKind::Token, self.grants.clone())
    }
}

impl fmt::Display for TokenStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        })
    }
}

/// Reads what a person types for a token: its name or its id.
///
/// # Errors
///
/// If it can be neither.
pub fn name_or_id(text: &str) -> Result<String, InvalidId> {
    match TokenId::parse(text) {
        Some(_) => Ok(text.to_owned()),
        None => TokenName::parse(text).map(|name| name.to_string()),
    }
}
