//! JSON to property values, from the inside out.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_json::{Cursor, Kind, Stop};
use groundstate_pulumi_snapshot::{
    Archive, ArchiveContent, Asset, Ciphertext, Number, PropertyMap, PropertyValue, RawJson, ResourceId,
    ResourceReference, Secret, UNKNOWN, Urn,
};

use super::error::{PropertyError, PropertyErrorKind as Wrong};
use super::salvage::{CiphertextCheck, Salvaged, salvage_map, salvage_text};
use super::{ARCHIVE, ASSET, BYTES, FLOAT, MAX_DEPTH, REFERENCE, SECRET, SIGNATURE};

/// Reads inputs or outputs.
///
/// Secrets stay sealed, unless they are written readable. Of equal names the last counts. Numbers keep their digits.
///
/// ```
/// use groundstate_pulumi_deployment::decode_map;
/// use groundstate_pulumi_snapshot::RawJson;
///
/// let map = decode_map(&RawJson::parse_as_written(r#"{"size": 1.50, "tags": ["a"]}"#)?)?;
/// assert_eq!(map.get("tags").unwrap().as_array().unwrap().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The text is not an object, or a value in it is malformed; the error says which.
pub fn decode_map(raw: &RawJson) -> Result<PropertyMap, PropertyError> {
    let mut cursor = Cursor::new(raw.as_str().as_bytes());
    if cursor.kind().map_err(syntax)? != Kind::Object {
        return Err(Wrong::NotAnObject.into());
    }
    let reader = Reader { secrets: Secrets::Sealed };
    let read = reader.members(&mut cursor, 0).and_then(|map| cursor.end().map_err(syntax).map(|()| map));
    // Of members of one name only the last has to be readable.
    read.or_else(|error| match salvage_map(raw, CiphertextCheck::Unchecked)? {
        Salvaged { faults, value, more: 0, .. } if faults.is_empty() => Ok(value),
        Salvaged { faults, .. } => Err(faults.into_iter().next().unwrap_or(error)),
    })
}

/// Reads a value that stands alone, such as a replacement trigger.
///
/// # Errors
///
/// A value is malformed; the error says which.
pub fn decode_value(raw: &RawJson) -> Result<PropertyValue, PropertyError> {
    text(raw.as_str(), Secrets::Sealed, 0)
}

/// Reads what a secret holds, at the depth at which the secret stands. Secrets inside are not encrypted once more.
pub(super) fn secret_content(inside: &str, depth: usize) -> Result<PropertyValue, PropertyError> {
    text(inside, Secrets::Plain, depth).map_err(|error| match error.kind() {
        // The place of an error inside of a secret says something of its content.
        Wrong::Syntax(_) => Wrong::SecretContent.into(),
        _ => error,
    })
}

fn text(text: &str, secrets: Secrets, depth: usize) -> Result<PropertyValue, PropertyError> {
    let mut cursor = Cursor::new(text.as_bytes());
    let read = Reader { secrets }.value(&mut cursor, depth);
    let read = read.and_then(|value| cursor.end().map_err(syntax).map(|()| value));
    // Of members of one name only the last has to be readable.
    read.or_else(|error| match salvage_text(text, secrets, depth)? {
        Salvaged { faults, value: Some(value), more: 0, .. } if faults.is_empty() => Ok(value),
        Salvaged { faults, .. } => Err(faults.into_iter().next().unwrap_or(error)),
    })
}

pub(super) fn syntax(stop: Stop) -> PropertyError {
    Wrong::Syntax(stop.offset).into()
}

/// What the text in `ciphertext` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrets {
    /// Encrypted.
    Sealed,
    /// The value itself, because it stands inside of another secret.
    Plain,
}

pub(super) struct Reader {
    pub(super) secrets: Secrets,
}

