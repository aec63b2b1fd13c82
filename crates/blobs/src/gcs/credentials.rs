//! Who the store is to Google.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::client::StaticCredentialProvider;
use object_store::gcp::{GcpCredential, GcpCredentialProvider, GoogleCloudStorageBuilder};

use super::GcsSettings;
use crate::cloud::Transport;
use crate::error::{Error, Result};

/// What to do without credentials.
pub(super) const NO_CREDENTIALS: &str = "set `credentials` or GOOGLE_CREDENTIALS to a service account, or run `gcloud auth application-default login`";

/// A token, a service account, or what Google's tools and machines keep.
pub(super) fn provider(
    settings: &GcsSettings,
    bucket: &str,
    transport: &Transport,
) -> Result<GcpCredentialProvider> {
    let values = &settings.0;
    if let Some(token) = values.text("access_token") {
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(values.invalid("access_token", "it has characters that no token has"));
        }
        return Ok(Arc::new(StaticCredentialProvider::new(GcpCredential { bearer: token.to_owned() })));
    }
    if values.flag("anonymous")? {
        return Ok(Arc::new(StaticCredentialProvider::new(GcpCredential { bearer: String::new() })));
    }
    let retries =
        RetryConfig { max_retries: 2, retry_timeout: Duration::from_secs(10), ..RetryConfig::default() };
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_http_connector(transport.clone())
        .with_retry(retries);
    if let Some(given) = values.text("credentials") {
        let unreadable =
            || values.invalid("credentials", "it is neither the JSON of credentials nor a file with it");
        let text = match given.trim_start().starts_with('{') {
            true => given.to_owned(),
            false => fs::read_to_string(given).map_err(|error| unreadable().with_source(error))?,
        };
        builder = match kind_of(&text).as_deref() {
            Some("service_account") => builder.with_service_account_key(text),
            Some("authorized_user") if !given.trim_start().starts_with('{') => {
                builder.with_application_credentials(given)
            }
            Some("authorized_user") => {
                return Err(values.invalid("credentials", "credentials of a user have to be in a file"));
            }
            Some(other) => {
                let error = Error::unsupported("use", format_args!("credentials of the type {other}"));
                return Err(error.next_step("give a token as `access_token` or GOOGLE_OAUTH_ACCESS_TOKEN, from `gcloud auth print-access-token`"));
            }
            None => return Err(unreadable()),
        };
    } else if let Some(path) = values.text("application_credentials") {
        builder = builder.with_application_credentials(path);
    }
    let store = builder.build().map_err(|error| {
        let error = values.invalid("credentials", "the credentials cannot be used").with_source(error);
        error.next_step(NO_CREDENTIALS)
    })?;
    Ok(Arc::clone(store.credentials()))
}

/// What sort of credentials a document has.
fn kind_of(text: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Document {
        r#type: Option<String>,
    }
    let document: Document = serde_json::from_str(text).ok()?;
    // Keys of service accounts that were written by hand for tests have no type.
    Some(document.r#type.unwrap_or_else(|| "service_account".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::provider;
    use crate::cloud::{HttpOptions, Transport};
    use crate::gcs::GcsSettings;

    #[test]
    fn credentials_that_cannot_be_used_are_refused_without_being_shown() {
        for (text, says) in [
            (r#"{"type":"external_account","secret":"hush"}"#, "external_account"),
            (r#"{"type":"service_account","private_key":"hush"}"#, "GOOGLE_CREDENTIALS"),
            ("{hush", "GOOGLE_BACKEND_CREDENTIALS"),
            ("/no/such/hush.json", "GOOGLE_BACKEND_CREDENTIALS"),
        ] {
            let settings = GcsSettings::new().with("credentials", text).unwrap();
            let transport = Transport::new(HttpOptions::of(&settings.0).unwrap()).unwrap();
            let error = provider(&settings, "b", &transport).err().unwrap().to_string();
            assert!(error.contains(says) && !error.contains("hush"), "{error}");
        }
    }
}
