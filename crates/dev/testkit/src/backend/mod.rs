//! Places in the backends of Terraform: fresh ones, with the settings by which any program opens them.

mod azurerm;
mod client;
mod gcs;
mod http;
mod peers;
mod pg;
mod s3;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use crate::Server;
use client::Answer;
pub use peers::{is_required, server_of_peer, terraform_takes_part};
pub use s3::S3Locks;

/// A place for states that nothing else uses, in a server of others if one takes part and else in one of this crate.
///
/// Servers of others take part when variables say where they are; `cargo xtask services env` prints those.
///
/// ```
/// use groundstate_testkit::{TestBackend, S3Locks};
///
/// let place = TestBackend::s3_here(S3Locks::File);
/// assert!(place.block().starts_with("terraform {\n  backend \"s3\" {\n    access_key = "));
/// assert_eq!(place.settings()["use_lockfile"], true);
/// assert_eq!(place.locks(), [""; 0]);
/// ```
#[derive(Debug)]
pub struct TestBackend {
    kind: &'static str,
    settings: Map<String, Value>,
    environment: Vec<(String, String)>,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Local,
    S3(s3::Bucket),
    Gcs(gcs::Bucket),
    Azure(azurerm::Container),
    Http(http::HttpState),
    Pg(pg::Database),
}

impl TestBackend {
    /// What Terraform uses when it is told of no backend: a file in the working directory.
    pub fn local() -> Self {
        Self { kind: "local", settings: Map::new(), environment: Vec::new(), store: Store::Local }
    }

    /// The type of the backend.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The settings of the backend's block.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// The settings for clients that can be told an address, so that they need no environment.
    pub fn direct_settings(&self) -> Map<String, Value> {
        let mut settings = self.settings.clone();
        if let Store::Azure(container) = &self.store {
            settings.insert("endpoint".to_owned(), container.endpoint().into());
        }
        settings
    }

