//! Google Cloud KMS by its REST interface: one key ring whose keys are made when they are first used.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::{NONCE, open, random, seal};
use crate::http::{Answer, Request, Server, Service};

/// Ciphertexts begin so, with the digit of the version behind.
const PREFIX: &[u8; 2] = b"\x0av";
/// The key of every version.
const KEY: [u8; 32] = [1; 32];

/// Google Cloud KMS on the loopback: encryption with versions, associated data and checksums. Every header and member is checked;
/// what is not as the documentation has it is refused with a text that says so.
///
/// ```
/// use groundstate_testkit::GoogleKmsServer;
///
/// let kms = GoogleKmsServer::start("token");
/// kms.rotate();
/// // ... let a client work on `kms.endpoint()` with the token ...
/// assert_eq!(kms.count("POST", "*:decrypt"), 0);
/// ```
pub struct GoogleKmsServer {
    server: Server,
    state: Arc<Keys>,
}

struct Keys {
    token: String,
    script: Mutex<Script>,
}

struct Script {
    current: u8,
    /// Versions that are not enabled, with the word for their state.
    states: Vec<(u8, &'static str)>,
    /// How many answers have wrong checksums from now on.
    damaged: u32,
}

impl GoogleKmsServer {
    /// Starts a server that takes this token.
    pub fn start(token: &str) -> Self {
        let script = Mutex::new(Script { current: 1, states: Vec::new(), damaged: 0 });
        let state = Arc::new(Keys { token: token.to_owned(), script });
        let service: Arc<dyn Service> = Arc::<Keys>::clone(&state);
        Self { server: Server::start(service), state }
    }

    /// Makes a new version the current one.
    pub fn rotate(&self) {
        self.state.script().current += 1;
    }

    /// Puts a version into a state such as `DISABLED`, `DESTROY_SCHEDULED` or `DESTROYED`.
    pub fn set_state(&self, version: u8, state: &'static str) {
        self.state.script().states.push((version, state));
    }

    /// Gives so many answers wrong checksums from now on.
    pub fn damage(&self, answers: u32) {
        self.state.script().damaged = answers;
    }
}

impl Deref for GoogleKmsServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl fmt::Debug for GoogleKmsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GoogleKmsServer({})", self.server.endpoint())
    }
}

/// What is asked for, after all checks.
struct Asked {
    name: String,
    bytes: Vec<u8>,
    associated: Vec<u8>,
}

impl Keys {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, request: &Request) -> Result<Value, Answer> {
        if request.header("authorization") != Some(&format!("Bearer {}", self.token)) {
            return Err(refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."));
        }
        let path = request.path();
        match path.rsplit_once(':') {
            Some((name, "encrypt")) => self.encrypt(&asked(request, name, "plaintext")?),
            Some((name, "decrypt")) => self.decrypt(&asked(request, name, "ciphertext")?),
            _ => Err(refusal(404, "NOT_FOUND", "there is no such method")),
        }
    }

    fn encrypt(&self, asked: &Asked) -> Result<Value, Answer> {
        let mut script = self.script();
        let version = script.current;
        script.check(version)?;
        let nonce: [u8; NONCE] = random();
        let mut ciphertext = PREFIX.to_vec();
        ciphertext.push(b'0' + version);
        ciphertext.extend(nonce);
        ciphertext.extend(seal(&KEY, nonce, &asked.associated, &asked.bytes));
        let sum = script.sum(&ciphertext);
        Ok(json!({
            "name": format!("{}/cryptoKeyVersions/{version}", asked.name.trim_start_matches("/v1/")),
            "ciphertext": BASE64_STANDARD.encode(&ciphertext),
            "ciphertextCrc32c": sum,
            "verifiedPlaintextCrc32c": true,
            "protectionLevel": "SOFTWARE",
        }))
    }

