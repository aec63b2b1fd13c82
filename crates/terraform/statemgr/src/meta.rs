//! Metadata of snapshots, how two of them relate, and whether one may replace the other.

use groundstate_statefile::{File, WriterVersion, encode_equally};
use groundstate_states::{Lineage, Serial};

use crate::Op;
use crate::error::{Error, ErrorKind};

/// Which snapshot of which chain it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotMeta {
    /// The chain.
    pub lineage: Lineage,
    /// The place in it.
    pub serial: Serial,
    /// The release that counts as its writer.
    pub terraform_version: Option<WriterVersion>,
}

/// How one snapshot relates to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// One of them has no lineage, so nothing can be said.
    Legacy,
    /// They belong to different chains.
    Unrelated,
    /// It comes later in the chain.
    Newer,
    /// It comes earlier in the chain.
    Older,
    /// They have the same place in the chain.
    Equal,
}

impl SnapshotMeta {
    /// The metadata of a file.
    pub fn of(file: &File) -> Self {
        Self {
            lineage: file.lineage.clone(),
            serial: file.serial,
            terraform_version: file.terraform_version.clone(),
        }
    }

    /// How this snapshot relates to `existing`.
    pub fn compare(&self, existing: &Self) -> Relation {
        if self.lineage.is_empty() || existing.lineage.is_empty() {
            Relation::Legacy
        } else if self.lineage != existing.lineage {
            Relation::Unrelated
        } else if self.serial > existing.serial {
            Relation::Newer
        } else if self.serial < existing.serial {
            Relation::Older
        } else {
            Relation::Equal
        }
    }
}

/// Why a snapshot must not replace another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// They belong to different chains.
    #[error(
        "a state of lineage {new:?} cannot replace one of the unrelated lineage {existing:?}, force it if that is meant"
    )]
    Lineage {
        /// The lineage of the new one.
        new: String,
        /// The lineage of the existing one.
        existing: String,
    },
    /// They have the same serial and are different states.
    #[error(
        "both states have the same serial, {serial}, and they differ, so neither is newer; refresh, or force it if that is meant"
    )]
    SameSerial {
        /// The serial of both.
        serial: u64,
    },
    /// The new one is older.
    #[error(
        "a state of serial {new} cannot replace the newer one of serial {existing}, force it if that is meant"
    )]
    Older {
        /// The serial of the new one.
        new: u64,
        /// The serial of the existing one.
        existing: u64,
    },
}

/// Whether `new` may replace `existing` without force.
///
/// An absent or empty state may be replaced by any.
///
/// # Errors
///
/// When the lineages differ, when `new` is older, and when it has the same serial and other content.
pub fn check_valid_import(new: &File, existing: Option<&File>) -> Result<(), ImportError> {
    let Some(existing) = existing.filter(|file| !file.state.is_empty()) else {
        return Ok(());
    };
    match SnapshotMeta::of(new).compare(&SnapshotMeta::of(existing)) {
        Relation::Newer | Relation::Legacy => Ok(()),
        Relation::Equal if encode_equally(&new.state, &existing.state) => Ok(()),
        Relation::Equal => Err(ImportError::SameSerial { serial: new.serial.get() }),
        Relation::Older => Err(ImportError::Older { new: new.serial.get(), existing: existing.serial.get() }),
        Relation::Unrelated => {
            Err(ImportError::Lineage { new: new.lineage.to_string(), existing: existing.lineage.to_string() })
        }
    }
}

impl ImportError {
    /// The error of a manager at `target`.
    pub(crate) fn at(self, target: impl std::fmt::Display) -> Error {
        let kind = match self {
            Self::Lineage { .. } => ErrorKind::LineageMismatch,
            Self::SameSerial { .. } | Self::Older { .. } => ErrorKind::Conflict,
        };
        Error::new(kind, Op::Import, target).because(self.to_string())
    }
}
