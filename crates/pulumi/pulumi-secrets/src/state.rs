//! The `secrets_providers` object of a deployment: which manager keeps its secrets, and the state of that manager.

use std::collections::HashMap;
use std::fmt;

use serde_json::value::RawValue;
use thiserror::Error;

/// The `secrets_providers` object of a deployment.
///
/// It is kept as it was read, byte for byte, with members of later releases, and whether or not its type is known and its
/// state makes sense. So a deployment passes through without its passphrase, and without its key service.
///
/// ```
/// use groundstate_pulumi_secrets::SecretsProviders;
///
/// let text = r#"{"type": "cloud", "state": {"url": "awskms://alias/x"}, "later": 1}"#;
/// let providers = SecretsProviders::parse(text)?;
/// assert_eq!(providers.kind(), "cloud");
/// assert_eq!(providers.state(), Some(r#"{"url": "awskms://alias/x"}"#));
/// assert_eq!(providers.as_json(), text);
/// # Ok::<(), groundstate_pulumi_secrets::SecretsProvidersError>(())
/// ```
#[derive(Clone)]
pub struct SecretsProviders {
    text: Box<str>,
    kind: String,
    state: Option<Box<RawValue>>,
}

impl SecretsProviders {
    /// Reads the value of the member `secrets_providers`.
    ///
    /// A missing or null `type` reads as an empty one, as in the original. Of members that appear twice, the last counts.
    ///
    /// # Errors
    ///
    /// When the text is no JSON object, or its `type` is not a string. The state may be anything that is JSON.
    pub fn parse(text: &str) -> Result<Self, SecretsProvidersError> {
        let mut members = members(text)?;
        let kind = match members.remove("type") {
            None => String::new(),
            Some(value) if value.get() == "null" => String::new(),
            Some(value) => serde_json::from_str(value.get()).map_err(|_| SecretsProvidersError::Type)?,
        };
        let state = members.remove("state").map(ToOwned::to_owned);
        Ok(Self { text: text.into(), kind, state })
    }

    /// An object of this type and state, `state` being JSON, written as the original writes it: compact, `state` left out
    /// when there is none.
    ///
    /// # Errors
    ///
    /// When `state` is not JSON.
    pub fn new(kind: &str, state: Option<&str>) -> Result<Self, SecretsProvidersError> {
        // A state that is more than one JSON value could close the object and put members behind it.
        if state.is_some_and(|state| serde_json::from_str::<&RawValue>(state).is_err()) {
            return Err(SecretsProvidersError::State);
        }
        let quoted = serde_json::Value::from(kind);
        let text = match state {
            Some(state) => format!(r#"{{"type":{quoted},"state":{state}}}"#),
            None => format!(r#"{{"type":{quoted}}}"#),
        };
        Self::parse(&text)
    }

    /// The type of the manager: `passphrase`, `cloud`, `service`, or one that is not known here.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The state of the manager as it stands in the text, JSON of any shape.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref().map(RawValue::get)
    }

    /// Tells whether the type is empty, which counts as no manager at all.
    pub fn is_none(&self) -> bool {
        self.kind.is_empty()
    }

    /// The whole object as it was read.
    pub fn as_json(&self) -> &str {
        &self.text
    }

    /// Tells whether a manager of `other` can decrypt what one of `self` has encrypted: the types are equal, and so are
    /// the bytes of the states.
    pub fn is_compatible(&self, other: &Self) -> bool {
        self.kind == other.kind && self.state() == other.state()
    }
}

/// Shows the type only: the state is what an attacker needs to try passphrases.
impl fmt::Debug for SecretsProviders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretsProviders").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Why a `secrets_providers` object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SecretsProvidersError {
    /// It is not a JSON object.
    #[error(
        "`secrets_providers` is not a JSON object at line {line}, column {column} of it; \
         put `{{\"type\":…,\"state\":…}}` there from a backup"
    )]
    Syntax {
        /// The line in the text of the object; the first is 1.
        line: usize,
        /// The column in that line, in bytes; the first is 1.
        column: usize,
    },
    /// Its type is not a string.
    #[error(
        "`secrets_providers.type` is not a string; write the type of the secrets manager, such as \"passphrase\""
    )]
    Type,
    /// The state is not one JSON value.
    #[error("`secrets_providers.state` is not JSON; write the state that the secrets manager has given")]
    State,
}

/// The members of a JSON object, as they stand in the text. The last of equal names counts.
///
/// The error holds no more than a place: a message of the parser might quote a value.
pub(crate) fn members(text: &str) -> Result<HashMap<String, &RawValue>, SecretsProvidersError> {
    serde_json::from_str(text)
        .map_err(|error| SecretsProvidersError::Syntax { line: error.line(), column: error.column() })
}
