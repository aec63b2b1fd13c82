//! Places in Google Cloud Storage.

use serde_json::{Value, json};

use super::client::request;
use super::{Answer, Store, TestBackend, authority, fresh, server_of_peer};
use crate::GcsServer;

/// The key of the default workspace's state.
pub(super) const STATE: &str = "team/app/default.tfstate";
/// The key of the lock on the default workspace.
pub(super) const LOCK: &str = "team/app/default.tflock";
const TOKEN: (&str, &str) = ("Authorization", "Bearer x");

/// A bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    at: String,
    name: String,
    pub(super) server: Option<GcsServer>,
}

impl TestBackend {
    /// A place in Google Cloud Storage.
    pub fn gcs() -> Self {
        match server_of_peer("gcs", "GROUNDSTATE_GCS_ENDPOINT") {
            Some(endpoint) => Self::gcs_at(&endpoint, None),
            None => Self::gcs_here(),
        }
    }

    /// A place in a server of this crate, which counts requests and does wrong what it is told to.
    pub fn gcs_here() -> Self {
        let server = GcsServer::start_blocking();
        Self::gcs_at(&server.endpoint(), Some(server))
    }

    fn gcs_at(endpoint: &str, server: Option<GcsServer>) -> Self {
        let at = authority(endpoint);
        let name = fresh("interop");
        let shape = json!({ "name": name }).to_string();
        let headers = [("Content-Type", "application/json"), TOKEN];
        request(&at, "POST", "/storage/v1/b?project=p", &headers, shape.as_bytes()).ok();
        let settings = json!({
            "bucket": name, "prefix": "team/app", "access_token": "x",
            "storage_custom_endpoint": format!("{endpoint}/storage/v1/"),
        });
        let Value::Object(settings) = settings else { unreachable!("it is written as an object above") };
        let store = Store::Gcs(Bucket { at, name, server });
        Self { kind: "gcs", settings, environment: Vec::new(), store }
    }
}

impl Bucket {
    pub(super) fn request(&self, method: &str, key: &str, body: &[u8]) -> Answer {
        request(&self.at, method, &format!("/{}/{key}", self.name), &[TOKEN], body)
    }
}
