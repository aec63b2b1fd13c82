//! The settings of the store on Azure Blob Storage, as Terraform's backend names them.

use crate::settings::{
    ALLOW_PLAIN_HTTP, MAX_STATE_SIZE, REQUEST_TIMEOUT, Setting, alias, flag, ignored, number, refused,
    secret, settings, text, user,
};

const NO_CERTIFICATE: &str = "use `client_secret` or ARM_CLIENT_SECRET, or a file with a token of OIDC";
const TOKEN_FILE: &str =
    "write the token to a file and name it as `oidc_token_file_path` or ARM_OIDC_TOKEN_FILE_PATH";
const READ_FILE: &str = "give what the file holds as the option itself";

pub(super) static TABLE: &[Setting] = &[
    text("storage_account_name", &[]),
    text("container_name", &[]),
    secret("access_key", &["ARM_ACCESS_KEY"]),
    secret("sas_token", &["ARM_SAS_TOKEN"]),
    // Not one of Terraform's: the address up to the container, with the account in it where the server wants that.
    user(text("endpoint", &["GROUNDSTATE_AZURE_BLOB_ENDPOINT"])),
    text("environment", &["ARM_ENVIRONMENT"]),
    user(refused("metadata_host", &[], "set the option `environment`, or `endpoint`")),
    ignored("resource_group_name", &[]),
    ignored("subscription_id", &["ARM_SUBSCRIPTION_ID"]),
    // Without a key, the identity is always what opens the data.
    flag("use_azuread_auth", &["ARM_USE_AZUREAD"]),
    text("tenant_id", &["ARM_TENANT_ID"]),
    text("client_id", &["ARM_CLIENT_ID"]),
    secret("client_secret", &["ARM_CLIENT_SECRET"]),
    refused("client_id_file_path", &[], READ_FILE),
    refused("client_secret_file_path", &[], READ_FILE),
    refused("client_certificate", &[], NO_CERTIFICATE),
    refused("client_certificate_path", &[], NO_CERTIFICATE),
    refused("client_certificate_password", &[], NO_CERTIFICATE),
    flag("use_msi", &["ARM_USE_MSI"]),
    user(text("msi_endpoint", &["ARM_MSI_ENDPOINT"])),
    text("use_cli", &["ARM_USE_CLI"]),
    flag("use_oidc", &["ARM_USE_OIDC"]),
    flag("use_aks_workload_identity", &["ARM_USE_AKS_WORKLOAD_IDENTITY"]),
    text("oidc_token_file_path", &["ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"]),
    refused("oidc_token", &[], TOKEN_FILE),
    user(refused("oidc_request_url", &[], TOKEN_FILE)),
    refused("oidc_request_token", &[], TOKEN_FILE),
    refused("ado_pipeline_service_connection_id", &[], TOKEN_FILE),
    refused("ado_service_connection_id", &[], TOKEN_FILE),
    refused("lookup_blob_endpoint", &[], "set the option `endpoint` to the address of the account"),
    number("timeout_seconds", &["ARM_TIMEOUT_SECONDS"]),
    secret("customer_provided_key", &["ARM_CUSTOMER_PROVIDED_KEY"]),
    // The variable is misspelt in OpenTofu, too.
    text("encryption_scope", &["ARM_ENCYRPTION_SCOPE", "ARM_ENCRYPTION_SCOPE"]),
    user(number("max_retries", &[])),
    user(alias("account", "storage_account_name")),
    // Not the original's either: what may leave, how long a request may take, how much may arrive.
    ALLOW_PLAIN_HTTP,
    REQUEST_TIMEOUT,
    MAX_STATE_SIZE,
];

settings! {
    /// Where a container of Azure Blob Storage is, and how to get at it.
    ///
    /// The names are those of Terraform's and OpenTofu's `azurerm` backend. Beside them there are `endpoint`, the address up to the
    /// container (for emulators and accounts with addresses of their own), `max_retries`, and `account` for
    /// `storage_account_name`.
    ///
    /// ```
    /// use groundstate_blobs::AzureSettings;
    ///
    /// let settings: AzureSettings =
    ///     serde_json::from_str(r#"{"storage_account_name": "acc", "access_key": "hidden", "use_oidc": null}"#)?;
    /// assert_eq!(format!("{settings:?}"), r#"AzureSettings { access_key: "(secret)", storage_account_name: "acc" }"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    AzureSettings, "azurerm", TABLE
}
