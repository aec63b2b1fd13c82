//! The page in a real browser, as its users have it.

use std::path::Path;
use std::sync::Arc;

use groundstate_server::auth::{
    AuthSettings, Authenticator, Grant, NewToken, Role, Token, TokenName, Tokens, require,
};
use groundstate_server::blobs::{BlobStore, MemoryBlobs};
use groundstate_server::common::SystemClock;
use groundstate_server::{Parts, router};
use groundstate_testkit::{Browser, Page};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{Client, Server};

const NETWORK: &str = "/tf/shop/network";
const STATE: &str = "#/states/shop/network/default";
/// Where pictures of the page go that a reviewer wants to look at.
const PICTURES: &str = "GROUNDSTATE_PICTURES";

/// A server on a socket, and a browser.
struct Site {
    browser: Browser,
    client: Client,
    url: String,
    admin: Token,
    reader: Token,
}

impl Site {
    /// A site with tokens. None without a browser.
    async fn start() -> Option<Self> {
        let browser = Browser::start()?;
        let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("states"));
        let parts = Parts::new(Arc::clone(&blobs));
        let tokens = Tokens::new(blobs, parts.context.clone());
        let (admin, reader) = (token(&tokens, Role::Admin).await, token(&tokens, Role::Read).await);
        let authenticator =
            Authenticator::new(tokens, &AuthSettings::default(), Arc::new(SystemClock)).unwrap();
        let server = Server::of(parts);
        let service = require(router(server.app.clone()), authenticator, None);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, service).await });
        Some(Self { browser, client: server.admin(), url, admin, reader })
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

