//! Running one case, or all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use crate::cases::{CASES, Case, refusals};
use crate::cx::Cx;
use crate::failure::{Answer, Failure, Outcome, Step, Stop};
use crate::fault::Conditions;
use crate::frame::{SEED, carry_out, checked, outcome};
use crate::harness::Harness;
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
}

impl Default for Settings {
    /// Every case under all conditions, with a seed that is always the same.
    fn default() -> Self {
        Self { seed: SEED, conditions: Conditions::ALL.to_vec(), only: None }
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
pub fn run(harness: Arc<dyn Harness>, settings: &Settings) -> Report {
    let mut cases = Vec::new();
    for &conditions in &settings.conditions {
        for case in CASES.iter().filter(|case| settings.includes(case)) {
            let outcome = run_case(&harness, case, conditions, settings.seed);
            cases.push(CaseReport { case, conditions, outcome });
        }
    }
    Report { store: harness.name(), seed: settings.seed, cases }
}

/// Runs one case.
///
/// The case runs on a thread of its own, so that a store that panics or hangs fails the case and nothing else. One that
/// hangs keeps its thread.
pub fn run_case(
    harness: &Arc<dyn Harness>,
    case: &'static Case,
    conditions: Conditions,
    seed: u64,
) -> Outcome {
    let trace = Arc::new(Trace::default());
    let run = attempt(Arc::clone(harness), case, conditions, seed, Arc::clone(&trace));
    let (executor, patience) = (Arc::clone(harness), harness.patience());
    let step = carry_out(case.name, patience, move |future| executor.block_on(future), run);
    let failure = Failure::new(case.name, *case.clause(), conditions, seed);
    outcome(step, Failure { calls: trace.lines(), ..failure })
}

async fn attempt(
    harness: Arc<dyn Harness>,
    case: &'static Case,
    conditions: Conditions,
    seed: u64,
    trace: Arc<Trace>,
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

/// Runs the case of this name for a test: gives why it is not applicable, if it is not.
///
/// The tests that [`suite!`](crate::suite) makes call this. The seed comes from the environment.
///
/// # Errors
///
/// The failure of the case.
pub fn check(
    harness: Arc<dyn Harness>,
    case: &str,
    conditions: Conditions,
) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let seed = match std::env::var(SEED_VARIABLE) {
        Ok(text) => text.parse().map_err(|_| format!("{SEED_VARIABLE} is not a number: {text:?}"))?,
        Err(_) => SEED,
    };
    let case = Case::find(case).ok_or_else(|| format!("there is no case {case:?}"))?;
    checked(run_case(&harness, case, conditions, seed))
}
