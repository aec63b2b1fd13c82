//! Who the store is to Azure.

use std::sync::Arc;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::azure::{AzureConfigKey, AzureCredentialProvider, MicrosoftAzureBuilder, authority_hosts};

use super::AzureSettings;
use crate::cloud::Transport;
use crate::error::Result;

/// What to do without credentials.
pub(super) const NO_CREDENTIALS: &str =
    "set `access_key` or ARM_ACCESS_KEY, or `sas_token` or ARM_SAS_TOKEN, or run `az login`";

/// The order of the original: the key, the signature, and then identities, the most particular first.
pub(super) fn provider(
    settings: &AzureSettings,
    account: &str,
    container: &str,
    transport: &Transport,
) -> Result<AzureCredentialProvider> {
    let values = &settings.0;
    let has = |name| values.text(name).is_some();
    let uses_cli = values.text("use_cli").is_none_or(|text| matches!(text, "true" | "1"));
    let with_token = values.flag("use_oidc")? || values.flag("use_aks_workload_identity")?;
    let kind = if has("access_key") {
        "access_key"
    } else if has("sas_token") {
        "sas_token"
    } else if has("client_secret") {
        "client_secret"
    } else if with_token {
        "workload_identity"
    } else if values.flag("use_msi")? {
        "managed_identity"
    } else if uses_cli {
        "azure_cli"
    } else {
        return Err(values.invalid("access_key", "there are no credentials").next_step(NO_CREDENTIALS));
    };
    let authority = match values.text("environment") {
        Some("china") => authority_hosts::AZURE_CHINA,
        Some(text) if text.starts_with("usgovernment") => authority_hosts::AZURE_GOVERNMENT,
        _ => authority_hosts::AZURE_PUBLIC_CLOUD,
    };
    let retries =
        RetryConfig { max_retries: 2, retry_timeout: Duration::from_secs(10), ..RetryConfig::default() };
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(account)
        .with_container_name(container)
        .with_credential_type(kind)
        .with_authority_host(authority)
        .with_http_connector(transport.clone())
        .with_retry(retries);
    let pairs = [
        ("access_key", AzureConfigKey::AccessKey),
        ("sas_token", AzureConfigKey::SasKey),
        ("tenant_id", AzureConfigKey::AuthorityId),
        ("client_id", AzureConfigKey::ClientId),
        ("client_secret", AzureConfigKey::ClientSecret),
        ("msi_endpoint", AzureConfigKey::MsiEndpoint),
        ("oidc_token_file_path", AzureConfigKey::FederatedTokenFile),
    ];
    for (name, key) in pairs {
        if let Some(value) = values.text(name) {
            builder = builder.with_config(key, value);
        }
    }
    let name = match kind {
        "access_key" | "sas_token" | "client_secret" => kind,
        "workload_identity" => "oidc_token_file_path",
        _ => "client_id",
    };
    let store = builder.build().map_err(|error| {
        let needs = match kind {
            "client_secret" => {
                "it cannot be used, with it go `tenant_id` (ARM_TENANT_ID) and `client_id` (ARM_CLIENT_ID)"
            }
            "workload_identity" => {
                "it cannot be used, with it go `tenant_id` (ARM_TENANT_ID) and `client_id` (ARM_CLIENT_ID)"
            }
            _ => "it cannot be used",
        };
        // The cause of a key that is no base64 has a byte of it.
        let error_for_user = values.invalid(name, needs);
        if kind == "access_key" { error_for_user } else { error_for_user.with_source(error) }
    })?;
    Ok(Arc::clone(store.credentials()))
}
