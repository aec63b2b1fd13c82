//! The record of a version: a line of JSON, then a small content, or the list of the parts of a larger one.

use bytes::Bytes;
use groundstate_blobs::sealed;
use serde::{Deserialize, Serialize};

use crate::digest::Sha256;
use crate::name::Name;
use crate::version::Version;
use crate::wire::{self, FORMAT, Unreadable};

/// The first line is not longer: a note, and what else is known of a version.
pub(crate) const LONGEST_LINE: u64 = 64 << 10;

/// A part of a content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) size: u64,
    pub(crate) sha256: Sha256,
}

/// What a record has behind its first line.
#[derive(Clone)]
pub(crate) enum Body {
    /// The whole content.
    Inline(Bytes),
    /// The parts, which are blobs of their own.
    Parts(Vec<Part>),
}

impl std::fmt::Debug for Body {
    /// Shows sizes only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inline(bytes) => write!(f, "Inline({} bytes)", bytes.len()),
            Self::Parts(parts) => write!(f, "Parts({})", parts.len()),
        }
    }
}

wire::members! {
    struct Line {
        format: u64,
        name: String,
        version: Box<serde_json::value::RawValue>,
    }
}

/// Writes a record.
pub(crate) fn write(name: &Name, version: &Version, body: &Body) -> serde_json::Result<Bytes> {
    let line = Line { format: FORMAT, name: name.to_string(), version: version.write()? };
    let mut out = sealed::seal(&serde_json::to_string(&line)?).into_bytes();
    match body {
        Body::Inline(bytes) => out.extend_from_slice(bytes),
        Body::Parts(parts) => serde_json::to_writer(&mut out, parts)?,
    }
    Ok(out.into())
}

/// Reads the first line, and says where the body begins. The text may end in the body.
pub(crate) fn read_line(text: &[u8], name: &Name) -> Result<(Version, usize), String> {
    let end = text.iter().position(|byte| *byte == b'\n').ok_or("its first line does not end")?;
    let opened = wire::open(text.get(..=end).unwrap_or_default()).map_err(|problem| match problem {
        Unreadable::Damaged(problem) => problem,
        Unreadable::Newer(format) => format!("it has the format {format}, which a later release wrote"),
    })?;
    let (line, extra) = wire::read::<Line>(&opened.object).map_err(|error| error.to_string())?;
    if line.name != name.as_str() {
        return Err("it is of another document".to_owned());
    }
    let version = Version::read(line.version.get().as_bytes())?;
    match extra.keys().chain(version.extra.keys()).next().filter(|_| opened.is_bare) {
        Some(name) => Err(format!("no release wrote its member {name:?}")),
        None => Ok((version, end + 1)),
    }
}

/// Reads a record.
pub(crate) fn read(text: &Bytes, name: &Name) -> Result<(Version, Body), String> {
    let (version, at) = read_line(text, name)?;
    let body = text.slice(at..);
    if version.upload.is_none() {
        return Ok((version, Body::Inline(body)));
    }
    let parts: Vec<Part> = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let size = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.size));
    if size != Some(version.size) {
        return Err("its parts have not the size of the content".to_owned());
    }
    Ok((version, Body::Parts(parts)))
}
