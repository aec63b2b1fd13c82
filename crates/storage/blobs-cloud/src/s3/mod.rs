//! Amazon S3, and servers that speak its protocol.

mod address;
mod config;
mod credentials;
mod error;
mod headers;
mod identity;
mod ini;
mod profile;
mod signed;
mod store;

use std::fmt;
use std::fs;

use groundstate_blobs::{BlobCapabilities, Context, Result, RetryPolicy};
use groundstate_common::Origin;

use crate::cloud::{HttpOptions, Proxies, Transport, Wire, no_client, only_to_own};
use crate::settings::Values;

use address::BucketAddress;
pub use config::{AwsSettings, S3Settings};
use credentials::Credentials;
use headers::ObjectHeaders;
pub use identity::AwsIdentity;
use profile::SharedConfig;

/// The domains of AWS, which may see more than signatures.
const OWN_DOMAINS: &[&str] = &["amazonaws.com", "amazonaws.com.cn"];

/// A client of a bucket of S3. Each operation is one attempt: wrap it in [`Retry`](groundstate_blobs::Retry).
///
/// Requests are those of Terraform's backend, header by header, with a condition added.
#[derive(Clone)]
pub struct S3Blobs {
    place: BucketAddress,
    wire: Wire,
    /// The same for requests to DynamoDB.
    dynamodb: Wire,
    credentials: Credentials,
    headers: ObjectHeaders,
    can: BlobCapabilities,
    retries: RetryPolicy,
    warnings: Vec<String>,
}

impl S3Blobs {
    /// A client with these settings. Nothing is sent yet; files of profiles and certificates are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, naming the option and the variable.
    pub fn open(settings: &S3Settings, context: &Context) -> Result<Self> {
        let config = SharedConfig::read(&settings.0)?;
        let settings = &S3Settings(config.complete(&settings.0)?);
        let values = &settings.0;
        if values.flag("encrypt")? && values.origin("sse_customer_key").is_some_and(Origin::is_user) {
            let key = "the key of `sse_customer_key`";
            only_to_own(values, "endpoints.s3", OWN_DOMAINS, key, "AWS_ENDPOINT_URL_S3")?;
        }
        let place = BucketAddress::new(settings)?;
        let transport = transport(values)?;
        let warnings = transport.warnings(&place.addresses());
        let wire = Wire::new(transport, values.unreachable_hint("endpoints.s3"));
        let dynamodb = wire.with_hint(values.unreachable_hint("endpoints.dynamodb"));
        let credentials = credentials::provider(values, &config, &place.services, &wire, context)?;
        let mut can = BlobCapabilities::all();
        can.conditional_put = is_on(settings, "conditional_write")?;
        can.conditional_delete = is_on(settings, "conditional_delete")?;
        can.generations = false;
        can.leases = false;
        can.tells_deletions = false;
        Ok(Self {
            headers: ObjectHeaders::new(settings)?,
            place,
            wire,
            dynamodb,
            credentials,
            can,
            retries: values.retry_policy()?,
            warnings,
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
        &self.place.bucket
    }

    /// The region that requests are signed for.
    pub fn region(&self) -> &str {
        &self.place.services.region
    }
}

impl fmt::Display for S3Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.place.bucket)
    }
}

impl fmt::Debug for S3Blobs {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Blobs").field("place", &self.place).finish_non_exhaustive()
    }
}

fn is_on(settings: &S3Settings, name: &'static str) -> Result<bool> {
    match settings.0.text(name) {
        None | Some("on" | "true") => Ok(true),
        Some("off" | "false") => Ok(false),
        Some(_) => Err(settings.0.invalid(name, "it is neither on nor off")),
    }
}

fn transport(values: &Values) -> Result<Transport> {
    let mut options = HttpOptions::of(values)?.insecure(values.flag("insecure")?);
    if let Some(path) = values.text("custom_ca_bundle") {
        let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
            values
                .invalid("custom_ca_bundle", format!("{path} is not a file of certificates"))
                .with_source(error)
        };
        let pem = fs::read(path).map_err(|error| unreadable(error.into()))?;
        options = options.certificates(&pem).map_err(|error| unreadable(error.into()))?;
    }
    options = options.proxies(Proxies::of(values)?);
    Transport::new(options).map_err(|error| no_client(values, "https_proxy", error))
}
