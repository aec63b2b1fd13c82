//! `groundstate check`: the rules of Pulumi's snapshots.

use groundstate_common::Severity;
use groundstate_deploymentfile::{DecodeOptions, ReadError, decode};
use groundstate_integrity::{VerifyOptions, verify};

use super::load::{envelope, faults, snapshot};
use super::locate::locate;
use crate::commands::check::{Checked, Found};
use crate::error::Result;
use crate::source::Source;

/// Checks one file. What cannot be read is a finding too.
pub(crate) fn check(source: &Source, text: &[u8]) -> Result<Checked> {
    let checked = Checked::new(&source.name, source.family);
    let file = match decode(text, &DecodeOptions::default()) {
        Ok(file) => file,
        Err(error) => return Ok(Checked { findings: unreadable(&error), ..checked }),
    };
    let snapshot = snapshot(&file);
    let report = verify(&snapshot, &VerifyOptions::default());
    let places = locate(text, report.findings.iter().map(|finding| finding.path.as_str()));
    let found = report.findings.into_iter().zip(places).map(|(finding, place)| Found {
        code: Some(finding.rule.id()),
        severity: finding.severity,
        title: finding.rule.title().to_owned(),
        message: finding.message,
        help: Some(finding.help.to_owned()),
        address: finding.urn.map(|urn| urn.to_string()),
        original: finding.original,
        place: Some(place),
    });
    Ok(Checked {
        readable: true,
        version: Some(file.style.source_version.to_string()),
        manner: Some(("envelope", envelope(&file))),
        counts: vec![
            ("resources", snapshot.resources.len()),
            ("pending_operations", snapshot.pending_operations.len()),
        ],
        findings: found.collect(),
        ..checked
    })
}

fn unreadable(error: &ReadError) -> Vec<Found> {
    let found = faults(error).into_iter().map(|fault| Found {
        code: fault.code,
        severity: Severity::Error,
        title: fault.title,
        message: fault.detail,
        help: fault.help.map(str::to_owned),
        address: fault.urn,
        original: None,
        place: Some(fault.place),
    });
    found.collect()
}
