//! The public keys of an issuer, and signatures by them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

use super::jwt::Algorithm;

/// How many keys of an issuer are read.
const MOST: usize = 100;

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    id: Option<String>,
    /// The only algorithm that it is for, if it says so.
    only: Option<Algorithm>,
    material: Material,
}

#[derive(Clone, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key as a document has it.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// The keys for signatures in a document. Keys of other kinds and for other uses are left out; none if it is no such document.
pub(crate) fn parse_keys(document: &[u8]) -> Option<Vec<PublicKey>> {
    let document: Document = serde_json::from_slice(document).ok()?;
    let read = |value| serde_json::from_value::<Jwk>(value).ok().and_then(PublicKey::of);
    Some(document.keys.into_iter().take(MOST).filter_map(read).collect())
}

impl PublicKey {
    fn of(jwk: Jwk) -> Option<Self> {
        let is_for_signatures = jwk.usage.as_deref().is_none_or(|usage| usage == "sig")
            && jwk.key_ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == "verify"));
        if !is_for_signatures {
            return None;
        }
        // A key for an algorithm that is not accepted is for none.
        let only = match &jwk.alg {
            Some(name) => Some(Algorithm::parse(name)?),
            None => None,
        };
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_ref()?).ok();
        let point = |length: usize| {
            let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
            (x.len() == length && y.len() == length).then(|| [&[4], &x[..], &y[..]].concat())
        };
        let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: bytes(&jwk.n)?, e: bytes(&jwk.e)? },
            ("EC", Some("P-256")) => Material::P256(point(32)?),
            ("EC", Some("P-384")) => Material::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(&jwk.x).filter(|x| x.len() == 32)?),
            _ => return None,
        };
        Some(Self { id: jwk.kid, only, material })
    }

    /// Whether it is the key that a token names. A token that names none has any key.
    pub(crate) fn is_named(&self, id: Option<&str>) -> bool {
        id.is_none_or(|id| self.id.as_deref() == Some(id))
    }

    /// Whether it has signed the message by this algorithm, which has to be one of its own kind.
    pub(crate) fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if self.only.is_some_and(|only| only != algorithm) {
            return false;
        }
        let rsa = |parameters: &RsaParameters, n: &[u8], e: &[u8]| {
            RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
        };
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, Algorithm::Rs256) => rsa(&RSA_PKCS1_2048_8192_SHA256, n, e),
            (Material::Rsa { n, e }, Algorithm::Rs384) => rsa(&RSA_PKCS1_2048_8192_SHA384, n, e),
            (Material::Rsa { n, e }, Algorithm::Rs512) => rsa(&RSA_PKCS1_2048_8192_SHA512, n, e),
            (Material::Rsa { n, e }, Algorithm::Ps256) => rsa(&RSA_PSS_2048_8192_SHA256, n, e),
            (Material::Rsa { n, e }, Algorithm::Ps384) => rsa(&RSA_PSS_2048_8192_SHA384, n, e),
            (Material::Rsa { n, e }, Algorithm::Ps512) => rsa(&RSA_PSS_2048_8192_SHA512, n, e),
            (Material::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            (Material::P384(point), Algorithm::Es384) => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature).is_ok()
            }
            (Material::Ed25519(key), Algorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse_keys;

    #[test]
    fn keys_of_other_kinds_and_uses_are_left_out() {
        let x = "A".repeat(43);
        let keys = |jwk: &str| parse_keys(format!("{{\"keys\":[{jwk}]}}").as_bytes()).map(|keys| keys.len());
        let ed = |more: &str| format!("{{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"{x}\"{more}}}");
        assert_eq!(keys(&ed("")), Some(1));
        assert_eq!(
            keys(&ed(",\"use\":\"sig\",\"key_ops\":[\"verify\"],\"alg\":\"EdDSA\",\"x5c\":[]")),
            Some(1)
        );
        for left_out in [
            ed(",\"use\":\"enc\""),
            ed(",\"key_ops\":[\"sign\"]"),
            ed(",\"alg\":\"HS256\""),
            ed(",\"alg\":\"none\""),
            format!("{{\"kty\":\"oct\",\"k\":\"{x}\"}}"),
            format!("{{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"{x}\",\"y\":\"{x}\"}}"),
            format!("{{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{x}\"}}"),
            "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}".to_owned(),
            "7".to_owned(),
        ] {
            assert_eq!(keys(&left_out), Some(0), "{left_out}");
        }
        let many = vec![ed(""); 1000].join(",");
        assert_eq!(keys(&many), Some(100));
        for text in ["", "[]", "{}", "{\"keys\":{}}", "<html>"] {
            assert!(parse_keys(text.as_bytes()).is_none(), "{text}");
        }
    }
}
