//! What is to be written.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::{legacy, v4};

/// How large a state is, and where its content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recipe {
    /// Resource instances with a current object; deposed objects come on top.
    pub instances: usize,
    /// Another seed gives another state.
    pub seed: u64,
}

/// Who could have written a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Format 4, byte for byte as Terraform 1.11 lays it out.
    Terraform,
    /// Format 4 with what only OpenTofu writes: its registry, providers of instances, `skip_destroy`, deprecations.
    OpenTofu,
    /// Format 3 with flat attributes, as Terraform 0.11 lays it out.
    V3,
}

/// A format that is none of `v4`, `opentofu` and `v3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat(String);

impl Recipe {
    /// A state of so many instances from the first seed.
    #[must_use]
    pub fn new(instances: usize) -> Self {
        Self { instances, seed: 1 }
    }

    /// The same from another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Writes the state in many small pieces: hand in something buffered.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write<W: Write>(self, format: Format, out: &mut W) -> io::Result<()> {
        match format {
            Format::Terraform | Format::OpenTofu => v4::write(self, format, out),
            Format::V3 => legacy::write(self, out),
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        match text {
            "v4" | "terraform" => Ok(Self::Terraform),
            "opentofu" => Ok(Self::OpenTofu),
            "v3" => Ok(Self::V3),
            other => Err(UnknownFormat(other.to_owned())),
        }
    }
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the format `{}` is none of v4, opentofu and v3", self.0)
    }
}

impl std::error::Error for UnknownFormat {}
