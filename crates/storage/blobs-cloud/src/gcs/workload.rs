//! Workloads of other clouds, which exchange a token of their own for one of Google.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use http::Method;
use serde::Deserialize;
use serde_json::Value;

use super::identity::{CLOUD_SCOPE, Impersonation};
use crate::cloud::{Request, SHORT, Seconds, Token, Wire, address, ask, ask_text, form, token, token_of};

/// Credentials of the type `external_account`.
pub(super) struct Workload {
    audience: String,
    subject_token_type: String,
    token_url: String,
    source: SubjectSource,
    /// The member of a JSON document that holds the token; without one it is the whole text.
    field: Option<String>,
    account: Option<Impersonation>,
}

/// Where the workload's own token is.
enum SubjectSource {
    File(String),
    Url { url: String, headers: Vec<(String, String)> },
}

#[derive(Deserialize)]
struct Document {
    audience: String,
    subject_token_type: String,
    token_url: String,
    service_account_impersonation_url: Option<String>,
    credential_source: CredentialSource,
}

#[derive(Deserialize)]
struct CredentialSource {
    file: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    format: Format,
}

#[derive(Default, Deserialize)]
struct Format {
    #[serde(default)]
    r#type: String,
    subject_token_field_name: Option<String>,
}

#[derive(Deserialize)]
struct Exchanged {
    access_token: String,
    expires_in: Option<Seconds>,
}

impl Workload {
    /// Reads the credentials.
    ///
    /// # Errors
    ///
    /// Why they cannot be used, without any part of them.
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        let document: Document = serde_json::from_str(text)
            .map_err(|_| "they name neither a file nor a URL that has the token of the workload")?;
        let checked =
            |text: &str| address(text).map(String::from).map_err(|_| "one of their addresses cannot be used");
        let CredentialSource { file, url, headers, format } = document.credential_source;
        let source = match (file, url) {
            (Some(file), _) => SubjectSource::File(file),
            (None, Some(url)) => {
                SubjectSource::Url { url: checked(&url)?, headers: headers.into_iter().collect() }
            }
            (None, None) => {
                return Err("they name neither a file nor a URL that has the token of the workload");
            }
        };
        let field = match (format.r#type.as_str(), format.subject_token_field_name) {
            ("json", Some(field)) => Some(field),
            ("json", None) => return Err("they do not name the member that has the token"),
            _ => None,
        };
        let account = document.service_account_impersonation_url.as_deref().map(checked).transpose()?;
        Ok(Self {
            audience: document.audience,
            subject_token_type: document.subject_token_type,
            token_url: checked(&document.token_url)?,
            source,
            field,
            account: account.map(Impersonation::at),
        })
    }

    pub(super) async fn token(&self, wire: &Wire) -> Result<Token> {
        let place = "Google for the workload of the credentials";
        let subject = self.subject(wire).await?;
        let pairs = [
            ("audience", self.audience.as_str()),
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("scope", CLOUD_SCOPE),
            ("subject_token", &subject),
            ("subject_token_type", &self.subject_token_type),
        ];
        let exchanged: Exchanged = ask(wire, place, form(&self.token_url, &pairs)?).await?;
        let lives = exchanged.expires_in.map_or(SHORT, |Seconds(seconds)| Duration::from_secs(seconds));
        let own = token_of(place, &exchanged.access_token, lives)?;
        match &self.account {
            None => Ok(own),
            Some(account) => account.token(wire, &own.text).await,
        }
    }

    /// The token of the workload.
    async fn subject(&self, wire: &Wire) -> Result<String> {
        let place = "the token service of the workload";
        let failed = || Error::new(ErrorKind::Unauthenticated, Op::GetToken, place);
        let found = match &self.source {
            SubjectSource::File(path) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    Error::new(ErrorKind::Unauthenticated, Op::GetToken, path).with_source(error)
                })?;
                match &self.field {
                    None => text,
                    Some(field) => member(&text, field).ok_or_else(failed)?,
                }
            }
            SubjectSource::Url { url, headers } => {
                let request = Request::new(Method::GET, url.clone()).headers(headers)?;
                match &self.field {
                    None => ask_text(wire, place, request).await?,
                    Some(field) => {
                        let answer: Value = ask(wire, place, request).await?;
                        answer.get(field).and_then(Value::as_str).map(str::to_owned).ok_or_else(failed)?
                    }
                }
            }
        };
        token(&found).map(str::to_owned).map_err(|why| failed().because(why))
    }
}

fn member(text: &str, field: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    document.get(field)?.as_str().map(str::to_owned)
}
