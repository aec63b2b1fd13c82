//! The settings of the store on S3, as Terraform's backend names them.

use crate::settings::{
    ALLOW_PLAIN_HTTP, MAX_STATE_SIZE, REQUEST_TIMEOUT, Setting, alias, flag, ignored, map, number, secret,
    settings, text, user,
};

/// A table of these rows, and of those by which every client of AWS finds its region, its credentials and its way.
macro_rules! with_identity {
    ($($own:expr,)*) => {
        &[
            $($own,)*
            text("region", &["AWS_REGION", "AWS_DEFAULT_REGION"]),
            secret("access_key", &["AWS_ACCESS_KEY_ID"]),
            secret("secret_key", &["AWS_SECRET_ACCESS_KEY"]),
            secret("token", &["AWS_SESSION_TOKEN"]),
            text("profile", &["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]),
            text("shared_credentials_files", &["AWS_SHARED_CREDENTIALS_FILE"]),
            alias("shared_credentials_file", "shared_credentials_files"),
            text("shared_config_files", &["AWS_CONFIG_FILE", "AWS_SHARED_CONFIG_FILE"]),
            // Where `.aws` is looked for.
            user(text("home", &["HOME", "USERPROFILE"])),
            text("endpoints.sts", &["AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT"]),
            alias("sts_endpoint", "endpoints.sts"),
            ignored("endpoints.iam", &["AWS_ENDPOINT_URL_IAM", "AWS_IAM_ENDPOINT"]),
            ignored("iam_endpoint", &[]),
            text("endpoints.sso", &["AWS_ENDPOINT_URL_SSO"]),
            // What stands in for all of them, unless profile and variables are not to be asked.
            user(text("endpoint_url", &["AWS_ENDPOINT_URL"])),
            user(flag("ignore_configured_endpoint_urls", &["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"])),
            flag("use_fips_endpoint", &["AWS_USE_FIPS_ENDPOINT"]),
            flag("use_dualstack_endpoint", &["AWS_USE_DUALSTACK_ENDPOINT"]),
            number("max_retries", &["AWS_MAX_ATTEMPTS"]),
            ignored("retry_mode", &["AWS_RETRY_MODE"]),
            // Nothing is checked that these would skip.
            ignored("skip_credentials_validation", &[]),
            ignored("skip_requesting_account_id", &[]),
            ignored("skip_region_validation", &[]),
            text("skip_metadata_api_check", &["AWS_EC2_METADATA_DISABLED"]),
            user(text("ec2_metadata_service_endpoint", &["AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_METADATA_URL"])),
            text("ec2_metadata_service_endpoint_mode", &["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]),
            text("custom_ca_bundle", &["AWS_CA_BUNDLE"]),
            flag("insecure", &[]),
            text("http_proxy", &["HTTP_PROXY", "http_proxy"]),
            text("https_proxy", &["HTTPS_PROXY", "https_proxy"]),
            text("no_proxy", &["NO_PROXY", "no_proxy"]),
            // Credentials that services of AWS give to what runs on them.
            user(text("web_identity_token_file", &["AWS_WEB_IDENTITY_TOKEN_FILE"])),
            user(text("web_identity_role_arn", &["AWS_ROLE_ARN"])),
            user(text("web_identity_session_name", &["AWS_ROLE_SESSION_NAME"])),
            alias("assume_role_with_web_identity.role_arn", "web_identity_role_arn"),
            alias("assume_role_with_web_identity.session_name", "web_identity_session_name"),
            alias("assume_role_with_web_identity.web_identity_token_file", "web_identity_token_file"),
            user(secret("web_identity_token", &["AWS_WEB_IDENTITY_TOKEN"])),
            alias("assume_role_with_web_identity.web_identity_token", "web_identity_token"),
            text("assume_role_with_web_identity.duration", &[]),
            text("assume_role_with_web_identity.policy", &[]),
            text("assume_role_with_web_identity.policy_arns", &[]),
            user(text("container_credentials_relative_uri", &["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"])),
            user(text("container_credentials_full_uri", &["AWS_CONTAINER_CREDENTIALS_FULL_URI"])),
            user(text("container_authorization_token_file", &["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"])),
            user(secret("container_authorization_token", &["AWS_CONTAINER_AUTHORIZATION_TOKEN"])),
            text("assume_role.role_arn", &[]),
            text("assume_role.session_name", &[]),
            text("assume_role.external_id", &[]),
            text("assume_role.duration", &[]),
            text("assume_role.policy", &[]),
            text("assume_role.source_identity", &[]),
            text("assume_role.policy_arns", &[]),
            map("assume_role.tags"),
            text("assume_role.transitive_tag_keys", &[]),
            alias("role_arn", "assume_role.role_arn"),
            alias("session_name", "assume_role.session_name"),
            alias("external_id", "assume_role.external_id"),
            alias("assume_role_policy", "assume_role.policy"),
            alias("assume_role_duration_seconds", "assume_role.duration"),
            alias("assume_role_policy_arns", "assume_role.policy_arns"),
            alias("assume_role_tags", "assume_role.tags"),
            alias("assume_role_transitive_tag_keys", "assume_role.transitive_tag_keys"),
            text("sts_region", &[]),
            text("allowed_account_ids", &[]),
            text("forbidden_account_ids", &[]),
            // Not the original's either: what may leave, how long a request may take, how much may arrive.
            ALLOW_PLAIN_HTTP,
            REQUEST_TIMEOUT,
        ]
    };
}

pub(super) static TABLE: &[Setting] = with_identity![
    text("bucket", &[]),
    text("endpoints.s3", &["AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"]),
    alias("endpoint", "endpoints.s3"),
    text("endpoints.dynamodb", &["AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT"]),
    alias("dynamodb_endpoint", "endpoints.dynamodb"),
    flag("use_path_style", &[]),
    alias("force_path_style", "use_path_style"),
    flag("encrypt", &[]),
    text("kms_key_id", &[]),
    secret("sse_customer_key", &["AWS_SSE_CUSTOMER_KEY"]),
    text("acl", &[]),
    flag("skip_s3_checksum", &[]),
    text("state_tags", &[]),
    text("lock_tags", &[]),
    // For servers that speak the protocol and know no conditions.
    user(text("conditional_write", &[])),
    user(text("conditional_delete", &[])),
    MAX_STATE_SIZE,
];

/// The table of clients of services of AWS that keep no blobs.
static SERVICES: &[Setting] = with_identity![
    // Answers of this service are keys, so its address is the user's to say.
    user(text("endpoints.kms", &["AWS_ENDPOINT_URL_KMS"])),
    // For servers that ask for no signature.
    user(flag("anonymous", &[])),
];

settings! {
    /// Where a bucket of S3 is, and how to get at it.
    ///
    /// The names are those of Terraform's `s3` backend, the variables those of Terraform and AWS. Beside them there are:
    /// `conditional_write` and `conditional_delete` (`on` or `off`; `off` for servers that know no conditions),
    /// `home` (where `.aws` is), `web_identity_*` and `container_*` (what AWS sets for programs that run on it).
    ///
    /// ```
    /// use groundstate_blobs_cloud::S3Settings;
    ///
    /// let mut settings = S3Settings::new().with("bucket", "states")?.with("region", "eu-west-1")?;
    /// settings.set("secret_key", "hidden")?;
    /// assert_eq!(format!("{settings:?}"), r#"S3Settings { bucket: "states", region: "eu-west-1", secret_key: "(secret)" }"#);
    /// assert!(settings.set("bukket", "x").is_err());
    /// # Ok::<(), groundstate_blobs::Error>(())
    /// ```
    S3Settings, "s3 store", TABLE
}

settings! {
    /// Who a client is to AWS, and how to get at its services: what [`S3Settings`] has without the bucket.
    ///
    /// Beside that there are `endpoints.kms`, the address of the key management service, and `anonymous`, for servers that ask
    /// for no signature.
    ///
    /// ```
    /// use groundstate_blobs_cloud::AwsSettings;
    ///
    /// let settings = AwsSettings::new().with("region", "eu-west-1")?.with("secret_key", "hidden")?;
    /// assert_eq!(format!("{settings:?}"), r#"AwsSettings { region: "eu-west-1", secret_key: "(secret)" }"#);
    /// # Ok::<(), groundstate_blobs::Error>(())
    /// ```
    AwsSettings, "AWS client", SERVICES
}
