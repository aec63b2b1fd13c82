//! Places in S3: in moto if that takes part, else in [`S3Server`].

use serde_json::{Value, json};

use super::client::request;
use super::{Answer, Store, TestBackend, authority, fresh, server_of_peer, text};
use crate::{FaultProxy, S3Server};

/// The key of the default workspace's state.
pub(super) const KEY: &str = "team/app.tfstate";
/// What moto wants to see before it looks at a private object; the signature is not checked.
const SIGNED: (&str, &str) = (
    "Authorization",
    "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
);

/// Where locks on states in S3 are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum S3Locks {
    /// Beside the states.
    File,
    /// In a table of DynamoDB.
    Table,
    /// In both, as in a team that moves from one to the other.
    Both,
}

/// A bucket, and the table of its locks.
#[derive(Debug)]
pub(super) struct Bucket {
    at: String,
    name: String,
    table: Option<String>,
    locks: S3Locks,
    pub(super) server: Option<S3Server>,
    /// Counts the requests to a server of others.
    pub(super) proxy: Option<FaultProxy>,
}

impl TestBackend {
    /// A place in S3.
    pub fn s3(locks: S3Locks) -> Self {
        match server_of_peer("moto", "GROUNDSTATE_S3_ENDPOINT") {
            Some(endpoint) => Self::s3_at(&endpoint, locks, None),
            None => Self::s3_here(locks),
        }
    }

    /// A place in S3 whose requests are counted, in a server of others too.
    pub fn s3_counted(locks: S3Locks) -> Self {
        let Some(endpoint) = server_of_peer("moto", "GROUNDSTATE_S3_ENDPOINT") else {
            return Self::s3_here(locks);
        };
        let proxy = FaultProxy::in_front_of(&endpoint);
        let mut place = Self::s3_at(&proxy.endpoint(), locks, None);
        if let Store::S3(bucket) = &mut place.store {
            bucket.proxy = Some(proxy);
        }
        place
    }

    /// A place in a server of this crate, which counts requests and does wrong what it is told to.
    pub fn s3_here(locks: S3Locks) -> Self {
        let server = S3Server::start_blocking();
        Self::s3_at(&server.endpoint(), locks, Some(server))
    }

    fn s3_at(endpoint: &str, locks: S3Locks, server: Option<S3Server>) -> Self {
        let at = authority(endpoint);
        let name = fresh("interop");
        request(&at, "PUT", &format!("/{name}"), &[SIGNED], b"").ok();
        let mut settings = json!({
            "bucket": name, "key": KEY, "region": "us-east-1", "access_key": "a", "secret_key": "b",
            "endpoints": {"s3": endpoint, "dynamodb": endpoint}, "use_path_style": true,
            "skip_credentials_validation": true, "skip_requesting_account_id": true,
            "skip_metadata_api_check": true, "skip_region_validation": true,
        });
        if locks != S3Locks::Table {
            settings["use_lockfile"] = true.into();
        }
        let table = (locks != S3Locks::File).then(|| fresh("locks"));
        if let Some(table) = &table {
            settings["dynamodb_table"] = table.clone().into();
            let shape = json!({
                "TableName": table, "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "LockID", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "LockID", "KeyType": "HASH"}],
            });
            dynamodb(&at, "CreateTable", &shape).ok();
        }
        let Value::Object(settings) = settings else { unreachable!("it is written as an object above") };
        let store = Store::S3(Bucket { at, name, table, locks, server, proxy: None });
        Self { kind: "s3", settings, environment: Vec::new(), store }
    }
}

impl Bucket {
    pub(super) fn request(&self, method: &str, key: &str, body: &[u8]) -> Answer {
        request(&self.at, method, &format!("/{}/{key}", self.name), &[SIGNED], body)
    }

    pub(super) fn locks(&self, place: &TestBackend) -> Vec<String> {
        let item = self.item(KEY, "Info");
        text(place.object(&format!("{KEY}.tflock"))).into_iter().chain(item).collect()
    }

    pub(super) fn locks_of_a_holder(&self) -> usize {
        if self.locks == S3Locks::Both { 2 } else { 1 }
    }

    /// An attribute of an item in the table.
    pub(super) fn item(&self, id: &str, attribute: &str) -> Option<String> {
        let key = json!({"LockID": {"S": format!("{}/{id}", self.name)}});
        let question = json!({"TableName": self.table.as_ref()?, "Key": key, "ConsistentRead": true});
        let answer: Value = serde_json::from_slice(&dynamodb(&self.at, "GetItem", &question).ok()).ok()?;
        answer["Item"][attribute]["S"].as_str().map(str::to_owned)
    }
}

fn dynamodb(at: &str, action: &str, question: &Value) -> Answer {
    let action = format!("DynamoDB_20120810.{action}");
    let signed = SIGNED.1.replace("/s3/", "/dynamodb/");
    let headers = [
        ("X-Amz-Target", action.as_str()),
        ("Content-Type", "application/x-amz-json-1.0"),
        ("Authorization", signed.as_str()),
    ];
    request(at, "POST", "/", &headers, question.to_string().as_bytes())
}
