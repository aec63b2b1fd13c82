//! Azure Key Vault, with the login service that its clients need.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::{NONCE, open, random, seal};
use crate::certificate::Certificate;
use crate::digest::hex;
use crate::http::{Answer, Request, Server, Service};

/// The tenant of the challenge.
const TENANT: &str = "tenant-1";
/// The only token that is good.
const TOKEN: &str = "tok";
/// The key of symmetric algorithms.
const KEY: [u8; 32] = [7; 32];
/// The length of what an RSA key of 2048 bits wraps, and of its ciphertexts.
const LONGEST: usize = 190;
const WRAPPED: usize = 256;

/// Azure Key Vault and its login service on the loopback, with one key of two kinds: `k1` is one of RSA, `gcm` a symmetric one.
/// Every header and member is checked; what is not as the documentation has it is refused with a text that says so.
///
/// ```
/// use groundstate_testkit::KeyVaultServer;
///
/// let vault = KeyVaultServer::start();
/// let first = vault.version();
/// vault.rotate();
/// assert_ne!(vault.version(), first);
/// ```
pub struct KeyVaultServer {
    server: Server,
    state: Arc<Vault>,
}

struct Vault(Mutex<Script>);

struct Script {
    /// 32 hexadecimal digits each, the oldest first, and whether it is enabled.
    versions: Vec<(String, bool)>,
    /// What RSA has wrapped: by version and ciphertext. Clients never compute it, so neither does this.
    wrapped: BTreeMap<(String, Vec<u8>), Vec<u8>>,
    resource: String,
}

impl KeyVaultServer {
    /// Starts a vault with one version of each key.
    pub fn start() -> Self {
        let state = Vault::new();
        let service: Arc<dyn Service> = Arc::<Vault>::clone(&state);
        Self { server: Server::start(service), state }
    }

    /// The same over TLS.
    pub fn start_tls(certificate: &Certificate) -> Self {
        let state = Vault::new();
        let service: Arc<dyn Service> = Arc::<Vault>::clone(&state);
        Self { server: Server::start_tls(certificate, service), state }
    }

    /// The current version.
    pub fn version(&self) -> String {
        self.state.script().current()
    }

    /// Makes a new version the current one.
    pub fn rotate(&self) {
        self.state.script().versions.push((hex(&random::<16>()), true));
    }

    /// Disables a version.
    pub fn disable(&self, version: &str) {
        let mut script = self.state.script();
        script
            .versions
            .iter_mut()
            .filter(|(found, _)| found == version)
            .for_each(|(_, enabled)| *enabled = false);
    }

    /// Adds a pair that was recorded elsewhere, under a version.
    pub fn know(&self, version: &str, ciphertext: &[u8], plaintext: &[u8]) {
        let mut script = self.state.script();
        script.wrapped.insert((version.to_owned(), ciphertext.to_vec()), plaintext.to_vec());
    }

    /// Sets the resource that challenges name.
    pub fn set_resource(&self, resource: &str) {
        resource.clone_into(&mut self.state.script().resource);
    }
}

impl Deref for KeyVaultServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl fmt::Debug for KeyVaultServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyVaultServer({})", self.server.endpoint())
    }
}

impl Script {
    fn current(&self) -> String {
        self.versions.last().map(|(version, _)| version.clone()).unwrap_or_default()
    }
}

