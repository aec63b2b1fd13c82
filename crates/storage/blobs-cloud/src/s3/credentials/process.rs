//! Credentials that a program prints, as `credential_process` of a profile names it.

use std::fmt;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs::{Error, ErrorKind, Result};
use groundstate_common::Timestamp;
use groundstate_durable::offload;
use serde::Deserialize;

use super::{Fetched, OP, Source, fetched};

/// How long the program may run, as with the SDKs of AWS.
const LONGEST_RUN: Duration = Duration::from_secs(60);
/// How much it may print.
const LONGEST_OUTPUT: u64 = 64 << 10;

pub(super) struct Process {
    command: String,
    from: String,
    longest_run: Duration,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    version: u64,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

impl Process {
    pub(super) fn new(profile: &str, command: &str) -> Self {
        let from = format!("credentials by `credential_process` of the profile {profile:?}");
        Self { command: command.to_owned(), from, longest_run: LONGEST_RUN }
    }

    #[cfg(test)]
    pub(super) fn longest_run(mut self, duration: Duration) -> Self {
        self.longest_run = duration;
        self
    }
}

fn failed(from: &str, why: impl Into<String>) -> Error {
    let error = Error::new(ErrorKind::Unauthenticated, OP, from).because(why);
    error.next_step("run the program of the profile by hand to see what it says")
}

/// What the program prints. Its errors are left to the program: they may have secrets in them.
fn run(command: &str, from: &str, longest: Duration) -> Result<Vec<u8>> {
    let (shell, flag) = if cfg!(windows) { ("cmd.exe", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(from, "the program cannot be started").with_source(error))?;
    let output = wait(&mut child, from, longest);
    // One that has ended already cannot be killed, and one that was killed has to be waited for.
    if output.is_err() {
        child.kill().ok();
    }
    let status = child.wait().map_err(|error| failed(from, "the program is lost").with_source(error))?;
    match output {
        Ok(_) if !status.success() => Err(failed(from, format!("the program failed: {status}"))),
        output => output,
    }
}

fn wait(child: &mut Child, from: &str, longest: Duration) -> Result<Vec<u8>> {
    let stdout = child.stdout.take().ok_or_else(|| failed(from, "the program has no output"))?;
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut bytes = Vec::new();
        let outcome = stdout.take(LONGEST_OUTPUT + 1).read_to_end(&mut bytes).map(|_| bytes);
        // Nothing waits for it any more after the time is over.
        sender.send(outcome).ok();
    };
    let thread = std::thread::Builder::new().name("credential_process".to_owned());
    thread.spawn(read).map_err(|error| failed(from, "no thread can be started").with_source(error))?;
    let bytes = receiver.recv_timeout(longest).map_err(|_| {
        failed(from, format!("the program has not answered for {} seconds", longest.as_secs()))
    })?;
    let bytes = bytes.map_err(|error| failed(from, "its output cannot be read").with_source(error))?;
    if bytes.len() as u64 > LONGEST_OUTPUT {
        return Err(failed(from, "the program prints more than 64 KiB"));
    }
    Ok(bytes)
}

fn parse(from: &str, bytes: &[u8]) -> Result<Fetched> {
    // The cause would show parts of it.
    let document: Document =
        serde_json::from_slice(bytes).map_err(|_| failed(from, "the program prints something else"))?;
    if document.version != 1 {
        return Err(failed(from, format!("the program prints version {}, and 1 is known", document.version)));
    }
    let expires = document.expiration.as_deref().map(Timestamp::parse).transpose();
    let expires = expires.map_err(|_| failed(from, "`Expiration` is not a time of RFC 3339"))?;
    let keys = (document.access_key_id.as_str(), document.secret_access_key.as_str());
    fetched(from, keys, document.session_token.as_deref(), expires)
}

#[async_trait]
impl Source for Process {
    fn kind(&self) -> &'static str {
        "a program"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let (command, from, longest) = (self.command.clone(), self.from.clone(), self.longest_run);
        let output = offload(OP, &self.from, move || run(&command, &from, longest)).await?;
        parse(&self.from, &output)
    }
}

impl fmt::Debug for Process {
    /// Leaves out the command, which may have secrets in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Process")
    }
}