    fn decrypt(&self, asked: &Asked) -> Result<Value, Answer> {
        let mut script = self.script();
        let wrong = || refusal(400, "INVALID_ARGUMENT", "Decryption failed: the ciphertext is invalid.");
        let rest = asked.bytes.strip_prefix(PREFIX).ok_or_else(wrong)?;
        let (version, rest) = rest.split_first().ok_or_else(wrong)?;
        let version = version.checked_sub(b'0').ok_or_else(wrong)?;
        script.check(version)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE).ok_or_else(wrong)?;
        let plaintext = open(&KEY, nonce, &asked.associated, sealed).ok_or_else(wrong)?;
        let sum = script.sum(&plaintext);
        Ok(json!({
            "plaintext": BASE64_STANDARD.encode(&plaintext),
            "plaintextCrc32c": sum,
            "usedPrimary": version == script.current,
            "protectionLevel": "SOFTWARE",
        }))
    }
}

impl Script {
    fn check(&self, version: u8) -> Result<(), Answer> {
        match self.states.iter().rev().find(|(found, _)| *found == version) {
            None | Some((_, "ENABLED")) => Ok(()),
            Some((_, state)) => {
                let message = format!("the key version is not enabled, current state is: {state}.");
                Err(refusal(400, "FAILED_PRECONDITION", &message))
            }
        }
    }

    /// The checksum as JSON has it, wrong as long as answers are to be damaged.
    fn sum(&mut self, bytes: &[u8]) -> String {
        let is_damaged = self.damaged > 0;
        self.damaged = self.damaged.saturating_sub(1);
        (crc32c(bytes) ^ u32::from(is_damaged)).to_string()
    }
}

/// Checks a request member by member.
fn asked(request: &Request, name: &str, member: &str) -> Result<Asked, Answer> {
    let wrong = |why: &str| refusal(400, "INVALID_ARGUMENT", why);
    if request.method() != "POST" || request.header("content-type") != Some("application/json") {
        return Err(wrong("a call is a POST of application/json"));
    }
    let parts: Vec<&str> = name.trim_start_matches("/v1/").split('/').collect();
    let is_key = matches!(
        parts[..],
        ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _]
            | ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _, "cryptoKeyVersions", _]
    );
    if !is_key || (member == "ciphertext" && parts.len() > 8) {
        return Err(wrong("that is not the name of a crypto key"));
    }
    let body: Map<String, Value> =
        serde_json::from_slice(request.body()).map_err(|_| wrong("the body is not a JSON object"))?;
    let sum = format!("{member}Crc32c");
    let known = BTreeSet::from(["additionalAuthenticatedData", member, sum.as_str()]);
    if body.keys().any(|name| !known.contains(name.as_str())) {
        return Err(wrong("a member of the body is not known"));
    }
    let bytes = |name: &str| {
        let text = body.get(name)?.as_str()?;
        BASE64_STANDARD.decode(text).ok()
    };
    let value = bytes(member).ok_or_else(|| wrong("the value is not standard base64"))?;
    let associated = match body.contains_key("additionalAuthenticatedData") {
        true => {
            bytes("additionalAuthenticatedData").ok_or_else(|| wrong("the associated data is not base64"))?
        }
        false => Vec::new(),
    };
    if body.get(&sum).and_then(Value::as_str) != Some(&crc32c(&value).to_string()) {
        return Err(wrong("the checksum is missing, wrong, or not a decimal text"));
    }
    Ok(Asked { name: parts.get(..8).unwrap_or_default().join("/"), bytes: value, associated })
}

/// An error as Google words it.
fn refusal(code: u16, status: &str, message: &str) -> Answer {
    Answer::new(code).json(&json!({ "error": { "code": code, "message": message, "status": status } }))
}

/// The checksum of Castagnoli by its table, so that a client's own is compared with another way to it.
fn crc32c(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256_u32)
        .map(|byte| {
            (0..8).fold(byte, |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 })
        })
        .collect();
    !bytes.iter().fold(u32::MAX, |sum, byte| table[usize::from(sum as u8 ^ byte)] ^ (sum >> 8))
}

#[async_trait]
impl Service for Keys {
    async fn answer(&self, request: &Request) -> Option<Answer> {
        Some(self.run(request).map_or_else(|refused| refused, |output| Answer::new(200).json(&output)))
    }

    fn refusal(&self, _: &Request, status: u16, code: &str) -> Answer {
        refusal(status, code, "a fault was planned for this request")
    }
}
