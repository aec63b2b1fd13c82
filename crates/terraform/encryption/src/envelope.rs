//! The envelope: what OpenTofu stores in the place of a state or a plan.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use groundstate_json::{Cursor, Kind, Stop, Str, push_json_string};
use thiserror::Error;

use crate::base64;

/// The version of envelopes that OpenTofu writes.
pub(crate) const VERSION: &str = "v0";

/// What the key providers of an envelope have stored in it: JSON texts by metadata key.
pub type Metadata = BTreeMap<String, Vec<u8>>;

/// Line breaks of an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnvelopeLayout {
    /// One line without a line end: at every backend but `local`, and plans.
    #[default]
    Compact,
    /// Two spaces of indentation and a line end: files of the backend `local`.
    Indented,
}

/// An encrypted state or plan, as far as it is readable without a key.
///
/// None of it is authenticated: serial and lineage are checked against the state when it is decrypted, and not before.
///
/// ```
/// use groundstate_encryption::Envelope;
///
/// let text = br#"{"serial":7,"lineage":"l","meta":{"key_provider.pbkdf2.main":"e30="},"encrypted_data":"AAAA","encryption_version":"v0"}"#;
/// let envelope = Envelope::parse(text)?.expect("it has an encryption version");
/// assert_eq!((envelope.serial(), envelope.lineage()), (Some("7"), "l"));
/// assert!(Envelope::parse(br#"{"version": 4, "serial": 7}"#)?.is_none());
/// # Ok::<(), groundstate_encryption::EnvelopeError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope<'a> {
    serial: Option<String>,
    lineage: String,
    metadata: Metadata,
    data: Cow<'a, str>,
    version: String,
    is_of_state: bool,
}

impl<'a> Envelope<'a> {
    /// Reads an envelope; nothing if the text is JSON and no envelope.
    ///
    /// As in OpenTofu, unknown members are ignored, names of members are compared without regard to case, and of members
    /// with one name the last counts.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or a member of the envelope is damaged.
    pub fn parse(text: &'a [u8]) -> Result<Option<Self>, EnvelopeError> {
        let mut members = Members::default();
        read(text, &mut members).map_err(|stop| EnvelopeError::Json { at: stop.offset })?;
        let version = members.version.as_ref().map(|text| text.decode().into_owned()).unwrap_or_default();
        if version.is_empty() {
            return Ok(None);
        }
        let mut metadata = Metadata::new();
        for (key, value) in members.metadata {
            let key = key.decode().into_owned();
            match value.as_ref().and_then(|value| base64::decode(&value.decode())) {
                Some(value) => metadata.insert(key, value),
                None => return Err(EnvelopeError::Metadata { key }),
            };
        }
        let data = match members.data {
            Some(data) => data.decode(),
            None => return Err(EnvelopeError::NoData),
        };
        let lineage = members.lineage.map(|text| text.decode().into_owned()).unwrap_or_default();
        let (serial, is_of_state) = (members.serial.map(str::to_owned), members.has_head);
        Ok(Some(Self { serial, lineage, metadata, data, version, is_of_state }))
    }

    /// The serial, as digits; nothing in plans, and where the state has none. Not authenticated.
    pub fn serial(&self) -> Option<&str> {
        self.serial.as_deref()
    }

    /// The lineage; empty in plans, and where the state has none. Not authenticated.
    pub fn lineage(&self) -> &str {
        &self.lineage
    }

    /// Whether it has members of a state, a serial or a lineage; plans have neither. Not authenticated.
    pub fn is_of_state(&self) -> bool {
        self.is_of_state
    }

    /// The version of the key at its service that has wrapped the key of this envelope, where its provider stores that: Azure
    /// Key Vault and transit engines do. Not authenticated.
    pub fn key_version(&self, metadata_key: &str) -> Option<String> {
        key_version(self.metadata.get(metadata_key)?)
    }

    /// What the key providers have stored, by metadata key. Not authenticated.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The version of the envelope, `v0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The encrypted bytes.
    ///
    /// # Errors
    ///
    /// When they are not base64.
    pub fn data(&self) -> Result<Vec<u8>, EnvelopeError> {
        base64::decode(&self.data).ok_or(EnvelopeError::Data)
    }
}

impl fmt::Debug for Envelope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("serial", &self.serial)
            .field("lineage", &self.lineage)
            .field("metadata", &self.metadata.keys())
            .field("data", &self.data.len())
            .field("version", &self.version)
            .finish()
    }
}

/// Why a text is not readable as an envelope.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The text is not a JSON object.
    #[error("byte {} is wrong: this is neither a state in JSON nor an encrypted one; take it from a backup", .at + 1)]
    Json {
        /// The byte; the first is 0.
        at: usize,
    },
    /// The metadata of a key provider is not base64.
    #[error("the metadata `{}` of the encrypted state are not base64; take the state from a backup", .key.escape_default())]
    Metadata {
        /// The metadata key.
        key: String,
    },
    /// There is no encrypted content.
    #[error("the encrypted state has no member `encrypted_data`; take it from a backup")]
    NoData,
    /// The encrypted content is not base64.
    #[error("the member `encrypted_data` is not base64; take the state from a backup")]
    Data,
}

