//! What a run found, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use crate::cases::Case;
use crate::clause::Clause;
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

    /// The most basic clause that is broken: the first one in the order of the contract. Others may fail because of it.
    pub fn most_basic(&self) -> Option<Clause> {
        let clauses = self.cases.iter().filter_map(|case| match &case.outcome {
            Outcome::Failed(failure) => Some(failure.clause),
            _ => None,
        });
        clauses.reduce(|first, clause| if clause.comes_before(&first) { clause } else { first })
    }

    /// How many cases ended in which way.
    pub fn counts(&self) -> Counts {
        Counts::of(self.cases.iter().map(|case| &case.outcome))
    }

    /// The report as a JSON document, for programs: one object for each case.
    pub fn to_json(&self) -> String {
        let Counts { passed, failed, not_shown, not_applicable } = self.counts();
        let cases: Vec<Value> = self.cases.iter().map(CaseReport::json).collect();
        let report = json!({
            "store": self.store,
            // As text, since many readers of JSON round such numbers.
            "seed": self.seed.to_string(),
            "passed": passed,
            "failed": failed,
            "most_basic": self.most_basic().map(|clause| clause.code),
            "not_shown": not_shown,
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
        if let (Value::Object(object), Value::Object(members)) = (&mut object, members(&self.outcome)) {
            object.extend(members);
        }
        object
    }
}

/// What an outcome is in JSON.
pub(crate) fn members(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Passed => json!({"outcome": "passed"}),
        Outcome::NotShown(why) => json!({"outcome": "not_shown", "why": why}),
        Outcome::NotApplicable(why) => json!({"outcome": "not_applicable", "why": why}),
        Outcome::Failed(failure) => json!({
            "outcome": "failed",
            "broken_clause": failure.clause.code,
            "expected": failure.expected,
            "seen": failure.seen,
            "next_step": failure.hint,
            "calls": failure.calls,
        }),
    }
}

/// An outcome in a word.
pub(crate) fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "FAILED",
        Outcome::NotShown(_) => "unseen",
        Outcome::NotApplicable(_) => "n/a",
    }
}

/// What follows the name of a case: why it shows nothing, or what failed.
pub(crate) fn details(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => String::new(),
        Outcome::NotShown(why) | Outcome::NotApplicable(why) => format!(": {why}"),
        Outcome::Failed(failure) => {
            failure.to_string().lines().skip(1).map(|line| format!("\n    {line}")).collect()
        }
    }
}

impl fmt::Display for CaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, conditions, outcome } = self;
        let (word, details) = (word(outcome), details(outcome));
        write!(f, "{word:<6} {:<2} {conditions:<7} {}{details}", case.code, case.name)
    }
}

/// How many cases ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Everything was as the clauses say.
    pub passed: usize,
    /// Something was not.
    pub failed: usize,
    /// The store claims what this harness cannot show.
    pub not_shown: usize,
    /// The clause does not concern the store, or needs help of the harness.
    pub not_applicable: usize,
}

impl Counts {
    /// Counts outcomes.
    pub(crate) fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Passed => counts.passed += 1,
                Outcome::Failed(_) => counts.failed += 1,
                Outcome::NotShown(_) => counts.not_shown += 1,
                Outcome::NotApplicable(_) => counts.not_applicable += 1,
            }
        }
        counts
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, not_shown, not_applicable } = self;
        write!(f, "{passed} passed, {failed} failed, {not_shown} not shown, {not_applicable} not applicable")
    }
}

impl Report {
    /// The line that is read first: where a failed run has to be looked at.
    fn headline(&self) -> Option<String> {
        let first = self.most_basic()?;
        let others = self.failures().filter(|case| match &case.outcome {
            Outcome::Failed(failure) => failure.clause != first,
            _ => false,
        });
        Some(match others.count() {
            0 => format!("{first} is broken"),
            1 => format!("{first} is broken; 1 other may follow from it"),
            others => format!("{first} is broken; {others} others may follow from it"),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(headline) = self.headline() {
            writeln!(f, "{headline}\n")?;
        }
        self.cases.iter().try_for_each(|case| writeln!(f, "{case}"))?;
        write!(f, "{}: {} (seed {})", self.store, self.counts(), self.seed)
    }
}
