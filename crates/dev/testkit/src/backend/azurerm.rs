//! Places in Azure Blob Storage: in Azurite if that takes part, else in [`AzureServer`]; by TLS, as Terraform insists.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::client::request;
use super::{Answer, Store, TestBackend, authority, fresh, server_of_peer};
use crate::digest::{base64, from_base64, hmac_sha256};
use crate::{Authority, AzureServer, ConnectProxy, FaultProxy};

/// The key of the default workspace's state.
const KEY: &str = "team/app.tfstate";
/// An account of Azurite by `cargo xtask services`, with the key that is public knowledge.
const ACCOUNT: &str = "groundstate";
const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A container, and the way to it.
#[derive(Debug)]
pub(super) struct Container {
    at: String,
    name: String,
    /// Speaks TLS for the server, and counts.
    pub(super) front: FaultProxy,
    certificate: PathBuf,
    _proxy: ConnectProxy,
    pub(super) server: Option<AzureServer>,
}

impl TestBackend {
    /// A place in Azure Blob Storage.
    pub fn azurerm() -> Self {
        match server_of_peer("azurite", "GROUNDSTATE_AZURE_ENDPOINT") {
            Some(endpoint) => Self::azurerm_at(&endpoint, None),
            None => Self::azurerm_here(),
        }
    }

    /// A place in a server of this crate.
    pub fn azurerm_here() -> Self {
        let server = AzureServer::start_blocking();
        Self::azurerm_at(&server.endpoint(), Some(server))
    }

    /// # Panics
    ///
    /// If there is no room for the file with the certificate that clients have to trust.
    fn azurerm_at(endpoint: &str, server: Option<AzureServer>) -> Self {
        let trusted = Authority::new();
        let host = format!("{ACCOUNT}.blob.core.windows.net");
        let at = authority(endpoint);
        let front = FaultProxy::tls_in_front_of(&at, &trusted.certificate(&[&host]));
        let proxy = ConnectProxy::to(front.address());
        let name = fresh("interop");
        let certificate = std::env::temp_dir().join(format!("{name}.pem"));
        fs::write(&certificate, trusted.pem()).expect("the folder for temporary files takes one");
        let settings = json!({
            "storage_account_name": ACCOUNT, "container_name": name, "key": KEY, "access_key": ACCOUNT_KEY,
        });
        let Value::Object(settings) = settings else { unreachable!("it is written as an object above") };
        let environment = vec![
            ("HTTPS_PROXY".to_owned(), proxy.endpoint()),
            ("SSL_CERT_FILE".to_owned(), certificate.display().to_string()),
        ];
        let container = Container { at, name, front, certificate, _proxy: proxy, server };
        container.signed("PUT", "", "restype=container", &[], b"").ok();
        Self { kind: "azurerm", settings, environment, store: Store::Azure(container) }
    }
}

impl Container {
    /// The address of the account, without TLS.
    pub(super) fn endpoint(&self) -> String {
        format!("http://{}/{ACCOUNT}", self.at)
    }

    pub(super) fn get(&self, key: &str) -> Answer {
        self.signed("GET", key, "", &[], b"")
    }

    pub(super) fn put_state(&self, state: &[u8]) -> Answer {
        self.signed("PUT", KEY, "", &[("x-ms-blob-type", "BlockBlob")], state)
    }

    /// The document of the lock, which lies in the metadata of the state.
    pub(super) fn lock(&self) -> Option<String> {
        let answer = self.signed("HEAD", KEY, "comp=metadata", &[], b"");
        let document = from_base64(answer.header("x-ms-meta-terraformlockid")?)?;
        String::from_utf8(document).ok()
    }

    /// Sends a request with the signature of the account's key. A query has one parameter at most.
    fn signed(&self, method: &str, key: &str, query: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let slash = if key.is_empty() { "" } else { "/" };
        let path = format!("/{ACCOUNT}/{}{slash}{key}", self.name);
        let now = httpdate::fmt_http_date(SystemTime::now());
        let mut own = vec![("x-ms-date", now.as_str()), ("x-ms-version", "2021-08-06")];
        own.extend(headers);
        own.sort_unstable();
        let length = if body.is_empty() { String::new() } else { body.len().to_string() };
        let mut text = format!("{method}\n\n\n{length}\n\n\n\n\n\n\n\n\n");
        own.iter().for_each(|(name, value)| text.push_str(&format!("{name}:{value}\n")));
        text.push_str(&format!("/{ACCOUNT}{path}"));
        if let Some((name, value)) = query.split_once('=') {
            text.push_str(&format!("\n{name}:{value}"));
        }
        let key = from_base64(ACCOUNT_KEY).unwrap_or_default();
        let signature = format!("SharedKey {ACCOUNT}:{}", base64(&hmac_sha256(&key, text.as_bytes())));
        own.push(("authorization", &signature));
        let target = if query.is_empty() { path } else { format!("{path}?{query}") };
        request(&self.at, method, &target, &own, body)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _removed = fs::remove_file(&self.certificate);
    }
}
