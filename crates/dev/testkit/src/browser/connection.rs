//! Requests and answers of the DevTools protocol on two pipes: JSON documents that end with a zero byte.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// How long an answer may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long the browser may take to end.
const ENDING: Duration = Duration::from_secs(20);

/// A connection to a browser.
#[derive(Debug)]
pub(super) struct Connection {
    requests: Mutex<(ChildStdin, u64)>,
    received: Arc<Received>,
}

/// What the browser has sent.
#[derive(Debug, Default)]
struct Received {
    state: Mutex<Inbox>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inbox {
    answers: HashMap<u64, Value>,
    events: Vec<Value>,
    is_over: bool,
}

impl Connection {
    pub(super) fn new(requests: ChildStdin, answers: ChildStdout) -> Self {
        let received = Arc::new(Received::default());
        let inbox = Arc::clone(&received);
        std::thread::spawn(move || read(answers, &inbox));
        Self { requests: Mutex::new((requests, 0)), received }
    }

    /// Sends a request, and gives its number. A browser that has ended gets none.
    pub(super) fn send(&self, session: Option<&str>, method: &str, params: &Value) -> u64 {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.1 += 1;
        let id = requests.1;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            request["sessionId"] = session.into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        // The answer that is missing tells of a browser that has ended.
        drop(requests.0.write_all(&bytes));
        id
    }

    /// Sends a request and waits for its result.
    ///
    /// # Panics
    ///
    /// If the browser refuses it, ends, or does not answer.
    #[track_caller]
    pub(super) fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, &params);
        let mut answer = self.wait(PATIENCE, |inbox| inbox.answers.remove(&id));
        let answer = answer.as_mut().unwrap_or_else(|| unanswered(method));
        assert!(answer.get("error").is_none(), "{method} {params}: {}", answer["error"]);
        answer["result"].take()
    }

    /// The events that arrived for a session so far, by method.
    pub(super) fn events(&self, session: &str, method: &str) -> Vec<Value> {
        let inbox = self.received.state.lock().unwrap_or_else(PoisonError::into_inner);
        let of_session =
            inbox.events.iter().filter(|event| event["sessionId"] == session && event["method"] == method);
        of_session.map(|event| event["params"].clone()).collect()
    }

    /// Waits until the browser has closed its end.
    pub(super) fn wait_for_end(&self) {
        self.wait(ENDING, |inbox| inbox.is_over.then_some(()));
    }

    fn wait<T>(&self, patience: Duration, mut look: impl FnMut(&mut Inbox) -> Option<T>) -> Option<T> {
        let mut found = None;
        let inbox = self.received.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.received.changed.wait_timeout_while(inbox, patience, |inbox| {
            found = look(inbox);
            found.is_none() && !inbox.is_over
        });
        drop(waited);
        found
    }
}

#[track_caller]
#[expect(clippy::panic, reason = "a test without its browser has failed")]
fn unanswered(method: &str) -> ! {
    panic!("the browser does not answer {method}")
}

fn read(answers: ChildStdout, received: &Received) {
    let mut answers = BufReader::new(answers);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let is_over = !matches!(answers.read_until(0, &mut bytes), Ok(size) if size > 0);
        let message =
            serde_json::from_slice::<Value>(bytes.strip_suffix(&[0]).unwrap_or(&bytes)).unwrap_or_default();
        let mut inbox = received.state.lock().unwrap_or_else(PoisonError::into_inner);
        match message["id"].as_u64() {
            Some(id) => drop(inbox.answers.insert(id, message)),
            None if is_over => inbox.is_over = true,
            None => inbox.events.push(message),
        }
        received.changed.notify_all();
        if is_over {
            return;
        }
    }
}
