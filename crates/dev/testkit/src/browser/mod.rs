//! A real browser without a window, driven as its developer tools do.

mod connection;
mod page;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;

use crate::is_required;
use connection::Connection;
pub use page::Page;

/// What distributions call the program.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// No window, no sandbox, because containers seldom have what it needs, and nothing sent to the vendor.
const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--remote-debugging-pipe",
];

/// A Chromium without a window. It ends when this is dropped.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    connection: Arc<Connection>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a fresh profile. If there is none on the path, it says that the test does not run.
    ///
    /// # Panics
    ///
    /// If it is required and not there, and if it does not start.
    #[expect(clippy::print_stderr, reason = "who runs the tests has to know what was not tried")]
    pub fn start() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        let found = PROGRAMS.into_iter().find(is_there);
        assert!(found.is_some() || !is_required("chromium"), "chromium has to be on the PATH");
        let Some(program) = found else {
            eprintln!("not run: chromium is not on the PATH; see `cargo xtask services install chromium`");
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let mut process = command(program, profile.path()).spawn().expect("a shell can be started");
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (requests, answers) = pipes.expect("both were asked for");
        let connection = Arc::new(Connection::new(requests, answers));
        connection.call(None, "Browser.getVersion", json!({}));
        Some(Self { process, connection, _profile: profile })
    }

    /// Opens a tab of its own: no cookie, no storage of another one.
    ///
    /// # Panics
    ///
    /// If the browser does not.
    pub fn open(&self, url: &str) -> Page {
        let context = self.connection.call(None, "Target.createBrowserContext", json!({}));
        let target = json!({"url": "about:blank", "browserContextId": context["browserContextId"]});
        let target = self.connection.call(None, "Target.createTarget", target);
        let session = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.connection.call(None, "Target.attachToTarget", session);
        let session = session["sessionId"].as_str().expect("a session has an id");
        Page::open(Arc::clone(&self.connection), session, url)
    }
}

/// The browser reads requests from descriptor 3 and writes answers to descriptor 4, which a shell makes of its own 0 and 1.
fn command(program: &str, profile: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#, "sh", program]).args(FLAGS);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends all of its processes when it is asked to; those of one that was killed would stay.
        self.connection.send(None, "Browser.close", &json!({}));
        self.connection.wait_for_end();
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
