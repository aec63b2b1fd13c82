//! What a command has done, or would do.

use std::borrow::Cow;

use groundstate_pulumi_integrity::Step;

use crate::report::differences::Difference;

/// What a command has done, or would do.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) changes: Vec<Change>,
    /// Remarks for people.
    pub(super) warnings: Vec<String>,
    /// The last line when it was done.
    pub(super) success: String,
}

/// What has been stored, or would be.
pub(super) struct Changed {
    pub(super) done: Done,
    pub(super) diff: Vec<Difference>,
    pub(super) written: bool,
}

/// One change, in words and for programs.
#[derive(Debug)]
pub(super) enum Change {
    Worded(Worded),
    /// Worded when it is printed: a repair has as many steps as the deployment has broken references.
    Step(Step),
}

/// A change with its words.
#[derive(Debug)]
pub(super) struct Worded {
    verb: &'static str,
    urn: String,
    members: Vec<(&'static str, String)>,
    done: String,
    would: String,
}

impl Change {
    /// A change with the word for programs, and the lines for people: of what was done, and of what would be.
    pub(super) fn new(verb: &'static str, urn: impl ToString, done: String, would: String) -> Self {
        Self::Worded(Worded { verb, urn: urn.to_string(), members: Vec::new(), done, would })
    }

    /// Adds a member for programs. Steps have members of their own.
    #[must_use]
    pub(super) fn member(mut self, name: &'static str, value: String) -> Self {
        if let Self::Worded(worded) = &mut self {
            worded.members.push((name, value));
        }
        self
    }

    /// The word for programs.
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Worded(worded) => worded.verb,
            Self::Step(step) => step.action.name(),
        }
    }

    /// The name of the resource; empty if the change is about none.
    pub(super) fn urn(&self) -> &str {
        match self {
            Self::Worded(worded) => &worded.urn,
            Self::Step(step) => step.urn.as_str(),
        }
    }

    /// What else there is to know, for programs.
    pub(super) fn members(&self) -> Vec<(&'static str, Cow<'_, str>)> {
        match self {
            Self::Worded(worded) => {
                worded.members.iter().map(|(name, value)| (*name, value.as_str().into())).collect()
            }
            Self::Step(step) => vec![("step", step.action.to_string().into())],
        }
    }

    /// The line of what was done.
    pub(super) fn done(&self) -> Cow<'_, str> {
        match self {
            Self::Worded(worded) => worded.done.as_str().into(),
            Self::Step(step) => format!("~ {step}").into(),
        }
    }

    /// The line of what would be done.
    pub(super) fn would(&self) -> Cow<'_, str> {
        match self {
            Self::Worded(worded) => worded.would.as_str().into(),
            Self::Step(_) => self.done(),
        }
    }
}
