//! Google Cloud Storage.

mod client;
mod config;
mod credentials;
mod error;
mod identity;
mod keys;
mod store;
mod workload;

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_blobs::{Result, RetryPolicy};
use groundstate_common::Origin;
use url::Url;

use crate::cloud::{HttpOptions, Transport, Wire, encode, endpoint, no_client};

pub use client::GcpIdentity;
pub use config::{GcpSettings, GcsSettings};
use identity::{Identity, STORAGE_SCOPE};
use keys::Keys;

/// A client of a bucket of Google Cloud Storage. Each operation is one attempt: wrap it in [`Retry`](groundstate_blobs::Retry).
///
/// Versions have the generation, which Terraform uses as the id of a lock. Keys of customers and of KMS go with blobs of
/// [`Role::State`](groundstate_blobs::Role) only, as Terraform has it.
#[derive(Clone)]
pub struct GcsBlobs {
    bucket: String,
    /// The address of the bucket, without a slash at its end.
    base: String,
    wire: Wire,
    identity: Arc<Identity>,
    keys: Keys,
    retries: RetryPolicy,
    warnings: Vec<String>,
}

impl GcsBlobs {
    /// A client with these settings. Nothing is sent yet; files of credentials and keys are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, naming the option and the variable.
    pub fn open(settings: &GcsSettings) -> Result<Self> {
        let values = &settings.0;
        let bucket = values.needed("bucket")?;
        if bucket.contains(['/', '?', '#', '@', ' ', '%', '\\']) {
            return Err(values.invalid("bucket", "it is not the name of a bucket"));
        }
        let service = service(settings)?;
        let transport = Transport::new(HttpOptions::of(values)?)
            .map_err(|error| no_client(values, "storage_custom_endpoint", error))?;
        let hint = "check the network, and the option `storage_custom_endpoint` or the variable GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT";
        let identity = credentials::identity(values, bucket, &transport, STORAGE_SCOPE)?;
        let keys = Keys::new(settings)?;
        if identity.has_token() || keys.has_secret() {
            is_trusted(settings, &service)?;
        }
        Ok(Self {
            base: format!("{service}/{}", encode(bucket, false)),
            identity: Arc::new(identity),
            keys,
            bucket: bucket.to_owned(),
            warnings: transport.warnings(&[&service]),
            wire: Wire::new(transport, hint.to_owned()),
            retries: values.retry_policy()?,
        })
    }

    /// How often to try, from the settings.
    pub fn retry_policy(&self) -> RetryPolicy {
        self.retries
    }

    /// What a user should know of the settings, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The name of the bucket.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }
}

/// The address of the service. Custom ones are those of the other API, whose path is not this one's.
fn service(settings: &GcsSettings) -> Result<String> {
    const NAME: &str = "storage_custom_endpoint";
    let values = &settings.0;
    let Some(text) = values.text(NAME) else {
        let domain = values.text("universe_domain").unwrap_or("googleapis.com");
        if !domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')) {
            return Err(values.invalid("universe_domain", "it is not a domain"));
        }
        return Ok(format!("https://storage.{domain}"));
    };
    let url = endpoint(values, NAME, text)?;
    Ok(url.origin().ascii_serialization())
}

/// The secrets of the user that requests show to the server.
fn revealed(settings: &GcsSettings) -> Result<Vec<&'static str>> {
    let values = &settings.0;
    let is_users = |name| values.origin(name).is_some_and(Origin::is_user);
    let is_inline = |name| values.text(name).is_some_and(|text| text.trim_start().starts_with('{'));
    let mut secrets = Vec::new();
    // What a directory holds itself shows nothing of the user's. Files that it names are the user's.
    let own = match values.text("access_token") {
        Some(_) => !is_users("access_token"),
        None => values.flag("anonymous")? || (is_inline("credentials") && !is_users("credentials")),
    };
    if !own {
        secrets.push("a token of your account");
    }
    let is_key = |text: &str| BASE64_STANDARD.decode(text).is_ok_and(|raw| raw.len() == 32);
    if values.text("encryption_key").is_some_and(|text| is_users("encryption_key") || !is_key(text)) {
        secrets.push("the encryption key");
    }
    Ok(secrets)
}

