//! `groundstate check`: the rules of states.

use groundstate_state_edit::{VerifyOptions, verify};
use groundstate_statefile::Dialect;

use crate::input::threads::threads;
use crate::report::findings::{Checked, ShownFinding};

/// Checks one state. What cannot be read is a finding too.
pub(crate) fn check(name: &str, text: &[u8]) -> Checked {
    let report = verify(text, &VerifyOptions::default().threads(threads()));
    let findings = report.findings.into_iter().map(|finding| ShownFinding {
        code: Some(finding.rule.id()),
        severity: finding.severity,
        title: finding.rule.title().into(),
        message: finding.message,
        help: Some(finding.help),
        address: finding.address,
        original: None,
        place: finding.place,
    });
    Checked {
        readable: report.readable,
        version: report.version.map(|version| version.to_string()),
        manner: report.dialect.map(|dialect| ("dialect", Dialect::id(dialect))),
        counts: vec![
            ("resources", report.resources),
            ("objects", report.objects),
            ("outputs", report.outputs),
        ],
        findings: findings.collect(),
        ..Checked::new(name, "terraform")
    }
}
