//! The error catalogue: everything that can be wrong with a state file, each with a stable code and a place.

use std::fmt;

use groundstate_json::Coded;

use crate::json::SourcePos;

/// What is wrong, as a stable code.
///
/// The numbers follow the catalogue in `docs/formats/terraform.md`; [`Code::id`] gives the printed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The binary format of Terraform before 0.7.
    BinaryFormat = 1,
    /// Not JSON.
    Syntax = 2,
    /// The version could not be looked for, because the file is not JSON.
    VersionUnreadable = 3,
    /// `version` is not a whole number of at least zero.
    VersionType = 4,
    /// The document is not an object.
    NotAnObject = 5,
    /// There is no `version`.
    VersionMissing = 6,
    /// The state is encrypted.
    Encrypted = 7,
    /// Version zero, which never existed.
    VersionZero = 8,
    /// A format version that is not known, by a named release.
    VersionUnsupported = 9,
    /// A member has a value of the wrong type.
    WrongType = 11,
    /// A member's text cannot be decoded.
    Malformed = 13,
    /// `terraform_version` is not a version.
    WriterVersion = 14,
    /// An upgrade from an older format failed.
    UpgradeFailed = 15,
    /// A resource's `mode` is not known.
    ResourceMode = 16,
    /// A `module` address cannot be parsed.
    ModuleAddress = 17,
    /// A `provider` address cannot be parsed.
    ProviderAddress = 18,
    /// Neither the resource nor its instance names a provider.
    ProviderMissing = 19,
    /// Instances of a resource name different providers.
    ProviderConflict = 20,
    /// An `index_key` is not a whole number or a string.
    IndexKey = 21,
    /// An instance's `status` is not known.
    Status = 22,
    /// A `deposed` key is not eight bytes long.
    DeposedKey = 23,
    /// Two current objects of one instance.
    DuplicateCurrent = 24,
    /// Two objects with the same deposed key in one instance.
    DuplicateDeposed = 25,
    /// A `dependencies` entry is not a resource address.
    Dependency = 26,
    /// A `depends_on` entry is not a resource instance address.
    DependsOn = 27,
    /// A path in `sensitive_attributes` is malformed.
    SensitivePath = 28,
    /// An output's `type` is missing or invalid.
    OutputType = 29,
    /// An output's `value` is missing or does not conform to its type.
    OutputValue = 30,
    /// A check result's address is invalid.
    CheckAddress = 31,
}

impl Code {
    /// All codes in the order of their numbers.
    pub const ALL: &[Self] = &[
        Self::BinaryFormat,
        Self::Syntax,
        Self::VersionUnreadable,
        Self::VersionType,
        Self::NotAnObject,
        Self::VersionMissing,
        Self::Encrypted,
        Self::VersionZero,
        Self::VersionUnsupported,
        Self::WrongType,
        Self::Malformed,
        Self::WriterVersion,
        Self::UpgradeFailed,
        Self::ResourceMode,
        Self::ModuleAddress,
        Self::ProviderAddress,
        Self::ProviderMissing,
        Self::ProviderConflict,
        Self::IndexKey,
        Self::Status,
        Self::DeposedKey,
        Self::DuplicateCurrent,
        Self::DuplicateDeposed,
        Self::Dependency,
        Self::DependsOn,
        Self::SensitivePath,
        Self::OutputType,
        Self::OutputValue,
        Self::CheckAddress,
    ];

    /// The printed form, `GS0102` for [`Code::Syntax`].
    pub fn id(self) -> String {
        format!("GS{:04}", 100 + self as u16)
    }

