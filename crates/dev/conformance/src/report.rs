//! What a run found, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use crate::cases::Case;
use crate::failure::Outcome;
use crate::fault::Conditions;

/// The outcomes of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What the harness calls the store.
    pub store: String,
    /// The seed of the run.
    pub seed: u64,
    /// The cases in the order in which they ran.
    pub cases: Vec<CaseReport>,
}

/// The outcome of one case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseReport {
    /// The case.
    pub case: &'static Case,
    /// Under which conditions it ran.
    pub conditions: Conditions,
    /// How it ended.
    pub outcome: Outcome,
}

impl Report {
    /// Whether cases have run, and none of them failed.
    pub fn is_success(&self) -> bool {
        !self.cases.is_empty() && self.failures().next().is_none()
    }

    /// The cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(_)))
    }

    /// How many cases passed, failed, and were not applicable.
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for case in &self.cases {
            match case.outcome {
                Outcome::Passed => counts.0 += 1,
                Outcome::Failed(_) => counts.1 += 1,
                Outcome::NotApplicable(_) => counts.2 += 1,
            }
        }
        counts
    }

    /// The report as a JSON document, for programs: one object for each case.
    pub fn to_json(&self) -> String {
        let (passed, failed, not_applicable) = self.counts();
        let cases: Vec<Value> = self.cases.iter().map(CaseReport::json).collect();
        let report = json!({
            "store": self.store,
            // As text, since many readers of JSON round such numbers.
            "seed": self.seed.to_string(),
            "passed": passed,
            "failed": failed,
            "not_applicable": not_applicable,
            "cases": cases,
        });
        format!("{report:#}")
    }
}

impl CaseReport {
    fn json(&self) -> Value {
        let mut object = json!({
            "case": self.case.name,
            "clause": self.case.code,
            "conditions": self.conditions.name(),
        });
        let members = match &self.outcome {
            Outcome::Passed => json!({"outcome": "passed"}),
            Outcome::NotApplicable(why) => json!({"outcome": "not_applicable", "why": why}),
            Outcome::Failed(failure) => json!({
                "outcome": "failed",
                "broken_clause": failure.clause.code,
                "expected": failure.expected,
                "seen": failure.seen,
                "next_step": failure.next_step(),
                "calls": failure.calls,
            }),
        };
        if let (Value::Object(object), Value::Object(members)) = (&mut object, members) {
            object.extend(members);
        }
        object
    }
}

impl fmt::Display for CaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, conditions, outcome } = self;
        let word = match outcome {
            Outcome::Passed => "passed",
            Outcome::Failed(_) => "FAILED",
            Outcome::NotApplicable(_) => "n/a",
        };
        write!(f, "{word:<6} {:<2} {conditions:<7} {}", case.code, case.name)?;
        match outcome {
            Outcome::Passed => Ok(()),
            Outcome::NotApplicable(why) => write!(f, ": {why}"),
            Outcome::Failed(failure) => {
                failure.to_string().lines().skip(1).try_for_each(|line| write!(f, "\n    {line}"))
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed, not_applicable) = self.counts();
        self.cases.iter().try_for_each(|case| writeln!(f, "{case}"))?;
        write!(
            f,
            "{}: {passed} passed, {failed} failed, {not_applicable} not applicable (seed {})",
            self.store, self.seed
        )
    }
}
