//! Properties of which parts cannot be read: what is wrong with them, what is left, and the text without those parts.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use groundstate_json::{Cursor, Kind};
use groundstate_pulumi_snapshot::{PropertyMap, PropertyPathStep, PropertyValue, RawJson};

use super::decode::{Reader, Secrets, syntax};
use super::error::{PropertyError, PropertyErrorKind as Wrong};
use super::{MAX_DEPTH, SIGNATURE};

/// What stands for a value that cannot be read in what [`salvage_map`] gives.
pub const UNREADABLE: &str = "[unreadable]";

/// So many faults of one text that keep it from being loaded are described, and so many that do not; more are counted.
const MAX_FAULTS: usize = 100;

/// Whether ciphertexts count as faults that nothing can decrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CiphertextCheck<'k> {
    /// They are not looked at.
    Unchecked,
    /// The deployment names no secrets manager, so every ciphertext is one.
    NoManager,
    /// Those are that managers of this type cannot have written.
    Manager(&'k str),
}

/// A value as far as it can be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Salvaged<V = PropertyMap> {
    /// The value, with [`UNREADABLE`] in place of what cannot be read.
    pub value: V,
    /// What cannot be read, or is beyond what Pulumi loads, in the order of the text.
    pub faults: Vec<PropertyError>,
    /// How many faults are not described.
    pub more: usize,
    /// How many faults, described or not, keep Pulumi from loading the text: all but [`PropertyErrorKind::TooDeep`](Wrong::TooDeep).
    pub unloadable: usize,
    /// How many of those are ciphertexts that nothing can decrypt.
    pub undecryptable: usize,
    /// The text without what cannot be read: members are left out, elements of lists are `null`, and all else has its
    /// bytes. Nothing if nothing is left.
    pub text: Option<RawJson>,
}

/// Reads inputs or outputs as far as they can be read.
///
/// ```
/// use groundstate_pulumi_deployment::{CiphertextCheck, salvage_map};
/// use groundstate_pulumi_snapshot::RawJson;
///
/// let raw = RawJson::parse_as_written(r#"{"a":1.50,"b":[{"4dabf18193072939515e22adb298388d":"foobar"}]}"#)?;
/// let salvaged = salvage_map(&raw, CiphertextCheck::Unchecked)?;
/// assert_eq!(salvaged.faults[0].to_string(), "b[0]: unrecognized signature 'foobar' in property map");
/// assert_eq!(salvaged.text.unwrap().as_str(), r#"{"a":1.50,"b":[null]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The text is not an object.
pub fn salvage_map(raw: &RawJson, check: CiphertextCheck<'_>) -> Result<Salvaged, PropertyError> {
    let mut cursor = Cursor::new(raw.as_str().as_bytes());
    if cursor.kind().map_err(syntax)? != Kind::Object {
        return Err(Wrong::NotAnObject.into());
    }
    let mut walker = Walker::new(raw.as_str(), Secrets::Sealed, check);
    let map = walker.members(&mut cursor, 0)?;
    cursor.end().map_err(syntax)?;
    Ok(walker.done(map, true))
}

/// Reads a value that stands alone, such as a replacement trigger, as far as it can be read.
///
/// # Errors
///
/// The text is not JSON.
pub fn salvage_value(
    raw: &RawJson,
    check: CiphertextCheck<'_>,
) -> Result<Salvaged<Option<PropertyValue>>, PropertyError> {
    salvaged(raw.as_str(), Secrets::Sealed, 0, check)
}

/// Reads a value at a depth, as what its secrets are.
pub(super) fn salvage_text(
    text: &str,
    secrets: Secrets,
    depth: usize,
) -> Result<Salvaged<Option<PropertyValue>>, PropertyError> {
    salvaged(text, secrets, depth, CiphertextCheck::Unchecked)
}

fn salvaged(
    text: &str,
    secrets: Secrets,
    depth: usize,
    check: CiphertextCheck<'_>,
) -> Result<Salvaged<Option<PropertyValue>>, PropertyError> {
    let mut cursor = Cursor::new(text.as_bytes());
    let mut walker = Walker::new(text, secrets, check);
    let value = walker.value(&mut cursor, depth)?;
    cursor.end().map_err(syntax)?;
    let is_left = value.is_some();
    Ok(walker.done(value, is_left))
}

