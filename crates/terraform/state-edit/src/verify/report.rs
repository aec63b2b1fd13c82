//! What a check gives.

use super::facts::Facts;
use super::finding::Finding;
use groundstate_common::Severity;
use groundstate_statefile::Dialect;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What was found, in the order of places, then of codes.
    pub findings: Vec<Finding>,
    /// The format version, if it is known.
    pub version: Option<u64>,
    /// Whose rules the file follows, if it can be read.
    pub dialect: Option<Dialect>,
    /// Whether the file can be read as it stands.
    pub readable: bool,
    /// How many entries `resources` has; of a damaged file, those before the damage.
    pub resources: usize,
    /// How many instance objects there are, deposed ones included.
    pub objects: usize,
    /// How many outputs there are.
    pub outputs: usize,
}

impl Report {
    pub(super) fn new(findings: Vec<Finding>) -> Self {
        Self { findings, version: None, dialect: None, readable: false, resources: 0, objects: 0, outputs: 0 }
    }

    pub(super) fn count(&mut self, facts: &Facts) {
        self.resources = facts.resources.len();
        self.objects = facts.objects.len();
        self.outputs = facts.outputs;
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many findings are of this severity.
    #[must_use]
    pub fn of_severity(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The highest severity of the findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
