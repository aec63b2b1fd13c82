//! Findings, and where rules put them.

use std::fmt;

use super::rule::Rule;
use super::source::Source;
use groundstate_common::Severity;
use groundstate_json::{SourcePos, places};

/// One thing that was found in a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is about; its code is stable.
    pub rule: Rule,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence. Never holds values of attributes or outputs.
    pub message: String,
    /// What to do about it.
    pub help: &'static str,
    /// Address of the resource, instance or output it belongs to, if there is one.
    pub address: Option<String>,
    /// Where it stands; files of old formats are checked as what they upgrade to, which has no place in them.
    pub place: Option<SourcePos>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.severity, self.message)?;
        if let Some(address) = &self.address {
            write!(f, " [{address}]")?;
        }
        match &self.place {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

/// A finding whose place has not been worked out yet.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) rule: Rule,
    pub(super) message: String,
    pub(super) address: Option<String>,
    pub(super) at: At,
    pub(super) help: &'static str,
}

/// Where a draft belongs.
#[derive(Clone, Debug)]
pub(super) enum At {
    /// A byte of the checked text.
    Offset(usize),
    /// A place in the input that the reader has worked out.
    SourcePos(SourcePos),
}

impl Draft {
    pub(super) fn new(rule: Rule, offset: usize, message: impl Into<String>) -> Self {
        let help = rule.help();
        Self { rule, message: message.into(), address: None, at: At::Offset(offset), help }
    }

    /// Names what the finding belongs to.
    pub(super) fn of(self, address: impl fmt::Display) -> Self {
        Self { address: Some(address.to_string()), ..self }
    }

    fn finding(self, place: Option<SourcePos>) -> Finding {
        let Self { rule, message, address, help, .. } = self;
        Finding { rule, severity: rule.severity(), message, help, address, place }
    }
}

/// Brings the drafts into order and works out their places in `source`; without one they have none.
pub(super) fn finish(mut drafts: Vec<Draft>, source: Option<&Source<'_>>) -> Vec<Finding> {
    let in_input = |offset| source.map_or(offset, |source| source.in_input(offset));
    drafts.sort_by_cached_key(|draft| {
        let offset = match &draft.at {
            At::Offset(offset) => in_input(*offset),
            At::SourcePos(place) => place.offset,
        };
        (offset, draft.rule.number(), draft.address.clone(), draft.message.clone())
    });
    let offsets = drafts.iter().filter_map(|draft| match draft.at {
        At::Offset(offset) => Some(offset),
        At::SourcePos(_) => None,
    });
    let offsets: Vec<usize> = offsets.collect();
    let mut found = source.map(|source| places(source.text(), &offsets)).unwrap_or_default().into_iter();
    let finding = |draft: Draft| {
        let place = match &draft.at {
            At::Offset(offset) => found.next().map(|mut place| {
                place.offset = in_input(*offset);
                place
            }),
            At::SourcePos(place) => Some(place.clone()),
        };
        draft.finding(place)
    };
    let mut findings: Vec<Finding> = drafts.into_iter().map(finding).collect();
    // What is wrong with the input is often wrong with the repaired text too.
    findings.dedup();
    findings
}