struct Walker<'t> {
    reader: Reader,
    check: CiphertextCheck<'t>,
    text: &'t str,
    path: Vec<PropertyPathStep>,
    faults: Vec<PropertyError>,
    counts: Counts,
    out: String,
}

/// How many faults there are, described or not.
#[derive(Clone, Copy, Default)]
struct Counts {
    too_deep: usize,
    unloadable: usize,
    /// How many of those that cannot be loaded are ciphertexts.
    undecryptable: usize,
}

/// A member that has been read.
struct Member {
    name: Arc<str>,
    faults: Range<usize>,
    /// The counts before it.
    before: Counts,
}

impl<'t> Walker<'t> {
    fn new(text: &'t str, secrets: Secrets, check: CiphertextCheck<'t>) -> Self {
        let reader = Reader { secrets };
        Self {
            reader,
            check,
            text,
            path: Vec::new(),
            faults: Vec::new(),
            counts: Counts::default(),
            out: String::new(),
        }
    }

    fn done<V>(self, value: V, is_left: bool) -> Salvaged<V> {
        let text = is_left.then(|| RawJson::from_validated(&self.out));
        let Counts { too_deep, unloadable, undecryptable } = self.counts;
        let more = too_deep + unloadable - self.faults.len();
        Salvaged { value, faults: self.faults, more, unloadable, undecryptable, text }
    }

    fn note(&mut self, error: PropertyError) {
        let is_of_ciphertext = matches!(error.kind(), Wrong::NoManager | Wrong::Ciphertext(_));
        self.counts.undecryptable += usize::from(is_of_ciphertext);
        let count = match error.kind() {
            Wrong::TooDeep => &mut self.counts.too_deep,
            _ => &mut self.counts.unloadable,
        };
        *count += 1;
        if *count <= MAX_FAULTS {
            self.faults.push(error.below(&self.path));
        }
    }

    fn copy(&mut self, range: Range<usize>) {
        self.out.push_str(self.text.get(range).unwrap_or_default());
    }

