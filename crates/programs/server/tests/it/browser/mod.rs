//! The page in a real browser, as its users have it.

mod hostile;
mod journeys;
mod refusals;
mod secrets;
mod sizes;
mod stacks;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use groundstate_conformance::FaultyBlobs;
use groundstate_server::audit::{AuditLog, Location, Reader};
use groundstate_server::auth::{
    AuthSettings, Authenticator, Grant, NewToken, Role, Token, TokenName, Tokens, require,
};
use groundstate_server::blobs::{BlobStore, Context, MemoryBlobs};
use groundstate_server::common::{Clock, FixedClock, OsIds, SystemClock, Timestamp};
use groundstate_server::config::Sources;
use groundstate_server::edge::{self, Metrics, ServerParts};
use groundstate_server::{Parts, router};
use groundstate_testkit::{Browser, Page};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::block_in_place;

use crate::support::{Client, Server};

const NETWORK: &str = "/tf/shop/network";
const API: &str = "/api/v1/states/shop/network/default";
const STATE: &str = "#/states/shop/network/default";
/// After this the token `guest` has expired.
const STAY: Duration = Duration::from_secs(600);

/// A server on a socket, and a browser.
struct Site {
    browser: Browser,
    client: Client,
    url: String,
    admin: Token,
    reader: Token,
    /// It may do everything, until it expires.
    guest: Token,
    /// The clock by which tokens expire.
    clock: Arc<FixedClock>,
    /// What the audit log is written to.
    audit_blobs: FaultyBlobs,
    address: SocketAddr,
    service: Router,
    /// What serves; none while the server is gone.
    running: Mutex<Option<Runtime>>,
}

impl Site {
    /// A site with tokens and an audit log. None without a browser.
    async fn start() -> Option<Self> {
        let browser = Browser::start()?;
        let memory = MemoryBlobs::new("states");
        let blobs: Arc<dyn BlobStore> = Arc::new(memory.clone());
        let mut parts = Parts::new(Arc::clone(&blobs));
        let audit_blobs = FaultyBlobs::new(memory);
        let location = Location::new(Arc::new(audit_blobs.clone()), "audit/").unwrap();
        let (log, recorder) = AuditLog::open(location, "node-1", parts.context.clone()).unwrap();
        tokio::spawn(recorder.run());
        parts.audit = Some(log.clone());

        let clock = Arc::new(FixedClock::new(SystemClock.now()));
        let [time, timer] = [(); 2].map(|()| Arc::<FixedClock>::clone(&clock));
        let tokens = Tokens::new(blobs, Context::new(time, timer, Arc::new(OsIds)));
        let end = clock.now().checked_add(STAY);
        let admin = token(&tokens, "admin", Role::Admin, None).await;
        let reader = token(&tokens, "read", Role::Read, None).await;
        let guest = token(&tokens, "guest", Role::Admin, end).await;
        let time = Arc::<FixedClock>::clone(&clock);
        let authenticator = Authenticator::new(tokens, &AuthSettings::default(), time).unwrap();

        let server = Server::of(parts);
        let service = require(router(server.app.clone()), authenticator, Some(log));
        let (runtime, address) = serve(0, service.clone());
        let (client, url) = (server.admin(), format!("http://{address}/"));
        let running = Mutex::new(Some(runtime));
        Some(Self {
            browser,
            client,
            url,
            admin,
            reader,
            guest,
            clock,
            audit_blobs,
            address,
            service,
            running,
        })
    }

    /// Ends the server with all its connections.
    fn stop(&self) {
        let runtime = self.running.lock().unwrap().take().unwrap();
        block_in_place(|| runtime.shutdown_timeout(Duration::from_secs(30)));
    }

    /// Starts it again at the same address.
    fn start_again(&self) {
        let (runtime, _) = serve(self.address.port(), self.service.clone());
        *self.running.lock().unwrap() = Some(runtime);
    }

    /// What the audit log has of this action: who, and why.
    async fn audited(&self, action: &str) -> Vec<(String, String)> {
        let location = Location::new(Arc::new(self.audit_blobs.inner().clone()), "audit/").unwrap();
        let records = Reader::new(location).newest(1000, &|record| record.action == action).await.unwrap();
        records.records.into_iter().map(|(_, it)| (it.actor, it.reason.unwrap_or_default())).collect()
    }

    /// A tab in which a token is signed in.
    fn signed_in(&self, token: &Token) -> Page {
        let page = self.browser.open(&self.url);
        page.shows("It stays in this tab");
        page.wait_for("document.activeElement.id === 'token'");
        page.write(token.reveal());
        page.press("Enter");
        page.wait_for("document.querySelector('h1')?.innerText === 'States'");
        page
    }

