//! An issuer of OpenID Connect: a discovery document, keys, and tokens signed by them.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair as RsaKeyPair, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding,
};
use serde_json::{Value, json};

use crate::http::{Answer, Request, Server};
use crate::recorder::Recorder;

/// A key of 2048 bits, PKCS #1, for tests and nothing else: making one takes seconds, and not every library can.
const RSA: &str = include_str!("rsa.b64");

/// An issuer on the loopback.
///
/// ```
/// use groundstate_testkit::TestIssuer;
/// use serde_json::json;
///
/// let issuer = TestIssuer::start();
/// let token = issuer.sign("EdDSA", &json!({ "iss": issuer.url(), "sub": "job", "aud": "us", "exp": 4_000_000_000_u64 }));
/// assert_eq!(token.split('.').count(), 3);
/// // ... let a client work that gets the keys from `issuer.url()` ...
/// assert_eq!(issuer.count("GET", "/keys"), 0);
/// ```
pub struct TestIssuer {
    server: Recorder,
    keys: Arc<Keys>,
}

struct Keys {
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    p384: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
    script: Mutex<Script>,
}

#[derive(Default)]
struct Script {
    /// What is put behind the ids of keys.
    generation: u32,
    /// What is answered in place of a document, by its path.
    instead: Vec<(String, Answer)>,
    url: String,
}

impl TestIssuer {
    /// Starts an issuer with a key of each kind.
    ///
    /// # Panics
    ///
    /// When the machine has no randomness to give: a test cannot go on then.
    pub fn start() -> Self {
        let keys = Arc::new(Keys::new());
        let answering = Arc::clone(&keys);
        let server = Recorder::answering(move |request| answering.answer(request));
        keys.script().url = server.endpoint();
        Self { server, keys }
    }

    /// Its URL, which is `iss` in its tokens.
    pub fn url(&self) -> String {
        self.server.endpoint()
    }

    /// Gives its keys other ids, as an issuer does that has made new ones.
    pub fn rotate(&self) {
        self.keys.script().generation += 1;
    }

    /// The document of its keys, as it is at `/keys`.
    pub fn keys_document(&self) -> String {
        let generation = self.keys.script().generation;
        self.keys.document(generation).to_string()
    }

    /// Answers requests for this path with this from now on.
    pub fn answer_instead(&self, path: &str, answer: Answer) {
        self.keys.script().instead.push((path.to_owned(), answer));
    }

    /// A token with these claims, signed with the key for this algorithm.
    ///
    /// # Panics
    ///
    /// For an algorithm that is none of RS256, RS512, PS256, ES256, ES384 and EdDSA.
    pub fn sign(&self, algorithm: &str, claims: &Value) -> String {
        let header = json!({ "alg": algorithm, "typ": "JWT", "kid": self.key_id(algorithm) });
        self.sign_with(algorithm, &header, claims)
    }

    /// The same with any header, which may say what is not so.
    ///
    /// # Panics
    ///
    /// Those of [`sign`](Self::sign).
    pub fn sign_with(&self, algorithm: &str, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        let signature = self.keys.sign(algorithm, message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// The id of the key for this algorithm.
    pub fn key_id(&self, algorithm: &str) -> String {
        let kind = match algorithm {
            "ES256" => "p256",
            "ES384" => "p384",
            "EdDSA" => "ed25519",
            _ => "rsa",
        };
        format!("{kind}-{}", self.keys.script().generation)
    }

    /// The modulus of its RSA key, which is public: what an attacker would use as a shared secret.
    pub fn rsa_modulus(&self) -> Vec<u8> {
        PublicKeyComponents::<Vec<u8>>::from(self.keys.rsa.public()).n
    }
}

impl Keys {
    fn new() -> Self {
        let random = SystemRandom::new();
        let base64: String = RSA.split_whitespace().collect();
        let rsa = STANDARD.decode(base64).expect("the key is base64");
        let ecdsa = |algorithm: &'static EcdsaSigningAlgorithm| {
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("the machine has randomness");
            EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("the key was just made")
        };
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).expect("the machine has randomness");
        Self {
            rsa: RsaKeyPair::from_der(&rsa).expect("the key is one of RSA"),
            p256: ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            p384: ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).expect("the key was just made"),
            script: Mutex::default(),
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let rsa = |encoding: &'static dyn RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(encoding, &random, message, &mut signature).expect("the machine has randomness");
            signature
        };
        match algorithm {
            "RS256" => rsa(&RSA_PKCS1_SHA256),
            "RS512" => rsa(&RSA_PKCS1_SHA512),
            "PS256" => rsa(&RSA_PSS_SHA256),
            "ES256" => {
                self.p256.sign(&random, message).expect("the machine has randomness").as_ref().to_vec()
            }
            "ES384" => {
                self.p384.sign(&random, message).expect("the machine has randomness").as_ref().to_vec()
            }
            "EdDSA" => self.ed25519.sign(message).as_ref().to_vec(),
            other => unreachable!("no key of a test issuer is for {other}"),
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let script = self.script();
        let path = request.path();
        if let Some((_, answer)) = script.instead.iter().rev().find(|(instead, _)| *instead == path) {
            return answer.clone();
        }
        match path.as_str() {
            "/.well-known/openid-configuration" => {
                let keys = format!("{}/keys", script.url);
                Answer::new(200).text(&json!({ "issuer": script.url, "jwks_uri": keys }).to_string())
            }
            "/keys" => Answer::new(200).text(&self.document(script.generation).to_string()),
            _ => Answer::new(404),
        }
    }

    fn document(&self, generation: u32) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let point = |key: &EcdsaKeyPair, id: &str, curve: &str| {
            let point = key.public_key().as_ref().to_vec();
            let (x, y) = point[1..].split_at(point.len() / 2);
            json!({ "kty": "EC", "kid": format!("{id}-{generation}"), "use": "sig", "crv": curve, "x": text(x), "y": text(y) })
        };
        json!({ "keys": [
            {
                "kty": "RSA",
                "kid": format!("rsa-{generation}"),
                "use": "sig",
                "n": text(&rsa.n),
                "e": text(&rsa.e),
            },
            point(&self.p256, "p256", "P-256"),
            point(&self.p384, "p384", "P-384"),
            {
                "kty": "OKP",
                "kid": format!("ed25519-{generation}"),
                "crv": "Ed25519",
                "x": text(self.ed25519.public_key().as_ref()),
            },
        ] })
    }
}

impl Deref for TestIssuer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl fmt::Debug for TestIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestIssuer({})", self.url())
    }
}
