//! Back ends of Terraform: a fresh place in each, how both programs are told of it, and what lies there.

use std::sync::atomic::{AtomicU32, Ordering};

use groundstate_testkit::S3Server;

use super::http::{Answer, request};
use super::peers::{server, terraform};

/// What moto wants to see before it looks at a private object; nobody checks the signature.
const SIGNED: (&str, &str) = (
    "Authorization",
    "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
);

/// A place for states that no other test uses.
#[derive(Debug)]
pub(super) struct Place {
    /// The name of the back end.
    pub(super) kind: &'static str,
    /// The settings of the block, one a line.
    pub(super) settings: Vec<String>,
    /// What both programs find in their environment.
    pub(super) environment: Vec<(String, String)>,
    store: Store,
    /// The server in this process, if no other takes part.
    fake: Option<S3Server>,
}

#[derive(Debug)]
enum Store {
    /// The server and the bucket; the table of locks, if there is one.
    S3(String, String, Option<String>),
    Gcs(String, String),
    /// Files below the working directory.
    Local,
}

/// A name that no other test has, nor a run before on the same servers.
fn fresh(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    format!("{prefix}-{time:x}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn authority(endpoint: &str) -> String {
    endpoint.trim_start_matches("http://").split('/').next().unwrap().to_owned()
}

fn word(name: &str, value: &str) -> String {
    format!("{name} = {}", serde_json::Value::from(value))
}

impl Place {
    /// A file, as Terraform has it without any back end.
    pub(super) fn local() -> Option<Self> {
        terraform().then(|| Self {
            kind: "local",
            settings: Vec::new(),
            environment: Vec::new(),
            store: Store::Local,
            fake: None,
        })
    }

    /// S3 with its lock files.
    pub(super) fn s3_lockfile() -> Option<Self> {
        Self::s3(true, false)
    }

    /// S3 with locks in a table of DynamoDB.
    pub(super) fn s3_dynamodb() -> Option<Self> {
        Self::s3(false, true)
    }

    /// S3 with both, as in a team that is moving from one to the other.
    pub(super) fn s3_both() -> Option<Self> {
        Self::s3(true, true)
    }

    fn s3(lockfile: bool, dynamodb: bool) -> Option<Self> {
        terraform().then(|| match server("moto", "GROUNDSTATE_S3_ENDPOINT") {
            Some(endpoint) => Self::s3_at(&endpoint, lockfile, dynamodb, None),
            None => Self::s3_fake(lockfile, dynamodb),
        })
    }

    /// S3 of the test kit, which counts requests and does wrong what it is told to.
    pub(super) fn s3_fake(lockfile: bool, dynamodb: bool) -> Self {
        let fake = S3Server::start_blocking();
        Self::s3_at(&fake.endpoint(), lockfile, dynamodb, Some(fake))
    }

    fn s3_at(endpoint: &str, lockfile: bool, dynamodb: bool, fake: Option<S3Server>) -> Self {
        let at = authority(endpoint);
        let bucket = fresh("interop");
        request(&at, "PUT", &format!("/{bucket}"), &[SIGNED], b"").ok();
        let mut settings = vec![
            word("bucket", &bucket),
            word("key", "team/app.tfstate"),
            word("region", "us-east-1"),
            word("access_key", "a"),
            word("secret_key", "b"),
            format!("endpoints = {{ s3 = \"{endpoint}\", dynamodb = \"{endpoint}\" }}"),
            "use_path_style = true".to_owned(),
        ];
        for check in
            ["credentials_validation", "requesting_account_id", "metadata_api_check", "region_validation"]
        {
            settings.push(format!("skip_{check} = true"));
        }
        if lockfile {
            settings.push("use_lockfile = true".to_owned());
        }
        let table = dynamodb.then(|| fresh("locks"));
        if let Some(table) = &table {
            settings.push(word("dynamodb_table", table));
            let shape = serde_json::json!({
                "TableName": table, "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "LockID", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "LockID", "KeyType": "HASH"}],
            });
            dynamo(&at, "CreateTable", &shape).ok();
        }
        Self { kind: "s3", settings, environment: Vec::new(), store: Store::S3(at, bucket, table), fake }
    }

    /// Google Cloud Storage.
    pub(super) fn gcs() -> Option<Self> {
        let endpoint = terraform().then(|| server("gcs", "GROUNDSTATE_GCS_ENDPOINT"))??;
        let at = authority(&endpoint);
        let bucket = fresh("interop");
        let shape = serde_json::json!({ "name": bucket }).to_string();
        let headers = [("Content-Type", "application/json"), ("Authorization", "Bearer x")];
        request(&at, "POST", "/storage/v1/b?project=p", &headers, shape.as_bytes()).ok();
        let settings = vec![
            word("bucket", &bucket),
            word("prefix", "team/app"),
            word("storage_custom_endpoint", &format!("{endpoint}/storage/v1/")),
            word("access_token", "x"),
        ];
        Some(Self {
            kind: "gcs",
            settings,
            environment: Vec::new(),
            store: Store::Gcs(at, bucket),
            fake: None,
        })
    }

    /// The block that tells Terraform of the place.
    pub(super) fn block(&self) -> String {
        let settings: String = self.settings.iter().map(|line| format!("    {line}\n")).collect();
        format!("terraform {{\n  backend \"{}\" {{\n{settings}  }}\n}}\n", self.kind)
    }

    fn object(&self, method: &str, key: &str, body: &[u8]) -> Answer {
        match &self.store {
            Store::S3(at, bucket, _) => request(at, method, &format!("/{bucket}/{key}"), &[SIGNED], body),
            Store::Gcs(at, bucket) => {
                let token = ("Authorization", "Bearer x");
                request(at, method, &format!("/{bucket}/{key}"), &[token], body)
            }
            Store::Local => panic!("files are looked at as files"),
        }
    }

    /// What an object holds.
    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let answer = self.object("GET", key, b"");
        (answer.status != 404).then(|| answer.ok())
    }

    /// The lock documents that lie there for the default workspace, wherever the back end keeps them.
    pub(super) fn locks(&self) -> Vec<serde_json::Value> {
        let found = match &self.store {
            Store::Local => Vec::new(),
            Store::Gcs(..) => vec![self.get("team/app/default.tflock")],
            Store::S3(_, _, table) => {
                let item = table.as_ref().and_then(|_| self.item("team/app.tfstate", "Info"));
                vec![self.get("team/app.tfstate.tflock"), item.map(String::into_bytes)]
            }
        };
        found.into_iter().flatten().map(|text| serde_json::from_slice(&text).unwrap()).collect()
    }

    /// How many lock documents a holder leaves there.
    pub(super) fn expected_locks(&self) -> usize {
        match &self.store {
            Store::Local => 0,
            Store::Gcs(..) => 1,
            Store::S3(..) => self
                .settings
                .iter()
                .filter(|line| line.contains("lockfile") || line.contains("_table"))
                .count(),
        }
    }

    /// An attribute of an item in the table of locks.
    pub(super) fn item(&self, id: &str, attribute: &str) -> Option<String> {
        let Store::S3(at, bucket, Some(table)) = &self.store else { panic!("there is no table") };
        let key = serde_json::json!({"LockID": {"S": format!("{bucket}/{id}")}});
        let question = serde_json::json!({"TableName": table, "Key": key, "ConsistentRead": true});
        let answer: serde_json::Value =
            serde_json::from_slice(&dynamo(at, "GetItem", &question).ok()).unwrap();
        answer["Item"][attribute]["S"].as_str().map(str::to_owned)
    }
}

fn dynamo(at: &str, action: &str, question: &serde_json::Value) -> Answer {
    let action = format!("DynamoDB_20120810.{action}");
    let signed = SIGNED.1.replace("/s3/", "/dynamodb/");
    let headers = [
        ("X-Amz-Target", action.as_str()),
        ("Content-Type", "application/x-amz-json-1.0"),
        ("Authorization", signed.as_str()),
    ];
    request(at, "POST", "/", &headers, question.to_string().as_bytes())
}