impl Vault {
    fn new() -> Arc<Self> {
        let versions = vec![("1".repeat(32), true)];
        let resource = "https://vault.azure.net".to_owned();
        Arc::new(Self(Mutex::new(Script { versions, wrapped: BTreeMap::new(), resource })))
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, request: &Request) -> Result<Value, Answer> {
        let path = request.path();
        if path == "/common/discovery/instance" || path.ends_with("/.well-known/openid-configuration") {
            return Ok(discovery());
        }
        if path.ends_with("/oauth2/v2.0/token") {
            return token(request);
        }
        if request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            let resource = &self.script().resource;
            let challenge = format!(
                "Bearer authorization=\"https://login.microsoftonline.com/{TENANT}\", resource=\"{resource}\""
            );
            return Err(refusal(401, "Unauthorized", "", "no token").header("www-authenticate", challenge));
        }
        if !matches!(request.parameter("api-version").as_deref(), Some("7.4" | "7.5" | "7.6" | "2025-07-01"))
        {
            return Err(bad("the version of the interface is not known"));
        }
        let parts: Vec<&str> = path.split('/').collect();
        match (request.method(), &parts[..]) {
            ("GET", ["", "keys", name, "versions"]) => self.list(request, name),
            ("POST", ["", "keys", name, verb]) => self.use_key(request, name, None, verb),
            ("POST", ["", "keys", name, version, verb]) => self.use_key(request, name, Some(version), verb),
            _ => Err(missing()),
        }
    }

    fn list(&self, request: &Request, name: &str) -> Result<Value, Answer> {
        let script = self.script();
        let listed: Vec<Value> = (0..)
            .zip(&script.versions)
            .map(|(number, (version, enabled))| {
                let attributes = json!({ "enabled": enabled, "created": 1_700_000_000 + number });
                json!({ "kid": kid(request, name, version), "attributes": attributes })
            })
            .collect();
        Ok(json!({ "value": listed, "nextLink": null }))
    }

    fn use_key(
        &self,
        request: &Request,
        name: &str,
        version: Option<&str>,
        verb: &str,
    ) -> Result<Value, Answer> {
        if request.header("content-type") != Some("application/json")
            || request.header("accept") != Some("application/json")
        {
            return Err(bad("content-type and accept are application/json"));
        }
        let mut script = self.script();
        let version = version.map_or_else(|| script.current(), str::to_owned);
        let (_, enabled) = script.versions.iter().find(|(found, _)| *found == version).ok_or_else(missing)?;
        if !enabled {
            return Err(refusal(
                403,
                "Forbidden",
                "KeyDisabled",
                "Operation is not allowed on a disabled key.",
            ));
        }
        let body: Map<String, Value> =
            serde_json::from_slice(request.body()).map_err(|_| bad("the body is not a JSON object"))?;
        let member = |name: &str| match body.get(name) {
            None => Ok(None),
            Some(value) => {
                let bytes = value.as_str().and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok());
                bytes.map(Some).ok_or_else(|| bad("a value is not unpadded base64 for addresses"))
            }
        };
        let algorithm =
            body.get("alg").and_then(Value::as_str).ok_or_else(|| bad("there is no algorithm"))?;
        let value = member("value")?.ok_or_else(|| bad("there is no value"))?;
        let (iv, tag, aad) = (member("iv")?, member("tag")?, member("aad")?);
        let mut output = match (name, algorithm, verb) {
            ("k1", "RSA-OAEP-256" | "RSA-OAEP" | "RSA1_5", "encrypt") if body.len() == 2 => {
                if value.len() > LONGEST {
                    return Err(bad("the value is too long for the key"));
                }
                let ciphertext = random::<WRAPPED>().to_vec();
                script.wrapped.insert((version.clone(), ciphertext.clone()), value);
                json!({ "value": BASE64_URL_SAFE_NO_PAD.encode(ciphertext) })
            }
            ("k1", "RSA-OAEP-256" | "RSA-OAEP" | "RSA1_5", "decrypt") if body.len() == 2 => {
                let plaintext =
                    script.wrapped.get(&(version.clone(), value)).ok_or_else(|| bad("decryption failed"))?;
                json!({ "value": BASE64_URL_SAFE_NO_PAD.encode(plaintext) })
            }
            ("gcm", "A256GCM", "encrypt") if body.len() == 2 => {
                let nonce: [u8; NONCE] = random();
                let sealed = seal(&KEY, nonce, b"", &value);
                let (ciphertext, tag) = sealed.split_at(value.len());
                let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
                json!({ "value": text(ciphertext), "iv": text(&nonce), "tag": text(tag), "aad": "" })
            }
            ("gcm", "A256GCM", "decrypt") => {
                let sealed = [value, tag.ok_or_else(|| bad("there is no tag"))?].concat();
                let iv = iv.ok_or_else(|| bad("there is no iv"))?;
                let plaintext = open(&KEY, &iv, &aad.unwrap_or_default(), &sealed);
                let plaintext = plaintext.ok_or_else(|| bad("decryption failed"))?;
                json!({ "value": BASE64_URL_SAFE_NO_PAD.encode(plaintext) })
            }
            ("k1" | "gcm", ..) => {
                return Err(bad("the algorithm does not fit the key, or a member is too many"));
            }
            _ => return Err(missing()),
        };
        output["kid"] = kid(request, name, &version).into();
        Ok(output)
    }
}

fn token(request: &Request) -> Result<Value, Answer> {
    let form = String::from_utf8_lossy(request.body()).into_owned();
    let has = |part: &str| form.split('&').any(|pair| pair.starts_with(part));
    let needed = ["client_id=", "client_secret=", "grant_type=client_credentials", "scope=https%3A%2F%2F"];
    if request.method() != "POST" || !needed.into_iter().all(has) || !form.contains("%2F.default") {
        let answer = json!({ "error": "invalid_request", "error_description": "the form is not complete" });
        return Err(Answer::new(400).json(&answer));
    }
    Ok(json!({ "token_type": "Bearer", "expires_in": 3599, "access_token": TOKEN }))
}

/// What the real tools ask the login service for before they ask for a token.
fn discovery() -> Value {
    let login = "https://login.microsoftonline.com";
    let configuration = format!("{login}/{TENANT}/v2.0/.well-known/openid-configuration");
    let metadata = json!({
        "preferred_network": "login.microsoftonline.com",
        "preferred_cache": "login.windows.net",
        "aliases": ["login.microsoftonline.com"],
    });
    json!({
        "tenant_discovery_endpoint": configuration,
        "api-version": "1.1",
        "metadata": [metadata],
        "token_endpoint": format!("{login}/{TENANT}/oauth2/v2.0/token"),
        "authorization_endpoint": format!("{login}/{TENANT}/oauth2/v2.0/authorize"),
        "issuer": format!("{login}/{TENANT}/v2.0"),
        "jwks_uri": format!("{login}/{TENANT}/discovery/v2.0/keys"),
    })
}

fn kid(request: &Request, name: &str, version: &str) -> String {
    format!("https://{}/keys/{name}/{version}", request.header("host").unwrap_or_default())
}

fn bad(message: &str) -> Answer {
    refusal(400, "BadParameter", "", message)
}

fn missing() -> Answer {
    refusal(404, "KeyNotFound", "", "A key with this name was not found in this key vault.")
}

/// An error as Azure words it.
fn refusal(status: u16, code: &str, inner: &str, message: &str) -> Answer {
    let mut error = json!({ "code": code, "message": message });
    if !inner.is_empty() {
        error["innererror"] = json!({ "code": inner });
    }
    Answer::new(status).json(&json!({ "error": error }))
}

#[async_trait]
impl Service for Vault {
    async fn answer(&self, request: &Request) -> Option<Answer> {
        Some(self.run(request).map_or_else(|refused| refused, |output| Answer::new(200).json(&output)))
    }

    fn refusal(&self, _: &Request, status: u16, code: &str) -> Answer {
        refusal(status, code, "", "a fault was planned for this request")
    }
}
