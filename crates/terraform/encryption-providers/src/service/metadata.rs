//! What envelopes store of keys of services.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_encryption::KeyError;
use serde_json::{Map, Value};

/// The members of stored metadata.
pub(super) struct Stored(Map<String, Value>);

impl Stored {
    /// Reads metadata that have no other members than these.
    pub(super) fn parse(text: &[u8], known: &[&str]) -> Result<Self, KeyError> {
        let members: Map<String, Value> = serde_json::from_slice(text)
            .map_err(|_| KeyError::Metadata { why: "they are not a JSON object" })?;
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            Some(member) => Err(KeyError::Later { member: member.clone() }),
            None => Ok(Self(members)),
        }
    }

    /// A member that is a text, unless it is missing or null.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, KeyError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(KeyError::Metadata { why: "a member is not a text" }),
        }
    }

    /// A member that is bytes in base64, unless it is missing or null.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, KeyError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let damaged = |_| KeyError::Metadata { why: "a member is not base64" };
        BASE64_STANDARD.decode(text).map(Some).map_err(damaged)
    }

    /// The wrapped key.
    pub(super) fn ciphertext(&self, name: &str) -> Result<Vec<u8>, KeyError> {
        let bytes = self.bytes(name)?.filter(|bytes| !bytes.is_empty());
        bytes.ok_or(KeyError::Metadata { why: "there is no wrapped key in them" })
    }

    /// A member that is an object of texts.
    #[cfg(feature = "aws")]
    pub(super) fn texts(&self, name: &str) -> Result<std::collections::BTreeMap<String, String>, KeyError> {
        let damaged = || KeyError::Metadata { why: "a member is not an object of texts" };
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(std::collections::BTreeMap::new()),
            Some(Value::Object(members)) => {
                let pairs =
                    members.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
                pairs.collect::<Option<_>>().ok_or_else(damaged)
            }
            Some(_) => Err(damaged()),
        }
    }
}

/// A text as JSON.
#[cfg(any(feature = "azure", feature = "vault"))]
pub(super) fn quoted(text: &str) -> Value {
    Value::from(text)
}

/// Bytes in base64, as JSON.
pub(super) fn encoded(bytes: &[u8]) -> Value {
    Value::from(BASE64_STANDARD.encode(bytes))
}
