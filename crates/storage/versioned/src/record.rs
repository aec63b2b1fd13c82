//! The record of a version: a line of JSON, then a small content, or the list of the parts of a larger one.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::digest::Sha256;
use crate::name::Name;
use crate::version::Version;
use crate::wire;

/// The format that this release writes, and the only one that it reads.
const FORMAT: u64 = 1;
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

#[derive(Deserialize)]
struct Format {
    format: u64,
}

/// Writes a record.
pub(crate) fn write(name: &Name, version: &Version, body: &Body) -> serde_json::Result<Bytes> {
    let line = Line { format: FORMAT, name: name.to_string(), version: version.write()? };
    let mut out = serde_json::to_vec(&line)?;
    out.push(b'\n');
    match body {
        Body::Inline(bytes) => out.extend_from_slice(bytes),
        Body::Parts(parts) => serde_json::to_writer(&mut out, parts)?,
    }
    Ok(out.into())
}

/// Reads the first line, and says where the body begins. The text may end in the body.
pub(crate) fn read_line(text: &[u8], name: &Name) -> Result<(Version, usize), String> {
    let end = text.iter().position(|byte| *byte == b'\n').ok_or("its first line does not end")?;
    let line = text.get(..end).unwrap_or_default();
    let say = |error: serde_json::Error| error.to_string();
    let Format { format } = serde_json::from_slice(line).map_err(say)?;
    if format != FORMAT {
        return Err(format!("it has the format {format}, and this release reads {FORMAT}"));
    }
    let line: Line = serde_json::from_slice(line).map_err(say)?;
    if line.name != name.as_str() {
        return Err("it is of another document".to_owned());
    }
    Ok((Version::read(line.version.get().as_bytes())?, end + 1))
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
