//! Azure Blob Storage.

mod client;
mod config;
mod credentials;
mod error;
mod identity;
mod listing;
mod location;
mod locking;
mod store;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_blobs::{Result, RetryPolicy};
use sha2::{Digest, Sha256};

use crate::cloud::{HttpOptions, Transport, Wire, no_client};

use identity::Credentials;
use location::Location;

pub use client::AzureIdentity;
pub use config::{AzureIdentitySettings, AzureSettings};

/// A client of a container of Azure Blob Storage. Each operation is one attempt: wrap it in [`Retry`](groundstate_blobs::Retry).
///
/// It has [`Leases`](groundstate_blobs::Leases), metadata and snapshots, which are calls of their own.
#[derive(Clone)]
pub struct AzureBlobs {
    account: String,
    container: String,
    location: Arc<Location>,
    wire: Wire,
    credentials: Credentials,
    /// The headers of a key that the customer provides, for every request that touches contents.
    customer: Vec<(String, String)>,
    scope: Option<String>,
    retries: RetryPolicy,
    warnings: Vec<String>,
}

impl AzureBlobs {
    /// A client with these settings. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, naming the option and the variable.
    pub fn open(settings: &AzureSettings) -> Result<Self> {
        let values = &settings.0;
        let account = values.needed("storage_account_name")?;
        if !(3..=24).contains(&account.len())
            || !account.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        {
            return Err(
                values.invalid("storage_account_name", "it is not 3 to 24 lower-case letters and digits")
            );
        }
        let container = values.needed("container_name")?;
        if !container
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'$'))
        {
            return Err(values.invalid(
                "container_name",
                "it has other characters than lower-case letters, digits and dashes",
            ));
        }
        let location = Location::new(values, account, container)?;
        let mut options = HttpOptions::of(values)?;
        if let Some(seconds) = values.number("timeout_seconds")? {
            options = options.silence(Duration::from_secs(u64::from(seconds.max(1))));
        }
        let hint = "check the network, and the option `storage_account_name`, which is part of the address, or `endpoint`";
        let transport = Transport::new(options).map_err(|error| no_client(values, "endpoint", error))?;
        Ok(Self {
            credentials: credentials::credentials(settings)?,
            customer: customer(settings)?,
            scope: values.text("encryption_scope").map(str::to_owned),
            account: account.to_owned(),
            container: container.to_owned(),
            warnings: transport.warnings(&Vec::from_iter(location.known())),
            location: Arc::new(location),
            wire: Wire::new(transport, hint.to_owned()),
            retries: values.retry_policy()?,
        })
    }

    /// Creates the container; one that is there already is as good.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn create_container(&self) -> Result<()> {
        self.create().await
    }

    /// How often to try, from the settings.
    pub fn retry_policy(&self) -> RetryPolicy {
        self.retries
    }

    /// What a user should know of the settings, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The name of the account.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// The name of the container.
    pub fn container(&self) -> &str {
        &self.container
    }
}

/// The headers of a key that the customer provides.
fn customer(settings: &AzureSettings) -> Result<Vec<(String, String)>> {
    const NAME: &str = "customer_provided_key";
    let values = &settings.0;
    let Some(key) = values.text(NAME) else { return Ok(Vec::new()) };
    if values.text("encryption_scope").is_some() {
        return Err(values.invalid(NAME, "`encryption_scope` is set too, and one excludes the other"));
    }
    let raw = BASE64_STANDARD.decode(key).ok().filter(|raw| raw.len() == 32);
    let raw = raw.ok_or_else(|| values.invalid(NAME, "it is not 32 bytes in base64"))?;
    let header = |name: &str, value: String| (format!("x-ms-encryption-{name}"), value);
    Ok(vec![
        header("key", key.to_owned()),
        header("key-sha256", BASE64_STANDARD.encode(Sha256::digest(&raw))),
        header("algorithm", "AES256".to_owned()),
    ])
}

impl fmt::Display for AzureBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "az://{}/{}", self.account, self.container)
    }
}

impl fmt::Debug for AzureBlobs {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureBlobs").field("location", &self.location).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{AzureBlobs, AzureSettings};

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (options, says) in [
            (vec![], "`storage_account_name`"),
            (vec![("storage_account_name", "No!")], "3 to 24"),
            (vec![("storage_account_name", "acc")], "`container_name`"),
            (
                vec![("storage_account_name", "acc"), ("container_name", "c"), ("access_key", "hush!")],
                "ARM_ACCESS_KEY",
            ),
            (
                vec![("storage_account_name", "acc"), ("container_name", "c"), ("use_cli", "false")],
                "`access_key`",
            ),
        ] {
            let mut settings = AzureSettings::new();
            options.iter().for_each(|(name, value)| settings.set(name, value).unwrap());
            let error = AzureBlobs::open(&settings).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains("hush"), "{error}");
        }
    }
}
