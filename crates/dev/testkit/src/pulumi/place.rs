//! Places for Pulumi stacks: fresh ones, with the URL by which the pulumi CLI opens them.

use std::path::Path;

use crate::backend::{S3Locks, TestBackend, fresh, server_of_peer};
use crate::http::Server;

/// The key that is public knowledge, of every account of Azurite.
const AZURE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Where in a bucket the stacks are.
const PREFIX: &str = "team/one";

/// A place for stacks that nothing else uses, in a server of others if one takes part and else in one of this crate.
///
/// What makes the pulumi CLI talk to a server on the loopback was found by running it:
///
/// | scheme | what it takes |
/// |---|---|
/// | `s3` | `endpoint=http://HOST:PORT`, `use_path_style=true` and `region` in the URL, keys in the environment |
/// | `gs` | `STORAGE_EMULATOR_HOST` as `HOST:PORT` without a scheme, and `GOOGLE_OAUTH_ACCESS_TOKEN`: `anonymous=true` does not keep it from looking for credentials |
/// | `azblob` | `localemu=true`, `protocol=http` and `domain=HOST:PORT`, with `AZURE_STORAGE_ACCOUNT` and `AZURE_STORAGE_KEY`: `storage_account` in the URL alone leads to a token, which it only sends by TLS |
/// | `postgres` | `sslmode=disable`; a `table` for each place keeps them apart |
#[derive(Debug)]
pub struct PulumiPlace {
    kind: &'static str,
    url: String,
    environment: Vec<(String, String)>,
    /// The bucket lives as long as this.
    bucket: Option<TestBackend>,
}

impl PulumiPlace {
    /// A folder, which must exist.
    pub fn folder(folder: &Path) -> Self {
        Self::new("file", format!("file://{}", folder.display()), &[], None)
    }

    /// A service at this URL, whose users have tokens.
    pub fn service(url: &str, token: &str) -> Self {
        Self::new("service", url.to_owned(), &[("PULUMI_ACCESS_TOKEN", token)], None)
    }

    /// A prefix of a bucket in S3.
    pub fn s3() -> Self {
        Self::s3_in(TestBackend::s3(S3Locks::File))
    }

    /// The same in a server of this crate, which counts requests and does wrong what it is told to.
    pub fn s3_here() -> Self {
        Self::s3_in(TestBackend::s3_here(S3Locks::File))
    }

    /// The same with a count of requests, wherever it is.
    pub fn s3_counted() -> Self {
        Self::s3_in(TestBackend::s3_counted(S3Locks::File))
    }

    fn s3_in(bucket: TestBackend) -> Self {
        let (name, endpoint) =
            (text(&bucket, "/bucket"), text(&bucket, "/endpoints/s3").trim_end_matches('/').to_owned());
        let url = format!("s3://{name}/{PREFIX}?endpoint={endpoint}&region=us-east-1&use_path_style=true");
        let environment = [
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ];
        Self::new("s3", url, &environment, Some(bucket))
    }

    /// A prefix of a bucket in Google Cloud Storage.
    pub fn gs() -> Self {
        Self::gs_in(TestBackend::gcs())
    }

    /// The same in a server of this crate.
    pub fn gs_here() -> Self {
        Self::gs_in(TestBackend::gcs_here())
    }

    fn gs_in(bucket: TestBackend) -> Self {
        let endpoint = text(&bucket, "/storage_custom_endpoint");
        let host = endpoint.trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
        let url = format!("gs://{}/{PREFIX}", text(&bucket, "/bucket"));
        let environment = [("STORAGE_EMULATOR_HOST", host.as_str()), ("GOOGLE_OAUTH_ACCESS_TOKEN", "x")];
        Self::new("gs", url, &environment, Some(bucket))
    }

    /// A prefix of a container in Azure Blob Storage.
    pub fn azblob() -> Self {
        Self::azblob_in(TestBackend::azurerm())
    }

    /// The same in a server of this crate.
    pub fn azblob_here() -> Self {
        Self::azblob_in(TestBackend::azurerm_here())
    }

    fn azblob_in(container: TestBackend) -> Self {
        let (name, account) =
            (text(&container, "/container_name"), text(&container, "/storage_account_name"));
        let settings = container.direct_settings();
        let endpoint = settings["endpoint"].as_str().unwrap_or_default();
        let host = endpoint.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let url = format!(
            "azblob://{name}/{PREFIX}?domain={host}&localemu=true&protocol=http&storage_account={account}"
        );
        let environment = [("AZURE_STORAGE_ACCOUNT", account.as_str()), ("AZURE_STORAGE_KEY", AZURE_KEY)];
        Self::new("azblob", url, &environment, Some(container))
    }

    /// A table in PostgreSQL, if one takes part.
    pub fn postgres() -> Option<Self> {
        let url = server_of_peer("postgres", "GROUNDSTATE_PG")?;
        let joint = if url.contains('?') { '&' } else { '?' };
        let table = fresh("stacks").replace('-', "_");
        Some(Self::new("postgres", format!("{url}{joint}table={table}"), &[], None))
    }

    fn new(
        kind: &'static str,
        url: String,
        environment: &[(&str, &str)],
        bucket: Option<TestBackend>,
    ) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { kind, url, environment: environment.iter().map(own).collect(), bucket }
    }

    /// The scheme of its URL.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// What `pulumi login` takes.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What programs have to find in their environment.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Stores an object of a bucket, without any client under test.
    ///
    /// # Panics
    ///
    /// If the place is no bucket of S3 or Google Cloud Storage, or the server refuses.
    pub fn put(&self, key: &str, bytes: &[u8]) {
        let bucket = self.bucket.as_ref().expect("the place is a bucket");
        bucket.put(&format!("{PREFIX}/{key}"), bytes);
    }

    /// Whether the place is in a server of others.
    pub fn is_in_a_peer(&self) -> bool {
        self.bucket.as_ref().is_some_and(TestBackend::is_in_a_peer)
    }

    /// The server of this crate through which requests go, if they do.
    pub fn server(&self) -> Option<&Server> {
        match self.kind {
            // The front of that place speaks TLS, which the pulumi CLI does not do to an emulator.
            "azblob" => None,
            _ => self.bucket.as_ref()?.server(),
        }
    }
}

/// A setting of a place, which is text.
fn text(place: &TestBackend, pointer: &str) -> String {
    let settings = serde_json::Value::Object(place.settings().clone());
    settings.pointer(pointer).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::PulumiPlace;

    #[test]
    fn urls_are_what_the_cli_takes() {
        let place = PulumiPlace::s3_here();
        let url = place.url();
        assert!(url.starts_with("s3://interop-"), "{url}");
        assert!(url.contains("/team/one?endpoint=http://127.0.0.1:"), "{url}");
        assert!(place.server().is_some() && !place.is_in_a_peer());
        assert!(PulumiPlace::s3_counted().server().is_some());
        let place = PulumiPlace::gs_here();
        assert!(place.environment()[0].1.starts_with("127.0.0.1:"), "{place:?}");
        let place = PulumiPlace::azblob_here();
        assert!(place.url().contains("?domain=127.0.0.1:"), "{place:?}");
        assert_eq!(PulumiPlace::folder("/x".as_ref()).url(), "file:///x");
    }
}
