//! `azblob://`: a container of Azure Blob Storage.

use std::sync::Arc;

use groundstate_blobs::{Result, Retry};
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings};
use groundstate_common::Origin;

use crate::choice::BackendChoice;
use crate::open::{OpenContext, Opened};
use crate::query::flag;
use crate::url::BackendUrl;

const PARAMETERS: [&str; 5] = ["storage_account", "domain", "protocol", "cdn", "localemu"];

/// What Azure's own services are called by default.
const DOMAIN: &str = "blob.core.windows.net";

/// Looks up variables of the environment that are not empty.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(crate) fn open(choice: &BackendChoice, with: OpenContext<'_>) -> Result<Opened> {
    let url = &choice.url;
    url.only(&PARAMETERS)?;
    if let Some(name) = url.query().repeated() {
        let name: String = name.chars().take(40).collect();
        return Err(url.parameter(&name, "is given twice"));
    }
    choice.only_from_user(&["domain", "protocol", "cdn", "localemu"])?;
    let variable = |name: &str| (with.variable)(name).filter(|text| !text.is_empty());
    let credentials = credentials(url, &variable)?;
    if credentials.iter().any(|(name, _)| *name == "sas_token")
        && url.query().get("storage_account") != variable("AZURE_STORAGE_ACCOUNT").as_deref()
    {
        // The token is in the address of every request.
        choice.only_from_user(&["storage_account"])?;
    }
    let mut settings = AzureSettings::new();
    let wrong = |error: serde_json::Error| url.wrong(error.to_string());
    let users = |name: &str, value: &str| serde_json::json!({ name: value });
    settings.set("container_name", url.container())?;
    for (name, value) in address(url, &credentials, &variable)?.iter().chain(&credentials) {
        settings.read_from(users(name, value), Origin::Environment).map_err(wrong)?;
    }
    // The variables of Terraform's backend mean nothing to Pulumi.
    let lookup = |name: &str| (!name.starts_with("ARM_")).then(|| variable(name)).flatten();
    let container = AzureBlobs::open(&settings.or_from(&lookup)?)?;
    let notes = container.warnings().to_vec();
    let retries = container.retry_policy();
    Ok((Arc::new(Retry::new(container, retries, with.context.clone())), notes))
}

/// Credentials in the order of the original: key, signature, connection string, identities.
fn credentials(url: &BackendUrl, variable: Lookup<'_>) -> Result<Vec<(&'static str, String)>> {
    if let (Some(_), Some(key)) = (variable("AZURE_STORAGE_ACCOUNT"), variable("AZURE_STORAGE_KEY")) {
        return Ok(vec![("access_key", key)]);
    }
    if let Some(signature) = variable("AZURE_STORAGE_SAS_TOKEN") {
        return Ok(vec![("sas_token", signature)]);
    }
    let connection = variable("AZURE_STORAGE_CONNECTION_STRING")
        .or_else(|| variable("AZURE_STORAGEBLOB_CONNECTIONSTRING"));
    if let Some(text) = connection {
        return connection_string(&text).ok_or_else(|| {
            url.wrong("the connection string in AZURE_STORAGE_CONNECTION_STRING has neither an account with its key nor a signature")
        });
    }
    Ok(identity(variable))
}

