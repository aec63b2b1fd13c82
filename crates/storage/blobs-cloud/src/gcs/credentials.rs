//! Which credentials the settings name.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use groundstate_blobs::{Error, Op, Result};
use object_store::gcp::GoogleCloudStorageBuilder;

use super::identity::{Identity, Source};
use super::workload::Workload;
use crate::cloud::{Transport, address, token};
use crate::settings::Values;

/// What to do without credentials.
pub(super) const NO_CREDENTIALS: &str = "set `credentials` or GOOGLE_CREDENTIALS to a service account, or run `gcloud auth application-default login`";

/// Where `gcloud` keeps credentials for programs, in the home directory.
const GCLOUD: &str = ".config/gcloud";
const GCLOUD_FILE: &str = "application_default_credentials.json";
/// Where machines ask, unless a variable says otherwise.
const METADATA: &str = "metadata.google.internal";

/// A token, credentials, or what Google's tools and machines keep; and the account to stand in for, if one is named.
pub(super) fn identity(
    values: &Values,
    bucket: &str,
    transport: &Transport,
    scope: &'static str,
) -> Result<Identity> {
    Identity::new(source(values, bucket, transport)?, values, scope)
}

fn source(values: &Values, bucket: &str, transport: &Transport) -> Result<Source> {
    if let Some(text) = values.text("access_token") {
        let text = token(text).map_err(|why| values.invalid("access_token", why))?;
        return Ok(Source::Fixed(text.to_owned()));
    }
    if values.flag("anonymous")? {
        return Ok(Source::Anonymous);
    }
    if let Some(given) = values.text("credentials") {
        let text = match given.trim_start().starts_with('{') {
            true => given.to_owned(),
            false => fs::read_to_string(given).map_err(|error| unreadable(values).with_source(error))?,
        };
        return of_document(values, &text, bucket, transport);
    }
    if let Some(path) = values.text("application_credentials") {
        let unreadable = |error| {
            values.invalid("application_credentials", format!("{path} cannot be read")).with_source(error)
        };
        return of_document(values, &fs::read_to_string(path).map_err(unreadable)?, bucket, transport);
    }
    if let Some(text) = left_by_gcloud(values) {
        return of_document(values, &text, bucket, transport);
    }
    let host = values.text("metadata_host").unwrap_or(METADATA).trim();
    address(&format!("http://{host}/")).map_err(|why| values.invalid("metadata_host", why))?;
    Ok(Source::Machine { host: host.to_owned() })
}

fn left_by_gcloud(values: &Values) -> Option<String> {
    let folder = match values.text("cloudsdk_config") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(values.text("home")?).join(GCLOUD),
    };
    fs::read_to_string(folder.join(GCLOUD_FILE)).ok()
}

fn of_document(values: &Values, text: &str, bucket: &str, transport: &Transport) -> Result<Source> {
    match kind_of(text).as_deref() {
        Some("service_account") => {
            let refused = |error: object_store::Error| {
                let error =
                    values.invalid("credentials", "the credentials cannot be used").with_source(error);
                error.next_step(NO_CREDENTIALS)
            };
            let builder = GoogleCloudStorageBuilder::new()
                .with_bucket_name(bucket)
                .with_http_connector(transport.clone())
                .with_service_account_key(text);
            let store = builder.build().map_err(refused)?;
            Ok(Source::Account(Arc::clone(store.credentials())))
        }
        Some("authorized_user") => {
            serde_json::from_str(text).map(Source::User).map_err(|_| unreadable(values))
        }
        Some("external_account") => {
            let workload = Workload::read(text).map_err(|why| values.invalid("credentials", why))?;
            Ok(Source::Workload(Box::new(workload)))
        }
        Some(other) => {
            let error = Error::unsupported(Op::Use, format_args!("credentials of the type {other}"));
            Err(error.next_step("give a token as `access_token` or GOOGLE_OAUTH_ACCESS_TOKEN, from `gcloud auth print-access-token`"))
        }
        None => Err(unreadable(values)),
    }
}

fn unreadable(values: &Values) -> Error {
    values.invalid("credentials", "it is neither the JSON of credentials nor a file with it")
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
    use super::identity;
    use crate::cloud::{HttpOptions, Transport};
    use crate::gcs::GcsSettings;
    use crate::gcs::identity::CLOUD_SCOPE;

    #[test]
    fn credentials_that_cannot_be_used_are_refused_without_being_shown() {
        for (text, says) in [
            (r#"{"type":"gdch_service_account","secret":"hush"}"#, "gdch_service_account"),
            (r#"{"type":"external_account","secret":"hush"}"#, "token of the workload"),
            (r#"{"type":"authorized_user","client_secret":"hush"}"#, "JSON of credentials"),
            (r#"{"type":"service_account","private_key":"hush"}"#, "GOOGLE_CREDENTIALS"),
            ("{hush", "GOOGLE_BACKEND_CREDENTIALS"),
            ("/no/such/hush.json", "GOOGLE_BACKEND_CREDENTIALS"),
        ] {
            let settings = GcsSettings::new().with("credentials", text).unwrap();
            let transport = Transport::new(HttpOptions::of(&settings.0).unwrap()).unwrap();
            let error = identity(&settings.0, "b", &transport, CLOUD_SCOPE).err().unwrap().to_string();
            assert!(error.contains(says) && !error.contains("hush"), "{error}");
        }
    }
}
