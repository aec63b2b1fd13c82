//! Runs a case of any of the suites, and says how it ended.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::clause::Clause;
use crate::executor::BoxFuture;
use crate::failure::{Failure, Outcome, Step, Stop, fail, failed};
use crate::fault::Conditions;

/// The seed of a run unless one is chosen.
pub(crate) const SEED: u64 = 0x6707_57a7_e0c0_ffee;
/// How long a case of blobs or journals may take. Those of services are slow on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(600);

/// A case of blobs or journals: something that every store of the contract does.
pub(crate) struct SuiteCase<C: 'static> {
    /// Its name, which begins with that of its clause.
    pub(crate) name: &'static str,
    /// The code of its clause, such as `A1`; clauses of blobs have names alone.
    pub(crate) code: &'static str,
    pub(crate) run: for<'a> fn(&'a C) -> BoxFuture<'a, Step>,
}

/// The table of a suite's cases: code, name and function of each.
macro_rules! cases {
    ($(#[$doc:meta])+ $table:ident: $cx:ty; $($code:ident $name:ident $run:path,)+) => {
        $(#[$doc])+
        pub(crate) static $table: &[$crate::frame::SuiteCase<$cx>] = &[$($crate::frame::SuiteCase {
            name: stringify!($name),
            code: stringify!($code),
            run: |cx| Box::pin($run(cx)),
        }),+];
    };
}
pub(crate) use cases;

impl<C: Send + Sync> SuiteCase<C> {
    /// The case of this name.
    pub(crate) fn find(cases: &'static [Self], name: &str) -> Result<&'static Self, String> {
        cases.iter().find(|case| case.name == name).ok_or_else(|| format!("there is no case {name:?}"))
    }

    /// Runs the case with what it works with, in `block_on`.
    pub(crate) fn carry_out(
        &'static self,
        cases: &'static [Self],
        seed: u64,
        block_on: impl FnOnce(BoxFuture<'_, ()>) + Send + 'static,
        cx: impl Future<Output = Step<C>> + Send + 'static,
    ) -> Outcome {
        let step = carry_out(self.name, PATIENCE, block_on, async move { (self.run)(&cx.await?).await });
        // The first case of a clause has its name.
        let first = cases.iter().find(|case| case.code == self.code).unwrap_or(self);
        let clause = Clause { code: self.code, name: first.name, advice: "" };
        outcome(step, Failure::new(self.name, clause, Conditions::Calm, seed))
    }
}

/// Runs a case on a thread of its own, so that a store that panics or hangs fails the case and nothing else. One that hangs
/// keeps its thread.
pub(crate) fn carry_out(
    name: &str,
    timeout: Duration,
    block_on: impl FnOnce(BoxFuture<'_, ()>) + Send + 'static,
    case: impl Future<Output = Step> + Send + 'static,
) -> Step {
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let step = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&step);
        block_on(Box::pin(async move {
            let outcome = case.await;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        }));
        let outcome = step.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The caller stopped waiting when it took too long.
        sender.send(outcome).unwrap_or_default();
    };
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    match spawned.map(|_| receiver.recv_timeout(timeout)) {
        Ok(Ok(Some(step))) => step,
        Ok(Ok(None)) => {
            Err(failed("the harness runs futures to their ends", "`Harness::block_on` returned early")
                .hint(Some("mend the harness: `block_on` returns when the future is ready, not before")))
        }
        Ok(Err(RecvTimeoutError::Timeout)) => {
            let expected = format!("the case ends within {timeout:?}");
            let hint = "the last of the calls below has no answer: look for a wait that nothing ends, in it";
            Err(failed(expected, "it still waits for something").hint(Some(hint)))
        }
        Ok(Err(RecvTimeoutError::Disconnected)) => {
            Err(failed("the calls of the store return", "one panicked")
                .hint(Some("find the panic's message above: a store answers with an error instead")))
        }
        Err(error) => fail("a thread for the case", error.to_string()),
    }
}

/// How a case ended; `failure` is what is known of it beforehand.
pub(crate) fn outcome(step: Step, failure: Failure) -> Outcome {
    match step {
        Ok(()) => Outcome::Passed,
        Err(Stop::NotApplicable(why)) => Outcome::NotApplicable(why),
        Err(Stop::NotShown(why)) => Outcome::NotShown(why),
        Err(Stop::Failed { expected, seen, clause, hint }) => {
            let clause = clause.and_then(Clause::find).copied().unwrap_or(failure.clause);
            let hint = hint.unwrap_or_else(|| clause.advice.to_owned());
            Outcome::Failed(Box::new(Failure { clause, expected, seen, hint, ..failure }))
        }
    }
}

/// The outcome for a test: why the case shows nothing, if it does not.
pub(crate) fn checked(outcome: Outcome) -> Result<Option<String>, Box<dyn std::error::Error>> {
    match outcome {
        Outcome::Passed => Ok(None),
        Outcome::NotShown(why) => Ok(Some(format!("not shown: {why}"))),
        Outcome::NotApplicable(why) => Ok(Some(format!("not applicable: {why}"))),
        Outcome::Failed(failure) => Err(failure),
    }
}
