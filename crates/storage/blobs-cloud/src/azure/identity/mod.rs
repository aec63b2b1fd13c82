//! Who the store is to Azure without a key of the account: service principals, workloads, machines, and the user of `az`.
//!
//! The tokens of `object_store` are for the storage service alone, read the environment by themselves, and know neither
//! certificates nor the tokens of pipelines: so these requests are our own.

mod assertion;
mod certificate;
mod cli;
mod machine;

use std::fmt;
use std::sync::Arc;

use crate::cloud::{OAuthAnswer, Token, TokenCache, Wire, ask, form};
use crate::settings::Values;

use assertion::AssertionSource;
use certificate::ClientCertificate;
use groundstate_blobs::{Error, Result};
use machine::MachineIdentity;

use super::location::AzureCloud;

/// What the storage service calls itself.
const STORAGE: &str = "https://storage.azure.com";

/// What to do without credentials.
pub(super) const NO_CREDENTIALS: &str =
    "set `access_key` or ARM_ACCESS_KEY, or `sas_token` or ARM_SAS_TOKEN, or run `az login`";

/// An identity, and the token that it got last.
pub(super) struct Identity {
    source: Source,
    cache: TokenCache,
}

enum Source {
    /// An application, which proves itself by a secret, a certificate or the token of another service.
    Application {
        tenant: String,
        client: String,
        proof: Proof,
    },
    Machine(MachineIdentity),
    /// The user, or whatever else has run `az login`.
    Cli {
        tenant: Option<String>,
    },
}

enum Proof {
    Secret(String),
    Certificate(Box<ClientCertificate>),
    Assertion(AssertionSource),
}

impl Identity {
    /// The identity that the settings name: an application by certificate, secret or token, the machine, or `az`.
    pub(super) fn new(values: &Values) -> Result<Self> {
        Ok(Self { source: Source::new(values)?, cache: TokenCache::default() })
    }

    /// A token for the storage service.
    pub(super) async fn storage_token(&self, wire: &Wire, cloud: &AzureCloud) -> Result<String> {
        if let Some(token) = self.cache.get() {
            return Ok(token);
        }
        let token = self.token(wire, cloud, STORAGE).await?;
        self.cache.put(&token);
        Ok(token.text)
    }

    /// A token for the service that calls itself so.
    pub(super) async fn token(&self, wire: &Wire, cloud: &AzureCloud, resource: &str) -> Result<Token> {
        self.token_of(wire, cloud, resource, None).await
    }

    /// The same of the tenant that the service asks for.
    pub(super) async fn token_of(
        &self,
        wire: &Wire,
        cloud: &AzureCloud,
        resource: &str,
        asked: Option<&str>,
    ) -> Result<Token> {
        let scope = format!("{}/.default", resource.trim_end_matches('/'));
        match &self.source {
            Source::Machine(machine) => machine.token(wire, resource).await,
            Source::Cli { tenant } => cli::token(asked.or(tenant.as_deref()), &scope),
            Source::Application { tenant, client, proof } => {
                let tenant = asked.unwrap_or(tenant);
                let url = format!("{}/{tenant}/oauth2/v2.0/token", cloud.login);
                let mut pairs = vec![
                    ("client_id", client.as_str()),
                    ("grant_type", "client_credentials"),
                    ("scope", &scope),
                ];
                let assertion = match proof {
                    Proof::Secret(secret) => {
                        pairs.push(("client_secret", secret));
                        None
                    }
                    Proof::Certificate(certificate) => Some(certificate.assertion(client, &url)?),
                    Proof::Assertion(source) => Some(source.assertion(wire).await?),
                };
                if let Some(assertion) = &assertion {
                    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                    pairs.extend([("client_assertion_type", kind), ("client_assertion", assertion.as_str())]);
                }
                let place = format!("Azure for the application {client}");
                ask::<OAuthAnswer>(wire, &place, form(&url, &pairs)?).await?.token(&place)
            }
        }
    }
}

