//! What a run found, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use super::clauses::{HttpClause, Level};
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
    pub clause: HttpClause,
    /// How it ended.
    pub outcome: Outcome,
    /// The requests of the case and the statuses of their answers, in order.
    pub requests: Vec<String>,
}

impl HttpCaseReport {
    fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }

    fn json(&self) -> Value {
        let HttpClause { clause, level } = self.clause;
        let mut object = json!({
            "case": self.name,
            "clause": clause.code,
            "level": level.to_string(),
            "rule": clause.advice,
            "requests": self.requests,
        });
        if let (Value::Object(object), Value::Object(mut members)) = (&mut object, members(&self.outcome)) {
            // They are those of the case.
            members.remove("calls");
            object.extend(members);
        }
        object
    }
}

impl HttpReport {
    /// Whether cases have run, and none of them failed.
    pub fn is_success(&self) -> bool {
        !self.cases.is_empty() && self.most_basic().is_none()
    }

    /// Whether cases have run, and no clause of the level [`Level::Must`] is broken: whether Terraform can keep states there.
    pub fn is_reliable(&self) -> bool {
        let breaks = |case: &HttpCaseReport| case.is_failed() && case.clause.level == Level::Must;
        !self.cases.is_empty() && !self.cases.iter().any(breaks)
    }

    /// The most basic clause that is broken. Others may fail because of it.
    pub fn most_basic(&self) -> Option<HttpClause> {
        // The cases are in the order of the clauses.
        self.cases.iter().find(|case| case.is_failed()).map(|case| case.clause)
    }

    /// How many cases ended in which way.
    pub fn counts(&self) -> Counts {
        Counts::of(self.cases.iter().map(|case| &case.outcome))
    }

    /// The report as a JSON document, for programs: one object for each case.
    pub fn to_json(&self) -> String {
        let Counts { passed, failed, not_shown, not_applicable } = self.counts();
        let report = json!({
            "server": self.server,
            "reliable": self.is_reliable(),
            "passed": passed,
            "failed": failed,
            "most_basic": self.most_basic().map(|first| first.clause.code),
            "not_shown": not_shown,
            "not_applicable": not_applicable,
            "cases": self.cases.iter().map(HttpCaseReport::json).collect::<Vec<_>>(),
        });
        format!("{report:#}")
    }
}

impl fmt::Display for HttpCaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HttpClause { clause, level } = self.clause;
        writeln!(f, "{:<6} {level:<6} {:<3} {}", word(&self.outcome), clause.code, self.name)?;
        write!(f, "    rule:     {}", clause.advice)?;
        match &self.outcome {
            Outcome::Passed => {}
            Outcome::NotShown(why) | Outcome::NotApplicable(why) => write!(f, "\n    because:  {why}")?,
            Outcome::Failed(failure) => {
                write!(f, "\n    expected: {}\n    seen:     {}", failure.expected, failure.seen)?;
                if failure.hint != clause.advice {
                    write!(f, "\n    hint:     {}", failure.hint)?;
                }
            }
        }
        if !self.requests.is_empty() {
            write!(f, "\n    requests: {}", self.requests.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for HttpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(HttpClause { clause, level }) = self.most_basic() {
            writeln!(f, "{clause} is broken ({level})\n")?;
        }
        self.cases.iter().try_for_each(|case| writeln!(f, "{case}"))?;
        write!(f, "{}: {}", self.server, self.counts())
    }
}
