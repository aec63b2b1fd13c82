//! Results of conditions and check blocks.

use std::sync::Arc;

use crate::addr::{Checkable, ConfigCheckable};
use crate::{Extra, RawJson};

/// What conditions found in the last run.
///
/// Order is that of the file: Terraform writes results in random order, and a file that is only read and written
/// again keeps its bytes. Comparisons sort first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CheckResults {
    /// One aggregate for each checkable object of the configuration.
    pub aggregates: Vec<CheckAggregate>,
    /// Elements of a kind no known release writes, as they were read.
    pub opaque: Vec<RawJson>,
}

/// Results of one checkable object of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CheckAggregate {
    /// What was checked.
    pub addr: ConfigCheckable,
    /// The worst status of its objects.
    pub status: CheckStatus,
    /// Results for each instance.
    pub objects: Vec<CheckObject>,
    /// Members that are not understood.
    pub extra: Extra,
}

impl CheckAggregate {
    /// Whether it is known which instances there are. An unknown status without objects means that the configuration
    /// was never expanded; any other status without objects, that there are none.
    #[must_use]
    pub fn objects_known(&self) -> bool {
        let unknown = matches!(self.status, CheckStatus::Unknown | CheckStatus::Unrecognized(_));
        !self.objects.is_empty() || !unknown
    }
}

/// Results of one instance of a checkable object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CheckObject {
    /// Which instance.
    pub addr: Checkable,
    /// Its status.
    pub status: CheckStatus,
    /// Messages of conditions that failed.
    pub failure_messages: Vec<Arc<str>>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// The outcome of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckStatus {
    /// Not known.
    #[default]
    Unknown,
    /// All conditions held.
    Pass,
    /// A condition did not hold.
    Fail,
    /// A condition could not be evaluated.
    Error,
    /// A text no known release writes; counts as unknown and keeps its spelling.
    Unrecognized(Arc<str>),
}

impl CheckStatus {
    /// The spelling that state files have for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unknown => "unknown",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Unrecognized(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::{CheckableKind, Module};

    #[test]
    fn a_known_status_without_objects_means_there_are_none() {
        let addr =
            ConfigCheckable::Named { kind: CheckableKind::Check, module: Module::root(), name: "x".into() };
        let aggregate =
            |status| CheckAggregate { addr: addr.clone(), status, objects: Vec::new(), extra: Extra::new() };
        for (status, known) in [
            (CheckStatus::Unknown, false),
            (CheckStatus::Unrecognized("later".into()), false),
            (CheckStatus::Pass, true),
            (CheckStatus::Fail, true),
            (CheckStatus::Error, true),
        ] {
            assert_eq!(aggregate(status.clone()).objects_known(), known, "{status:?}");
        }
    }
}