/// Who the client is without a key of an account: an application, a workload, or the machine; otherwise `az` is asked.
pub(crate) fn identity(variable: Lookup<'_>) -> Vec<(&'static str, String)> {
    let named = |pairs: &[(&'static str, &str)]| -> Vec<_> {
        pairs.iter().filter_map(|(option, name)| Some((*option, variable(name)?))).collect()
    };
    let ids = [("tenant_id", "AZURE_TENANT_ID"), ("client_id", "AZURE_CLIENT_ID")];
    let yes = |name| (name, "true".to_owned());
    if variable("AZURE_CLIENT_SECRET").is_some() {
        named(&[ids[0], ids[1], ("client_secret", "AZURE_CLIENT_SECRET")])
    } else if variable("AZURE_CLIENT_CERTIFICATE_PATH").is_some() {
        named(&[
            ids[0],
            ids[1],
            ("client_certificate_path", "AZURE_CLIENT_CERTIFICATE_PATH"),
            ("client_certificate_password", "AZURE_CLIENT_CERTIFICATE_PASSWORD"),
        ])
    } else if variable("AZURE_FEDERATED_TOKEN_FILE").is_some() {
        vec![yes("use_aks_workload_identity")]
    } else if variable("IDENTITY_ENDPOINT").is_some() {
        vec![yes("use_msi")]
    } else {
        Vec::new()
    }
}

/// What a connection string says, with `endpoint` for the address of its account.
fn connection_string(text: &str) -> Option<Vec<(&'static str, String)>> {
    let part = |name: &str| {
        let parts = text.split(';').filter_map(|part| part.split_once('='));
        parts
            .into_iter()
            .find(|(other, _)| other.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
    };
    let account = part("AccountName");
    let mut found = match (part("AccountKey"), part("SharedAccessSignature")) {
        (Some(key), _) if account.is_some() => vec![("access_key", key)],
        (_, Some(signature)) => vec![("sas_token", signature)],
        _ => return None,
    };
    let protocol = part("DefaultEndpointsProtocol").unwrap_or_else(|| "https".to_owned());
    let suffix = part("EndpointSuffix").unwrap_or_else(|| "core.windows.net".to_owned());
    let by_name = account.as_ref().map(|account| format!("{protocol}://{account}.blob.{suffix}"));
    found.push(("endpoint", part("BlobEndpoint").or(by_name)?));
    found.extend(account.map(|account| ("storage_account_name", account)));
    Some(found)
}

/// The account and, where it is not the usual one, the address of its service.
fn address(
    url: &BackendUrl,
    credentials: &[(&'static str, String)],
    variable: Lookup<'_>,
) -> Result<Vec<(&'static str, String)>> {
    // The client of a connection string goes where that says.
    if credentials.iter().any(|(name, _)| *name == "endpoint") {
        let named = credentials.iter().any(|(name, _)| *name == "storage_account_name");
        let account = url
            .query()
            .get("storage_account")
            .map(str::to_owned)
            .or_else(|| variable("AZURE_STORAGE_ACCOUNT"));
        return Ok(account
            .filter(|_| !named)
            .map(|account| ("storage_account_name", account))
            .into_iter()
            .collect());
    }
    let given = |name: &str, environment: &str| {
        url.query()
            .get(name)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .or_else(|| variable(environment))
    };
    let switch = |name: &str, environment: &str| match given(name, environment) {
        None => Ok(false),
        Some(text) => flag(&text).ok_or_else(|| url.parameter(name, "is neither true nor false")),
    };
    let account = given("storage_account", "AZURE_STORAGE_ACCOUNT").ok_or_else(|| {
        url.wrong("it names no account")
            .next_step("set AZURE_STORAGE_ACCOUNT, or add the parameter `storage_account`")
    })?;
    let domain = given("domain", "AZURE_STORAGE_DOMAIN").unwrap_or_else(|| DOMAIN.to_owned());
    let protocol = given("protocol", "AZURE_STORAGE_PROTOCOL").unwrap_or_else(|| "https".to_owned());
    if !matches!(protocol.as_str(), "http" | "https") {
        return Err(url.parameter("protocol", "is neither http nor https"));
    }
    let is_local = domain.starts_with("127.0.0.1")
        || domain.starts_with("localhost")
        || switch("localemu", "AZURE_STORAGE_IS_LOCAL_EMULATOR")?;
    let is_cdn = switch("cdn", "AZURE_STORAGE_IS_CDN")?;
    let endpoint = match (is_local, is_cdn) {
        (true, _) => Some(format!("{protocol}://{domain}/{account}")),
        (false, true) => Some(format!("{protocol}://{domain}")),
        (false, false) if domain == DOMAIN && protocol == "https" => None,
        (false, false) => Some(format!("{protocol}://{account}.{domain}")),
    };
    let mut settings = vec![("storage_account_name", account)];
    settings.extend(endpoint.map(|endpoint| ("endpoint", endpoint)));
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::{address, connection_string};
    use crate::url::BackendUrl;

    fn of(query: &str, variables: &[(&str, &str)]) -> Option<String> {
        let url = BackendUrl::parse(&format!("azblob://c?{query}")).unwrap();
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let found = address(&url, &[], &variable).ok()?;
        Some(found.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn addresses_are_those_of_the_original() {
        const ENV: (&str, &str) = ("AZURE_STORAGE_ACCOUNT", "env");
        for (query, variables, expected) in [
            ("", &[ENV][..], Some("storage_account_name=env")),
            ("storage_account=acc", &[ENV], Some("storage_account_name=acc")),
            (
                "storage_account=acc&domain=127.0.0.1:10000&protocol=http",
                &[],
                Some("storage_account_name=acc endpoint=http://127.0.0.1:10000/acc"),
            ),
            (
                "storage_account=acc&domain=emu:1&localemu=true",
                &[],
                Some("storage_account_name=acc endpoint=https://emu:1/acc"),
            ),
            (
                "storage_account=acc&domain=cdn.example&cdn=true",
                &[],
                Some("storage_account_name=acc endpoint=https://cdn.example"),
            ),
            (
                "storage_account=acc&domain=blob.core.chinacloudapi.cn",
                &[],
                Some("storage_account_name=acc endpoint=https://acc.blob.core.chinacloudapi.cn"),
            ),
            (
                "",
                &[ENV, ("AZURE_STORAGE_DOMAIN", "localhost:1"), ("AZURE_STORAGE_PROTOCOL", "http")],
                Some("storage_account_name=env endpoint=http://localhost:1/env"),
            ),
            ("", &[], None),
            ("storage_account=acc&protocol=ftp", &[], None),
            ("storage_account=acc&cdn=maybe", &[], None),
        ] {
            assert_eq!(of(query, variables).as_deref(), expected, "{query}");
        }
    }

    #[test]
    fn connection_strings_name_account_key_and_address() {
        let found = connection_string("DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5==;EndpointSuffix=core.windows.net").unwrap();
        assert_eq!(found[0], ("access_key", "a2V5==".to_owned()));
        assert_eq!(found[1], ("endpoint", "https://acc.blob.core.windows.net".to_owned()));
        assert!(connection_string("AccountName=acc").is_none());
    }
}
