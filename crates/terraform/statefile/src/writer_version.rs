//! The release that wrote a file.

use std::fmt;
use std::sync::Arc;

/// A `terraform_version`: the text as it was read, and what it means.
///
/// Accepts what the originals accept: an optional `v`, any number of numeric segments, a pre-release with or without
/// its dash, and metadata.
///
/// ```
/// use groundstate_statefile::WriterVersion;
///
/// let version = WriterVersion::parse("v1.9")?;
/// assert_eq!(version.as_str(), "v1.9");
/// assert_eq!(version.semver(), &semver::Version::new(1, 9, 0));
/// # Ok::<(), groundstate_statefile::WriterVersionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterVersion {
    text: Arc<str>,
    meaning: semver::Version,
}

/// A text that is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version such as 1.11.4")]
pub struct WriterVersionError(Arc<str>);

impl WriterVersion {
    /// Reads a version.
    ///
    /// # Errors
    ///
    /// The text has no numeric segment in front, a segment beyond 64 bits, or characters no version can have.
    pub fn parse(text: &str) -> Result<Self, WriterVersionError> {
        let meaning = parse(text)
            .ok_or_else(|| WriterVersionError(text.chars().take(80).collect::<String>().into()))?;
        Ok(Self { text: text.into(), meaning })
    }

    /// The text as it was read.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first three segments with pre-release and metadata, for comparisons.
    pub fn semver(&self) -> &semver::Version {
        &self.meaning
    }

    /// Whether the release is `major.minor` or later, pre-releases included.
    pub fn at_least(&self, major: u64, minor: u64) -> bool {
        (self.meaning.major, self.meaning.minor) >= (major, minor)
    }
}

impl fmt::Display for WriterVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse(text: &str) -> Option<semver::Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, tail(build)?),
        None => (text, String::new()),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (numbers, mut pre) = text.split_at(end);
    // `1.2.beta` is a pre-release of 1.2 only without the dot, so a dot must not end the numbers.
    if !pre.is_empty() && numbers.ends_with('.') {
        return None;
    }
    let dashed = pre.strip_prefix('-');
    pre = dashed.unwrap_or(pre);
    let mut segments = [0; 3];
    for (i, segment) in numbers.split('.').enumerate() {
        let number: u64 = segment.parse::<i64>().ok().filter(|_| !segment.is_empty())?.try_into().ok()?;
        if let Some(slot) = segments.get_mut(i) {
            *slot = number;
        }
    }
    let pre = match (dashed, pre) {
        (Some(_), "") => return None,
        (_, "") => String::new(),
        (_, pre) => tail(pre)?,
    };
    Some(semver::Version {
        major: segments[0],
        minor: segments[1],
        patch: segments[2],
        pre: semver::Prerelease::new(&pre).unwrap_or(semver::Prerelease::EMPTY),
        build: semver::BuildMetadata::new(&build).unwrap_or(semver::BuildMetadata::EMPTY),
    })
}

/// Checks the characters of a pre-release or of metadata.
fn tail(text: &str) -> Option<String> {
    let fine = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '~')
    };
    text.split('.').all(fine).then(|| text.replace('~', "-"))
}
