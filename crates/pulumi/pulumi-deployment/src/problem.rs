//! The error catalogue: what can be wrong with a file, each with a stable code and a place.

use std::fmt;

use groundstate_json::{Coded, SourcePos};

/// What is wrong, as a stable code.
///
/// The numbers follow the catalogue in `docs/formats/pulumi.md`; [`Code::id`] gives the printed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// Not JSON.
    Syntax = 1,
    /// The document is not an object.
    NotAnObject = 2,
    /// `version` is not a whole number.
    VersionType = 3,
    /// Nothing in the document says that it is a deployment or a checkpoint.
    EnvelopeUnknown = 4,
    /// The document is a deployment and a checkpoint.
    EnvelopeAmbiguous = 5,
    /// Version 0, and yet a deployment where newer versions have it.
    VersionContradicted = 6,
    /// A member has a value of the wrong type.
    WrongType = 11,
    /// A time is not written as RFC 3339 has it.
    Time = 12,
    /// Bytes are not written in base64.
    Base64 = 13,
    /// The version of a plugin is not a version.
    PluginVersion = 14,
}

impl Code {
    /// The printed form, `GS0501` for [`Code::Syntax`].
    pub fn id(self) -> String {
        format!("GS{:04}", 500 + self as u16)
    }

    /// A few words that name the problem.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Syntax | Self::NotAnObject | Self::EnvelopeUnknown | Self::EnvelopeAmbiguous => {
                "unsupported deployment format"
            }
            Self::VersionType | Self::VersionContradicted => "invalid deployment version",
            Self::WrongType => "invalid deployment format",
            Self::Time => "invalid time in deployment",
            Self::Base64 => "invalid bytes in deployment",
            Self::PluginVersion => "invalid plugin version in deployment",
        }
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Which kind of problem.
    pub code: Code,
    /// What exactly is wrong and what to do, in a sentence or two.
    pub detail: String,
    /// Name of the resource it belongs to, if there is one.
    pub urn: Option<String>,
    /// Where it stands.
    pub place: SourcePos,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.summary(), self.detail)?;
        if let Some(urn) = &self.urn {
            write!(f, " [{urn}]")?;
        }
        write!(f, " at {}", self.place)
    }
}

/// All that is wrong with a deployment.
pub type Problems = groundstate_json::Problems<Problem>;

impl Coded for Problem {
    type Code = Code;

    fn code(&self) -> Code {
        self.code
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input is empty: nothing is stored there. Most callers treat this as "nothing yet".
    #[error("the input is empty, so it holds no deployment")]
    Empty,
    /// The input is neither a deployment nor a checkpoint.
    #[error("not a deployment: {0}")]
    NotDeployment(Problems),
    /// The input is a deployment that cannot be used.
    #[error("unusable deployment: {0}")]
    Unusable(Problems),
    /// A deployment of a version that is not known yet.
    #[error("this stack's deployment version is too new")]
    TooNew {
        /// The version.
        version: i64,
        /// Where it stands.
        place: SourcePos,
    },
    /// A deployment of a version that never was, or no longer is.
    #[error("this stack's deployment is too old")]
    TooOld {
        /// The version.
        version: i64,
        /// Where it stands, or where it is missing.
        place: SourcePos,
    },
    /// A checkpoint of a version that is not known.
    #[error("unsupported checkpoint version {version}")]
    CheckpointVersion {
        /// The version.
        version: i64,
        /// Where it stands.
        place: SourcePos,
    },
    /// The file needs features that are not known.
    #[error("this stack's deployment needs support for the following features: {}", features.join(", "))]
    Features {
        /// Those that are not known, in the order of the file.
        features: Vec<String>,
        /// Where they are listed.
        place: SourcePos,
    },
}

impl ReadError {
    /// The problems found in the document; none when it was refused by its version or features.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::NotDeployment(problems) | Self::Unusable(problems) => problems.as_slice(),
            _ => &[],
        }
    }

    /// The place of the error; the first one if there are several.
    pub fn place(&self) -> Option<&SourcePos> {
        match self {
            Self::Empty => None,
            Self::NotDeployment(problems) | Self::Unusable(problems) => {
                problems.as_slice().first().map(|problem| &problem.place)
            }
            Self::TooNew { place, .. }
            | Self::TooOld { place, .. }
            | Self::CheckpointVersion { place, .. }
            | Self::Features { place, .. } => Some(place),
        }
    }

    /// What to tell the owner of a stack, in the name of a program such as `groundstate`.
    pub fn for_stack(&self, stack: &str, program: &str) -> String {
        match self {
            Self::TooNew { .. } => format!(
                "the stack '{stack}' is newer than what this version of {program} understands. \
                 Please update your version of {program}"
            ),
            Self::TooOld { .. } => {
                format!("the stack '{stack}' is too old to be used by this version of {program}")
            }
            Self::Features { features, .. } => format!(
                "the stack '{stack}' uses features that are not supported by this version of {program}: {}. \
                 Please update your version of {program}",
                features.join(", ")
            ),
            other => format!("could not deserialize deployment: {other}"),
        }
    }
}
