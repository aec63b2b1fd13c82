//! What the checks report.

use std::fmt;

use crate::outcome::{Failure, Outcome};

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file or folder, from the root of the workspace.
    pub(crate) path: String,
    /// The line, counted from 1, or 0 for the file as a whole.
    pub(crate) line: usize,
    /// The name of the rule.
    pub(crate) rule: &'static str,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Finding {
    /// A finding about a whole file or folder.
    pub(crate) fn new(path: &str, rule: &'static str, message: impl Into<String>) -> Self {
        Self::at(path, 0, rule, message)
    }

    /// A finding at a line.
    pub(crate) fn at(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {} [{}]", self.message, self.rule)
    }
}

/// Prints the findings in order; fails when there are any.
pub(crate) fn report(command: &str, mut findings: Vec<Finding>) -> Outcome {
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("{command}: nothing found");
            Ok(())
        }
        count => Err(Failure::Check(format!("{command}: {count} found"))),
    }
}
