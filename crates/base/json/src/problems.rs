//! All that is wrong with a text, whatever is written in it.

use std::fmt;

/// Several problems of one file, at least one, in the order of its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems<P>(Vec<P>);

/// A problem of which there are kinds.
pub trait Coded {
    /// The kinds.
    type Code: PartialEq;

    /// Which kind it is.
    fn code(&self) -> Self::Code;
}

impl<P> Problems<P> {
    /// These problems; none if there are none.
    pub fn new(problems: Vec<P>) -> Option<Self> {
        (!problems.is_empty()).then_some(Self(problems))
    }

    /// A single one.
    pub fn one(problem: P) -> Self {
        Self(vec![problem])
    }

    /// The problems, one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, P> {
        self.0.iter()
    }

    /// The problems as a slice, which is never empty.
    pub fn as_slice(&self) -> &[P] {
        &self.0
    }
}

impl<P: Coded> Problems<P> {
    /// Whether one of the problems has this code.
    pub fn has(&self, code: P::Code) -> bool {
        self.iter().any(|problem| problem.code() == code)
    }
}

impl<'a, P> IntoIterator for &'a Problems<P> {
    type Item = &'a P;
    type IntoIter = std::slice::Iter<'a, P>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<P: fmt::Display> fmt::Display for Problems<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_slice() {
            [one] => one.fmt(f),
            many => {
                writeln!(f, "{} problems:", many.len())?;
                many.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
            }
        }
    }
}