impl Reader {
    pub(super) fn value(
        &self,
        cursor: &mut Cursor<'_>,
        depth: usize,
    ) -> Result<PropertyValue, PropertyError> {
        if depth > MAX_DEPTH {
            return Err(Wrong::TooDeep.into());
        }
        Ok(match cursor.kind().map_err(syntax)? {
            Kind::Null => cursor.null().map(|()| PropertyValue::Null).map_err(syntax)?,
            Kind::Bool => PropertyValue::Bool(cursor.bool().map_err(syntax)?),
            Kind::Number => {
                let offset = cursor.offset();
                let number = Number::parse(cursor.number().map_err(syntax)?);
                PropertyValue::Number(number.map_err(|_| Wrong::Syntax(offset))?)
            }
            Kind::String => {
                let text = cursor.string().map_err(syntax)?.decode();
                if text == UNKNOWN { PropertyValue::unknown() } else { PropertyValue::String(text.into()) }
            }
            Kind::Array => {
                cursor.open(b'[').map_err(syntax)?;
                let (mut first, mut elements) = (true, Vec::new());
                while cursor.element(&mut first).map_err(syntax)? {
                    let element = self.value(cursor, depth + 1);
                    elements.push(element.map_err(|error| error.at(elements.len()))?);
                }
                PropertyValue::Array(elements)
            }
            Kind::Object => self.object(self.members(cursor, depth)?, depth)?,
        })
    }

    fn members(&self, cursor: &mut Cursor<'_>, depth: usize) -> Result<PropertyMap, PropertyError> {
        cursor.open(b'{').map_err(syntax)?;
        let (mut first, mut map) = (true, PropertyMap::new());
        while let Some(name) = cursor.member(&mut first).map_err(syntax)? {
            let name: Arc<str> = name.decode().into();
            let value = self.value(cursor, depth + 1).map_err(|error| error.inside(&name))?;
            map.insert(name, value);
        }
        Ok(map)
    }

    /// What an object is, by its signature.
    pub(super) fn object(&self, mut map: PropertyMap, depth: usize) -> Result<PropertyValue, PropertyError> {
        let Some(signature) = map.remove(SIGNATURE) else { return Ok(PropertyValue::Object(map)) };
        match signature.as_str() {
            Some(SECRET) => self.secret(&map, depth),
            Some(ASSET) => asset(map),
            Some(ARCHIVE) => archive(map),
            Some(REFERENCE) => reference(map),
            Some(BYTES) => {
                let value = map.get("value").and_then(PropertyValue::as_str).ok_or(Wrong::BytesMissing)?;
                let bytes = groundstate_pulumi_secrets::decode_base64(value).map_err(|_| Wrong::Bytes)?;
                Ok(PropertyValue::bytes(&bytes))
            }
            Some(FLOAT) => {
                let value = map.get("value").and_then(PropertyValue::as_str).ok_or(Wrong::FloatMissing)?;
                Ok(PropertyValue::Number(Number::new(f64::from_bits(bits(value).ok_or(Wrong::Float)?))))
            }
            Some(other) => Err(Wrong::Signature(other.to_owned()).into()),
            None => Err(Wrong::Signature(described(&signature)).into()),
        }
    }

    fn secret(&self, map: &PropertyMap, depth: usize) -> Result<PropertyValue, PropertyError> {
        let text = |name: &str| map.get(name).and_then(PropertyValue::as_str);
        let (inside, plain) = match (text("ciphertext"), text("plaintext")) {
            (Some(ciphertext), None) => (ciphertext, false),
            (None, Some(plaintext)) => (plaintext, true),
            _ => return Err(Wrong::Secret.into()),
        };
        if inside.is_empty() {
            return Err(Wrong::Secret.into());
        }
        let secret = match self.secrets {
            Secrets::Sealed if !plain => Secret::sealed(Ciphertext::new(inside)),
            _ => Secret::new(secret_content(inside, depth + 1)?),
        };
        Ok(PropertyValue::Secret(secret))
    }
}

