//! Text that would like to be markup.

use serde_json::{Value, json};

use super::{API, NETWORK, STATE, Site, instance, is_clean, resource, state};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_of_states_and_locks_is_neither_markup_nor_control() {
    const MARKUP: &str = "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>";
    const CONTROL: &str = "\u{1b}[31mred\u{9b}\u{202e}txet\u{200b}";
    let Some(site) = Site::start().await else { return };
    let hostile = |serial: u64, size: u64| {
        let mut one = instance(
            &json!({"id": MARKUP, CONTROL: size, "size": format!("{CONTROL}{size}"), MARKUP: [MARKUP]}),
        );
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
    let encode =
        |text: &str| page.value(&format!("encodeURIComponent({})", json!(text))).as_str().unwrap().to_owned();
    let listed = site.client.get(&format!("{API}/resources")).await.is(200).json();
    let address = format!("address={}", encode(listed["resources"][0]["address"].as_str().unwrap()));
    let markup = encode(MARKUP);
    let pages = [
        ("#/", "locked by <script>"),
        ("#/locks", "<script>"),
        (STATE, "<script>"),
        (&format!("{STATE}/resources"), "<script>"),
        (&format!("{STATE}/outputs"), "\\u001b[31mred\\u009b\\u202etxet\\u200b"),
        (&format!("{STATE}/versions"), "present"),
        (&format!("{STATE}/diff?from=1&to=2"), "<script>"),
        (&format!("{STATE}/graph"), "Download"),
        (&format!("{STATE}/resource?{address}"), "Current object"),
        // Addresses are from elsewhere too.
        (&format!("{STATE}/resource?address={markup}"), "address"),
        (&format!("{STATE}/resources?search={markup}"), "1 to 1 of 1"),
        (&format!("{STATE}/resources?search={markup}{markup}"), "no address has this text"),
        (&format!("#/?search={markup}&project={markup}"), "is not a valid project name"),
        (&format!("#/projects?search={markup}"), "no project matches"),
        (&format!("#/states/{markup}/{markup}/{markup}"), "<script>"),
        (&format!("#/states/shop/network/{markup}/outputs"), "<script>"),
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
        let title = page.value("document.title");
        assert_eq!(title.as_str().unwrap().chars().find(control), None, "{address}: {title}");
    }
    is_clean(&page, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_browser_keeps_the_policy_of_the_page() {
    let Some(site) = Site::start().await else { return };
    site.shop().await;
    let page = site.signed_in(&site.admin);
    page.value("window.violated = []; addEventListener('securitypolicyviolation', (event) => violated.push(event.effectiveDirective))");
    for (attempt, directive) in [
        ("document.body.innerHTML = '<img src=x onerror=hit=1>'", "require-trusted-types-for"),
        ("document.body.insertAdjacentHTML('beforeend', '<b onclick=hit=1>')", "require-trusted-types-for"),
        ("document.createElement('script').text = 'hit = 1'", "require-trusted-types-for"),
        ("setTimeout('hit = 1')", "require-trusted-types-for"),
        (
            "document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.1:9/x.png' }))",
            "img-src",
        ),
        (
            "document.body.append(Object.assign(document.createElement('iframe'), { src: location.origin }))",
            "frame-src",
        ),
        (
            "document.body.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: 'http://127.0.0.1:9/x.css' }))",
            "style-src-elem",
        ),
        ("document.body.setAttribute('style', 'color: red')", "style-src-attr"),
        ("fetch('http://127.0.0.1:9/').catch(() => {})", "connect-src"),
        ("new WebSocket('ws://127.0.0.1:9/')", "connect-src"),
        (
            "document.body.append(Object.assign(document.createElement('base'), { href: 'http://127.0.0.1:9/' }))",
            "base-uri",
        ),
    ] {
        page.value("violated.length = 0");
        page.value(&format!(
            "(() => {{ try {{ {attempt} }} catch (error) {{ window.refused = error.name }} return null }})()"
        ));
        page.wait_for(&format!("violated.includes({})", json!(directive)));
    }
    assert_eq!(page.value("window.hit ?? null"), Value::Null);
    // The page goes on as if nothing had been tried.
    page.value("location.hash = '#/locks'");
    page.shows("no state is locked");
}
