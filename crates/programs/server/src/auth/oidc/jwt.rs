//! The form of a JSON Web Token in the compact serialisation.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Rejected;

/// The algorithms that are accepted: signatures by public keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that have to be understood. None are.
    crit: Option<Value>,
}

/// A token whose signature is not checked yet.
pub(crate) struct Unverified<'t> {
    pub(crate) algorithm: Algorithm,
    /// Which key has signed it, as the token says.
    pub(crate) key_id: Option<String>,
    /// What is signed.
    pub(crate) message: &'t str,
    pub(crate) signature: Vec<u8>,
    claims: Map<String, Value>,
}

/// The claims of a token whose signature is right.
pub(crate) struct Verified(pub(crate) Map<String, Value>);

impl<'t> Unverified<'t> {
    pub(crate) fn parse(token: &'t str) -> Result<Self, Rejected> {
        let form = |why| move || Rejected::Form(why);
        let (message, signature) = token.rsplit_once('.').ok_or_else(form("it has no parts"))?;
        let (header, claims) = message.split_once('.').ok_or_else(form("it has no parts"))?;
        let decode =
            |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Rejected::Form("a part is not base64"));
        let header: Header = serde_json::from_slice(&decode(header)?)
            .map_err(|_| Rejected::Form("its header is not valid"))?;
        if header.crit.is_some() {
            return Err(Rejected::Form("it needs an extension"));
        }
        let algorithm = Algorithm::parse(&header.alg).ok_or(Rejected::Algorithm)?;
        let claims: Map<String, Value> = serde_json::from_slice(&decode(claims)?)
            .map_err(|_| Rejected::Form("its claims are not an object"))?;
        Ok(Self { algorithm, key_id: header.kid, message, signature: decode(signature)?, claims })
    }

    /// The issuer as the token says, which decides whose keys are tried, and nothing else.
    pub(crate) fn issuer(&self) -> Option<&str> {
        self.claims.get("iss")?.as_str()
    }

    /// The claims, once the signature was found to be right.
    pub(crate) fn verified(self) -> Verified {
        Verified(self.claims)
    }
}
