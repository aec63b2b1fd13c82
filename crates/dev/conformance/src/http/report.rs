//! What a run found, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use crate::clause::Clause;
use crate::failure::Outcome;
use crate::report::{Counts, members, word};

/// The outcomes of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpReport {
    /// Where the server is, without credentials.
    pub server: String,
    /// The cases in the order in which they ran.
    pub cases: Vec<HttpCaseReport>,
}

/// The outcome of one case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpCaseReport {
    /// The name of the case.
    pub name: &'static str,
    /// The clause that it is about.
    pub clause: Clause,
    /// How it ended.
    pub outcome: Outcome,
}

impl HttpReport {
    /// Whether cases have run, and none of them failed.
    pub fn is_success(&self) -> bool {
        !self.cases.is_empty() && self.most_basic().is_none()
    }

    /// The most basic clause that is broken. Others may fail because of it.
    pub fn most_basic(&self) -> Option<Clause> {
        let is_failed = |case: &&HttpCaseReport| matches!(case.outcome, Outcome::Failed(_));
        // The cases are in the order of the clauses.
        self.cases.iter().find(is_failed).map(|case| case.clause)
    }

    /// How many cases ended in which way.
    pub fn counts(&self) -> Counts {
        Counts::of(self.cases.iter().map(|case| &case.outcome))
    }

    /// The report as a JSON document, for programs: one object for each case.
    pub fn to_json(&self) -> String {
        let Counts { passed, failed, not_applicable, .. } = self.counts();
        let cases = self.cases.iter().map(|case| {
            let mut object = json!({"case": case.name, "clause": case.clause.code});
            if let (Value::Object(object), Value::Object(members)) = (&mut object, members(&case.outcome)) {
                object.extend(members);
            }
            object
        });
        let report = json!({
            "server": self.server,
            "passed": passed,
            "failed": failed,
            "most_basic": self.most_basic().map(|clause| clause.code),
            "not_applicable": not_applicable,
            "cases": cases.collect::<Vec<_>>(),
        });
        format!("{report:#}")
    }
}

impl fmt::Display for HttpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = self.most_basic() {
            writeln!(f, "{first} is broken\n")?;
        }
        for HttpCaseReport { name, clause, outcome } in &self.cases {
            writeln!(f, "{:<6} {:<3} {name}{}", word(outcome), clause.code, crate::report::details(outcome))?;
        }
        write!(f, "{}: {}", self.server, self.counts())
    }
}
