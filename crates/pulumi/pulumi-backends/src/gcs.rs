//! `gs://`: a bucket of Google Cloud Storage.

use std::sync::Arc;

use groundstate_blobs::{Result, Retry};
use groundstate_blobs_cloud::{GcsBlobs, GcsSettings};
use groundstate_common::Origin;
use serde_json::{Map, Value};

use crate::choice::BackendChoice;
use crate::open::{OpenContext, Opened};
use crate::query::flag;

const PARAMETERS: [&str; 4] = ["access_id", "private_key_path", "anonymous", "universe_domain"];

/// Variables of Terraform's backend, which Pulumi does not read.
const FOREIGN: [&str; 9] = [
    "GOOGLE_BACKEND_CREDENTIALS",
    "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT",
    "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
    "GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT",
    "GOOGLE_STORAGE_CUSTOM_ENDPOINT",
    "GOOGLE_BACKEND_UNIVERSE_DOMAIN",
    "GOOGLE_ENCRYPTION_KEY",
    "GOOGLE_KMS_ENCRYPTION_KEY",
    "GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT",
];

pub(crate) fn open(choice: &BackendChoice, with: OpenContext<'_>) -> Result<Opened> {
    let url = &choice.url;
    url.only(&PARAMETERS)?;
    choice.only_from_user(&["anonymous", "universe_domain"])?;
    let given = |name: &str| url.query().get(name).filter(|text| !text.is_empty());
    let variable = |name: &str| (with.variable)(name).filter(|text| !text.is_empty());
    let mut options = Map::from_iter([("bucket".to_owned(), Value::from(url.container()))]);
    let mut notes = Vec::new();
    if let Some(text) = given("anonymous") {
        let anonymous = flag(text).ok_or_else(|| url.parameter("anonymous", "is neither true nor false"))?;
        if anonymous {
            options.insert("anonymous".to_owned(), true.into());
        }
    }
    if let Some(domain) = given("universe_domain") {
        options.insert("universe_domain".to_owned(), domain.into());
    }
    for name in ["access_id", "private_key_path"] {
        if given(name).is_some() {
            notes
                .push(format!("the parameter `{name}` of {url} means nothing here: no signed URLs are made"));
        }
    }
    let mut settings = GcsSettings::new();
    let wrong = |error: serde_json::Error| url.wrong(error.to_string());
    settings.read_from(Value::Object(options), choice.origin).map_err(wrong)?;
    if let Some(host) = variable("STORAGE_EMULATOR_HOST") {
        // Emulators ask for no credentials, and none are sent there.
        let host = host.strip_prefix("http://").unwrap_or(&host);
        let emulator =
            serde_json::json!({ "endpoint": format!("http://{host}/storage/v1/"), "anonymous": true });
        settings.read_from(emulator, Origin::Environment).map_err(wrong)?;
    }
    // Credentials come before a token, as in the original.
    let has_credentials = variable("GOOGLE_CREDENTIALS").is_some();
    let lookup = |name: &str| {
        let is_second = name == "GOOGLE_OAUTH_ACCESS_TOKEN" && has_credentials;
        (!FOREIGN.contains(&name) && !is_second).then(|| variable(name)).flatten()
    };
    let bucket = GcsBlobs::open(&settings.or_from(&lookup)?)?;
    notes.extend_from_slice(bucket.warnings());
    let retries = bucket.retry_policy();
    Ok((Arc::new(Retry::new(bucket, retries, with.context.clone())), notes))
}
