//! Who the store is to AWS.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, AwsCredentialProvider};
use object_store::client::StaticCredentialProvider;
use object_store::{ClientOptions, RetryConfig};

use super::S3Settings;
use super::assume::AssumedRole;
use super::place::Place;
use super::profile::Profile;
use crate::cloud::{Wire, token};
use crate::context::Context;
use crate::error::{Error, Result};

/// The chain of the original: keys, the profile, and what AWS gives to programs that run on it. Then the role, if one is
/// to be assumed.
pub(super) fn provider(
    settings: &S3Settings,
    profile: Profile,
    place: &Place,
    wire: &Wire,
    options: &ClientOptions,
    context: &Context,
) -> Result<AwsCredentialProvider> {
    let base = base(settings, profile, place, options)?;
    if settings.0.text("assume_role.role_arn").is_none() {
        return Ok(base);
    }
    Ok(Arc::new(AssumedRole::new(settings, base, place, wire, context)?))
}

fn base(
    settings: &S3Settings,
    profile: Profile,
    place: &Place,
    options: &ClientOptions,
) -> Result<AwsCredentialProvider> {
    let values = &settings.0;
    let (key, secret) = (values.text("access_key"), values.text("secret_key"));
    if key.is_some() || secret.is_some() {
        // The signer puts them into headers.
        let checked = |name| {
            let text = token(values.needed(name)?).map_err(|why| values.invalid(name, why))?;
            Ok::<_, Error>(text.to_owned())
        };
        let session = values.text("token").map(|_| checked("token")).transpose()?;
        let (key_id, secret_key) = (checked("access_key")?, checked("secret_key")?);
        let credential = AwsCredential { key_id, secret_key, token: session };
        return Ok(Arc::new(StaticCredentialProvider::new(credential)));
    }
    if let Some(credential) = profile.credential {
        return Ok(Arc::new(StaticCredentialProvider::new(credential)));
    }
    let retries =
        RetryConfig { max_retries: 2, retry_timeout: Duration::from_secs(10), ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&place.bucket)
        .with_region(&place.region)
        .with_client_options(options.clone())
        .with_retry(retries);
    let pairs = [
        ("web_identity_token_file", AmazonS3ConfigKey::WebIdentityTokenFile),
        ("web_identity_role_arn", AmazonS3ConfigKey::RoleArn),
        ("web_identity_session_name", AmazonS3ConfigKey::RoleSessionName),
        ("endpoints.sts", AmazonS3ConfigKey::StsEndpoint),
        ("container_credentials_relative_uri", AmazonS3ConfigKey::ContainerCredentialsRelativeUri),
        ("container_credentials_full_uri", AmazonS3ConfigKey::ContainerCredentialsFullUri),
        ("container_authorization_token_file", AmazonS3ConfigKey::ContainerAuthorizationTokenFile),
        ("ec2_metadata_service_endpoint", AmazonS3ConfigKey::MetadataEndpoint),
    ];
    for (name, key) in pairs {
        if let Some(value) = values.text(name) {
            builder = builder.with_config(key, value);
        }
    }
    let is_given = |name| values.text(name).is_some();
    let elsewhere = (is_given("web_identity_token_file") && is_given("web_identity_role_arn"))
        || is_given("container_credentials_relative_uri")
        || is_given("container_credentials_full_uri");
    if !elsewhere && values.flag("skip_metadata_api_check")? {
        let error = values.invalid(
            "access_key",
            "there are no credentials, and the metadata of the machine is not to be asked",
        );
        return Err(error.next_step(NO_CREDENTIALS));
    }
    let store = builder.build().map_err(|error| {
        values.invalid("access_key", "no source of credentials can be used").with_source(error)
    })?;
    Ok(Arc::clone(store.credentials()))
}

/// What to do without credentials.
pub(super) const NO_CREDENTIALS: &str = "set `access_key` and `secret_key`, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a `profile` or AWS_PROFILE";
