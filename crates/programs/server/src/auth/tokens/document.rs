//! The documents of tokens, as they are stored.

use std::borrow::Cow;

use groundstate_blobs::sealed::{seal, unseal};
use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};

use super::info::{Revocation, TokenInfo, TokenName};
use crate::auth::principal::Grant;
use crate::auth::token::{TokenHash, TokenId};

/// The format of both documents, with a checksum.
pub(super) const FORMAT: u32 = 2;
/// The format before, without one. Its documents are read, and written in the present one when they are changed.
const BARE: u32 = 1;

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
        seal(&serde_json::to_string_pretty(self).unwrap_or_default()).into_bytes()
    }

    /// Reads the bytes that are stored, also those of the format without a checksum.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        use serde::de::Error as _;
        let unsealed = unseal(bytes).map_err(serde_json::Error::custom)?;
        let format = if unsealed.is_some() { FORMAT } else { BARE };
        let object = unsealed.map_or(Cow::Borrowed(bytes), Cow::Owned);
        let document: Self = serde_json::from_slice(&object)?;
        match document.format == format {
            true => Ok(Self { format: FORMAT, ..document }),
            false => Err(serde_json::Error::custom("its checksum is missing, or its format is not known")),
        }
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