    /// A value that has been written as well; nothing, and nothing written, for one that cannot be read.
    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
    ) -> Result<Option<PropertyValue>, PropertyError> {
        let kind = cursor.kind().map_err(syntax)?;
        let start = cursor.offset();
        if depth > MAX_DEPTH {
            // Pulumi reads on, so this is no reason to leave anything out.
            cursor.skip().map_err(syntax)?;
            self.note(Wrong::TooDeep.into());
            self.copy(start..cursor.offset());
            return Ok(Some(unreadable()));
        }
        match kind {
            Kind::Array => self.elements(cursor, depth),
            Kind::Object => self.object(cursor, depth),
            _ => {
                let value = self.reader.value(cursor, depth)?;
                if matches!(&value, PropertyValue::Number(number) if !number.value().is_finite()) {
                    self.note(Wrong::NumberRange.into());
                    return Ok(None);
                }
                self.copy(start..cursor.offset());
                Ok(Some(value))
            }
        }
    }

    fn elements(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
    ) -> Result<Option<PropertyValue>, PropertyError> {
        cursor.open(b'[').map_err(syntax)?;
        self.out.push('[');
        let (mut first, mut elements) = (true, Vec::new());
        while cursor.element(&mut first).map_err(syntax)? {
            if !elements.is_empty() {
                self.out.push(',');
            }
            self.path.push(PropertyPathStep::Index(elements.len() as u64));
            let element = self.value(cursor, depth + 1)?;
            self.path.pop();
            elements.push(element.unwrap_or_else(|| {
                self.out.push_str("null");
                unreadable()
            }));
        }
        self.out.push(']');
        Ok(Some(PropertyValue::Array(elements)))
    }

    /// An object. One that is something special cannot be read if any part of it cannot.
    fn object(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
    ) -> Result<Option<PropertyValue>, PropertyError> {
        let (mark, before) = (self.out.len(), self.counts);
        let map = self.members(cursor, depth)?;
        let is_special = map.get(SIGNATURE).is_some();
        let read = if is_special && self.counts.unloadable > before.unloadable {
            None
        } else if is_special && depth == MAX_DEPTH {
            // All its members nest too deep, the signature too.
            Some(unreadable())
        } else {
            self.special(map, depth, self.counts.too_deep > before.too_deep)
        };
        if read.is_none() {
            self.out.truncate(mark);
        }
        Ok(read)
    }

    /// What an object is by its signature. Pulumi reads what nests too deep, so that is no reason to leave the object out.
    fn special(&mut self, map: PropertyMap, depth: usize, has_deep_parts: bool) -> Option<PropertyValue> {
        let value = match self.reader.object(map, depth).map_err(|error| (error.kind().clone(), error)) {
            Ok(value) => value,
            Err((Wrong::ArchiveMember(_) | Wrong::Assets { .. }, _)) if has_deep_parts => {
                return Some(unreadable());
            }
            Err((kind, error)) => {
                self.note(error);
                return (kind == Wrong::TooDeep).then(unreadable);
            }
        };
        let PropertyValue::Secret(secret) = &value else { return Some(value) };
        let ciphertext = secret.ciphertext().filter(|_| secret.value().is_none());
        let fault = match (self.check, ciphertext) {
            (CiphertextCheck::Unchecked, _) | (_, None) => None,
            (CiphertextCheck::NoManager, Some(_)) => Some(Wrong::NoManager),
            (CiphertextCheck::Manager(kind), Some(ciphertext)) => {
                let inspected = groundstate_pulumi_secrets::inspect_ciphertext(kind, ciphertext);
                inspected.err().map(|error| Wrong::Ciphertext(error.to_string()))
            }
        };
        match fault {
            None => Some(value),
            Some(fault) => {
                self.note(fault.into());
                None
            }
        }
    }

    fn members(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<PropertyMap, PropertyError> {
        cursor.open(b'{').map_err(syntax)?;
        self.out.push('{');
        let empty = self.out.len();
        let (mut first, mut map, mut read) = (true, PropertyMap::new(), Vec::new());
        let mut repeated = false;
        while let Some(name) = cursor.member(&mut first).map_err(syntax)? {
            let key = name.offset..name.offset + key_length(self.text, name.offset);
            let name: Arc<str> = name.decode().into();
            let (mark, faults, before) = (self.out.len(), self.faults.len(), self.counts);
            if mark > empty {
                self.out.push(',');
            }
            self.copy(key);
            self.out.push(':');
            self.path.push(PropertyPathStep::Name(Arc::clone(&name)));
            let value = self.value(cursor, depth + 1)?;
            self.path.pop();
            let again = map.get(&name).is_some();
            repeated |= again;
            match value {
                Some(value) => {
                    map.insert(Arc::clone(&name), value);
                }
                None => {
                    // The one before would count if this one were left out.
                    if again {
                        self.out.push_str("null")
                    } else {
                        self.out.truncate(mark)
                    }
                    map.insert(Arc::clone(&name), unreadable());
                }
            }
            read.push(Member { name, faults: faults..self.faults.len(), before });
        }
        self.out.push('}');
        if repeated {
            self.forget_overwritten(&read);
        }
        Ok(map)
    }

    /// Of members of one name only the last counts, so what is wrong with the others does not matter.
    fn forget_overwritten(&mut self, read: &[Member]) {
        let last: HashMap<&str, usize> =
            read.iter().enumerate().map(|(at, member)| (&*member.name, at)).collect();
        let Some(first) = read.first() else { return };
        let (start, mut counts, mut kept) = (first.faults.start, first.before, Vec::new());
        let after = read.iter().skip(1).map(|next| next.before).chain([self.counts]);
        for ((at, member), after) in read.iter().enumerate().zip(after) {
            if last.get(&*member.name) == Some(&at) {
                kept.extend(self.faults.get(member.faults.clone()).unwrap_or_default().iter().cloned());
                counts.too_deep += after.too_deep - member.before.too_deep;
                counts.unloadable += after.unloadable - member.before.unloadable;
                counts.undecryptable += after.undecryptable - member.before.undecryptable;
            }
        }
        self.counts = counts;
        self.faults.truncate(start);
        self.faults.extend(kept);
    }
}

fn unreadable() -> PropertyValue {
    PropertyValue::String(UNREADABLE.into())
}

/// How many bytes the string takes that begins here, with its quotes.
fn key_length(text: &str, at: usize) -> usize {
    let mut cursor = Cursor::at(text.as_bytes(), at, 0);
    match cursor.string() {
        Ok(_) => cursor.offset() - at,
        Err(_) => 0,
    }
}
