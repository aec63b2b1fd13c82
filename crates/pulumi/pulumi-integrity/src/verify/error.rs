//! The error of snapshots that cannot be used.

use std::sync::Arc;

use groundstate_pulumi_snapshot::{IntegrityErrorMetadata, Snapshot};

use super::{VerifyOptions, verify};

/// What was done when a broken snapshot was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntegrityOperation {
    /// It was about to be written.
    #[default]
    Write,
    /// It was read.
    Read,
}

/// A snapshot that cannot be used. The text is Pulumi's.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
#[non_exhaustive]
pub struct IntegrityError {
    /// What is wrong.
    pub text: String,
    /// What was being done.
    pub operation: IntegrityOperation,
    /// The stack, if the caller knows it.
    pub stack: Option<Arc<str>>,
    /// What the snapshot says of an error it was written with.
    pub metadata: Option<Box<IntegrityErrorMetadata>>,
    /// Why an attempt to repair it failed, if there was one.
    pub repair: Option<String>,
}

impl IntegrityError {
    /// Makes sure that a snapshot can be used: that [`verify`] finds no error.
    ///
    /// # Errors
    ///
    /// The first error, in Pulumi's words.
    pub fn check(snapshot: &Snapshot, operation: IntegrityOperation) -> Result<(), Self> {
        let report = verify(snapshot, &VerifyOptions::default().first_error(true));
        if report.is_valid() {
            return Ok(());
        }
        // No more is kept than the first error and what Pulumi stops at before it.
        let first = report.findings.into_iter().next();
        let text = first.map(|finding| finding.original.unwrap_or(finding.message)).unwrap_or_default();
        let metadata = match operation {
            IntegrityOperation::Read => snapshot.metadata.integrity_error.clone().map(Box::new),
            IntegrityOperation::Write => None,
        };
        Err(Self { text, operation, metadata, stack: None, repair: None })
    }

    /// Records in the snapshot that it is about to be written although it is broken, and by which command; removes
    /// the record of one that is sound.
    ///
    /// # Examples
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::Snapshot;
    /// use groundstate_pulumi_integrity::IntegrityError;
    ///
    /// let mut snapshot = Snapshot::default();
    /// assert!(!IntegrityError::record(&mut snapshot, "mytool edit"));
    /// assert_eq!(snapshot.metadata.integrity_error, None);
    /// ```
    pub fn record(snapshot: &mut Snapshot, command: &str) -> bool {
        let broken = Self::check(snapshot, IntegrityOperation::Write).err();
        let is_broken = broken.is_some();
        snapshot.metadata.integrity_error = broken.map(|error| IntegrityErrorMetadata {
            // That of the schema, as Pulumi writes it; the tool stands in the command.
            version: if snapshot.features().is_empty() { "3" } else { "4" }.into(),
            command: command.into(),
            error: error.text.into(),
            ..IntegrityErrorMetadata::default()
        });
        is_broken
    }

    /// What commands say that refuse to go on with a snapshot they have read.
    pub fn refusal(&self) -> String {
        format!("snapshot integrity failure; refusing to use it: {self}")
    }
}
