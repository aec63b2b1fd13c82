//! The documents of tokens, as they are stored.

use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};

use super::info::{Revocation, TokenInfo, TokenName};
use crate::auth::principal::Grant;
use crate::auth::token::{TokenHash, TokenId};

/// The version of both documents.
pub(super) const FORMAT: u32 = 1;

/// The name of the document of a token.
pub(super) fn object(id: &TokenId) -> String {
    format!("{}{id}.json", super::TOKENS)
}

/// A token as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) format: u32,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) grants: Vec<Grant>,
    pub(super) created: Timestamp,
    pub(super) created_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revoked: Option<Revocation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Use {
    pub(super) format: u32,
    pub(super) day: String,
}

/// A token that was found: what is known of it, and its hash.
#[derive(Clone, Debug)]
pub(crate) struct StoredToken {
    pub(crate) info: TokenInfo,
    pub(crate) hash: TokenHash,
}

impl Document {
    /// The bytes that are stored.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The token of a document of this name; none if the document is damaged.
    pub(super) fn into_token(self, name: &str) -> Option<StoredToken> {
        let hash = TokenHash::parse(&self.sha256)?;
        let is_of_hash = hash.id().as_str() == self.id && object(&hash.id()) == name;
        if self.format != FORMAT || !is_of_hash {
            return None;
        }
        let info = TokenInfo {
            id: hash.id(),
            name: TokenName::parse(&self.name).ok()?,
            grants: self.grants,
            created: self.created,
            created_by: self.created_by,
            expires: self.expires,
            revoked: self.revoked,
            last_used: None,
        };
        Some(StoredToken { info, hash })
    }
}
