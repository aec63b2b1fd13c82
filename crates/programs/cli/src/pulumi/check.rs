//! `groundstate check`: the rules of Pulumi snapshots.

use groundstate_common::Severity;
use groundstate_json::places;
use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, NoteKind, ReadError, decode};
use groundstate_pulumi_integrity::{VerifyOptions, verify};

use super::locate::locate;
use crate::input::pulumi::{envelope, faults, snapshot};
use crate::report::findings::{Checked, ShownFinding};

/// Checks one file. What cannot be read is a finding too.
pub(crate) fn check(name: &str, text: &[u8]) -> Checked {
    let checked = Checked::new(name, "pulumi");
    let file = match decode(text, &DecodeOptions::default()) {
        Ok(file) => file,
        Err(error) => return Checked { findings: unreadable(&error), ..checked },
    };
    let snapshot = snapshot(&file);
    let report = verify(&snapshot, &VerifyOptions::default().loading(true));
    let places = locate(text, report.findings.iter().map(|finding| finding.path.as_str()));
    let found = report.findings.into_iter().zip(places).map(|(finding, place)| ShownFinding {
        code: Some(finding.rule.id()),
        severity: finding.severity,
        title: finding.rule.title().into(),
        message: finding.message,
        help: Some(finding.help),
        address: finding.urn.map(|urn| urn.to_string()),
        original: finding.original,
        place: Some(place),
    });
    Checked {
        readable: true,
        version: Some(file.style.source_version.to_string()),
        manner: Some(("envelope", envelope(&file))),
        counts: vec![
            ("resources", snapshot.resources.len()),
            ("pending_operations", snapshot.pending_operations.len()),
        ],
        findings: losses(&file, text).into_iter().chain(found).collect(),
        ..checked
    }
}

/// What the file says twice in different ways, or in a way that no writer can keep.
fn losses(file: &DeploymentFile, text: &[u8]) -> Vec<ShownFinding> {
    let lost: Vec<_> = file.notes.iter().filter(|note| note.kind == NoteKind::Lost).collect();
    let offsets: Vec<usize> = lost.iter().map(|note| note.offset).collect();
    let found = lost.iter().zip(places(text, &offsets)).map(|(note, place)| ShownFinding {
        code: Some("GS0515".to_owned()),
        severity: Severity::Warning,
        title: "content that is not kept".into(),
        message: note.message.clone(),
        help: Some("say it once: Pulumi reads the last one, and a changed file keeps no other"),
        address: None,
        original: None,
        place: Some(place),
    });
    found.collect()
}

fn unreadable(error: &ReadError) -> Vec<ShownFinding> {
    let found = faults(error).into_iter().map(|fault| ShownFinding {
        code: fault.code,
        severity: Severity::Error,
        title: fault.title.into(),
        message: fault.detail,
        help: fault.help,
        address: fault.urn,
        original: None,
        place: Some(fault.place),
    });
    found.collect()
}
