//! Finds the format version, before anything else is believed.

use crate::json::{Cursor, Kind, Stop};
use crate::problem::{Code, ReadError};
use crate::sink::{Sink, describe, syntax_error};

/// What the top level of a document says about its format.
#[derive(Debug, Default)]
struct Top {
    /// Kind, text and place of `version`.
    version: Option<(Kind, String, usize)>,
    terraform_version: Option<String>,
    encrypted: bool,
    /// SourcePos of a second `version` that says something else.
    contradiction: Option<usize>,
}

/// Finds the format version of a state file: 1 to 4.
///
/// A document that begins with its version, as every writer has it, is believed at once: decoding checks
/// the rest. All others are read to their end first.
///
/// # Errors
///
/// When the text holds no version, or one that no reader of this crate knows.
pub fn version(text: &[u8]) -> Result<u64, ReadError> {
    if text.is_empty() {
        return Err(ReadError::NoState);
    }
    if text.starts_with(b"tfstate") {
        let why = "this is the binary format from before Terraform 0.7; \
                   convert it with Terraform 0.6.16 or older first, by any command that writes state";
        return Err(unusable(text, Code::BinaryFormat, 0, why));
    }
    if let Some(version) = first_member(text) {
        return Ok(version);
    }
    whole_document(text)
}

/// The version, if it is the first member and the current one.
fn first_member(text: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(text);
    // Older documents are rare enough to be read twice.
    begins_current(&mut cursor).is_ok_and(|current| current).then_some(CURRENT)
}

/// The version that documents are written in.
const CURRENT: u64 = 4;

/// Whether a document's first member is its version, and the current one. The cursor ends behind what was read.
///
/// # Errors
///
/// What is wrong with the JSON up to there; an early end also where more text may follow.
pub(crate) fn begins_current(cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
    if cursor.kind()? != Kind::Object {
        return Ok(false);
    }
    cursor.open(b'{')?;
    match cursor.member(&mut true)? {
        Some(name) if name.raw == b"version" && cursor.kind()? == Kind::Number => {
            Ok(cursor.number()?.parse() == Ok(CURRENT))
        }
        _ => Ok(false),
    }
}

/// Reads the document to its end and judges what it says of its version.
pub(crate) fn whole_document(text: &[u8]) -> Result<u64, ReadError> {
    let mut cursor = Cursor::new(text);
    let read = (|| {
        let kind = cursor.kind()?;
        let start = cursor.offset();
        let top = match kind {
            Kind::Object => Some(read_top(&mut cursor)?),
            Kind::Null => cursor.null().map(|()| Some(Top::default()))?,
            _ => cursor.skip().map(|()| None)?,
        };
        let found = describe(kind, cursor.since(start));
        cursor.end()?;
        Ok((top, found, start))
    })();
    match read {
        Err(stop) => Err(syntax_error(text, stop)),
        Ok((None, found, start)) => Err(not_an_object(text, &found, start)),
        Ok((Some(top), _, start)) => judge(text, &top, start),
    }
}

fn read_top(cursor: &mut Cursor<'_>) -> Result<Top, Stop> {
    let mut top = Top::default();
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        let kind = cursor.kind()?;
        match &*name.decode() {
            "version" => {
                let offset = cursor.offset();
                let raw = cursor.raw()?;
                let text = String::from_utf8_lossy(raw);
                if top.version.as_ref().is_some_and(|(_, before, _)| **before != *text) {
                    top.contradiction = Some(offset);
                }
                top.version = (kind != Kind::Null).then(|| match kind {
                    Kind::Number => (kind, String::from_utf8_lossy(raw).into_owned(), offset),
                    _ => (kind, String::new(), offset),
                });
            }
            "terraform_version" if kind == Kind::String => {
                top.terraform_version = Some(cursor.string()?.decode().into_owned());
            }
            "encryption_version" if kind == Kind::String => top.encrypted = !cursor.string()?.raw.is_empty(),
            _ => cursor.skip()?,
        }
    }
    Ok(top)
}

fn judge(text: &[u8], top: &Top, start: usize) -> Result<u64, ReadError> {
    let Some((kind, number, offset)) = &top.version else {
        return Err(if top.encrypted {
            let why = "the state is encrypted by OpenTofu and no encryption is configured; decrypt it first, \
                       for example with `tofu state pull`";
            not_state(text, Code::Encrypted, start, why)
        } else {
            let why = "a state file needs the member \"version\", a whole number that names its format";
            not_state(text, Code::VersionMissing, start, why)
        });
    };
    if let Some(second) = top.contradiction {
        let why =
            "\"version\" appears twice with different values, so the format is unknown; remove the wrong one";
        return Err(not_state(text, Code::VersionType, second, why));
    }
    let whole = number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse::<u64>().ok()).flatten();
    match whole.filter(|_| *kind == Kind::Number) {
        None => {
            let found = describe(*kind, number.as_bytes());
            let why = format!("the version is {found}; it has to be a whole number of at least 0");
            Err(not_state(text, Code::VersionType, *offset, &why))
        }
        Some(0) => {
            let why =
                "the version is 0, but no JSON format had that number; the file was damaged or made by hand";
            Err(unusable(text, Code::VersionZero, *offset, why))
        }
        Some(version @ 1..=4) => Ok(version),
        Some(version) => Err(unusable(text, Code::VersionUnsupported, *offset, &unsupported(version, top))),
    }
}

fn unsupported(version: u64, top: &Top) -> String {
    let ours = env!("CARGO_PKG_VERSION");
    let writer = top.terraform_version.as_deref().filter(|text| crate::WriterVersion::parse(text).is_ok());
    match writer {
        Some(writer) => format!(
            "format version {version} is not known to groundstate {ours}, which reads 1 to 4; \
             the file was written by release {writer}: look for a newer groundstate"
        ),
        None => format!(
            "format version {version} is not known to groundstate {ours}, which reads 1 to 4; \
             the file may come from a newer release: look for a newer groundstate"
        ),
    }
}

/// The error of a reader that only takes the current version.
pub(crate) fn not_current(text: &[u8], version: u64) -> ReadError {
    let why =
        format!("the document has format version {version}; upgrade it to 4 first, or decode it as a whole");
    unusable(text, Code::VersionUnsupported, 0, &why)
}

/// The error of a document with more than one version.
pub(crate) fn contradiction(text: &[u8]) -> ReadError {
    match whole_document(text) {
        Err(error) => error,
        Ok(_) => not_state(text, Code::VersionType, 0, "\"version\" appears twice, so the format is unknown"),
    }
}

fn not_an_object(text: &[u8], found: &str, start: usize) -> ReadError {
    let mut sink = Sink::default();
    sink.problem(
        Code::NotAnObject,
        start,
        format!("the document is {found}; a state file is an object with a \"version\""),
    );
    sink.problem(
        Code::VersionUnreadable,
        start,
        "so there is no version to find, and the format cannot be told",
    );
    not_state_all(text, sink)
}

fn not_state(text: &[u8], code: Code, offset: usize, why: &str) -> ReadError {
    let mut sink = Sink::default();
    sink.problem(code, offset, why);
    not_state_all(text, sink)
}

fn not_state_all(text: &[u8], sink: Sink) -> ReadError {
    sink.into_problems(text).map_or(ReadError::NoState, ReadError::NotState)
}

fn unusable(text: &[u8], code: Code, offset: usize, why: &str) -> ReadError {
    let mut sink = Sink::default();
    sink.problem(code, offset, why);
    sink.into_problems(text).map_or(ReadError::NoState, ReadError::Unusable)
}
