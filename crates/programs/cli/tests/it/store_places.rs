//! Stores of servers in buckets and databases: checked, repaired, and gone below a server that runs.

use std::process::Stdio;
use std::sync::Arc;

use groundstate_server::blobs::{
    BlobStore, Context, DeleteOptions, GetOptions, Key, ListOptions, PutOptions,
};
use groundstate_server::common::{OsIds, SystemClock};
use groundstate_server::config::StorePlace;
use groundstate_server::edge::OpenedStore;
use groundstate_statemgr::TokioSleeper;
use groundstate_testkit::{PulumiPlace, TestBackend, ask};
use serde_json::{Value, json};

use super::schemas::Schemas;
use super::serve::{Server, request};
use super::support::{Run, command};

const STATE: &str = "/tf/shop/network";
const LOCK: &str = r#"{"ID":"11111111-1111-1111-1111-111111111111","Operation":"OperationTypeApply"}"#;

/// A place for the store of a server.
struct Place {
    url: String,
    environment: Vec<(String, String)>,
    /// The state home of the commands, which has the note of the store.
    home: tempfile::TempDir,
}

impl Place {
    fn new(url: &str, environment: &[(String, String)]) -> Self {
        Self { url: url.to_owned(), environment: environment.to_vec(), home: tempfile::tempdir().unwrap() }
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = command(&[words, &["--store", &self.url]].concat());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("XDG_STATE_HOME", self.home.path());
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        Run::of(self.command(words).stdin(Stdio::null()).output().unwrap())
    }

    /// The document that a command prints with `--json`, and its exit code.
    fn json(&self, words: &[&str]) -> (i32, Value) {
        let ran = self.run(&[words, &["--json"]].concat());
        let mut schemas = Schemas::read();
        let schema = schemas.of(&words[..2].join(" "));
        assert_eq!(schemas.validate(&schema, &ran.stdout), Ok(()), "{ran:?}");
        let document = serde_json::from_str(&ran.stdout);
        (ran.code, document.unwrap_or_else(|_| panic!("{ran:?}")))
    }

