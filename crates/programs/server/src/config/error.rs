//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

use groundstate_common::one_line;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The option has its default.
    Default,
    /// A file; line and column count from 1, the column in characters.
    File {
        /// The file.
        path: PathBuf,
        /// The line of the value.
        line: usize,
        /// The column of the value.
        column: usize,
    },
    /// A variable of the environment.
    Variable(String),
    /// An argument of the command line, such as `--listen`.
    Argument(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => {
                write!(f, "{}:{line}:{column}", one_line(&path.display().to_string()))
            }
            Self::Variable(name) | Self::Argument(name) => f.write_str(&one_line(name)),
        }
    }
}

/// One thing that is wrong. The text names the place, never the value, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is; none for what is missing, or concerns several options.
    pub origin: Option<Origin>,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do, if the message does not say it.
    pub hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(origin: impl Into<Option<Origin>>, message: impl Into<String>) -> Self {
        Self {
            origin: origin.into().filter(|origin| *origin != Origin::Default),
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Some(origin) => write!(f, "{origin}: {}", one_line(&self.message)),
            None => f.write_str(&one_line(&self.message)),
        }
    }
}

/// Why there is no configuration: everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(Vec<Problem>);

impl ConfigError {
    pub(crate) fn of(problem: Problem) -> Self {
        Self(vec![problem])
    }

    /// Nothing, if there are no problems.
    pub(crate) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    /// Everything that is wrong, at least one thing.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut problems = self.0.iter();
        if let Some(first) = problems.next() {
            first.fmt(f)?;
        }
        problems.try_for_each(|problem| write!(f, "; {problem}"))
    }
}

impl std::error::Error for ConfigError {}
