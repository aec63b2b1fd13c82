//! The settings of the store on Google Cloud Storage, as Terraform's backend names them.

use crate::settings::{
    ALLOW_PLAIN_HTTP, MAX_STATE_SIZE, REQUEST_TIMEOUT, Setting, alias, flag, number, secret, settings, text,
    user,
};

/// A table of these rows, and of those by which every client of Google finds its credentials and its way.
macro_rules! with_identity {
    ($($own:expr,)*) => {
        &[
            $($own,)*
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
        ]
    };
}

pub(super) static TABLE: &[Setting] = with_identity![
    text("bucket", &[]),
    secret("encryption_key", &["GOOGLE_ENCRYPTION_KEY"]),
    text("kms_encryption_key", &["GOOGLE_KMS_ENCRYPTION_KEY"]),
    text(
        "storage_custom_endpoint",
        &["GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"],
    ),
    text("universe_domain", &["GOOGLE_BACKEND_UNIVERSE_DOMAIN"]),
    user(alias("endpoint", "storage_custom_endpoint")),
    MAX_STATE_SIZE,
];

/// The table of clients of services of Google that keep no blobs.
static SERVICES: &[Setting] = with_identity![
    // Answers of this service are keys, so its address is the user's to say.
    user(text("kms_custom_endpoint", &["GOOGLE_KMS_CUSTOM_ENDPOINT"])),
    user(text("universe_domain", &["GOOGLE_CLOUD_UNIVERSE_DOMAIN"])),
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
    GcsSettings, "gcs store", TABLE
}

settings! {
    /// Who a client is to Google: what [`GcsSettings`] has without the bucket.
    ///
    /// Beside that there are `kms_custom_endpoint`, the address of the key management service, and `universe_domain`.
    ///
    /// ```
    /// use groundstate_blobs_cloud::GcpSettings;
    ///
    /// let settings = GcpSettings::new().with("access_token", "hidden")?;
    /// assert_eq!(format!("{settings:?}"), r#"GcpSettings { access_token: "(secret)" }"#);
    /// # Ok::<(), groundstate_blobs::Error>(())
    /// ```
    GcpSettings, "Google Cloud client", SERVICES
}