    /// What to do about it, in one sentence.
    pub fn help(self) -> &'static str {
        match self {
            Self::BinaryFormat => "convert it with a Terraform release before 0.7, then with newer ones",
            Self::Syntax | Self::VersionUnreadable => "restore a backup or an older version of the file",
            Self::VersionType | Self::VersionMissing | Self::NotAnObject => {
                "make sure that this is a state file, and not a plan, a configuration or the answer of a server"
            }
            Self::Encrypted => {
                "decrypt it with OpenTofu, for example by `tofu state pull`, and check the result"
            }
            Self::VersionZero => {
                "write the version that the file really has; states of Terraform since 0.12 have 4"
            }
            Self::VersionUnsupported => "look for a newer groundstate",
            Self::WrongType => "write a value of the type that is named",
            Self::Malformed => "take the value from a backup, or remove the member",
            Self::WriterVersion => "write a version such as 1.11.4, or the empty string",
            Self::UpgradeFailed => "correct the place that is named, and try again",
            Self::ResourceMode => "write \"managed\" for a resource block and \"data\" for a data block",
            Self::ModuleAddress => "write an address such as module.a[\"key\"].module.b",
            Self::ProviderAddress | Self::ProviderMissing => {
                "correct the address before Terraform writes this state: releases before 1.17 drop the whole resource \
                 without a word"
            }
            Self::ProviderConflict => {
                "let all instances of the resource name the same provider configuration"
            }
            Self::IndexKey => "write a whole number of at least 0, a string, or nothing",
            Self::Status => "leave the status out for a usable object, or write \"tainted\"",
            Self::DeposedKey => {
                "write eight lower-case hexadecimal digits, different for each object of the instance"
            }
            Self::DuplicateCurrent | Self::DuplicateDeposed => {
                "find out which of the remote objects is in use, and let `groundstate repair` remove the other entry"
            }
            Self::Dependency => {
                "write an address such as module.a.aws_instance.web, without a key at its end"
            }
            Self::DependsOn => "write an address such as module.a.aws_instance.web[0]",
            Self::SensitivePath => "write a list of lists of steps, or take the member from a backup",
            Self::OutputType => "write a type such as \"string\" or [\"list\",\"string\"]",
            Self::OutputValue => {
                "write a value of the output's type, or remove the output; the next apply writes it anew"
            }
            Self::CheckAddress => "remove the element; the next plan or apply writes all check results anew",
        }
    }

    /// A few words that name the problem.
    pub fn summary(self) -> &'static str {
        match self {
            Self::BinaryFormat
            | Self::Syntax
            | Self::VersionUnreadable
            | Self::VersionType
            | Self::NotAnObject
            | Self::VersionMissing
            | Self::Encrypted
            | Self::VersionZero
            | Self::VersionUnsupported => "unsupported state file format",
            Self::WrongType | Self::Malformed => "invalid state file format",
            Self::WriterVersion => "invalid version string",
            Self::UpgradeFailed => "state format upgrade failed",
            Self::ResourceMode => "invalid resource mode in state",
            Self::ModuleAddress => "invalid module address in state",
            Self::ProviderAddress => "invalid provider address in state",
            Self::ProviderMissing => "provider missing in state",
            Self::ProviderConflict => "provider conflict in state",
            Self::IndexKey | Self::Status | Self::DeposedKey => "invalid instance metadata in state",
            Self::DuplicateCurrent | Self::DuplicateDeposed => "duplicate resource instance in state",
            Self::Dependency | Self::DependsOn => "invalid dependency in state",
            Self::SensitivePath => "invalid sensitive attribute path in state",
            Self::OutputType => "invalid output type in state",
            Self::OutputValue => "invalid output value in state",
            Self::CheckAddress => "invalid check address in state",
        }
    }
}

/// One thing that is wrong with a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Which kind of problem.
    pub code: Code,
    /// What exactly is wrong and what to do, in a sentence or two.
    pub detail: String,
    /// Of a syntax error: how many bytes had been read when it was noticed, as Go counts them.
    pub bytes_read: Option<usize>,
    /// Address of the resource, instance or output it belongs to, if there is one.
    pub address: Option<String>,
    /// Where it stands.
    pub place: SourcePos,
}

impl Problem {
    /// The detail, and of a syntax error behind how many bytes it was noticed: what there is to say beside the summary and the place.
    pub fn message(&self) -> String {
        match self.bytes_read {
            Some(read) => format!("syntax error at byte offset {read}: {}", self.detail),
            None => self.detail.clone(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.summary(), self.message())?;
        if let Some(address) = &self.address {
            write!(f, " [{address}]")?;
        }
        write!(f, " at {}", self.place)
    }
}

/// All that is wrong with a state file.
pub type Problems = groundstate_json::Problems<Problem>;

impl Coded for Problem {
    type Code = Code;

    fn code(&self) -> Code {
        self.code
    }
}

/// Why a state file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input is empty: no snapshot is stored there. Most callers treat this as "nothing yet".
    #[error("the input is empty, so it holds no state")]
    NoState,
    /// The input is not a state file.
    #[error("not a state file: {0}")]
    NotState(Problems),
    /// The input is a state file that cannot be used.
    #[error("unusable state file: {0}")]
    Unusable(Problems),
}

impl ReadError {
    /// The problems found; none when there was no input.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::NoState => &[],
            Self::NotState(problems) | Self::Unusable(problems) => problems.as_slice(),
        }
    }
}