impl Source {
    fn new(values: &Values) -> Result<Self> {
        let has = |name| values.text(name).is_some();
        let aks = values.flag("use_aks_workload_identity")?;
        let proof = if has("client_certificate") || has("client_certificate_path") {
            Some(Proof::Certificate(Box::new(ClientCertificate::read(values)?)))
        } else if let Some(secret) = value_or_file(values, "client_secret", "client_secret_file_path")? {
            Some(Proof::Secret(secret))
        } else if values.flag("use_oidc")? || aks {
            Some(Proof::Assertion(AssertionSource::new(values, aks)?))
        } else {
            None
        };
        if let Some(proof) = proof {
            let client = match value_or_file(values, "client_id", "client_id_file_path")? {
                None if aks => values.text("aks_client_id").map(str::to_owned),
                client => client,
            };
            let client = client.ok_or_else(|| values.invalid("client_id", "it is not set"))?;
            let tenant = values.text("tenant_id").or_else(|| values.text("aks_tenant_id").filter(|_| aks));
            let tenant = tenant.ok_or_else(|| values.invalid("tenant_id", "it is not set"))?;
            let (tenant, client) = (name(values, "tenant_id", tenant)?, name(values, "client_id", &client)?);
            return Ok(Self::Application { tenant, client, proof });
        }
        if values.flag("use_msi")? {
            return Ok(Self::Machine(MachineIdentity::new(values)?));
        }
        if values.text("use_cli").is_none_or(|text| matches!(text, "true" | "1")) {
            let tenant =
                values.text("tenant_id").map(|tenant| name(values, "tenant_id", tenant)).transpose()?;
            return Ok(Self::Cli { tenant });
        }
        Err(values.no_credentials("access_key", "there are no credentials").next_step(NO_CREDENTIALS))
    }
}

/// The id or domain of a tenant, or the id of an application, which become parts of addresses.
fn name(values: &Values, option: &'static str, text: &str) -> Result<String> {
    let text = text.trim();
    let fits =
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let wrong = || values.invalid(option, "it has characters that neither a GUID nor a domain has");
    fits.then(|| text.to_owned()).ok_or_else(wrong)
}

/// A value that may stand in a file instead. Where both are given, they have to be the same.
pub(super) fn value_or_file(
    values: &Values,
    option: &'static str,
    file: &'static str,
) -> Result<Option<String>> {
    let given = values.text(option).map(str::to_owned);
    let Some(path) = values.text(file) else { return Ok(given) };
    let content = read(values, file, path)?;
    match given {
        Some(given) if given.trim() != content => {
            Err(values.invalid(option, format!("`{file}` names a file with another value")))
        }
        _ => Ok(Some(content)),
    }
}

/// The text of a file without the white space around it.
fn read(values: &Values, option: &'static str, path: &str) -> Result<String> {
    let unreadable =
        |error: std::io::Error| values.invalid(option, format!("{path} cannot be read")).with_source(error);
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    match text.trim() {
        "" => Err(values.invalid(option, format!("{path} is empty"))),
        text => Ok(text.to_owned()),
    }
}

impl fmt::Debug for Identity {
    /// Shows no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.source {
            Source::Application { proof: Proof::Secret(_), .. } => "secret",
            Source::Application { proof: Proof::Certificate(_), .. } => "certificate",
            Source::Application { proof: Proof::Assertion(_), .. } => "token",
            Source::Machine(_) => "machine",
            Source::Cli { .. } => "az",
        };
        f.debug_tuple("Identity").field(&kind).finish()
    }
}

/// What opens the data.
#[derive(Clone, Debug)]
pub(super) enum Credentials {
    /// A key of the account or a shared signature.
    Fixed(Arc<object_store::azure::AzureCredential>),
    Identity(Arc<Identity>),
}

/// That an identity cannot be used for what needs one.
pub(super) fn needs_identity(values: &Values, option: &'static str) -> Error {
    values.invalid(option, "it needs an identity, which may ask the management service")
}
