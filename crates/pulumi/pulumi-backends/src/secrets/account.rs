//! Secrets that a Pulumi service encrypts and decrypts, for the user who has logged in there.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_common::one_line;
use groundstate_http_client::http::header::{AUTHORIZATION, CONTENT_TYPE};
use groundstate_http_client::http::{HeaderMap, HeaderValue, Method};
use groundstate_http_client::{
    Client, ClientOptions, InvalidOption, Request, SHORT_DEADLINE, STATE_LIMIT, address, read_whole,
};
use groundstate_pulumi_protocol::{
    BatchDecrypt, BatchDecrypted, CipherBytes, EncryptValue, EncryptedValue, ErrorBody, PlainBytes, Route,
    StackCall, StackPath, decode, encode,
};
use groundstate_pulumi_secrets::{Ciphertext, Plaintext, SecretsProviders};
use serde::Deserialize;
use thiserror::Error;

use crate::home::PulumiHome;

/// Where the state names no service, it is this one.
const DEFAULT: &str = "https://api.pulumi.com";

/// Why a service does not encrypt or decrypt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceSecretsError {
    /// The state of the manager is not what Pulumi writes.
    #[error("constructing secrets manager of type \"service\": {0}")]
    State(String),
    /// The address of the service cannot be used.
    #[error("the secrets are encrypted by the service {url}, which is no address")]
    Address {
        /// The address, as the state has it.
        url: String,
    },
    /// The user has not logged in there. No other token is sent: the state may be a stranger's.
    #[error(
        "the secrets are encrypted by the service {url}, and there is no access token for it; log in with `pulumi login {url}`"
    )]
    NoToken {
        /// The address.
        url: String,
    },
    /// The stored login cannot be read.
    #[error(transparent)]
    Login(#[from] groundstate_blobs::Error),
    /// The client cannot be made.
    #[error("no client for the service can be made")]
    Client(#[from] InvalidOption),
    /// The service does not answer.
    #[error("the service {url} does not answer")]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The service refuses.
    #[error("the service {url} refuses: [{status}] {message}")]
    Refused {
        /// The address.
        url: String,
        /// The status of its answer.
        status: u16,
        /// Its words.
        message: String,
    },
    /// The service answers with something else.
    #[error("the service {url} answers with something that is no answer: {why}")]
    Answer {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value is none that the service has encrypted.
    #[error("value {} is no ciphertext of the service", .index + 1)]
    Value {
        /// Its place among those that were asked for; the first is 0.
        index: usize,
    },
}

/// What the state of the manager has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct State {
    url: String,
    owner: String,
    project: String,
    stack: String,
    insecure: bool,
}

/// What is read of `credentials.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    current: String,
    #[serde(rename = "accessTokens")]
    tokens: Option<BTreeMap<String, String>>,
    accounts: Option<BTreeMap<String, Account>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Account {
    #[serde(rename = "accessToken")]
    token: String,
}

/// The manager of the type `service`: a stack of a service, and the token of the user.
pub struct ServiceSecrets {
    client: Client,
    url: String,
    stack: StackPath,
    token: HeaderValue,
}

impl ServiceSecrets {
    /// The type of the manager.
    pub const TYPE: &'static str = "service";

    /// The service that the state of a manager names. Its address may be a stranger's, so no token goes there but one that `pulumi login`
    /// has stored for that very address, or that of `PULUMI_ACCESS_TOKEN` if `PULUMI_BACKEND_URL` or the stored login is that address.
    ///
    /// # Errors
    ///
    /// When the state is malformed, there is no token, or the login cannot be read.
    pub fn open(
        providers: &SecretsProviders,
        home: &PulumiHome,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ServiceSecretsError> {
        let wrong = |why: &str| ServiceSecretsError::State(why.to_owned());
        let state: State = match providers.state() {
            Some(text) => {
                serde_json::from_str(text).map_err(|_| wrong("its state is not an object of texts"))?
            }
            None => return Err(wrong("it has no state")),
        };
        if [&state.owner, &state.project, &state.stack].into_iter().any(|name| name.is_empty()) {
            return Err(wrong("its state does not name the stack"));
        }
        let url = match state.url.trim_end_matches('/') {
            "" => DEFAULT,
            url => url,
        };
        let shown = one_line(url).into_owned();
        let is_http = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_http || address(url).is_err() {
            return Err(ServiceSecretsError::Address { url: shown });
        }
        let token =
            token(url, home, variable)?.ok_or_else(|| ServiceSecretsError::NoToken { url: shown.clone() })?;
        let mut header = HeaderValue::try_from(format!("token {token}"))
            .map_err(|_| ServiceSecretsError::NoToken { url: shown.clone() })?;
        header.set_sensitive(true);
        let client =
            Client::new(ClientOptions::new().insecure(state.insecure && is_known_insecure(variable)))?;
        let stack = StackPath::new(state.owner, state.project, state.stack);
        Ok(Self { client, url: url.to_owned(), stack, token: header })
    }

    /// Decrypts values by one request.
    ///
    /// # Errors
    ///
    /// When the service refuses or does not answer.
    pub async fn decrypt(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, ServiceSecretsError> {
        if ciphertexts.is_empty() {
            return Ok(Vec::new());
        }
        let sealed = ciphertexts.iter().enumerate().map(|(index, ciphertext)| {
            let bytes = STANDARD.decode(ciphertext.as_str());
            bytes.map(CipherBytes::new).map_err(|_| ServiceSecretsError::Value { index })
        });
        let ciphertexts = sealed.collect::<Result<Vec<CipherBytes>, _>>()?;
        let asked = BatchDecrypt { ciphertexts };
        let answer: BatchDecrypted = self.ask(StackCall::BatchDecrypt, &asked).await?;
        let opened = asked.ciphertexts.iter().map(|ciphertext| {
            let value = answer.plaintexts.get(ciphertext).ok_or_else(|| self.answer("a value is missing"))?;
            self.text(value)
        });
        opened.collect()
    }

    /// Encrypts a value.
    ///
    /// # Errors
    ///
    /// When the service refuses or does not answer.
    pub async fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, ServiceSecretsError> {
        let asked = EncryptValue { plaintext: PlainBytes::new(plaintext.expose().as_bytes()) };
        let answer: EncryptedValue = self.ask(StackCall::Encrypt, &asked).await?;
        Ok(Ciphertext::new(STANDARD.encode(answer.ciphertext.as_bytes())))
    }

    fn text(&self, value: &PlainBytes) -> Result<Plaintext, ServiceSecretsError> {
        let text = std::str::from_utf8(value.expose()).map_err(|_| self.answer("a value is not text"))?;
        Ok(Plaintext::new(text))
    }

    fn answer(&self, why: &str) -> ServiceSecretsError {
        ServiceSecretsError::Answer { url: self.url.clone(), why: why.to_owned() }
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        call: StackCall,
        body: &impl serde::Serialize,
    ) -> Result<T, ServiceSecretsError> {
        let unreachable = |source: Box<dyn std::error::Error + Send + Sync>| {
            ServiceSecretsError::Unreachable { url: self.url.clone(), source }
        };
        let path = Route::Stack { stack: self.stack.clone(), call }.path();
        let url = address(&format!("{}{path}", self.url))
            .map_err(|_| ServiceSecretsError::Address { url: self.url.clone() })?;
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, self.token.clone()),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        let body = encode(body).map_err(|error| self.answer(&error.to_string()))?;
        let request = Request::new(Method::POST, url).headers(headers).body(body.into()).reveals(true);
        let answer = self.client.send(request.limit(STATE_LIMIT, SHORT_DEADLINE)).await;
        let answer = answer.map_err(|error| unreachable(error.into()))?;
        let status = answer.status();
        let text = read_whole(answer.into_body()).await;
        if !status.is_success() {
            let said = text.ok().and_then(|text| decode::<ErrorBody>(&text).ok());
            let message = said.map_or_else(String::new, |said| one_line(&said.message).into_owned());
            return Err(ServiceSecretsError::Refused {
                url: self.url.clone(),
                status: status.as_u16(),
                message,
            });
        }
        decode(&text.map_err(|error| unreachable(error.into()))?)
            .map_err(|error| self.answer(&error.to_string()))
    }
}

/// Whether the user has switched the check of certificates off. A state alone cannot.
fn is_known_insecure(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    variable("PULUMI_OPTION_INSECURE").is_some_and(|value| value == "true" || value == "1")
}

/// The access token for exactly this address.
fn token(
    url: &str,
    home: &PulumiHome,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, ServiceSecretsError> {
    let given = |name: &str| variable(name).filter(|text| !text.is_empty());
    let is_same = |other: &str| other.trim_end_matches('/') == url;
    let from_variable = given("PULUMI_ACCESS_TOKEN");
    if let (Some(token), Some(backend)) = (&from_variable, given("PULUMI_BACKEND_URL"))
        && is_same(&backend)
    {
        return Ok(Some(token.clone()));
    }
    let Some(text) = home.credentials_text()? else { return Ok(None) };
    // What is no JSON of logins is said where the login is read for the backend; here it has no token.
    let stored: Tokens = serde_json::from_str(&text).unwrap_or_default();
    if let Some(token) = from_variable.filter(|_| is_same(&stored.current)) {
        return Ok(Some(token));
    }
    let of_account = stored.accounts.unwrap_or_default().into_iter().find(|(known, _)| is_same(known));
    let of_token = stored.tokens.unwrap_or_default().into_iter().find(|(known, _)| is_same(known));
    let token = of_account.map(|(_, account)| account.token).or(of_token.map(|(_, token)| token));
    Ok(token.filter(|token| !token.is_empty()))
}

impl fmt::Debug for ServiceSecrets {
    /// Shows no token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceSecrets")
            .field("url", &self.url)
            .field("stack", &self.stack)
            .finish_non_exhaustive()
    }
}
