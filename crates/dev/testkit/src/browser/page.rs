//! A tab of a browser, as its user has it: keys, clicks, what is shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::connection::Connection;

/// How long a page may take to show something on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(40);

/// A tab of a [`Browser`](super::Browser).
#[derive(Debug)]
pub struct Page {
    connection: Arc<Connection>,
    session: String,
}

impl Page {
    pub(super) fn open(connection: Arc<Connection>, session: &str, url: &str) -> Self {
        let this = Self { connection, session: session.to_owned() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            this.call(&format!("{domain}.enable"), json!({}));
        }
        this.go(url);
        this
    }

    /// Goes to an address.
    ///
    /// # Panics
    ///
    /// If the browser cannot.
    #[track_caller]
    pub fn go(&self, url: &str) {
        let answer = self.call("Page.navigate", json!({"url": url}));
        assert!(answer.get("errorText").is_none(), "{url}: {}", answer["errorText"]);
    }

    /// The value of an expression of JavaScript; promises are awaited.
    ///
    /// # Panics
    ///
    /// If it throws.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    ///
    /// If it does not become true.
    #[track_caller]
    pub fn wait_for(&self, expression: &str) {
        let start = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            let shown = || self.value("document.body?.innerText");
            assert!(
                start.elapsed() < PATIENCE,
                "not so: {expression}\n{}",
                shown().as_str().unwrap_or_default()
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until the page shows a text.
    ///
    /// # Panics
    ///
    /// If it does not.
    #[track_caller]
    pub fn shows(&self, text: &str) {
        self.wait_for(&format!("document.body?.innerText.includes({})", json!(text)));
    }

    /// Waits until the page does not show a text.
    ///
    /// # Panics
    ///
    /// If it still does.
    #[track_caller]
    pub fn shows_no(&self, text: &str) {
        self.wait_for(&format!("document.body && !document.body.innerText.includes({})", json!(text)));
    }

    /// Clicks into the middle of the first element that a selector finds, once there is one: of its first line, if it has more.
    ///
    /// # Panics
    ///
    /// If there is none that can be seen.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let selector = json!(selector);
        self.wait_for(&format!("document.querySelector({selector})?.checkVisibility()"));
        let place = self.value(&format!(
            "(() => {{ const it = document.querySelector({selector}); it.scrollIntoView({{block: 'center'}});
               const [box] = it.getClientRects(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Types a text where the focus is.
    pub fn write(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses a key and lets it go: a letter, or a name such as `Tab`, `Enter`, `Escape`, `Space`, `ArrowDown`.
    pub fn press(&self, key: &str) {
        let (key, code, number, text) = match key {
            "Tab" => (key, key, 9, None),
            "Enter" => (key, key, 13, Some("\r")),
            "Escape" => (key, key, 27, None),
            "Space" => (" ", key, 32, Some(" ")),
            "ArrowDown" => (key, key, 40, None),
            "/" => (key, "Slash", 191, Some("/")),
            _ => (key, key, 0, Some(key)),
        };
        let mut event = json!({"type": "keyDown", "key": key, "code": code, "windowsVirtualKeyCode": number});
        if let Some(text) = text {
            event["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Sets the size of the window in pixels, and the colours that the user prefers: `light` or `dark`.
    pub fn look(&self, width: u32, height: u32, colours: &str) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": colours}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// A picture of what is shown, as PNG.
    ///
    /// # Panics
    ///
    /// If the browser takes none.
    pub fn picture(&self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let data = answer["data"].as_str().expect("a picture has data");
        BASE64.decode(data).expect("the browser writes base64")
    }

    /// The addresses that the tab has asked for.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.connection.events(&self.session, "Network.requestWillBeSent");
        sent.iter().filter_map(|event| Some(event["request"]["url"].as_str()?.to_owned())).collect()
    }

    /// What the tab complains of: exceptions, and what its policies forbid. Answers that are refusals are none.
    pub fn complaints(&self) -> Vec<String> {
        let thrown = self.connection.events(&self.session, "Runtime.exceptionThrown");
        let logged = self.connection.events(&self.session, "Log.entryAdded");
        let logged = logged
            .into_iter()
            .filter(|event| event["entry"]["level"] == "error" && event["entry"]["source"] != "network");
        thrown.into_iter().chain(logged).map(|event| event.to_string()).collect()
    }

    #[track_caller]
    fn call(&self, method: &str, params: Value) -> Value {
        self.connection.call(Some(&self.session), method, params)
    }
}