/// A token whose name is that of its role.
async fn token(tokens: &Tokens, role: Role) -> Token {
    let name = TokenName::parse(&format!("{role:?}").to_lowercase()).unwrap();
    tokens.create(NewToken::new(name, vec![Grant::everything(role)], "user:ana")).await.unwrap().0
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
    let tokens = [site.admin.reveal(), site.reader.reveal()];
    assert_eq!(page.complaints(), [""; 0]);
    for url in page.requests() {
        assert!(url.starts_with(&site.url) || url.starts_with("blob:"), "{url}");
        assert!(tokens.iter().all(|token| !url.contains(token)), "{url}");
    }
    let kept = page.value("JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])");
    let expected = tokens.map(|token| json!(["", {}, {"groundstate.token": token}]).to_string());
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_finds_a_state_compares_it_breaks_its_lock_rolls_it_back_and_sees_a_secret() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.admin);

    page.shows("shop/dns/staging");
    page.shows("locked by ana@build-7");
    page.click("input[type=search]");
    page.write("NETW");
    page.shows_no("shop/dns/staging");
    page.click(&format!("a[href='{STATE}']"));
    page.shows("OperationTypeApply");
    page.shows("l-1");

    page.click(&format!("a[href='{STATE}/resources']"));
    page.shows("1 to 2 of 2");
    page.click("input[type=search]");
    page.write("VM.web");
    page.shows("1 to 1 of 1");
    page.shows("module.app.vm.web[0]");
    page.shows_no("net.main");

    page.click(&format!("a[href='{STATE}/versions']"));
    page.shows("present");
    page.click("form button[type=submit]");
    page.shows("Version 1 → version 2");
    page.shows("attributes.size");
    page.shows("\"small\"");
    page.shows("\"large\"");
    page.shows_no("key-small");
    page.wait_for("document.querySelector('.change').innerText.includes('changed')");

    // The lock refuses the rollback, and the dialog says so.
    page.click(&format!("a[href='{STATE}/versions']"));
    page.click("[aria-label='Roll back to version 1']");
    page.shows("Roll back to version 1?");
    page.shows("It replaces version 2");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("too large");
    page.click("dialog button[type=submit]");
    page.shows("another holder has the lock");
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog')");

    page.click(&format!("a[href='{STATE}']"));
    page.click("main button.danger");
    page.shows("Break the lock?");
    // Without a reason nothing happens.
    page.click("dialog button[type=submit]");
    assert_eq!(page.value("Boolean(document.querySelector('dialog[open]'))"), true);
    page.click("#reason");
    page.write("the build machine is gone");
    page.click("dialog button[type=submit]");
    page.shows("No client holds the lock");
    site.client.get("/api/v1/states/shop/network/default/lock").await.is(404);

    page.click(&format!("a[href='{STATE}/versions']"));
    page.click("[aria-label='Roll back to version 1']");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("too large");
    page.click("dialog button[type=submit]");
    page.shows("content of 1");
    let found = site.client.get("/api/v1/states/shop/network/default").await.is(200).json();
    assert_eq!((&found["version"]["number"], &found["version"]["serial"]), (&json!(3), &json!(6)));
    assert!(found["version"]["by"].as_str().unwrap().contains("admin"), "{found}");

    page.click(&format!("a[href='{STATE}/outputs']"));
    page.shows("\"eu-west-1\"");
    // More digits than a number of JavaScript has.
    page.shows("12345678901234567");
    page.shows_no("s3cret");
    page.click("[aria-label='Reveal password']");
    page.shows("\"s3cret\"");
    page.click("[aria-label='Hide password']");
    page.shows_no("s3cret");

    page.click(&format!("a[href='{STATE}/graph']"));
    page.wait_for("document.querySelector('.picture img')?.naturalWidth > 50");
    is_clean(&page, &site);

    page.click("#session");
    page.shows("It stays in this tab");
    assert_eq!(page.value("sessionStorage.length"), 0);
    page.shows_no("shop/network");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyboard_reaches_everything_and_escape_leaves_a_dialog() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.signed_in(&site.admin);
    page.shows("shop/network");

    page.press("/");
    page.wait_for("document.activeElement.type === 'search'");
    page.write("network");
    page.shows_no("shop/dns");
    tab_to(&page, &format!("document.activeElement.getAttribute('href') === '{STATE}'"));
    let outline = page.value("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid");
    page.press("Enter");
    page.shows("Break the lock");
    page.wait_for("document.activeElement.tagName === 'H1'");

    tab_to(&page, "document.activeElement.innerText.startsWith('Break')");
    page.press("Enter");
    page.wait_for("document.activeElement.id === 'reason'");
    // The focus stays in the dialog.
    for _ in 0..4 {
        page.press("Tab");
        assert_eq!(
            page.value("document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))"),
            true
        );
    }
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog')");
    assert_eq!(page.value("document.activeElement.innerText.startsWith('Break')"), true);
    site.client.get("/api/v1/states/shop/network/default/lock").await.is(200);

    page.press("Space");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("its machine is gone");
    tab_to(&page, "document.activeElement.type === 'submit'");
    page.press("Enter");
    page.shows("No client holds the lock");
    page.wait_for("document.activeElement.tagName === 'H1'");

    for tab in ["resources", "outputs", "versions", "graph"] {
        tab_to(&page, &format!("document.activeElement.getAttribute('href') === '{STATE}/{tab}'"));
        page.press("Enter");
        page.wait_for(&format!("document.querySelector(\"a[aria-current][href='{STATE}/{tab}']\")"));
        page.wait_for("document.activeElement.tagName === 'H1'");
    }
    // Every control has a name, and nothing but links, buttons and fields waits for a click.
    let nameless = page.value("[...document.querySelectorAll('button, a, input, select')].filter((it) => !(it.innerText || it.ariaLabel || it.labels?.length)).map((it) => it.outerHTML)");
    assert_eq!(nameless, json!([]));
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_of_states_and_locks_is_neither_markup_nor_control() {
    const MARKUP: &str = "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>";
    const CONTROL: &str = "\u{1b}[31mred\u{9b}\u{202e}txet\u{200b}";
    let Some(site) = Site::start().await else { return };
    let hostile = |serial: u64, size: u64| {
        let mut one = instance(&json!({"id": MARKUP, CONTROL: size, "size": format!("{CONTROL}{size}")}));
        one["index_key"] = format!("{MARKUP}{CONTROL}").into();
        let outputs = json!({
            MARKUP: {"value": MARKUP, "type": "string"},
            "colours": {"value": CONTROL, "type": "string"},
            "many": {"value": {"a": MARKUP, CONTROL: [CONTROL, "two\nlines", "a longer text, so that it is not in one line"]}, "type": ["object", {"a": "string", CONTROL: ["tuple", ["string", "string", "string"]]}]},
        });
        state(serial, &outputs, &[resource(None, "vm", "web", &[one])])
    };
    site.write(NETWORK, &hostile(1, 1)).await;
    site.write(NETWORK, &hostile(2, 2)).await;
    let mut lock: Value = serde_json::from_str(&crate::support::lock_document("lock-1")).unwrap();
    lock["Who"] = format!("{MARKUP}{CONTROL}").into();
    lock["Info"] = MARKUP.into();
    site.client.call("LOCK", NETWORK, lock.to_string()).await.is(200);

    let page = site.signed_in(&site.admin);
    let pages = [
        ("#/", "locked by <script>"),
        ("#/locks", "<script>"),
        (STATE, "<script>"),
        (&format!("{STATE}/resources"), "<script>"),
        (&format!("{STATE}/outputs"), "\\u001b[31mred\\u009b\\u202etxet\\u200b"),
        (&format!("{STATE}/versions"), "present"),
        (&format!("{STATE}/diff?from=1&to=2"), "<script>"),
        (&format!("{STATE}/graph"), "Download"),
    ];
    for (address, text) in pages {
        page.value(&format!("location.hash = {}", json!(address)));
        page.wait_for("!document.querySelector('main[aria-busy]')");
        page.shows(text);
        let shown = page.value("document.body.innerText");
        let control = |c: &char| (c.is_control() && !"\n\t".contains(*c)) || "\u{202e}\u{200b}".contains(*c);
        assert_eq!(shown.as_str().unwrap().chars().find(control), None, "{address}: {shown}");
        assert_eq!(
            page.value("document.querySelectorAll('main script, main img[src=x]').length"),
            0,
            "{address}"
        );
        assert_eq!(page.value("window.hit ?? null"), Value::Null, "{address}");
    }
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_principal_without_the_role_sees_what_it_lacks_and_a_wrong_token_is_told() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let page = site.browser.open(&site.url);
    page.shows("It stays in this tab");
    page.wait_for("document.activeElement.id === 'token'");
    page.write("hunter2");
    page.press("Enter");
    page.shows("the credentials are not valid");
    page.wait_for("document.activeElement.id === 'token'");
    page.write(site.reader.reveal());
    page.press("Enter");
    page.shows("shop/network");
    page.click(&format!("a[href='{STATE}']"));
    page.click("main button.danger");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("I want to");
    page.click("dialog button[type=submit]");
    page.shows("does not have the role admin on shop/network");
    page.press("Escape");
    page.click(&format!("a[href='{STATE}/versions']"));
    page.click("[aria-label='Roll back to version 1']");
    page.wait_for("document.activeElement.id === 'reason'");
    page.write("I want to");
    page.click("dialog button[type=submit]");
    page.shows("does not have the role write on shop/network");
    // A reload keeps the token, and an address that names nothing is told.
    page.value("location.hash = '#/states/shop/none/default'; location.reload()");
    page.shows("there is no state shop/none");
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_resources_are_paged_and_fit_wide_and_narrow_windows_in_light_and_dark() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    site.client.lock("lock-1").await.is(200);
    let instances: Vec<Value> = (0..10_000)
        .map(|at| {
            let mut one = instance(&json!({"id": format!("i-{at}")}));
            one["index_key"] = at.into();
            one
        })
        .collect();
    let large = resource(
        Some("module.cluster[\"europe-west-1\"]"),
        "acme_machine_of_a_long_name",
        "workers",
        &instances,
    );
    site.write("/tf/shop/cluster", &state(7, &json!({}), &[large])).await;
    let page = site.signed_in(&site.admin);
    page.value("location.hash = '#/states/shop/cluster/default/resources'");
    page.shows("1 to 250 of 10,000 instances");
    assert!(page.value("document.querySelectorAll('*').length").as_u64().unwrap() < 4000);
    page.value(&format!("{}.click()", button("Last")));
    page.shows("9,751 to 10,000 of 10,000");
    page.shows("workers[9999]");
    page.value(&format!("{}.click()", button("Previous")));
    page.shows("9,501 to 9,750 of 10,000");
    assert_eq!(page.value("location.hash.endsWith('offset=9500')"), true);

    let pictures = std::env::var_os(PICTURES);
    let addresses = [
        ("states", "#/"),
        ("locks", "#/locks"),
        ("overview", STATE),
        ("resources", "#/states/shop/cluster/default/resources"),
        ("outputs", &format!("{STATE}/outputs")),
        ("versions", &format!("{STATE}/versions")),
        ("diff", &format!("{STATE}/diff?from=1&to=2")),
        ("graph", &format!("{STATE}/graph")),
        ("dialog", STATE),
    ];
    for (width, height, colours) in
        [(1280, 800, "light"), (1280, 800, "dark"), (360, 740, "light"), (360, 740, "dark")]
    {
        page.look(width, height, colours);
        for (name, address) in addresses {
            // Through another page, so that the same address is shown anew.
            page.value("location.hash = '#/nothing'");
            page.shows("There is no such page");
            page.value(&format!("location.hash = {}", json!(address)));
            page.wait_for("document.querySelector('main:not([aria-busy]) h1')?.innerText !== 'Not found' && !document.querySelector('[aria-busy=true]')");
            if name == "dialog" {
                page.click("main button.danger");
                page.wait_for("document.querySelector('dialog[open]')");
            }
            let too_wide = page.value("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(too_wide, false, "{name} at {width}");
            if let Some(folder) = &pictures {
                let file = Path::new(folder).join(format!("{name}-{width}-{colours}.png"));
                std::fs::write(file, page.picture()).unwrap();
            }
        }
        page.press("Escape");
    }
    is_clean(&page, &site);
}
