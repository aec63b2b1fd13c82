//! A second process with a client of the same place: this program, started again.
//!
//! The suite starts the program that it runs in once more, with the store's name and the place's address in the variable
//! `GROUNDSTATE_CONFORMANCE_PEER`. There the suite runs no case: it opens a client at that address, carries out one call for
//! each line that it reads, answers with a line, and ends the process when there are no more.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_statemgr::{ErrorKind, LockId, LockInfo, Result, StateStore};
use serde_json::{Value, json};

use crate::executor::BoxFuture;
use crate::failure::{Step, describe, fail, failed};
use crate::harness::Harness;

/// Has the store and the address in the second process.
const VARIABLE: &str = "GROUNDSTATE_CONFORMANCE_PEER";
/// Stands before each answer, since test programs print lines of their own.
const ANSWER: &str = "conformance-peer: ";

/// What this process was started for.
pub(crate) enum Role {
    /// To run cases.
    Suite,
    /// To be the second process of a run on another harness.
    OtherPeer,
}

/// Finds out whether this process is the second one of a run on this harness. It then serves that run, and does not return.
pub(crate) fn role(harness: &Arc<dyn Harness>) -> Role {
    let Some(asked) = std::env::var(VARIABLE).ok() else { return Role::Suite };
    let asked: Value = serde_json::from_str(&asked).unwrap_or_default();
    match (asked["store"].as_str(), asked["address"].as_str()) {
        (Some(store), Some(address)) if store == harness.name() => {
            serve(harness, address);
            std::process::exit(0)
        }
        _ => Role::OtherPeer,
    }
}

/// Carries out one call for each line of standard input.
fn serve(harness: &Arc<dyn Harness>, address: &str) {
    let opened = waited(&**harness, harness.open_at(address));
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let answer = match &opened {
            Ok(store) => answered(&**harness, &**store, &line),
            Err(error) => json!({"failed": describe(error)}),
        };
        // The newline in front ends what a test program has begun to print.
        if output.write_all(format!("\n{ANSWER}{answer}\n").as_bytes()).and_then(|()| output.flush()).is_err()
        {
            return;
        }
    }
}

/// Runs a future as the harness wants it.
fn waited<T: Send>(harness: &dyn Harness, future: impl Future<Output = Result<T>> + Send) -> Result<T> {
    let slot = Mutex::new(None);
    let work: BoxFuture<'_, ()> = Box::pin(async {
        let value = future.await;
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    });
    harness.block_on(work);
    slot.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(|| {
        let op = groundstate_statemgr::Op::Other("run a call in");
        Err(groundstate_statemgr::Error::new(ErrorKind::Internal, op, "`Harness::block_on`"))
    })
}

fn answered(harness: &dyn Harness, store: &dyn StateStore, line: &str) -> Value {
    let call: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
    let outcome = match call["call"].as_str() {
        Some("lock") => LockInfo::parse(text("document").as_bytes())
            .and_then(|info| waited(harness, store.lock(&info)))
            .map(|grant| json!({"id": grant.id.as_str()})),
        Some("unlock") => {
            waited(harness, store.unlock(&LockId::new(&text("id")))).map(|()| json!({"id": text("id")}))
        }
        _ => waited(harness, store.lock_holder())
            .map(|holder| json!({"id": holder.map(|holder| holder.id.to_string())})),
    };
    outcome.unwrap_or_else(|error| match error.kind() {
        ErrorKind::Locked => json!({"locked": describe(&error)}),
        _ => json!({"failed": describe(&error)}),
    })
}

/// The second process, as cases use it. It ends when this is dropped.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts this program again with these arguments.
    pub(crate) fn start(arguments: &[OsString], store: &str, address: &str) -> Step<Self> {
        let started = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .args(arguments)
                .env(VARIABLE, json!({"store": store, "address": address}).to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        });
        let mut child = started.map_err(|error| failed("this program starts again", error.to_string()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => {
                Ok(Self { child, input: Some(input), output: BufReader::new(output) })
            }
            _ => fail("the second process has pipes", "it has none"),
        }
    }

    /// Takes the lock there: gives the id, or why it is refused with `Locked`.
    pub(crate) fn lock(&mut self, info: &LockInfo) -> Step<std::result::Result<LockId, String>> {
        let answer = self.ask(&json!({"call": "lock", "document": info.to_json()}))?;
        if let Some(refusal) = answer["locked"].as_str() {
            return Ok(Err(refusal.to_owned()));
        }
        Ok(Ok(LockId::new(done(&answer, "a lock of another process")?.as_deref().unwrap_or_default())))
    }

    /// Releases the lock there.
    pub(crate) fn unlock(&mut self, id: &LockId) -> Step {
        let answer = self.ask(&json!({"call": "unlock", "id": id.as_str()}))?;
        done(&answer, "a release by the other process that holds the lock").map(drop)
    }

    /// The id of the holder, as it is seen there.
    pub(crate) fn holder(&mut self) -> Step<Option<String>> {
        let answer = self.ask(&json!({"call": "holder"}))?;
        done(&answer, "asking for the holder in another process")
    }

    fn ask(&mut self, call: &Value) -> Step<Value> {
        let lost = |error: std::io::Error| failed("the second process answers", error.to_string());
        if let Some(input) = &mut self.input {
            writeln!(input, "{call}").and_then(|()| input.flush()).map_err(lost)?;
        }
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).map_err(lost)? == 0 {
                return fail(
                    "the second process opens the place by `Harness::open_at`, and answers",
                    "it ended; it is this program, started again with the arguments of `Settings::restart`",
                );
            }
            if let Some((_, answer)) = line.split_once(ANSWER) {
                let answer = serde_json::from_str(answer);
                return answer.or_else(|_| fail("the second process answers", format!("{line:?}")));
            }
        }
    }
}

/// The id of an answer.
fn done(answer: &Value, what: &str) -> Step<Option<String>> {
    let refusal = answer["failed"].as_str().or_else(|| answer["locked"].as_str());
    match refusal {
        Some(refusal) => fail(format!("{what} succeeds"), refusal),
        None => Ok(answer["id"].as_str().map(ToOwned::to_owned)),
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends when there is no more to read; one that hangs is ended.
        drop(self.input.take());
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