/// The members of an object that envelopes and states have.
#[derive(Default)]
struct Members<'a> {
    serial: Option<&'a str>,
    lineage: Option<Str<'a>>,
    metadata: Vec<(Str<'a>, Option<Str<'a>>)>,
    data: Option<Str<'a>>,
    version: Option<Str<'a>>,
    writer: Option<Str<'a>>,
    /// There is a serial or a lineage, whatever it says.
    has_head: bool,
}

fn read<'a>(text: &'a [u8], members: &mut Members<'a>) -> Result<(), Stop> {
    let mut cursor = Cursor::new(text);
    cursor.kind()?;
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        let name = name.decode();
        let is = |member: &str| name.eq_ignore_ascii_case(member);
        members.has_head |= is("serial") || is("lineage");
        match cursor.kind()? {
            Kind::Number if is("serial") => members.serial = Some(cursor.number()?),
            Kind::String if is("lineage") => members.lineage = Some(cursor.string()?),
            Kind::String if is("encrypted_data") => members.data = Some(cursor.string()?),
            Kind::String if is("encryption_version") => members.version = Some(cursor.string()?),
            Kind::String if is("terraform_version") => members.writer = Some(cursor.string()?),
            Kind::Object if is("meta") => metadata(&mut cursor, &mut members.metadata)?,
            _ => cursor.skip()?,
        }
    }
    cursor.end()
}

fn metadata<'a>(cursor: &mut Cursor<'a>, found: &mut Vec<(Str<'a>, Option<Str<'a>>)>) -> Result<(), Stop> {
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(key) = cursor.member(&mut first)? {
        match cursor.kind()? {
            Kind::String => found.push((key, Some(cursor.string()?))),
            _ => {
                cursor.skip()?;
                found.push((key, None));
            }
        }
    }
    Ok(())
}

/// The member `key_version` of a key vault, or what stands in front of a ciphertext of a transit engine: `vault:v1:`.
fn key_version(stored: &[u8]) -> Option<String> {
    let mut cursor = Cursor::new(stored);
    let (mut version, mut first) = (None, true);
    if cursor.kind().ok()? != Kind::Object {
        return None;
    }
    cursor.open(b'{').ok()?;
    while let Some(name) = cursor.member(&mut first).ok()? {
        match (&*name.decode(), cursor.kind().ok()?) {
            ("key_version", Kind::String) => version = Some(cursor.string().ok()?.decode().into_owned()),
            ("ciphertext", Kind::String) => {
                let text = base64::decode(&cursor.string().ok()?.decode()).unwrap_or_default();
                let mut parts = std::str::from_utf8(&text).unwrap_or_default().splitn(3, ':');
                let is_number =
                    |text: &str| text.strip_prefix('v').is_some_and(|rest| rest.parse::<u64>().is_ok());
                if let (Some("vault"), Some(number), Some(_)) = (parts.next(), parts.next(), parts.next())
                    && is_number(number)
                {
                    version = version.or_else(|| Some(number.to_owned()));
                }
            }
            _ => cursor.skip().ok()?,
        }
    }
    version.filter(|version| !version.is_empty())
}

/// What a state in the clear says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateHead {
    pub(crate) serial: Option<String>,
    pub(crate) lineage: String,
    /// It has a `terraform_version`, which tells a state from other JSON.
    pub(crate) has_writer: bool,
}

impl StateHead {
    /// Reads a JSON object.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Stop> {
        let mut members = Members::default();
        read(text, &mut members)?;
        let lineage = members.lineage.map(|text| text.decode().into_owned()).unwrap_or_default();
        let has_writer = members.writer.is_some_and(|text| !text.raw.is_empty());
        Ok(Self { serial: members.serial.map(str::to_owned), lineage, has_writer })
    }
}

/// Writes an envelope, byte for byte as OpenTofu does; a plan has no head.
pub(crate) fn write(
    head: Option<&StateHead>,
    metadata: &Metadata,
    data: &[u8],
    layout: EnvelopeLayout,
) -> String {
    let (line, colon, end) = match layout {
        EnvelopeLayout::Compact => ("", ":", ""),
        EnvelopeLayout::Indented => ("\n  ", ": ", "\n"),
    };
    let mut out = String::with_capacity(data.len() / 3 * 4 + 1024);
    out.push('{');
    let name = |out: &mut String, name: &str| {
        out.push_str(if out.len() > 1 { "," } else { "" });
        out.push_str(line);
        out.push_str(&format!("\"{name}\"{colon}"));
    };
    if let Some(head) = head {
        name(&mut out, "serial");
        out.push_str(head.serial.as_deref().unwrap_or("null"));
        name(&mut out, "lineage");
        push_json_string(&mut out, &head.lineage);
    }
    name(&mut out, "meta");
    out.push('{');
    for (index, (key, value)) in metadata.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        if layout == EnvelopeLayout::Indented {
            out.push_str("\n    ");
        }
        push_json_string(&mut out, key);
        out.push_str(&format!("{colon}\"{}\"", base64::encode(value)));
    }
    if !metadata.is_empty() {
        out.push_str(line);
    }
    out.push('}');
    name(&mut out, "encrypted_data");
    out.push('"');
    base64::encode_into(data, &mut out);
    out.push('"');
    name(&mut out, "encryption_version");
    out.push_str(&format!("\"{VERSION}\"{end}}}"));
    out.push_str(end);
    out
}
