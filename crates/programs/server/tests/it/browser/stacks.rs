//! Pulumi stacks in the page.

use axum::body::Body;
use groundstate_testkit::Page;
use http::Request;
use serde_json::{Value, json};

use super::{Site, button, is_clean};
use crate::support::Client;

const API: &str = "/api/stacks/acme/shop/dev";
pub(super) const STACK: &str = "#/stacks/acme/shop/dev";
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const HOSTILE: &str = "<img src=x onerror='window.hit = 1'>\u{1b}[31m\u{202e}";
/// What must be nowhere in the page.
const HIDDEN: [&str; 6] = ["v1:c1pher", "YzFwaGVyLWJ5dGVz", "hunter2", "s3cret-input", SIGNATURE, SECRET];

fn urn(kind: &str, name: &str) -> String {
    format!("urn:pulumi:dev::shop::{kind}::{name}")
}

fn deployment(size: &str) -> Value {
    let root = urn("pulumi:pulumi:Stack", "shop-dev");
    let network = urn("acme:net:Network", "main");
    let bucket = urn("acme:net:Network$acme:store:Bucket", "files");
    let encrypted = json!({SIGNATURE: SECRET, "ciphertext": "YzFwaGVyLWJ5dGVz"});
    let outputs = json!({
        "url": "pages.example", "size": size, "password": encrypted, HOSTILE: HOSTILE,
        "settings": {"count": 12_345_678_901_234_567_u64, "keys": [encrypted, {SIGNATURE: SECRET, "plaintext": "\"hunter2\""}]},
    });
    let inputs = json!({"key": {SIGNATURE: SECRET, "plaintext": "\"s3cret-input\""}});
    json!({"version": 3, "deployment": {
        "manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": "v3.259.0"},
        "secrets_providers": {"type": "service", "state": {"owner": "acme"}},
        "resources": [
            {"urn": root, "custom": false, "type": "pulumi:pulumi:Stack", "outputs": outputs},
            {"urn": network, "custom": false, "type": "acme:net:Network", "parent": root},
            {"urn": bucket, "custom": true, "id": "b-2", "type": "acme:store:Bucket", "parent": network, "protect": true,
             "inputs": inputs, "modified": "2026-01-02T03:04:05Z"},
            {"urn": bucket, "custom": true, "id": "b-1", "type": "acme:store:Bucket", "parent": network, "delete": true},
            {"urn": urn("acme:vm:Machine", "web"), "custom": true, "id": "m-1", "type": "acme:vm:Machine", "parent": root,
             "pendingReplacement": true},
        ],
        "pending_operations": [{"type": "creating", "resource": {
            "urn": urn("acme:dns:Record", "www"), "custom": true, "type": "acme:dns:Record", "parent": root,
        }}],
    }})
}

/// An update that a test is the engine of.
struct Engine<'a> {
    client: &'a Client,
    url: String,
    token: String,
}

impl<'a> Engine<'a> {
    async fn start(client: &'a Client, message: &str) -> Self {
        Self::start_with(client, message, &json!({})).await
    }

    async fn start_with(client: &'a Client, message: &str, start: &Value) -> Self {
        let asked = json!({"name": "shop", "runtime": "yaml", "metadata": {"message": message}});
        let created = client.call("POST", &format!("{API}/update"), asked.to_string()).await.is(200).json();
        let url = format!("{API}/update/{}", created["updateID"].as_str().unwrap());
        let started = client.call("POST", &url, start.to_string()).await.is(200).json();
        Self { client, url, token: started["token"].as_str().unwrap().to_owned() }
    }

    async fn send(&self, method: &str, what: &str, body: &Value) {
        let request = Request::builder().method(method).uri(format!("{}/{what}", self.url));
        let request = request
            .header("content-type", "application/json")
            .header("authorization", format!("update-token {}", self.token));
        let answer = self.client.send(request.body(Body::from(body.to_string())).unwrap()).await;
        assert!(answer.status.is_success(), "{what}: {} {}", answer.status, answer.text());
    }

