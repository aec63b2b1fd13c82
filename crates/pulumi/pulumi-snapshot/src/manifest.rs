//! What a snapshot says about the program that wrote it.

use std::sync::Arc;

use groundstate_json::{Extra, RawJson};

use crate::hash::hex_sha256;
use crate::time::Time;

/// When and by what a snapshot was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Manifest {
    /// When it was written.
    pub time: Time,
    /// A hash of the version, which shows that neither of the two was edited alone. It proves nothing else.
    pub magic: Arc<str>,
    /// The version of the program, with a `v` in front; may be empty.
    pub version: Arc<str>,
    /// The plugins it used. Current releases write none.
    pub plugins: Vec<Plugin>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// A plugin that was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Plugin {
    /// The package, such as `aws`.
    pub name: Arc<str>,
    /// Where it stood on the machine.
    pub path: Arc<str>,
    /// What it is: `analyzer`, `language` or `resource`.
    pub kind: Arc<str>,
    /// Its version; may be empty.
    pub version: Arc<str>,
    /// Members that are not understood.
    pub extra: Extra,
}

impl Manifest {
    /// A manifest with the magic that belongs to the version, and no plugins.
    pub fn new(time: Time, version: impl Into<Arc<str>>) -> Self {
        let version = version.into();
        let magic = Self::magic_of(&version).into();
        Self { time, magic, version, plugins: Vec::new(), extra: Extra::new() }
    }

    /// The magic that belongs to a version: its SHA-256 in lowercase hexadecimal, or nothing for no version.
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::Manifest;
    ///
    /// assert!(Manifest::magic_of("v3.259.0").starts_with("ab35920a3077459b"));
    /// assert_eq!(Manifest::magic_of(""), "");
    /// ```
    pub fn magic_of(version: &str) -> String {
        if version.is_empty() {
            return String::new();
        }
        hex_sha256(version.as_bytes())
    }

    /// Whether the magic belongs to the version.
    pub fn magic_is_right(&self) -> bool {
        *self.magic == *Self::magic_of(&self.version)
    }
}

impl Default for Manifest {
    /// The manifest that says nothing: the zero time, no version.
    fn default() -> Self {
        Self::new(Time::ZERO, "")
    }
}

/// Which manager encrypts the secrets of a snapshot, and what it needs to know for it.
///
/// `Debug` shows the size of the state only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SecretsProvider {
    /// The kind of manager, such as `passphrase`. Empty counts as no manager.
    pub kind: Arc<str>,
    /// What the manager stored.
    pub state: Option<RawJson>,
    /// Members that are not understood.
    pub extra: Extra,
}
