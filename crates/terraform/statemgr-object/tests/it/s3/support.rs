//! A bucket and a table in the test's own process, and clients of them.

use std::sync::Arc;

use groundstate_blobs::Context;
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use groundstate_common::{FixedClock, IdSource, OsIds, Timestamp};
use groundstate_statemgr::{LockId, LockInfo, WorkspaceName};
use groundstate_statemgr_object::{ObjectStateStore, S3Backend, S3Layout, S3Options};
use groundstate_testkit::S3Server;

pub(crate) const BUCKET: &str = "states";
pub(crate) const KEY: &str = "network/prod.tfstate";
pub(crate) const TABLE: &str = "locks";

/// The ways to lock that Terraform's backend has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locks {
    File,
    Row,
    Both,
    None,
}

impl Locks {
    pub(crate) const LOCKING: [Self; 3] = [Self::File, Self::Row, Self::Both];

    pub(crate) fn options(self) -> S3Options {
        let options = S3Options::new().use_lockfile(matches!(self, Self::File | Self::Both));
        if self.has_table() { options.dynamodb_table(TABLE) } else { options }
    }

    pub(crate) fn has_table(self) -> bool {
        matches!(self, Self::Row | Self::Both)
    }
}

/// A server with a bucket and a table, and time that passes only for those who wait.
pub(crate) struct Cloud {
    pub(crate) server: S3Server,
    pub(crate) clock: Arc<FixedClock>,
    settings: Vec<(String, String)>,
}

impl Cloud {
    pub(crate) fn new() -> Self {
        let server = S3Server::start_blocking();
        server.create_bucket(BUCKET);
        server.create_table(TABLE);
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        Self { server, clock, settings: Vec::new() }
    }

    /// The same with another option of the bucket.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    fn context(&self) -> Context {
        Context::new(
            Arc::<FixedClock>::clone(&self.clock),
            Arc::<FixedClock>::clone(&self.clock),
            Arc::new(OsIds),
        )
    }

    pub(crate) fn blobs_in(&self, bucket: &str, context: &Context) -> S3Blobs {
        let mut settings = settings(&self.server.endpoint(), bucket);
        for (name, value) in &self.settings {
            settings.set(name, value).unwrap();
        }
        S3Blobs::open(&settings, context).unwrap()
    }

    pub(crate) fn blobs(&self) -> S3Blobs {
        self.blobs_in(BUCKET, &self.context())
    }

    pub(crate) fn backend(&self, options: S3Options) -> S3Backend {
        self.backend_at(S3Layout::new(KEY).unwrap(), options)
    }

    pub(crate) fn backend_at(&self, layout: S3Layout, options: S3Options) -> S3Backend {
        S3Backend::new(self.blobs(), layout, options, self.context())
    }

    pub(crate) fn backend_in(&self, bucket: &str, options: S3Options) -> S3Backend {
        let context = self.context();
        S3Backend::new(self.blobs_in(bucket, &context), S3Layout::new(KEY).unwrap(), options, context)
    }

    /// A client of the default workspace.
    pub(crate) fn store(&self, locks: Locks) -> ObjectStateStore {
        self.backend(locks.options()).open(&WorkspaceName::default_name()).unwrap()
    }

    pub(crate) fn lock_object(&self) -> Option<LockInfo> {
        self.server
            .object(BUCKET, &format!("{KEY}.tflock"))
            .map(|object| LockInfo::parse(&object.bytes).unwrap())
    }

    pub(crate) fn lock_row(&self) -> Option<LockInfo> {
        let text = self.attribute(&format!("{BUCKET}/{KEY}"), "Info")?;
        Some(LockInfo::parse(text.as_bytes()).unwrap())
    }

    pub(crate) fn digest(&self) -> Option<String> {
        self.attribute(&format!("{BUCKET}/{KEY}-md5"), "Digest")
    }

    pub(crate) fn attribute(&self, row: &str, name: &str) -> Option<String> {
        self.server.item(TABLE, row)?[name]["S"].as_str().map(str::to_owned)
    }

    /// What is stored, past every client.
    pub(crate) fn state(&self) -> Option<Vec<u8>> {
        self.server.object(BUCKET, KEY).map(|object| object.bytes.to_vec())
    }

    /// Whether anything that locks is left.
    pub(crate) fn is_locked(&self) -> bool {
        self.server.object(BUCKET, &format!("{KEY}.tflock")).is_some()
            || self.server.item(TABLE, &format!("{BUCKET}/{KEY}")).is_some()
    }
}

/// How to get at a bucket of a server.
pub(crate) fn settings(endpoint: &str, bucket: &str) -> S3Settings {
    let mut settings = S3Settings::new();
    for (name, value) in [
        ("bucket", bucket),
        ("region", "us-east-1"),
        ("access_key", "test"),
        ("secret_key", "hush-hush"),
        ("endpoints.s3", endpoint),
        ("endpoints.dynamodb", endpoint),
        ("use_path_style", "true"),
    ] {
        settings.set(name, value).unwrap();
    }
    settings
}

/// A lock document of its own.
pub(crate) fn info(operation: &str) -> LockInfo {
    let mut info = LockInfo {
        id: LockId::new(&OsIds.uuid().unwrap()),
        operation: operation.to_owned(),
        ..LockInfo::default()
    };
    info.who = "me@here".to_owned();
    info.version = "1.11.4".to_owned();
    info.created = Timestamp::parse("2026-11-21T00:00:00.5Z").unwrap();
    info
}

/// A small state of a serial.
pub(crate) fn state(serial: u64) -> Vec<u8> {
    state_of(serial, "no-writer")
}

/// The same, written by `who`.
pub(crate) fn state_of(serial: u64, writer: &str) -> Vec<u8> {
    format!(
        "{{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":{serial},\"lineage\":\"l\",\"outputs\":{{\
         \"writer\":{{\"value\":\"{writer}\",\"type\":\"string\"}}}},\"resources\":[]}}\n"
    )
    .into_bytes()
}

/// The serial of a small state; 0 where there is none.
pub(crate) fn serial(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    let (_, rest) = text.split_once("\"serial\":").unwrap();
    rest[..rest.find(',').unwrap()].parse().unwrap()
}
