//! The protocol of `external` programs: what they read and what they print. Running them is the caller's.

use groundstate_json::{Cursor, Kind, RawJson, Stop};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::base64;
use crate::provider::{KeyUse, ProvidedKey};
use crate::sensitive::{Key, Plaintext};

const KEY_MAGIC: &str = "OpenTofu-External-Key-Provider";
const METHOD_MAGIC: &str = "OpenTofu-External-Encryption-Method";

/// What a key provider's program reads from standard input.
///
/// # Errors
///
/// When the stored metadata are not those of an external provider.
pub fn key_input(key_use: &KeyUse) -> Result<Vec<u8>, ExternalError> {
    let KeyUse::Decrypt(stored) = key_use else { return Ok(b"null".to_vec()) };
    let mut cursor = Cursor::new(stored);
    let data = match external_data(&mut cursor) {
        Ok(data) => data.ok_or(ExternalError::Metadata)?,
        Err(Wrong::Stop(stop)) => return Err(ExternalError::Stored { at: stop.offset + 1 }),
        Err(Wrong::Unkept { at }) => return Err(ExternalError::Stored { at }),
        Err(_) => return Err(ExternalError::Metadata),
    };
    cursor.end().map_err(|stop| ExternalError::Stored { at: stop.offset + 1 })?;
    Ok(format!(r#"{{"external_data":{}}}"#, data.as_str()).into_bytes())
}

/// Reads what a key provider's program printed: a header line, and keys with metadata.
///
/// # Errors
///
/// When it breaks the protocol, or does not give the key that is needed.
pub fn key_output(key_use: &KeyUse, printed: &[u8]) -> Result<ProvidedKey, ExternalError> {
    let body = after_header(printed, KEY_MAGIC)?;
    let mut keys = KeyOutput::default();
    keys.read(body)?;
    match key_use {
        KeyUse::Encrypt => {
            let key = keys.encryption.ok_or(ExternalError::NoEncryptionKey)?;
            let data = keys.data.as_ref().map_or("null", |data| data.as_str());
            Ok(ProvidedKey::with_metadata(key, format!(r#"{{"external_data":{data}}}"#).into_bytes()))
        }
        KeyUse::Decrypt(_) => keys.decryption.map(ProvidedKey::new).ok_or(ExternalError::NoDecryptionKey),
    }
}

/// What a method's program reads from standard input.
pub(crate) fn method_input(key: Option<&Key>, payload: &[u8]) -> Plaintext {
    // The exact size: a buffer that grew would leave copies behind.
    let length = |bytes: &[u8]| bytes.len().div_ceil(3) * 4;
    let key = key.map(Key::expose);
    let mut out = String::with_capacity(64 + key.map_or(0, length) + length(payload));
    out.push('{');
    if let Some(key) = key {
        out.push_str("\"key\":\"");
        base64::encode_into(key, &mut out);
        out.push_str("\",");
    }
    out.push_str("\"payload\":\"");
    base64::encode_into(payload, &mut out);
    out.push_str("\"}");
    Plaintext::new(out.into_bytes())
}

/// Reads what a method's program printed: a header line, and the payload.
///
/// # Errors
///
/// When it breaks the protocol.
pub fn method_output(printed: &[u8]) -> Result<Plaintext, ExternalError> {
    let body = after_header(printed, METHOD_MAGIC)?;
    let mut payload = None;
    let read = |cursor: &mut Cursor<'_>, name: &str| -> Result<(), Wrong> {
        match name {
            "payload" => payload = bytes(cursor, "payload")?,
            other => return Err(Wrong::Member(other.to_owned())),
        }
        Ok(())
    };
    object(body, read)?;
    payload.map(|bytes| Plaintext::new(bytes.to_vec())).ok_or(ExternalError::NoPayload)
}

/// Whether a header line has arrived that no further output can mend.
///
/// # Errors
///
/// When the line is complete and wrong, so that the program can be ended at once.
pub fn check_header(printed: &[u8], is_method: bool) -> Result<(), ExternalError> {
    if !printed.contains(&b'\n') {
        return if printed.len() > MAX_HEADER { Err(ExternalError::Header) } else { Ok(()) };
    }
    after_header(printed, if is_method { METHOD_MAGIC } else { KEY_MAGIC }).map(|_| ())
}

const MAX_HEADER: usize = 64 << 10;

/// Why a program's answer is no use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// The first line is not the header of the protocol.
    #[error("the first line is not a header of the protocol, which has the members `magic` and `version`")]
    Header,
    /// The header names another protocol.
    #[error("the header has another `magic` than `{expected}`")]
    Magic {
        /// The word that is needed.
        expected: &'static str,
    },
    /// The header names another version.
    #[error("the header has another `version` than 1")]
    Version,
    /// What follows the header is not JSON.
    #[error("the output is not JSON: byte {at} after the header is wrong")]
    Json {
        /// The byte; the first is 1.
        at: usize,
    },
    /// A member that the protocol does not have.
    #[error("the output has a member `{}`, which the protocol does not know", .name.escape_default())]
    Member {
        /// The member that is not known.
        name: String,
    },
    /// A member is not base64.
    #[error("the member `{name}` of the output is not base64")]
    Base64 {
        /// The member that is not base64.
        name: &'static str,
    },
    /// The stored metadata are damaged.
    #[error("the stored metadata are not a JSON object with `external_data`: byte {at} is wrong")]
    Stored {
        /// The byte; the first is 1.
        at: usize,
    },
    /// The stored metadata were not written by an external provider.
    #[error("the stored metadata were not written by a provider of the type `external`")]
    Metadata,
    /// There is no key for encrypting.
    #[error("the output has no `encryption_key`")]
    NoEncryptionKey,
    /// There is no key for decrypting, though there were metadata.
    #[error("the output has no `decryption_key`, although the program was given metadata")]
    NoDecryptionKey,
    /// There is no payload.
    #[error("the output has no `payload`")]
    NoPayload,
}

enum Wrong {
    Stop(Stop),
    Member(String),
    Base64(&'static str),
    Unkept { at: usize },
}

impl From<Wrong> for ExternalError {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Stop(stop) => Self::Json { at: stop.offset + 1 },
            Wrong::Unkept { at } => Self::Json { at },
            Wrong::Member(name) => Self::Member { name },
            Wrong::Base64(name) => Self::Base64 { name },
        }
    }
}

impl From<Stop> for Wrong {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// What follows the header line. Members that the header has besides are of later versions, and ignored.
fn after_header<'a>(printed: &'a [u8], magic: &'static str) -> Result<&'a [u8], ExternalError> {
    let end = printed.iter().position(|byte| *byte == b'\n').ok_or(ExternalError::Header)?;
    let (mut found, mut version) = (None, None);
    let read = |cursor: &mut Cursor<'_>, name: &str| -> Result<(), Wrong> {
        match (name, cursor.kind()?) {
            ("magic", Kind::String) => found = Some(cursor.string()?.decode().into_owned()),
            ("version", Kind::Number) => version = Some(cursor.number()?.to_owned()),
            _ => cursor.skip()?,
        }
        Ok(())
    };
    object(&printed[..end], read).map_err(|_| ExternalError::Header)?;
    match (found.as_deref(), version.as_deref()) {
        (Some(found), _) if found != magic => Err(ExternalError::Magic { expected: magic }),
        (Some(_), Some("1")) => Ok(&printed[end + 1..]),
        (Some(_), Some(_)) => Err(ExternalError::Version),
        _ => Err(ExternalError::Header),
    }
}

/// Walks the one object of a text; white space may follow it.
fn object(
    text: &[u8],
    mut member: impl FnMut(&mut Cursor<'_>, &str) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut cursor = Cursor::new(text);
    members(&mut cursor, &mut member)?;
    Ok(cursor.end()?)
}

fn members(
    cursor: &mut Cursor<'_>,
    member: &mut dyn FnMut(&mut Cursor<'_>, &str) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    cursor.kind()?;
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        member(cursor, &name.decode())?;
    }
    Ok(())
}

#[derive(Default)]
struct KeyOutput {
    encryption: Option<Key>,
    decryption: Option<Key>,
    data: Option<RawJson>,
}

impl KeyOutput {
    fn read(&mut self, text: &[u8]) -> Result<(), Wrong> {
        object(text, |cursor, name| match name {
            "keys" => members(cursor, &mut |cursor, name| {
                let (member, name) = match name {
                    "encryption_key" => (&mut self.encryption, "encryption_key"),
                    "decryption_key" => (&mut self.decryption, "decryption_key"),
                    other => return Err(Wrong::Member(other.to_owned())),
                };
                let bytes = bytes(cursor, name)?.filter(|bytes| !bytes.is_empty());
                *member = bytes.map(|bytes| Key::new(bytes.to_vec()));
                Ok(())
            }),
            "meta" if cursor.kind()? == Kind::Null => Ok(cursor.null()?),
            "meta" => {
                self.data = external_data(cursor)?;
                Ok(())
            }
            other => Err(Wrong::Member(other.to_owned())),
        })
    }
}

/// The object in the one member `external_data`; nothing where it is null.
fn external_data(cursor: &mut Cursor<'_>) -> Result<Option<RawJson>, Wrong> {
    let mut data = None;
    members(cursor, &mut |cursor, name| match (name, cursor.kind()?) {
        ("external_data", Kind::Object) => {
            data = Some(kept(cursor)?);
            Ok(())
        }
        ("external_data", Kind::Null) => Ok(cursor.null()?),
        (other, _) => Err(Wrong::Member(other.to_owned())),
    })?;
    Ok(data)
}

/// A value whose every byte counts: what is stored in place of it would lead to another key, or to none.
fn kept(cursor: &mut Cursor<'_>) -> Result<RawJson, Wrong> {
    let raw = cursor.raw()?;
    let begin = cursor.offset() - raw.len();
    let wrong = |offset| Wrong::Unkept { at: begin + offset + 1 };
    let text = std::str::from_utf8(raw).map_err(|error| wrong(error.valid_up_to()))?;
    RawJson::parse(text).map_err(|error| wrong(error.offset))
}

/// The bytes of a text in base64; nothing for null.
fn bytes(cursor: &mut Cursor<'_>, name: &'static str) -> Result<Option<Zeroizing<Vec<u8>>>, Wrong> {
    if cursor.kind()? == Kind::Null {
        return cursor.null().map(|()| None).map_err(Wrong::from);
    }
    let text = Zeroizing::new(cursor.string()?.decode().into_owned());
    base64::decode(&text).map(|bytes| Some(Zeroizing::new(bytes))).ok_or(Wrong::Base64(name))
}