/// Refuses to send tokens and customers' keys, which anybody can use who receives them, to a host that a directory chose.
fn is_trusted(settings: &GcsSettings, service: &str) -> Result<()> {
    if revealed(settings)?.is_empty() {
        return Ok(());
    }
    let host = Url::parse(service).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    if service.starts_with("https:") && host.ends_with(".googleapis.com") {
        return Ok(());
    }
    let values = &settings.0;
    let by_directory = |name: &&'static str| values.origin(name).is_some_and(|origin| !origin.is_user());
    match ["storage_custom_endpoint", "universe_domain"].into_iter().find(by_directory) {
        Some(name) => {
            Err(values.invalid(name, format!("a directory does not decide that credentials go to {host}")))
        }
        None => Ok(()),
    }
}

impl fmt::Display for GcsBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gs://{}", self.bucket)
    }
}

impl fmt::Debug for GcsBlobs {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcsBlobs").field("base", &self.base).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{GcsBlobs, GcsSettings, service};

    #[test]
    fn the_address_is_that_of_the_service_whatever_the_api() {
        for (name, value, address) in [
            ("bucket", "b", "https://storage.googleapis.com"),
            ("universe_domain", "apis.example", "https://storage.apis.example"),
            ("storage_custom_endpoint", "http://127.0.0.1:5557/storage/v1/", "http://127.0.0.1:5557"),
            (
                "storage_custom_endpoint",
                "https://storage-x.p.googleapis.com/storage/v1/b",
                "https://storage-x.p.googleapis.com",
            ),
        ] {
            assert_eq!(service(&GcsSettings::new().with(name, value).unwrap()).unwrap(), address);
        }
        let wrong = GcsSettings::new().with("storage_custom_endpoint", "http://u:hush@h/").unwrap();
        let error = service(&wrong).unwrap_err().to_string();
        assert!(
            !error.contains("hush") && error.contains("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT"),
            "{error}"
        );
        let wrong = GcsSettings::new().with("storage_custom_endpoint", "http://{").unwrap();
        assert!(service(&wrong).unwrap_err().to_string().contains("not an address"));
    }

    #[test]
    fn a_directory_does_not_say_who_gets_tokens_and_keys() {
        use groundstate_common::Origin;
        let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        let of = |directory: &str, variables: &[(&str, &str)]| {
            let mut settings = GcsSettings::new();
            let text = format!(r#"{{"bucket": "b", {directory}}}"#);
            settings.read_from(&mut serde_json::Deserializer::from_str(&text), Origin::Block).unwrap();
            let lookup = |name: &str| {
                variables.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned())
            };
            GcsBlobs::open(&settings.or_from(&lookup).unwrap()).map(drop)
        };
        const TOKEN: (&str, &str) = ("GOOGLE_OAUTH_ACCESS_TOKEN", "t");
        const EVIL: &str = "https://evil.example/storage/v1/";
        let endpoint = format!(r#""storage_custom_endpoint": "{EVIL}""#);
        let own = format!(r#"{endpoint}, "access_token": "t0""#);
        for (directory, variables) in [
            (endpoint.clone(), &[TOKEN][..]),
            (endpoint.clone(), &[TOKEN, ("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "https://other.example")]),
            (r#""universe_domain": "evil.example""#.to_owned(), &[TOKEN]),
            (own.clone(), &[("GOOGLE_ENCRYPTION_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]),
        ] {
            let error = of(&directory, variables).unwrap_err().to_string();
            assert!(error.contains("a directory does not decide that"), "{directory}: {error}");
        }
        for (directory, variables) in [
            (endpoint, &[TOKEN, ("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", EVIL)][..]),
            (r#""storage_custom_endpoint": "https://x.p.googleapis.com/storage/v1/""#.to_owned(), &[TOKEN]),
            (format!(r#"{own}, "encryption_key": "{key}""#), &[]),
            (own, &[]),
        ] {
            assert!(of(&directory, variables).is_ok(), "{directory}");
        }
    }
}
