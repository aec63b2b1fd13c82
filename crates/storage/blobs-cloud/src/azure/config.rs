//! The settings of the store on Azure Blob Storage, as Terraform's backend names them.

use crate::settings::{
    ALLOW_PLAIN_HTTP, MAX_STATE_SIZE, REQUEST_TIMEOUT, Setting, alias, flag, number, secret, settings, text,
    user,
};

/// A table of these rows, and of those by which every client of Azure finds its cloud and its credentials.
macro_rules! with_identity {
    ($($own:expr,)*) => {
        &[
            $($own,)*
            text("environment", &["ARM_ENVIRONMENT"]),
            user(text("metadata_host", &["ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"])),
            // Not one of Terraform's either: where identities get tokens.
            user(text("authority_host", &["AZURE_AUTHORITY_HOST"])),
            text("subscription_id", &["ARM_SUBSCRIPTION_ID"]),
            text("tenant_id", &["ARM_TENANT_ID"]),
            text("client_id", &["ARM_CLIENT_ID"]),
            secret("client_secret", &["ARM_CLIENT_SECRET"]),
            user(text("client_id_file_path", &["ARM_CLIENT_ID_FILE_PATH"])),
            user(text("client_secret_file_path", &["ARM_CLIENT_SECRET_FILE_PATH"])),
            secret("client_certificate", &["ARM_CLIENT_CERTIFICATE"]),
            user(text("client_certificate_path", &["ARM_CLIENT_CERTIFICATE_PATH"])),
            secret("client_certificate_password", &["ARM_CLIENT_CERTIFICATE_PASSWORD"]),
            flag("use_msi", &["ARM_USE_MSI"]),
            user(text("msi_endpoint", &["ARM_MSI_ENDPOINT"])),
            // What the services of Azure set for the applications that run in them.
            user(text("identity_endpoint", &["IDENTITY_ENDPOINT"])),
            user(secret("identity_header", &["IDENTITY_HEADER"])),
            text("use_cli", &["ARM_USE_CLI"]),
            flag("use_oidc", &["ARM_USE_OIDC"]),
            flag("use_aks_workload_identity", &["ARM_USE_AKS_WORKLOAD_IDENTITY"]),
            user(text("aks_client_id", &["AZURE_CLIENT_ID"])),
            user(text("aks_tenant_id", &["AZURE_TENANT_ID"])),
            user(text("aks_token_file", &["AZURE_FEDERATED_TOKEN_FILE"])),
            user(text("oidc_token_file_path", &["ARM_OIDC_TOKEN_FILE_PATH"])),
            secret("oidc_token", &["ARM_OIDC_TOKEN"]),
            user(text(
                "oidc_request_url",
                &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", "SYSTEM_OIDCREQUESTURI"],
            )),
            secret(
                "oidc_request_token",
                &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "SYSTEM_ACCESSTOKEN"],
            ),
            text(
                "ado_pipeline_service_connection_id",
                &["ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID", "ARM_OIDC_AZURE_SERVICE_CONNECTION_ID"],
            ),
            alias("ado_service_connection_id", "ado_pipeline_service_connection_id"),
            // Not the original's either: what may leave, how long a request may take, how much may arrive.
            ALLOW_PLAIN_HTTP,
            REQUEST_TIMEOUT,
        ]
    };
}

pub(super) static TABLE: &[Setting] = with_identity![
    text("storage_account_name", &[]),
    text("container_name", &[]),
    secret("access_key", &["ARM_ACCESS_KEY"]),
    secret("sas_token", &["ARM_SAS_TOKEN"]),
    // Not one of Terraform's: the address up to the container, with the account in it where the server wants that.
    user(text("endpoint", &["GROUNDSTATE_AZURE_BLOB_ENDPOINT"])),
    text("resource_group_name", &[]),
    // Without a key, the identity is always what opens the data.
    flag("use_azuread_auth", &["ARM_USE_AZUREAD"]),
    flag("lookup_blob_endpoint", &["ARM_USE_DNS_ZONE_ENDPOINT"]),
    number("timeout_seconds", &["ARM_TIMEOUT_SECONDS"]),
    secret("customer_provided_key", &["ARM_CUSTOMER_PROVIDED_KEY"]),
    // The variable is misspelt in OpenTofu, too.
    text("encryption_scope", &["ARM_ENCYRPTION_SCOPE", "ARM_ENCRYPTION_SCOPE"]),
    user(number("max_retries", &[])),
    user(alias("account", "storage_account_name")),
    MAX_STATE_SIZE,
];

/// The table of clients of services of Azure that keep no blobs.
static SERVICES: &[Setting] = with_identity![];

settings! {
    /// Where a container of Azure Blob Storage is, and how to get at it.
    ///
    /// The names are those of Terraform's and OpenTofu's `azurerm` backend. Beside them there are `endpoint`, the address up to the
    /// container (for emulators and accounts with addresses of their own), `max_retries`, and `account` for
    /// `storage_account_name`.
    ///
    /// ```
    /// use groundstate_blobs_cloud::AzureSettings;
    ///
    /// let settings: AzureSettings =
    ///     serde_json::from_str(r#"{"storage_account_name": "acc", "access_key": "hidden", "use_oidc": null}"#)?;
    /// assert_eq!(format!("{settings:?}"), r#"AzureSettings { access_key: "(secret)", storage_account_name: "acc" }"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    AzureSettings, "azurerm store", TABLE
}

settings! {
    /// Who a client is to Azure: what [`AzureSettings`] has without the container and its keys.
    ///
    /// ```
    /// use groundstate_blobs_cloud::AzureIdentitySettings;
    ///
    /// let settings = AzureIdentitySettings::new().with("client_secret", "hidden")?;
    /// assert_eq!(format!("{settings:?}"), r#"AzureIdentitySettings { client_secret: "(secret)" }"#);
    /// # Ok::<(), groundstate_blobs::Error>(())
    /// ```
    AzureIdentitySettings, "Azure client", SERVICES
}
