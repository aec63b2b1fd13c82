//! The settings of the store on Google Cloud Storage, as Terraform's backend names them.

use crate::settings::{
    ALLOW_PLAIN_HTTP, MAX_STATE_SIZE, REQUEST_TIMEOUT, Setting, alias, flag, number, secret, settings, text,
    user,
};

pub(super) static TABLE: &[Setting] = &[
    text("bucket", &[]),
    secret("credentials", &["GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"]),
    secret("access_token", &["GOOGLE_OAUTH_ACCESS_TOKEN"]),
    // Not one of Terraform's, but where Google's own libraries look.
    user(text("application_credentials", &["GOOGLE_APPLICATION_CREDENTIALS"])),
    text(
        "impersonate_service_account",
        &["GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"],
    ),
    text("impersonate_service_account_delegates", &[]),
    // An option of Terraform's provider, not of its backend.
    user(text("iam_credentials_custom_endpoint", &["GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT"])),
    secret("encryption_key", &["GOOGLE_ENCRYPTION_KEY"]),
    text("kms_encryption_key", &["GOOGLE_KMS_ENCRYPTION_KEY"]),
    text(
        "storage_custom_endpoint",
        &["GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"],
    ),
    text("universe_domain", &["GOOGLE_BACKEND_UNIVERSE_DOMAIN"]),
    user(alias("endpoint", "storage_custom_endpoint")),
    // Where the credentials of `gcloud` and of machines are looked for.
    user(text("home", &["HOME", "USERPROFILE"])),
    user(text("cloudsdk_config", &["CLOUDSDK_CONFIG"])),
    user(text("metadata_host", &["GCE_METADATA_HOST"])),
    // For servers that ask for no credentials.
    user(flag("anonymous", &[])),
    user(number("max_retries", &[])),
    // Not the original's either: what may leave, how long a request may take, how much may arrive.
    ALLOW_PLAIN_HTTP,
    REQUEST_TIMEOUT,
    MAX_STATE_SIZE,
];

settings! {
    /// Where a bucket of Google Cloud Storage is, and how to get at it.
    ///
    /// The names are those of Terraform's `gcs` backend. Beside them there are `application_credentials`, the file that
    /// Google's libraries read, `anonymous` for servers that ask for no credentials, `max_retries`, and `endpoint` for
    /// `storage_custom_endpoint`.
    ///
    /// ```
    /// use groundstate_blobs_cloud::GcsSettings;
    ///
    /// let environment = |name: &str| (name == "GOOGLE_OAUTH_ACCESS_TOKEN").then(|| "hidden".to_owned());
    /// let settings = GcsSettings::new().with("bucket", "states")?.or_from(&environment)?;
    /// assert_eq!(format!("{settings:?}"), r#"GcsSettings { access_token: "(secret)", bucket: "states" }"#);
    /// # Ok::<(), groundstate_blobs::Error>(())
    /// ```
    GcsSettings, "gcs", TABLE
}