    /// Changes a setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.settings.insert(name.to_owned(), value.into());
        self
    }

    /// What programs have to find in their environment.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The block that tells Terraform of the place.
    pub fn block(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("    {name} = {}\n", hcl(value)));
        format!("terraform {{\n  backend \"{}\" {{\n{}  }}\n}}\n", self.kind, settings.collect::<String>())
    }

    /// The server of this crate through which requests go, if they do: it logs, counts and makes faults.
    pub fn server(&self) -> Option<&Server> {
        match &self.store {
            Store::Local | Store::Pg(_) => None,
            Store::S3(bucket) => bucket.server.as_deref().or(bucket.proxy.as_deref()),
            Store::Gcs(bucket) => bucket.server.as_deref(),
            Store::Azure(container) => Some(&container.front),
            Store::Http(state) => Some(&state.server),
        }
    }

    /// Whether the place is in a server of others, which takes longer over each request.
    pub fn is_in_a_peer(&self) -> bool {
        match &self.store {
            Store::Local | Store::Http(_) => false,
            Store::S3(bucket) => bucket.server.is_none(),
            Store::Gcs(bucket) => bucket.server.is_none(),
            Store::Azure(container) => container.server.is_none(),
            Store::Pg(_) => true,
        }
    }

    /// What an object holds, asked for without any client under test.
    pub fn object(&self, key: &str) -> Option<Vec<u8>> {
        let answer = match &self.store {
            Store::Local => return None,
            // The key is a workspace.
            Store::Pg(database) => return database.state(key),
            // The key says nothing: there is one state.
            Store::Http(state) => return state.server.state(&state.path).map(Vec::from),
            Store::S3(bucket) => bucket.request("GET", key, b""),
            Store::Gcs(bucket) => bucket.request("GET", key, b""),
            Store::Azure(container) => container.get(key),
        };
        (answer.status != 404).then(|| answer.ok())
    }

    /// Stores an object of a bucket.
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        let answer = match &self.store {
            Store::S3(bucket) => Some(bucket.request("PUT", key, bytes)),
            Store::Gcs(bucket) => Some(bucket.request("PUT", key, bytes)),
            Store::Local | Store::Azure(_) | Store::Http(_) | Store::Pg(_) => None,
        };
        answer.expect("the place is a bucket").ok();
    }

    /// Stores the state of the default workspace, without any client under test.
    ///
    /// # Panics
    ///
    /// If the place is a file, or the server refuses.
    pub fn put_state(&self, state: &[u8]) {
        let answer = match &self.store {
            Store::Local => None,
            Store::Http(place) => return place.server.put_state(&place.path, state.to_vec()),
            Store::Pg(database) => return database.put_state(state),
            Store::S3(bucket) => Some(bucket.request("PUT", s3::KEY, state)),
            Store::Gcs(bucket) => Some(bucket.request("PUT", gcs::STATE, state)),
            Store::Azure(container) => Some(container.put_state(state)),
        };
        answer.expect("the place is in a server").ok();
    }

    /// The documents of the locks on the default workspace, wherever the backend keeps them; of PostgreSQL, the processes of
    /// the server that hold one.
    pub fn locks(&self) -> Vec<String> {
        match &self.store {
            Store::Local => Vec::new(),
            Store::S3(bucket) => bucket.locks(self),
            Store::Gcs(_) => text(self.object(gcs::LOCK)).into_iter().collect(),
            Store::Azure(container) => container.lock().into_iter().collect(),
            Store::Http(state) => state.server.lock_of(&state.path).into_iter().collect(),
            Store::Pg(database) => database.locks(),
        }
    }

    /// How many such documents a holder leaves.
    pub fn locks_of_a_holder(&self) -> usize {
        match &self.store {
            Store::Local => 0,
            Store::S3(bucket) => bucket.locks_of_a_holder(),
            Store::Gcs(_) | Store::Azure(_) | Store::Http(_) | Store::Pg(_) => 1,
        }
    }

    /// The digest of the state that is beside it, if the backend keeps one.
    pub fn digest(&self) -> Option<String> {
        match &self.store {
            Store::S3(bucket) => bucket.item(&format!("{}-md5", s3::KEY), "Digest"),
            _ => None,
        }
    }
}

fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A value as Terraform's language writes it.
fn hcl(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name} = {}", hcl(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string().replace("${", "$${"),
    }
}

/// A name that no other test has, nor a run before on the same servers.
pub(crate) fn fresh(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    format!("{prefix}-{time:x}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// `HOST:PORT` of an endpoint.
fn authority(endpoint: &str) -> String {
    endpoint.trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{S3Locks, Store, TestBackend, fresh, hcl};

    #[test]
    fn values_are_written_as_the_language_has_them() {
        let value = serde_json::json!({"a": "x ${y} \"z\"", "b": true});
        assert_eq!(hcl(&value), r#"{ a = "x $${y} \"z\"", b = true }"#);
        assert_ne!(fresh("a"), fresh("a"));
    }

    #[test]
    fn places_are_told_apart_and_begin_empty() {
        let [one, other] = [S3Locks::Both, S3Locks::Both].map(TestBackend::s3_here);
        assert_ne!(one.settings()["bucket"], other.settings()["bucket"]);
        assert_eq!((one.locks().len(), one.locks_of_a_holder(), one.digest()), (0, 2, None));
        assert_eq!(one.object("team/app.tfstate"), None);
        let Store::S3(bucket) = &one.store else { panic!("it is in S3") };
        bucket.request("PUT", "team/app.tfstate.tflock", b"{}").ok();
        assert_eq!(one.locks(), ["{}"]);
        assert_eq!(one.server().expect("a server of this crate").count("PUT", "*.tflock"), 1);
        let named = TestBackend::local().with("path", "a.tfstate");
        assert_eq!(named.block(), "terraform {\n  backend \"local\" {\n    path = \"a.tfstate\"\n  }\n}\n");
    }
}