    /// The blobs, without a server.
    fn blobs(&self) -> Arc<dyn BlobStore> {
        let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
        let variable = |name: &str| {
            let own = self.environment.iter().find(|(known, _)| known == name);
            own.map(|(_, value)| value.clone())
        };
        OpenedStore::open(&StorePlace::parse(&self.url).unwrap(), &context, &variable).unwrap().store
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

async fn names(blobs: &dyn BlobStore) -> Vec<String> {
    let (mut names, mut page) = (Vec::new(), None);
    loop {
        let listed = blobs.list("", &ListOptions::default().page(page)).await.unwrap();
        names.extend(listed.blobs.into_iter().map(|blob| blob.name));
        page = listed.next;
        if page.is_none() {
            return names;
        }
    }
}

async fn read(blobs: &dyn BlobStore, name: &str) -> Vec<u8> {
    let key = Key::parse(name).unwrap();
    blobs.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes.to_vec()
}

async fn put(blobs: &dyn BlobStore, name: &str, bytes: Vec<u8>) {
    let key = Key::parse(name).unwrap();
    blobs.put(&key, bytes.into(), &PutOptions::default()).await.unwrap();
}

async fn remove(blobs: &dyn BlobStore, name: &str) {
    blobs.delete(&Key::parse(name).unwrap(), &DeleteOptions::default()).await.unwrap();
}

fn state(serial: u64) -> String {
    format!(r#"{{"version":4,"serial":{serial},"lineage":"l","outputs":{{}},"resources":[]}}"#)
}

/// Asks the Pulumi service, and gives the answer.
fn call(server: &Server, method: &str, path: &str, token: Option<&str>, body: &Value) -> Value {
    let header = token.map(|token| format!("Authorization: update-token {token}"));
    let mut headers = vec!["Content-Type: application/json", "Accept: application/vnd.pulumi+9"];
    headers.extend(header.as_deref());
    let asked = ask(server.address(), method, path, &headers, body.to_string().as_bytes()).unwrap();
    let text = String::from_utf8_lossy(&asked.body).into_owned();
    assert!((200..300).contains(&asked.status), "{method} {path}: {} {text}", asked.status);
    serde_json::from_str(&text).unwrap_or_default()
}

/// Stores two versions of a state, and an update of a stack with a journal and events.
fn used(place: &Place) {
    let server = Server::of(place.command(&["serve", "--init"]));
    for serial in 1..=2 {
        assert_eq!(request(&server, "POST", STATE, &state(serial)).status, 200);
    }
    let user = call(&server, "GET", "/api/user", None, &Value::Null);
    let stacks = format!("/api/stacks/{}/shop", user["githubLogin"].as_str().unwrap());
    call(&server, "POST", &stacks, None, &json!({"stackName": "dev"}));
    let created = call(&server, "POST", &format!("{stacks}/dev/update"), None, &json!({}));
    let update = format!("{stacks}/dev/update/{}", created["updateID"].as_str().unwrap());
    let started = call(&server, "POST", &update, None, &json!({"journalVersion": 1}));
    let token = Some(started["token"].as_str().unwrap());
    let root = json!({"urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "custom": false, "type": "pulumi:pulumi:Stack"});
    let entry = json!({
        "version": 1, "kind": 1, "sequenceID": 1, "operationID": 1, "removeOld": null, "removeNew": null, "state": root,
    });
    call(&server, "PATCH", &format!("{update}/journalentries"), token, &json!({"entries": [entry]}));
    let events =
        json!({"events": [{"sequence": 0, "timestamp": 1, "stdoutEvent": {"message": "m", "color": "raw"}}]});
    call(&server, "POST", &format!("{update}/events/batch"), token, &events);
    call(&server, "POST", &format!("{update}/complete"), token, &json!({"status": "succeeded"}));
    server.signal("TERM");
    assert_eq!(server.ended().code, 0);
}

/// Checks a store, damages it, and repairs it.
fn checked_and_repaired(place: &Place) {
    used(place);
    let said = place.run(&["store", "check"]).clean();
    assert!(said.contains(", 1 update of Pulumi stacks"), "{said}");
    let (code, whole) = place.json(&["store", "check"]);
    assert_eq!((code, &whole["whole"], &whole["updates"]), (0, &true.into(), &1.into()), "{whole}");

    let damaged = block_on(async {
        let blobs = place.blobs();
        let names = names(&*blobs).await;
        let mut damaged = Vec::new();
        for kind in ["/events/", "/journal/0000000000000003", "/request"] {
            let name = names.iter().find(|name| name.starts_with("pulumi/updates/") && name.contains(kind));
            let name = name.unwrap_or_else(|| panic!("{kind}: {names:?}"));
            let mut bytes = read(&*blobs, name).await;
            let at = bytes.len() / 2;
            bytes[at] ^= 1;
            put(&*blobs, name, bytes).await;
            damaged.push(name.clone());
        }
        remove(&*blobs, "documents/heads/terraform/shop/network/default!.json").await;
        damaged
    });
    let before = block_on(async { names(&*place.blobs()).await });
    let (code, found) = place.json(&["store", "check"]);
    assert_eq!((code, &found["whole"], &found["problems_total"]), (1, &false.into(), &4.into()), "{found}");
    let problems = found["problems"].as_array().unwrap();
    let head = problems.iter().find(|problem| problem["document"] == "terraform/shop/network/default");
    assert_eq!(head.unwrap()["repairable"], true, "{found}");
    for name in &damaged {
        let is_named = |problem: &&Value| name.starts_with(problem["place"].as_str().unwrap());
        let problem = problems.iter().find(is_named).unwrap_or_else(|| panic!("{name}: {found}"));
        assert!(problem["stack"].as_str().unwrap().ends_with("/shop/dev"), "{problem}");
        assert_eq!(problem["repairable"], false, "{problem}");
    }
    let said = place.run(&["store", "check"]);
    assert!(said.code == 1 && said.stdout.contains("The store is damaged: 4 problems in "), "{said:?}");

    let (code, planned) = place.json(&["store", "repair"]);
    assert_eq!(
        (code, &planned["done"], &planned["heads"][0]["last"]["number"]),
        (1, &false.into(), &2.into())
    );
    assert_eq!(block_on(async { names(&*place.blobs()).await }), before, "looking changed the store");
    let (code, done) = place.json(&["store", "repair", "--yes"]);
    assert_eq!((code, &done["done"]), (0, &true.into()), "{done}");
    assert_eq!(done["heads"][0]["document"], "terraform/shop/network/default");
    let (code, found) = place.json(&["store", "check"]);
    assert_eq!((code, &found["problems_total"]), (1, &3.into()), "{found}");
    let server = Server::of(place.command(&["serve"]));
    let answer = request(&server, "GET", STATE, "");
    assert!(answer.status == 200 && answer.body.contains("\"serial\":2"), "{}", answer.body);
}

fn of(place: &PulumiPlace) -> Place {
    Place::new(place.url(), place.environment())
}

/// A prefix of a bucket, with the settings of its backend as options of the URL, and the secret one in this variable.
fn direct(scheme: &str, container: &str, [secret, variable]: [&str; 2], bucket: &TestBackend) -> Place {
    let settings = bucket.direct_settings();
    let text = |name: &str| settings[name].as_str().unwrap().to_owned();
    let own = [container, "prefix", "key", secret];
    let names = settings.keys().filter(|name| !own.contains(&name.as_str()));
    let options: Vec<String> = names.map(|name| format!("{name}={}", text(name))).collect();
    let url = format!("{scheme}://{}/team/one?{}", text(container), options.join("&"));
    Place::new(&url, &[(variable.to_owned(), text(secret))])
}

#[test]
fn store_in_a_directory_is_checked_and_repaired() {
    let dir = tempfile::tempdir().unwrap();
    checked_and_repaired(&Place::new(dir.path().join("states").to_str().unwrap(), &[]));
}

#[cfg(feature = "s3")]
#[test]
fn store_in_s3_is_checked_and_repaired() {
    let place = PulumiPlace::s3();
    checked_and_repaired(&of(&place));
}

#[cfg(feature = "gcs")]
#[test]
fn store_in_google_cloud_storage_is_checked_and_repaired() {
    let bucket = TestBackend::gcs();
    checked_and_repaired(&direct("gs", "bucket", ["access_token", "GOOGLE_OAUTH_ACCESS_TOKEN"], &bucket));
}

#[cfg(feature = "azurerm")]
#[test]
fn store_in_azure_blob_storage_is_checked_and_repaired() {
    let container = TestBackend::azurerm();
    checked_and_repaired(&direct("azblob", "container_name", ["access_key", "ARM_ACCESS_KEY"], &container));
}

#[cfg(feature = "postgres")]
#[test]
fn store_in_postgresql_is_checked_and_repaired() {
    if let Some(place) = PulumiPlace::postgres() {
        checked_and_repaired(&of(&place));
    }
}

/// Asks again until it is so, for at most some seconds.
fn wait_for(mut is_so: impl FnMut() -> bool) -> bool {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while std::time::Instant::now() < end {
        if is_so() {
            return true;
        }
    }
    false
}

/// Asserts that the server grants no lock, acknowledges no write and calls no state absent while the store is away.
fn refuses_everything(server: &Server, when: &str) {
    let held = format!("{STATE}?ID=11111111-1111-1111-1111-111111111111");
    let other = "/tf/shop/other";
    for (method, path, body) in [
        ("LOCK", STATE, LOCK.replace("1111-1", "1111-2")),
        ("LOCK", other, LOCK.to_owned()),
        ("POST", &held, state(9)),
        ("POST", other, state(1)),
        ("GET", STATE, String::new()),
        ("GET", other, String::new()),
        ("GET", "/api/v1/states", String::new()),
        ("DELETE", &held, String::new()),
        ("UNLOCK", STATE, LOCK.to_owned()),
    ] {
        let answer = request(server, method, path, &body);
        assert_eq!(answer.status, 503, "{when}: {method} {path}: {}", answer.body);
    }
    // An answer counts for a second.
    assert!(wait_for(|| request(server, "GET", "/readyz", "").status == 503), "{when}");
}

/// Takes the store away below a server that runs, brings back an empty one, and then the true one.
fn vanishes(place: &Place, vanish: impl Fn(), come_back_empty: impl Fn(), come_back: impl Fn()) {
    let server = Server::of(place.command(&["serve", "--init"]));
    assert_eq!(request(&server, "POST", STATE, &state(1)).status, 200);
    assert_eq!(request(&server, "LOCK", STATE, LOCK).status, 200);
    assert_eq!(request(&server, "GET", "/readyz", "").status, 200);
    vanish();
    refuses_everything(&server, "without a store");
    come_back_empty();
    refuses_everything(&server, "with an empty store");
    let blobs = place.blobs();
    assert_eq!(block_on(names(&*blobs)), [""; 0], "something was stored in the empty store");
    drop(blobs);
    come_back();
    assert!(wait_for(|| request(&server, "GET", "/readyz", "").status == 200));
    let answer = request(&server, "LOCK", STATE, &LOCK.replace("1111-1", "1111-2"));
    assert_eq!(answer.status, 423, "{}", answer.body);
    let held = format!("{STATE}?ID=11111111-1111-1111-1111-111111111111");
    // What was locked is locked, and the holder goes on, also at a node that knew none of it.
    drop(server);
    let server = Server::of(place.command(&["serve"]));
    let answer = request(&server, "POST", &held, &state(2));
    assert_eq!(answer.status, 200, "{}", answer.body);
    drop(server);
    place.run(&["store", "check"]).clean();
}

#[cfg(feature = "s3")]
#[test]
fn bucket_that_vanishes_below_a_server_is_no_empty_store() {
    let peer = PulumiPlace::s3();
    let place = of(&peer);
    let rest = place.url.strip_prefix("s3://").unwrap();
    let bucket = rest.split('/').next().unwrap();
    let host = rest.split("endpoint=http://").nth(1).unwrap().split(['&', '/']).next().unwrap();
    let signed = "Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let of_bucket = |method: &str| {
        let asked = ask(host, method, &format!("/{bucket}"), &[signed], b"").unwrap();
        assert!((200..300).contains(&asked.status), "{method}: {}", String::from_utf8_lossy(&asked.body));
    };
    let kept = std::sync::Mutex::new(Vec::new());
    vanishes(
        &place,
        || {
            block_on(async {
                let blobs = place.blobs();
                for name in names(&*blobs).await {
                    let bytes = read(&*blobs, &name).await;
                    remove(&*blobs, &name).await;
                    kept.lock().unwrap().push((name, bytes));
                }
            });
            of_bucket("DELETE");
        },
        || of_bucket("PUT"),
        || {
            let kept = std::mem::take(&mut *kept.lock().unwrap());
            block_on(async {
                let blobs = place.blobs();
                for (name, bytes) in kept {
                    put(&*blobs, &name, bytes).await;
                }
            });
        },
    );
}

#[cfg(feature = "postgres")]
#[test]
fn schema_that_vanishes_below_a_server_is_no_empty_store() {
    let Some(database) = TestBackend::pg() else { return };
    let url = database.settings()["conn_str"].as_str().unwrap();
    let place = Place::new(&format!("{url}&table=server"), &[]);
    vanishes(
        &place,
        || {
            let statements = "CREATE SCHEMA away; CREATE TABLE away.server (LIKE public.server INCLUDING ALL); \
                INSERT INTO away.server SELECT * FROM public.server; DROP SCHEMA public CASCADE";
            database.sql(statements, &[]);
        },
        || {
            // The sequence went with its schema, and no version is given twice.
            let statements = "CREATE SCHEMA public; CREATE SEQUENCE public.server_version AS bigint START 1000000; \
                CREATE TABLE public.server (LIKE away.server INCLUDING ALL); \
                ALTER TABLE public.server ALTER version SET DEFAULT nextval('public.server_version')";
            database.sql(statements, &[]);
        },
        || drop(database.sql("INSERT INTO public.server SELECT * FROM away.server", &[])),
    );
}
