//! The deployment that a journal leads to, and what there is to say about it.

use groundstate_common::Severity;
use groundstate_pulumi_deployment::{DeploymentFile, EncodeOptions, encode};
use groundstate_pulumi_integrity::{Finding, IntegrityError, VerifyOptions, verify};
use groundstate_pulumi_journal::Replayer;
use groundstate_pulumi_snapshot::Feature;

use super::input::Journal;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::messages::Messages;
use crate::report::text::count;

/// Findings that are printed one by one; the rest is counted.
const MAX_PRINTED: usize = 20;

/// What a journal leads to.
#[derive(Debug)]
pub(super) struct Led {
    pub(super) file: DeploymentFile,
    /// What is wrong with it.
    pub(super) errors: Vec<Finding>,
    pub(super) remarks: Vec<String>,
    /// How many operations have begun and not ended.
    pub(super) open: usize,
}

impl Led {
    /// Replays everything. Whether the result is broken is recorded in it, as written by `command`.
    pub(super) fn to(journal: &Journal, command: &str) -> Result<Self> {
        let mut replayer = journal.applied()?;
        let open = replayer.open().filter(|(_, operation)| operation.is_some()).count();
        Self::by(journal, &mut replayer, open, command)
    }

    fn by(journal: &Journal, replayer: &mut Replayer, open: usize, command: &str) -> Result<Self> {
        let base = journal.needs_base()?;
        let manifest = base.snapshot.as_ref().map(|snapshot| snapshot.manifest.clone()).unwrap_or_default();
        let replayed = replayer.snapshot(manifest).map_err(|error| journal.refused(&error))?;
        let mut snapshot = replayed.snapshot;
        let command = format!("groundstate {} {command}", env!("CARGO_PKG_VERSION"));
        IntegrityError::record(&mut snapshot, &command);
        let report = verify(&snapshot, &VerifyOptions::default());
        let errors = report.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
        let mut file = base.clone();
        file.snapshot = Some(snapshot);
        if replayed.has_byte_string {
            file.features.insert(Feature::ByteString);
        }
        let remarks = replayed.remarks.iter().map(ToString::to_string).chain(journal.torn.clone());
        Ok(Self { file, errors: errors.collect(), remarks: remarks.collect(), open })
    }

    /// The text of the deployment.
    pub(super) fn text(&self, name: &str) -> Result<Vec<u8>> {
        encode(&self.file, &EncodeOptions::default()).map_err(|error| {
            let message = format!("what {name} leads to cannot be written: {}", chain(&error));
            Failure::new(Kind::Unusable, message)
        })
    }

    /// Says on standard error what people have to know, and whether there is anything.
    pub(super) fn report(&self, name: &str) -> Outcome {
        let mut messages = Messages::stderr();
        for remark in &self.remarks {
            messages.warning(remark);
        }
        if self.open > 0 {
            let (have, are) = if self.open == 1 { ("has", "is") } else { ("have", "are") };
            let operations = count(self.open, "operation");
            messages.note(&format!(
                "{operations} of {name} {have} begun and not ended, and {are} pending in the result"
            ));
        }
        for finding in self.errors.iter().take(MAX_PRINTED) {
            messages.warning(&format!("the result is broken: {} [{}]", finding.message, finding.rule.id()));
        }
        if let Some(more @ 1..) = self.errors.len().checked_sub(MAX_PRINTED) {
            messages.warning(&format!("{more} more things are wrong with the result"));
        }
        if self.errors.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) }
    }
}
