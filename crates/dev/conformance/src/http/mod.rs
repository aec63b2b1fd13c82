//! The suite of servers of Terraform's HTTP protocol: what a server has to answer so that Terraform, OpenTofu and other clients can keep a
//! state there without losing it.
//!
//! ```no_run
//! use groundstate_conformance::http::{HttpServer, run};
//!
//! let server = HttpServer::new("http://127.0.0.1:8080/states");
//! let report = run(&server, None);
//! assert!(report.is_success(), "{report}");
//! ```
//!
//! Each case sends requests by hand, to a path of its own below the address, so that it sees what a client hides: statuses, bodies
//! and headers. What a client makes of the server is the suite of [`StateStore`](groundstate_statemgr::StateStore)'s business.

mod clauses;
mod locking;
mod refusing;
mod report;
mod states;
mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub use clauses::{HTTP_CLAUSES, HttpClause, Level};
pub use report::{HttpCaseReport, HttpReport};

use clauses::{HTTP_CASES, clause_of};
use wire::Cx;

use crate::failure::{Failure, Outcome, fail};
use crate::fault::Conditions;
use crate::frame::{SEED, SuiteCase, carry_out, outcome};

/// What stands for the name of a state in an address.
const STATE: &str = "{state}";

/// A server, and how its states and their locks are addressed.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpServer {
    /// The address of the states. `{state}` in it stands for the name of one; without, the name is put behind it as a part of the path.
    pub address: String,
    /// What is put behind the address of a state to make that of its lock, such as `/lock`.
    pub lock_suffix: String,
    /// The verb of an upload.
    pub update_method: String,
    /// The verb that takes the lock.
    pub lock_method: String,
    /// The verb that releases it.
    pub unlock_method: String,
    /// The user of Basic authentication.
    pub username: Option<String>,
    /// The password of that user.
    pub password: Option<String>,
    /// More headers for each request.
    pub headers: BTreeMap<String, String>,
}

impl HttpServer {
    /// States below this address, with Terraform's own verbs, locked where they are.
    pub fn new(address: impl Into<String>) -> Self {
        let verb = str::to_owned;
        Self {
            address: address.into(),
            lock_suffix: String::new(),
            update_method: verb("POST"),
            lock_method: verb("LOCK"),
            unlock_method: verb("UNLOCK"),
            username: None,
            password: None,
            headers: BTreeMap::new(),
        }
    }

    /// The address of a state that no other run has used.
    pub fn fresh_state(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Two machines may have the same time and process.
        let name = format!("conformance-{time:x}-{}-{:08x}-{count}", std::process::id(), fastrand::u32(..));
        match self.address.contains(STATE) {
            true => self.address.replace(STATE, &name),
            false => format!("{}/{name}", self.address.trim_end_matches('/')),
        }
    }

    /// The address of the lock on the state at an address.
    pub fn lock_of(&self, state: &str) -> String {
        match state.split_once('?') {
            Some((path, query)) => format!("{path}{}?{query}", self.lock_suffix),
            None => format!("{state}{}", self.lock_suffix),
        }
    }
}

impl fmt::Debug for HttpServer {
    /// Shows neither the password nor the values of headers, nor the query of the address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address.split_once('?').map_or(self.address.as_str(), |(path, _)| path);
        f.debug_struct("HttpServer")
            .field("address", &address)
            .field("lock_suffix", &self.lock_suffix)
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// The clause that is looked at first, since it needs no write.
const READS_ONLY: &str = "P2";

/// Runs the cases, one after the other; `only` names one of them, or a clause by its code.
///
/// Each case works with states of its own, under names that no other run uses, and removes them again as far as the server lets it. If a state
/// is read where none was stored, or nothing is answered, no request is sent that changes anything.
pub fn run(server: &HttpServer, only: Option<&str>) -> HttpReport {
    let stop = may_write(server).err();
    let includes = |case: &&SuiteCase<Cx>| {
        let is_asked_for = only.is_none_or(|only| only == case.name || only == case.code);
        is_asked_for || (stop.is_some() && case.code == READS_ONLY)
    };
    let run_or_stop = |case: &'static SuiteCase<Cx>| match &stop {
        Some(why) if case.code != READS_ONLY => {
            let outcome = Outcome::NotShown(format!("nothing was sent: {why}"));
            HttpCaseReport { name: case.name, clause: *clause_of(case.code), outcome, requests: Vec::new() }
        }
        _ => run_case(server, case),
    };
    let cases = HTTP_CASES.iter().filter(includes).map(run_or_stop);
    let address = server.address.split_once('?').map_or(server.address.as_str(), |(path, _)| path);
    HttpReport { server: address.to_owned(), cases: cases.collect() }
}

fn may_write(server: &HttpServer) -> Result<(), String> {
    let cx = Cx::new(server.clone());
    wire::runtime().map_err(|error| error.to_string())?.block_on(cx.may_write())
}

fn run_case(server: &HttpServer, case: &'static SuiteCase<Cx>) -> HttpCaseReport {
    let cx = Cx::new(server.clone());
    let trace = Arc::clone(&cx.trace);
    let step = match wire::runtime() {
        Ok(runtime) => {
            let work = async move {
                let step = (case.run)(&cx).await;
                cx.tidy(step.is_err()).await;
                step
            };
            carry_out(case.name, wire::PATIENCE, move |future| runtime.block_on(future), work)
        }
        Err(error) => fail("a runtime for the case", error.to_string()),
    };
    let clause = *clause_of(case.code);
    let requests = trace.lines();
    let failure = Failure::new(case.name, clause.clause, Conditions::Calm, SEED);
    let outcome = outcome(step, Failure { calls: requests.clone(), ..failure });
    HttpCaseReport { name: case.name, clause, outcome, requests }
}