/// Hexadecimal digits, of which writers write sixteen.
fn bits(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// A signature that is not text, without what is inside of it.
fn described(value: &PropertyValue) -> String {
    match value {
        PropertyValue::Null => "null".to_owned(),
        PropertyValue::Bool(value) => value.to_string(),
        PropertyValue::Number(number) => number.to_string(),
        PropertyValue::Array(_) => "array".to_owned(),
        _ => "object".to_owned(),
    }
}

/// Takes a member out that is text if it is there.
fn take(
    map: &mut PropertyMap,
    what: &'static str,
    member: &'static str,
) -> Result<Option<Arc<str>>, PropertyError> {
    match map.remove(member) {
        None => Ok(None),
        Some(PropertyValue::String(text)) => Ok(Some(text)),
        Some(other) => Err(Wrong::Content { what, member, found: go_type(&other) }.into()),
    }
}

/// The type that Go names where it found this instead of something else.
fn go_type(value: &PropertyValue) -> Option<&'static str> {
    Some(match value {
        PropertyValue::Null => "<nil>",
        PropertyValue::Bool(_) => "bool",
        PropertyValue::Number(_) => "float64",
        PropertyValue::String(_) => "string",
        PropertyValue::Array(_) => "[]interface {}",
        PropertyValue::Object(_) => "map[string]interface {}",
        _ => return None,
    })
}

fn asset(mut map: PropertyMap) -> Result<PropertyValue, PropertyError> {
    const WHAT: &str = "asset";
    let asset = Asset {
        hash: take(&mut map, WHAT, "hash")?,
        text: take(&mut map, WHAT, "text")?,
        path: take(&mut map, WHAT, "path")?,
        uri: take(&mut map, WHAT, "uri")?,
        extra: map,
    };
    Ok(PropertyValue::Asset(Box::new(asset)))
}

/// A path counts before a URI, and that before assets; what does not count is kept aside.
fn archive(mut map: PropertyMap) -> Result<PropertyValue, PropertyError> {
    const WHAT: &str = "archive";
    let hash = take(&mut map, WHAT, "hash")?;
    let content = if let Some(path) = take(&mut map, WHAT, "path")?.filter(|path| !path.is_empty()) {
        ArchiveContent::Path(path)
    } else if let Some(uri) = take(&mut map, WHAT, "uri")?.filter(|uri| !uri.is_empty()) {
        ArchiveContent::Uri(uri)
    } else {
        match map.remove("assets") {
            None => ArchiveContent::Unknown,
            Some(PropertyValue::Object(assets)) => {
                let part = |value: &PropertyValue| {
                    matches!(value, PropertyValue::Asset(_) | PropertyValue::Archive(_))
                };
                if let Some((name, _)) = assets.iter().find(|(_, value)| !part(value)) {
                    return Err(Wrong::ArchiveMember(name.to_owned()).into());
                }
                ArchiveContent::Assets(assets.into_iter().collect::<BTreeMap<_, _>>())
            }
            Some(other) => return Err(Wrong::Assets { found: go_type(&other) }.into()),
        }
    };
    Ok(PropertyValue::Archive(Box::new(Archive { hash, content, extra: map })))
}

fn reference(mut map: PropertyMap) -> Result<PropertyValue, PropertyError> {
    let package_version = match map.remove("packageVersion") {
        None => Arc::default(),
        Some(PropertyValue::String(version)) => version,
        Some(_) => return Err(Wrong::ReferenceVersion.into()),
    };
    let Some(PropertyValue::String(urn)) = map.remove("urn") else { return Err(Wrong::ReferenceUrn.into()) };
    let id = match map.remove("id") {
        None => None,
        Some(PropertyValue::String(id)) => Some(ResourceId::from(id)),
        // Release 2.18.0 wrote identifiers inside of an object.
        Some(PropertyValue::Object(wrapped)) if wrapped.len() <= 1 => match wrapped.get("V") {
            None if wrapped.is_empty() => None,
            Some(PropertyValue::Null) => None,
            Some(PropertyValue::String(id)) => Some(ResourceId::new(Arc::clone(id))),
            Some(PropertyValue::Object(_)) => Some(ResourceId::default()),
            _ => return Err(Wrong::ReferenceId.into()),
        },
        Some(_) => return Err(Wrong::ReferenceId.into()),
    };
    let urn = Urn::from(urn);
    let reference = ResourceReference { urn, id, package_version, extra: map };
    Ok(PropertyValue::ResourceReference(Box::new(reference)))
}
