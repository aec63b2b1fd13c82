//! What tells one content of a blob from another.

use std::fmt;
use std::str::FromStr;

/// Which content a blob has: what its service answered a write or a read with.
///
/// Services have different marks. S3 and Azure compare the **entity tag**; Google compares the **generation**, a
/// number that grows with each write of the blob, which Terraform uses as the id of a lock too. The **version id** is there where
/// old contents are kept (S3 with versioning, Azure with blob versions); no condition compares it.
///
/// The text of a version can be read again, and compares like the version.
///
/// ```
/// use groundstate_blobs::BlobVersion;
///
/// let version = BlobVersion::default().with_e_tag("\"9b2c\"").with_generation(1700000000000001);
/// assert_eq!(version.to_string(), "generation 1700000000000001");
/// let again: BlobVersion = version.to_string().parse()?;
/// assert!(again.same_as(&version));
/// # Ok::<(), groundstate_blobs::InvalidVersion>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlobVersion {
    e_tag: Option<String>,
    generation: Option<u64>,
    version_id: Option<String>,
}

/// The text is not that of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVersion(String);

impl BlobVersion {
    /// Sets the entity tag, with its quotes.
    #[must_use]
    pub fn with_e_tag(mut self, e_tag: impl Into<String>) -> Self {
        self.e_tag = Some(e_tag.into());
        self
    }

    /// Sets the generation.
    #[must_use]
    pub fn with_generation(mut self, generation: u64) -> Self {
        self.generation = Some(generation);
        self
    }

    /// Sets the id of the version that the service keeps.
    #[must_use]
    pub fn with_version_id(mut self, version_id: impl Into<String>) -> Self {
        self.version_id = Some(version_id.into());
        self
    }

    /// Takes the generation away.
    pub(crate) fn without_generation(mut self) -> Self {
        self.generation = None;
        self
    }

    /// The entity tag, with its quotes.
    pub fn e_tag(&self) -> Option<&str> {
        self.e_tag.as_deref()
    }

    /// The generation. Google has it, and the stores in memory and in files.
    pub fn generation(&self) -> Option<u64> {
        self.generation
    }

    /// The id of the version that the service keeps.
    pub fn version_id(&self) -> Option<&str> {
        self.version_id.as_deref()
    }

    /// Whether both mean the same content: by generation if both have one, by entity tag otherwise.
    ///
    /// Lists give fewer marks than reads do, so this is what to compare with, not `==`.
    pub fn same_as(&self, other: &Self) -> bool {
        match (self.generation, other.generation, &self.e_tag, &other.e_tag) {
            (Some(a), Some(b), _, _) => a == b,
            (_, _, Some(a), Some(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for BlobVersion {
    /// The mark that conditions compare, in a form that can be read again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.generation, &self.e_tag, &self.version_id) {
            (Some(generation), _, _) => write!(f, "generation {generation}"),
            (None, Some(e_tag), _) => write!(f, "etag {e_tag}"),
            (None, None, Some(id)) => write!(f, "version {id}"),
            (None, None, None) => f.write_str("unknown"),
        }
    }
}

impl FromStr for BlobVersion {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let invalid = || InvalidVersion(text.to_owned());
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (word, rest) {
            ("unknown", "") => Ok(Self::default()),
            (_, "") => Err(invalid()),
            ("generation", number) => {
                Ok(Self::default().with_generation(number.parse().map_err(|_| invalid())?))
            }
            ("etag", e_tag) => Ok(Self::default().with_e_tag(e_tag)),
            ("version", id) => Ok(Self::default().with_version_id(id)),
            _ => Err(invalid()),
        }
    }
}

impl fmt::Display for InvalidVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not the version of a blob, expected `generation N` or `etag T`", self.0)
    }
}

impl std::error::Error for InvalidVersion {}

#[cfg(test)]
mod tests {
    use super::BlobVersion;

    #[test]
    fn texts_read_back_as_the_same_version() {
        for (version, text) in [
            (BlobVersion::default().with_generation(7), "generation 7"),
            (BlobVersion::default().with_e_tag("\"a b\""), "etag \"a b\""),
            (BlobVersion::default().with_version_id("x"), "version x"),
            (BlobVersion::default(), "unknown"),
        ] {
            assert_eq!(version.to_string(), text);
            assert_eq!(text.parse::<BlobVersion>().unwrap(), version);
        }
        for text in ["", "7", "generation", "generation x", "etag ", "serial 3"] {
            assert!(text.parse::<BlobVersion>().is_err(), "{text}");
        }
    }

    #[test]
    fn generations_count_before_tags_and_nothing_is_like_nothing() {
        let version = |generation: Option<u64>, e_tag: Option<&str>| {
            let version = BlobVersion { generation, ..BlobVersion::default() };
            match e_tag {
                Some(e_tag) => version.with_e_tag(e_tag),
                None => version,
            }
        };
        for (a, b, same) in [
            (version(Some(1), Some("x")), version(Some(2), Some("x")), false),
            (version(Some(1), Some("x")), version(Some(1), Some("y")), true),
            (version(None, Some("x")), version(Some(2), Some("x")), true),
            (version(None, Some("x")), version(None, Some("y")), false),
            (version(None, None), version(None, None), false),
        ] {
            assert_eq!(a.same_as(&b), same, "{a:?} {b:?}");
            assert_eq!(b.same_as(&a), same, "{b:?} {a:?}");
        }
    }
}