    async fn write(&self, url: &str, state: &Value) {
        self.client.call("POST", url, state.to_string()).await.is(200);
    }

    async fn shop(&self) {
        self.write(NETWORK, &network(4, "small")).await;
        self.write(NETWORK, &network(5, "large")).await;
        self.write("/tf/shop/dns/staging", &network(1, "small")).await;
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let running = self.running.lock().unwrap().take();
        running.into_iter().for_each(Runtime::shutdown_background);
    }
}

/// Serves as `groundstate serve` does, on threads of its own, which end with the runtime.
fn serve(port: u16, service: Router) -> (Runtime, SocketAddr) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let text = format!("store = \"memory:\"\nlisten = [\"127.0.0.1:{port}\"]\n");
    let config = Sources::new().file("server.toml".as_ref(), &text).unwrap().build(&|_| None).unwrap();
    let store = Arc::new(MemoryBlobs::new("states"));
    let parts = ServerParts::new(service, store, Arc::new(OsIds), Metrics::new());
    let inside = runtime.enter();
    let server = edge::Server::bind(&config, parts).unwrap();
    drop(inside);
    let address = server.addresses()[0];
    runtime.spawn(server.run());
    (runtime, address)
}

async fn token(tokens: &Tokens, name: &str, role: Role, end: Option<Timestamp>) -> Token {
    let name = TokenName::parse(name).unwrap();
    let mut new = NewToken::new(name, vec![Grant::everything(role)], "user:ana");
    new.expires = end;
    tokens.create(new).await.unwrap().0
}

fn resource(module: Option<&str>, kind: &str, name: &str, instances: &[Value]) -> Value {
    let mut resource = json!({"mode": "managed", "type": kind, "name": name, "provider": "provider[\"acme/x\"]", "instances": instances});
    if let Some(module) = module {
        resource["module"] = module.into();
    }
    resource
}

fn instance(attributes: &Value) -> Value {
    json!({"schema_version": 0, "attributes": attributes, "sensitive_attributes": []})
}

fn state(serial: u64, outputs: &Value, resources: &[Value]) -> Value {
    json!({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "l-1", "outputs": outputs, "resources": resources, "check_results": null})
}

fn network(serial: u64, size: &str) -> Value {
    let mut web = instance(&json!({"id": "v-0", "size": size, "key": format!("key-{size}")}));
    web["index_key"] = 0.into();
    web["dependencies"] = json!(["net.main"]);
    web["sensitive_attributes"] = json!([[{"type": "get_attr", "value": "key"}]]);
    let outputs = json!({
        "region": {"value": "eu-west-1", "type": "string"},
        "count": {"value": 12_345_678_901_234_567_u64, "type": "number"},
        "password": {"value": "s3cret", "type": "string", "sensitive": true},
    });
    let resources = [
        resource(None, "net", "main", &[instance(&json!({"id": "n-1"}))]),
        resource(Some("module.app"), "vm", "web", &[web]),
    ];
    state(serial, &outputs, &resources)
}

/// Nothing is wrong in the browser's eyes, all came from the server, and the token is where it belongs only.
#[track_caller]
fn is_clean(page: &Page, site: &Site) {
    let tokens = [site.admin.reveal(), site.reader.reveal(), site.guest.reveal()];
    assert_eq!(page.complaints(), [""; 0]);
    for url in page.requests() {
        assert!(url.starts_with(&site.url) || url.starts_with("blob:"), "{url}");
        assert!(tokens.iter().all(|token| !url.contains(token)), "{url}");
    }
    let kept = page.value("JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])");
    let kept_in_tab = |members: &Value| json!(["", {}, members]).to_string();
    let mut expected = vec![kept_in_tab(&json!({}))];
    expected.extend(tokens.iter().map(|token| kept_in_tab(&json!({"groundstate.token": token}))));
    assert!(
        expected.iter().any(|expected| kept == expected.as_str()),
        "another storage than the tab's is in use"
    );
}

/// The button with this text.
fn button(text: &str) -> String {
    format!("[...document.querySelectorAll('button')].find((it) => it.innerText.startsWith({}))", json!(text))
}

/// Goes on by the tabulator until an expression about the focus is true.
#[track_caller]
fn tab_to(page: &Page, expression: &str) {
    let is_there = || page.value(&format!("Boolean({expression})")) == true;
    for _ in 0..60 {
        if is_there() {
            return;
        }
        page.press("Tab");
    }
    assert!(is_there(), "the tabulator does not reach {expression}");
}
