//! Where a container is: by the names of a cloud, or by what its services say.

use std::fmt;
use std::sync::{Arc, OnceLock};

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use http::Method;
use serde::Deserialize;
use url::Url;

use super::identity::{Identity, needs_identity};
use crate::cloud::{Request, Wire, address, ask, encode, endpoint, is_loopback, with_scheme};
use crate::settings::Values;

/// The services of a cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AzureCloud {
    /// Where identities get tokens, without a slash at its end.
    pub(super) login: String,
    /// The management of resources, which is also what its tokens are for.
    manager: String,
    /// What follows `ACCOUNT.blob.`.
    suffix: String,
}

/// A container, and how it is found.
pub(super) struct Location {
    account: String,
    container: String,
    finder: CloudFinder,
    /// The resource of the account, if the management service knows its address.
    lookup: Option<Lookup>,
    /// The address of the container, without a slash at its end.
    base: OnceLock<String>,
}

/// How the services of a cloud are found.
pub(super) struct CloudFinder {
    /// Where the cloud's addresses are asked for, unless they are known.
    metadata: Option<Url>,
    login: Option<String>,
    cloud: OnceLock<AzureCloud>,
}

struct Lookup {
    resource: String,
    identity: Arc<Identity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Endpoints {
    authentication: Authentication,
    resource_manager: String,
    suffixes: Suffixes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Authentication {
    login_endpoint: String,
}

#[derive(Deserialize)]
struct Suffixes {
    storage: String,
}

#[derive(Deserialize)]
struct Account {
    properties: Properties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    primary_endpoints: PrimaryEndpoints,
}

#[derive(Deserialize)]
struct PrimaryEndpoints {
    blob: String,
}

impl AzureCloud {
    /// A cloud by its name.
    fn named(values: &Values) -> Result<Self> {
        let (login, manager, suffix) = match values.text("environment").unwrap_or("public") {
            "public" => ("login.microsoftonline.com", "management.azure.com", "core.windows.net"),
            "usgovernment" | "usgovernmentl4" | "usgovernmentl5" => {
                ("login.microsoftonline.us", "management.usgovcloudapi.net", "core.usgovcloudapi.net")
            }
            "china" => ("login.chinacloudapi.cn", "management.chinacloudapi.cn", "core.chinacloudapi.cn"),
            _ => return Err(values.invalid("environment", "it is neither public nor usgovernment nor china")),
        };
        Ok(Self {
            login: format!("https://{login}"),
            manager: format!("https://{manager}"),
            suffix: suffix.to_owned(),
        })
    }

    /// What a metadata service says, if it can be used.
    fn described(endpoints: &Endpoints) -> Option<Self> {
        let service = |text: &str| {
            let url = address(text).ok().filter(is_protected)?;
            Some(url.as_str().trim_end_matches('/').to_owned())
        };
        let suffix = endpoints.suffixes.storage.trim_start_matches('.');
        let fits = suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        Some(Self {
            login: service(&endpoints.authentication.login_endpoint)?,
            manager: service(&endpoints.resource_manager)?,
            suffix: (fits && !suffix.is_empty()).then(|| suffix.to_owned())?,
        })
    }
}

/// Whether what is said to an address cannot be heard or changed on the way.
fn is_protected(url: &Url) -> bool {
    url.scheme() == "https" || is_loopback(url)
}

impl CloudFinder {
    pub(super) fn new(values: &Values) -> Result<Self> {
        let cloud = OnceLock::new();
        let service = |name| {
            let check = |text: &str| {
                let url = address(&with_scheme(text)).map_err(|why| values.invalid(name, why))?;
                let why = "it is addressed by plain http, so any host on the way could choose who gets the credentials";
                if is_protected(&url) { Ok(url) } else { Err(values.invalid(name, why)) }
            };
            values.text(name).map(check).transpose()
        };
        let metadata = service("metadata_host")?;
        let login = service("authority_host")?.map(|url| url.as_str().trim_end_matches('/').to_owned());
        let known = AzureCloud::named(values)?;
        if metadata.is_none() {
            cloud.get_or_init(|| known.with_login(login.clone()));
        }
        Ok(Self { metadata, login, cloud })
    }

    /// The services of the cloud.
    pub(super) async fn cloud(&self, wire: &Wire) -> Result<&AzureCloud> {
        if let Some(cloud) = self.cloud.get() {
            return Ok(cloud);
        }
        const PLACE: &str = "the metadata service (`metadata_host`)";
        let wrong = || Error::new(ErrorKind::Invalid, Op::Other("find Azure by"), PLACE);
        let Some(url) = &self.metadata else { return Err(wrong()) };
        let mut url = url.clone();
        url.set_path("/metadata/endpoints");
        url.set_query(Some("api-version=2022-09-01"));
        let endpoints: Endpoints = ask(wire, PLACE, Request::new(Method::GET, url.into())).await?;
        let cloud = AzureCloud::described(&endpoints)
            .ok_or_else(|| wrong().because("its answer has no addresses that can be used"))?;
        Ok(self.cloud.get_or_init(|| cloud.with_login(self.login.clone())))
    }
}

impl Location {
    pub(super) fn new(values: &Values, account: &str, container: &str) -> Result<Self> {
        let base = OnceLock::new();
        if let Some(text) = values.text("endpoint") {
            let url = endpoint(values, "endpoint", text)?;
            base.get_or_init(|| at(url.as_str(), container));
        }
        let finder = CloudFinder::new(values)?;
        let lookup = (base.get().is_none() && values.flag("lookup_blob_endpoint")?)
            .then(|| Lookup::new(values, account))
            .transpose()?;
        if let (None, Some(cloud)) = (&lookup, finder.cloud.get()) {
            base.get_or_init(|| at(&cloud.account(account), container));
        }
        let (account, container) = (account.to_owned(), container.to_owned());
        Ok(Self { account, container, finder, lookup, base })
    }

    /// The address of the container, if nothing has to be asked for it.
    pub(super) fn known(&self) -> Option<&str> {
        self.base.get().map(String::as_str)
    }

    /// The services of the cloud.
    pub(super) async fn cloud(&self, wire: &Wire) -> Result<&AzureCloud> {
        self.finder.cloud(wire).await
    }

    /// The address of the container, without a slash at its end.
    pub(super) async fn base(&self, wire: &Wire) -> Result<&str> {
        if let Some(base) = self.base.get() {
            return Ok(base);
        }
        let cloud = self.cloud(wire).await?;
        let service = match &self.lookup {
            None => cloud.account(&self.account),
            Some(lookup) => lookup.service(wire, cloud).await?,
        };
        Ok(self.base.get_or_init(|| at(&service, &self.container)))
    }
}

impl AzureCloud {
    fn with_login(mut self, login: Option<String>) -> Self {
        if let Some(login) = login {
            self.login = login;
        }
        self
    }

    fn account(&self, account: &str) -> String {
        format!("https://{account}.blob.{}", self.suffix)
    }
}

fn at(service: &str, container: &str) -> String {
    format!("{}/{}", service.trim_end_matches('/'), encode(container, false))
}

impl Lookup {
    fn new(values: &Values, account: &str) -> Result<Self> {
        let part = |name: &'static str| Ok::<_, Error>(encode(values.needed(name)?.trim(), false));
        let (subscription, group) = (part("subscription_id")?, part("resource_group_name")?);
        let resource = format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{account}"
        );
        let identity = Identity::new(values)
            .map_err(|error| needs_identity(values, "lookup_blob_endpoint").with_source(error))?;
        Ok(Self { resource, identity: Arc::new(identity) })
    }

    /// The address of the account's blobs, as the management service says it.
    async fn service(&self, wire: &Wire, cloud: &AzureCloud) -> Result<String> {
        const PLACE: &str = "the management service (`lookup_blob_endpoint`)";
        let token = self.identity.token(wire, cloud, &cloud.manager).await?;
        let url = format!("{}{}?api-version=2023-01-01", cloud.manager, self.resource);
        let request = Request::new(Method::GET, url)
            .header("authorization", &format!("Bearer {}", token.text))?
            .header("accept", "application/json")?;
        let account: Account = ask(wire, PLACE, request).await?;
        let blob = account.properties.primary_endpoints.blob;
        let url = address(&blob).ok().filter(is_protected).ok_or_else(|| {
            Error::new(ErrorKind::Invalid, Op::Other("find the account by"), PLACE)
                .because("its answer has no address that can be used")
        })?;
        Ok(url.into())
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location").field("base", &self.base.get()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Location;
    use crate::azure::AzureSettings;

    #[test]
    fn addresses_follow_the_environment() {
        for (name, value, address) in [
            ("environment", "public", "https://acc.blob.core.windows.net/c"),
            ("environment", "china", "https://acc.blob.core.chinacloudapi.cn/c"),
            ("endpoint", "http://127.0.0.1:10000/acc/", "http://127.0.0.1:10000/acc/c"),
        ] {
            let settings = AzureSettings::new().with(name, value).unwrap();
            assert_eq!(Location::new(&settings.0, "acc", "c").unwrap().known(), Some(address));
        }
    }

    #[test]
    fn services_that_choose_who_gets_credentials_have_tls() {
        for (name, value, is_fine) in [
            ("metadata_host", "management.azure.com", true),
            ("metadata_host", "http://management.azure.com", false),
            ("authority_host", "https://login.microsoftonline.com/", true),
            ("authority_host", "http://login.microsoftonline.com/", false),
            ("authority_host", "http://127.0.0.1:1", true),
            ("authority_host", "https://a\nb", false),
        ] {
            let settings = AzureSettings::new().with(name, value).unwrap();
            assert_eq!(Location::new(&settings.0, "acc", "c").is_ok(), is_fine, "{value}");
        }
    }
}