    async fn tell(&self, events: &[Value]) {
        self.send("POST", "events/batch", &json!({"events": events})).await;
    }

    async fn end(&self) {
        self.send("POST", "complete", &json!({"status": "succeeded"})).await;
    }
}

fn step(sequence: u64, kind: &str, op: &str, name: &str) -> Value {
    let state = json!({"inputs": {"key": "s3cret-input"}, "outputs": {"key": "s3cret-input"}});
    let metadata =
        json!({"op": op, "urn": urn("acme:vm:Machine", name), "type": "acme:vm:Machine", "new": state});
    json!({"sequence": sequence, "timestamp": 1_767_322_800, kind: {"metadata": metadata}})
}

fn diagnostic(sequence: u64, severity: &str, message: &str) -> Value {
    let event = json!({"urn": urn("acme:vm:Machine", "web"), "message": message, "color": "raw", "severity": severity});
    json!({"sequence": sequence, "timestamp": 1_767_322_801, "diagnosticEvent": event})
}

/// The text of a deployment without readable secrets, which the service does not import without their key.
fn encrypted(deployment: &Value) -> String {
    let mut text = deployment.to_string();
    for readable in ["hunter2", "s3cret-input"] {
        let plain = format!(r#""plaintext":"\"{readable}\"""#);
        assert!(text.contains(&plain));
        text = text.replace(&plain, r#""ciphertext":"YzFwaGVyLWJ5dGVz""#);
    }
    text
}

/// A stack with two versions.
pub(super) async fn stack(site: &Site) {
    let client = &site.client;
    let asked = json!({"stackName": "dev", "tags": {"team": "web"}});
    client.call("POST", "/api/stacks/acme/shop", asked.to_string()).await.is(200);
    client.call("POST", &format!("{API}/import"), encrypted(&deployment("small"))).await.is(200);
    let engine = Engine::start(client, "a larger one").await;
    engine.send("PATCH", "checkpoint", &deployment("large")).await;
    let changes = json!({"create": 2, "same": 3});
    let summary =
        json!({"sequence": 1, "timestamp": 1_767_322_802, "summaryEvent": {"resourceChanges": changes}});
    engine.tell(&[step(0, "resOutputsEvent", "create", "first"), summary]).await;
    engine.end().await;
}

/// A stack with two versions, and an update that runs.
pub(super) async fn running(site: &Site) {
    stack(site).await;
    let engine = Engine::start(&site.client, "the third").await;
    let text = "creating the machine failed:\nno such region";
    engine.tell(&[step(0, "resourcePreEvent", "create", "web"), diagnostic(1, "error", text)]).await;
    engine
        .tell(&[step(2, "resOpFailedEvent", "create", "web"), step(3, "resOutputsEvent", "update", "b")])
        .await;
}

/// Nothing of a secret is anywhere in the page, shown or not, nor markup of others.
#[track_caller]
fn has_no_secret(page: &Page) {
    let html = page.value("document.documentElement.outerHTML");
    for hidden in HIDDEN {
        assert!(!html.as_str().unwrap().contains(hidden), "{hidden}: {html}");
    }
    assert_eq!(
        page.value("[window.hit ?? null, document.querySelectorAll('main img').length]"),
        json!([null, 0])
    );
    let shown = page.value("document.body.innerText + document.title");
    assert!(!shown.as_str().unwrap().contains(['\u{1b}', '\u{202e}']), "{shown}");
}

#[track_caller]
fn open(page: &Page, address: &str, text: &str) {
    page.value(&format!("location.hash = {}", json!(address)));
    page.wait_for("!document.querySelector('[aria-busy=true]')");
    page.shows(text);
    has_no_secret(page);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_sees_stacks_beside_states_with_resources_outputs_updates_and_none_of_their_secrets() {
    let Some(site) = Site::start().await else { return };
    stack(&site).await;
    let page = site.signed_in(&site.reader);
    page.click("a[href='#/stacks']");
    page.shows("acme/shop/dev");
    page.wait_for("document.querySelector('tbody tr').innerText.includes('5')");
    page.click("input[type=search]");
    page.write("none of these");
    page.shows("no stack matches");
    page.value("location.hash = '#/stacks?search=SHOP%2FD'");
    page.click(&format!("a[href='{STACK}']"));
    page.shows("No update runs.");
    page.shows("team: web");
    page.shows("v3.259.0");
    let pending = page.value("document.querySelector(\"[aria-labelledby=pending] tbody\").innerText");
    for word in ["www", "creating", "acme:dns:Record"] {
        assert!(pending.as_str().unwrap().contains(word), "{pending}");
    }
    has_no_secret(&page);

    open(&page, &format!("{STACK}/resources"), "5 resources");
    let rows = page.value("[...document.querySelectorAll('tbody tr')].map((it) => [it.querySelector('.level').dataset.level, ...it.innerText.split(/[\\t\\n]+/).slice(0, 3)].map((it) => it.trim()))");
    let expected = json!([
        ["0", "shop-dev", "pulumi:pulumi:Stack", "component"],
        ["1", "main", "acme:net:Network", "component"],
        ["2", "files", "acme:store:Bucket", "protected"],
        ["2", "files", "acme:store:Bucket", "pending delete"],
        ["1", "web", "acme:vm:Machine", "pending replacement"],
    ]);
    assert_eq!(rows, expected);
    let title = page.value("document.querySelectorAll('.level')[2].title");
    assert_eq!(title, urn("acme:net:Network$acme:store:Bucket", "files"));
    let left = |at: u8| page.value(&format!("document.querySelectorAll('.level code')[{at}].offsetLeft"));
    assert!(left(1).as_u64() < left(2).as_u64(), "a child is not below its parent");
    page.click("input[type=search]");
    page.write("BUCKET");
    page.shows("2 of 5 resources");

    open(&page, &format!("{STACK}/outputs"), "5 outputs");
    page.shows("\"pages.example\"");
    page.shows("\"large\"");
    page.shows("12345678901234567");
    let outputs = page.value("[...document.querySelectorAll('tbody tr')].map((it) => it.innerText)");
    let of = |name: &str| {
        let rows = outputs.as_array().unwrap().iter().filter_map(Value::as_str);
        rows.into_iter().find(|row| row.starts_with(name)).unwrap_or_default()
    };
    assert!(of("password").contains("secret"), "{outputs}");
    assert!(of("settings").contains("\"keys\": [secret, secret]"), "{outputs}");
    assert!(of("<img src=x").contains("\\u001b[31m\\u202e"), "{outputs}");

    open(&page, &format!("{STACK}/updates"), "2 shown");
    let rows = page.value("[...document.querySelectorAll('tbody tr')].map((it) => it.innerText)");
    let [second, first] = [0, 1].map(|at| rows[at].as_str().unwrap());
    for word in ["2", "update", "succeeded", "2 create", "3 same", "5", "admin", "a larger one", "Events"] {
        assert!(second.contains(word), "{word}: {second}");
    }
    assert!(first.starts_with('1') && first.contains("import") && !first.contains("Events"), "{first}");
    page.click("[aria-label='Events of version 2']");
    page.shows("The update has ended: succeeded.");
    page.shows("create done");
    has_no_secret(&page);
    open(&page, &format!("{STACK}/events?update=none"), "there is no update none");
    open(&page, "#/stacks/acme/shop/none/outputs", "there is no stack acme/shop/none");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_an_update_are_shown_while_it_runs_in_the_order_of_the_engine() {
    let Some(site) = Site::start().await else { return };
    stack(&site).await;
    let engine = Engine::start(&site.client, "the third").await;
    // Batches overtake each other.
    engine
        .tell(&[step(2, "resOpFailedEvent", "create", "third"), step(3, "resOutputsEvent", "same", "web")])
        .await;
    let page = site.signed_in(&site.reader);
    page.click("a[href='#/stacks']");
    page.shows("in progress");
    page.click(&format!("a[href='{STACK}']"));
    page.shows("update by admin");
    page.shows("create failed");
    page.shows("The update runs");
    page.shows("1 of them on what does not change");

    let message = format!("<{{%fg 1%}}>no such\nregion<{{%reset%}}> {HOSTILE}");
    engine.tell(&[step(0, "resourcePreEvent", "create", "first"), diagnostic(1, "error", &message)]).await;
    page.shows("create begins");
    engine.tell(&[step(4, "resOutputsEvent", "update", "fifth")]).await;
    page.shows("update done");
    page.shows("5 events");
    let lines = page.value("[...document.querySelectorAll('.events li')].map((it) => it.innerText)");
    let expected = [
        ["create begins", "acme:vm:Machine", "first"],
        ["error", "web", "no such\nregion <img src=x"],
        ["create failed", "acme:vm:Machine", "third"],
        ["update done", "acme:vm:Machine", "fifth"],
    ];
    assert_eq!(lines.as_array().unwrap().len(), expected.len(), "{lines}");
    for (at, words) in expected.iter().enumerate() {
        let line = lines[at].as_str().unwrap();
        assert!(words.iter().all(|word| line.contains(word)), "{words:?}: {line}");
    }
    has_no_secret(&page);

    // A server that is away for a while loses nothing.
    site.stop();
    page.shows("the server does not answer");
    engine.tell(&[diagnostic(5, "info", "nearly there")]).await;
    site.start_again();
    page.shows("nearly there");
    engine.end().await;
    page.shows("The update has ended: succeeded.");
    page.shows("No update runs.");
    page.shows_no("the server does not answer");
    page.shows("nearly there");
    has_no_secret(&page);
    is_clean(&page, &site);
}

fn entry(sequence: u64, kind: u64, operation: u64, members: Value) -> Value {
    let mut entry = json!({"version": 1, "kind": kind, "sequenceID": sequence, "operationID": operation, "removeOld": null, "removeNew": null});
    for (name, value) in members.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_of_an_update_is_shown_while_it_runs_without_values() {
    let Some(site) = Site::start().await else { return };
    stack(&site).await;
    let page = site.signed_in(&site.reader);
    open(&page, &format!("{STACK}/journal"), "No entry is stored");
    let engine = Engine::start_with(&site.client, "the third", &json!({"journalVersion": 1})).await;
    let secret = json!({"key": {SIGNATURE: SECRET, "ciphertext": "v1:c1pher"}, "plain": "s3cret-input"});
    let machine = json!({"urn": urn("acme:vm:Machine", HOSTILE), "custom": true, "id": "hunter2", "type": "acme:vm:Machine", "inputs": secret, "outputs": secret});
    let provider = json!({"type": "passphrase", "state": {"salt": "v1:c1pher"}});
    let creating = json!({"operation": {"type": "creating", "resource": machine}});
    let batch = [
        entry(3, 1, 1, json!({"removeOld": 1, "state": machine})),
        entry(1, 6, 0, json!({"secretsProvider": provider})),
    ];
    engine.send("PATCH", "journalentries", &json!({"entries": batch})).await;
    open(&page, "#/stacks", "in progress");
    open(&page, &format!("{STACK}/journal"), "The update runs, and this list grows. · 2 entries");
    let rows = || {
        page.value("[...document.querySelectorAll('tbody tr')].map((it) => it.innerText.replaceAll(/\\s+/g, ' ').trim())")
    };
    let name = "<img src=x onerror='window.hit = 1'>\\u001b[31m\\u202e";
    let first = "1 secrets-manager – – secrets by passphrase";
    let third = format!("3 success 1 {name} acme:vm:Machine recorded; removes resource 1 of the base");
    assert_eq!(rows(), json!([first, third]));
    // What comes later may be of an earlier place.
    engine.send("PATCH", "journalentries", &json!({"entries": [entry(2, 0, 1, creating)]})).await;
    page.shows("3 entries");
    let second = format!("2 begin creating1 {name} acme:vm:Machine –");
    assert_eq!(rows(), json!([first, second, third]));
    has_no_secret(&page);
    engine.end().await;
    page.shows("The update has ended: succeeded. · 3 entries");
    open(&page, &format!("{STACK}/updates"), "3 shown");
    page.click("[aria-label='Journal of version 3']");
    page.shows("3 entries");
    page.click("[aria-labelledby=journal] a");
    page.shows("Events of the update");
    open(&page, &format!("{STACK}/journal?update=none"), "there is no update none");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_page_notices_an_update_that_starts_and_one_that_ended() {
    let Some(site) = Site::start().await else { return };
    stack(&site).await;
    let (overview, updates) = (site.signed_in(&site.reader), site.signed_in(&site.reader));
    open(&overview, STACK, "No update runs.");
    open(&updates, &format!("{STACK}/updates"), "2 shown");
    let engine = Engine::start(&site.client, "the third").await;
    engine.tell(&[step(0, "resourcePreEvent", "create", "first")]).await;
    overview.shows("update by admin");
    overview.shows("create begins");
    updates.shows("update by admin");
    engine.end().await;
    overview.shows("No update runs.");
    overview.shows("The update has ended: succeeded.");
    updates.shows("3 shown");
    updates.shows_no("in progress");
    // And the one after that, on the same pages.
    let engine = Engine::start(&site.client, "the fourth").await;
    engine.tell(&[step(0, "resourcePreEvent", "delete", "second")]).await;
    overview.shows("delete begins");
    overview.shows_no("create begins");
    engine.end().await;
    updates.shows("the fourth");
    overview.wait_for("/Version\\s+4/.test(document.querySelector('dl').innerText)");
    is_clean(&overview, &site);
    is_clean(&updates, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stack_of_a_hundred_megabytes_is_shown() {
    let Some(site) = Site::start().await else { return };
    stack(&site).await;
    let mut large = deployment("large");
    let resources = large["deployment"]["resources"].as_array_mut().unwrap();
    for at in 0..100 {
        let name = format!("disk-{at:03}");
        resources.push(
            json!({"urn": urn("acme:vm:Disk", &name), "custom": true, "id": name, "type": "acme:vm:Disk",
            "parent": urn("pulumi:pulumi:Stack", "shop-dev"), "outputs": {"data": "#".repeat(1 << 20)}}),
        );
    }
    site.client.call("POST", &format!("{API}/import"), encrypted(&large)).await.is(200);
    let page = site.signed_in(&site.reader);
    open(&page, STACK, "acme:dns:Record");
    page.shows("v3.259.0");
    open(&page, &format!("{STACK}/outputs"), "5 outputs");
    page.shows("\"large\"");
    open(&page, &format!("{STACK}/resources"), "105 resources");
    page.click("input[type=search]");
    page.write("disk-099");
    page.shows("1 of 105 resources");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_resources_of_a_stack_are_shown_in_parts() {
    let Some(site) = Site::start().await else { return };
    stack(&site).await;
    let mut large = deployment("large");
    let resources = large["deployment"]["resources"].as_array_mut().unwrap();
    for at in resources.len()..5000 {
        let name = format!("machine-{at:04}");
        resources.push(json!({"urn": urn("acme:vm:Machine", &name), "custom": true, "id": name,
            "type": "acme:vm:Machine", "parent": urn("pulumi:pulumi:Stack", "shop-dev"), "inputs": {"data": "#".repeat(500)}}));
    }
    site.client.call("POST", &format!("{API}/import"), encrypted(&large)).await.is(200);
    let page = site.signed_in(&site.reader);
    page.value(&format!("location.hash = '{STACK}/resources'"));
    page.shows("250 of 5,000 shown");
    page.value(&format!("{}.click()", button("Show more")));
    page.shows("500 of 5,000 shown");
    let elements = page.value("document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(elements < 8000, "{elements} elements");
    page.click("input[type=search]");
    page.write("machine-4999");
    page.shows("1 of 5,000 resources");
    is_clean(&page, &site);
}
