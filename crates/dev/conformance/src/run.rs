//! Running one case, or all of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cases::{CASES, Case, refusals};
use crate::clause::Clause;
use crate::cx::Cx;
use crate::failure::{Answer, Failure, Outcome, Step, Stop};
use crate::fault::Conditions;
use crate::frame::{SEED, carry_out, checked, outcome};
use crate::harness::Harness;
use crate::peer::{Role, role};
use crate::report::{CaseReport, Report};
use crate::trace::Trace;

/// The environment variable that has the seed of a run: a number. The macro's tests read it.
pub const SEED_VARIABLE: &str = "GROUNDSTATE_CONFORMANCE_SEED";

/// Which cases to run, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Decides the order of concurrent calls and where faults are.
    pub seed: u64,
    /// Under which conditions to run each case.
    pub conditions: Vec<Conditions>,
    /// Only cases whose name, or whose clause's code, is this; all when absent.
    pub only: Option<String>,
    /// The arguments that start this program again so that it comes to [`run`] on the same harness: it is the second process
    /// then, for stores that claim to exclude other processes. Without them their claim fails.
    pub restart: Option<Vec<OsString>>,
}

impl Default for Settings {
    /// Every case under all conditions, with a seed that is always the same.
    fn default() -> Self {
        Self { seed: SEED, conditions: Conditions::ALL.to_vec(), only: None, restart: None }
    }
}

impl Settings {
    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the conditions.
    #[must_use]
    pub fn conditions(mut self, conditions: impl Into<Vec<Conditions>>) -> Self {
        self.conditions = conditions.into();
        self
    }

    /// Runs only the case of this name, or the cases of the clause of this code.
    #[must_use]
    pub fn only(mut self, name_or_code: impl Into<String>) -> Self {
        self.only = Some(name_or_code.into());
        self
    }

    /// Sets the arguments that start this program again.
    #[must_use]
    pub fn restart<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.restart = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    /// The same for a `#[test]` function that calls [`run`]: its name, and `module_path!()` of the module that has it.
    #[must_use]
    pub fn restart_test(self, module: &str, test: &str) -> Self {
        self.restart(arguments_of_test(module, test))
    }

    fn includes(&self, case: &Case) -> bool {
        self.only.as_deref().is_none_or(|only| only == case.name || only == case.code)
    }
}

/// Runs the cases that the settings choose, one after the other.
///
/// ```
/// use std::sync::Arc;
/// use groundstate_conformance::{Conditions, MemoryHarness, Settings, run};
///
/// let settings = Settings::default().conditions([Conditions::Calm]).only("W5");
/// let report = run(Arc::new(MemoryHarness::new()), &settings);
/// assert!(report.is_success(), "{report}");
/// ```
///
/// In the second process of a run (see [`Settings::restart`]) it serves the first one and ends the process.
pub fn run(harness: Arc<dyn Harness>, settings: &Settings) -> Report {
    let mut cases = Vec::new();
    let chosen = match role(&harness) {
        Role::Suite => settings.conditions.as_slice(),
        Role::OtherPeer => &[],
    };
    for &conditions in chosen {
        for case in CASES.iter().filter(|case| settings.includes(case)) {
            let outcome = once(&harness, case, conditions, settings.seed, settings.restart.clone());
            cases.push(CaseReport { case, conditions, outcome });
        }
    }
    Report { store: harness.name(), seed: settings.seed, cases }
}

/// Runs one case.
///
/// The case runs on a thread of its own, so that a store that panics or hangs fails the case and nothing else. One that
/// hangs keeps its thread. No second process is started, which is what [`run`] does with [`Settings::restart`].
pub fn run_case(
    harness: &Arc<dyn Harness>,
    case: &'static Case,
    conditions: Conditions,
    seed: u64,
) -> Outcome {
    once(harness, case, conditions, seed, None)
}

fn once(
    harness: &Arc<dyn Harness>,
    case: &'static Case,
    conditions: Conditions,
    seed: u64,
    restart: Option<Vec<OsString>>,
) -> Outcome {
    let trace = Arc::new(Trace::default());
    let run = attempt(Arc::clone(harness), case, conditions, seed, Arc::clone(&trace), restart);
    let (executor, timeout) = (Arc::clone(harness), harness.timeout());
    let step = carry_out(case.name, timeout, move |future| executor.block_on(future), run);
    let failure = Failure::new(case.name, *case.clause(), conditions, seed);
    outcome(step, Failure { calls: trace.lines(), ..failure })
}

async fn attempt(
    harness: Arc<dyn Harness>,
    case: &'static Case,
    conditions: Conditions,
    seed: u64,
    trace: Arc<Trace>,
    restart: Option<Vec<OsString>>,
) -> Step {
    let place = harness.store().await.succeeds("making a place")?;
    let capabilities = place.open().await.succeeds("opening a client")?.capabilities();
    let cx = Cx {
        harness,
        place,
        capabilities,
        conditions,
        seed,
        case: case.name,
        restart,
        trace,
        serials: AtomicU64::new(0),
        opened: AtomicUsize::new(0),
    };
    let missing = capabilities.missing(&case.needs);
    if missing.is_empty() {
        return (case.run)(&cx).await;
    }
    // What is absent is tested too: the store has to say so.
    refusals(&cx, &missing).await?;
    let missing = missing.join(" and ");
    Err(Stop::NotApplicable(format!("the store has no {missing}, and says so when asked for it (C1)")))
}

/// Runs the case of this name for a test of the module, which has the test under the same name: gives why the case shows nothing,
/// if it does not.
///
/// The tests that [`suite!`](crate::suite) makes call this. The seed comes from the environment. A failure names the most basic
/// clause that is broken as well.
///
/// # Errors
///
/// The failure of the case.
pub fn check(
    harness: Arc<dyn Harness>,
    case: &str,
    conditions: Conditions,
    module: &str,
) -> Result<Option<String>, Box<dyn std::error::Error>> {
    if let Role::OtherPeer = role(&harness) {
        return Ok(None);
    }
    let seed = match std::env::var(SEED_VARIABLE) {
        Ok(text) => text.parse().map_err(|_| format!("{SEED_VARIABLE} is not a number: {text:?}"))?,
        Err(_) => SEED,
    };
    let case = Case::find(case).ok_or_else(|| format!("there is no case {case:?}"))?;
    let restart = Some(arguments_of_test(module, case.name));
    let mut outcome = once(&harness, case, conditions, seed, restart);
    if let Outcome::Failed(failure) = &mut outcome {
        failure.more_basic = most_basic(&harness, seed).filter(|first| first.comes_before(&failure.clause));
    }
    checked(outcome)
}

/// The arguments that have a program of tests run one test, as it is called there: without the crate.
fn arguments_of_test(module: &str, test: &str) -> Vec<OsString> {
    let name = match module.split_once("::") {
        Some((_, module)) => format!("{module}::{test}"),
        None => test.to_owned(),
    };
    vec![name.into(), "--exact".into(), "--nocapture".into()]
}

/// The first clause that a calm run finds broken. It is looked for once, however many tests of the harness fail.
fn most_basic(harness: &Arc<dyn Harness>, seed: u64) -> Option<Clause> {
    static KNOWN: Mutex<BTreeMap<String, Option<Clause>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(harness.name()).or_insert_with(|| {
        let of_stores = CASES.iter().filter(|case| case.clause().is_of_stores());
        let mut outcomes = of_stores.map(|case| run_case(harness, case, Conditions::Calm, seed));
        outcomes.find_map(|outcome| match outcome {
            Outcome::Failed(failure) => Some(failure.clause),
            _ => None,
        })
    })
}
