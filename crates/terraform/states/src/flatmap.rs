//! Decodes the flat string maps in which Terraform before 0.12 kept attributes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::{ObjectType, Type, Value};

/// What stands for a value that was not known yet.
const UNKNOWN: &str = "74D93920-ED26-11E3-AC10-0800200C9A66";

/// How many elements counts may promise without an entry that belongs to one.
const MAX_MISSING: usize = 65_536;

/// A decoded flat map.
#[derive(Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The object, with null wherever a value was not known.
    pub value: Value,
    /// Keys of the values that were not known, in the order of the type.
    pub unknown: Vec<String>,
}

/// Attributes may be secret, so only what is unknown is shown.
impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoded").field("unknown", &self.unknown).finish_non_exhaustive()
    }
}

/// A flat map that does not fit the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlatmapError {
    /// The entry's text is not a value of the type.
    #[error("{key} is not a {expected}; correct the attribute or the schema version of the object")]
    NotPrimitive {
        /// The key of the entry.
        key: String,
        /// The kind of value it should be.
        expected: &'static str,
    },
    /// The entry should say how many elements there are.
    #[error("{key} is not a whole number of elements")]
    BadCount {
        /// The key of the entry.
        key: String,
    },
    /// A tuple with another number of elements than its type.
    #[error("{key} is {found}, but there must be {expected} elements")]
    WrongLength {
        /// The key of the entry.
        key: String,
        /// How many there are.
        found: u64,
        /// How many the type has.
        expected: usize,
    },
    /// The counts promise far more elements than there are entries.
    #[error("{key} promises more elements than the attributes can hold")]
    TooMany {
        /// The key of the entry.
        key: String,
    },
    /// Types whose values flat maps cannot hold.
    #[error("attributes at {key} cannot be read from a flat map: their type is dynamic or nests too deep")]
    Unsupported {
        /// The position.
        key: String,
    },
}

/// Decodes a flat map by the type of the object it describes.
///
/// # Errors
/// The first key whose entry does not fit the type, in the order of the type.
///
/// ```
/// use std::sync::Arc;
/// use groundstate_states::{ObjectType, Type, Value, decode_flatmap};
///
/// let flat = [("tags.%", "1"), ("tags.Name", "web")].map(|(key, text)| (Arc::from(key), Arc::from(text))).into();
/// let tags = Type::Map(Box::new(Type::String));
/// let ty = ObjectType { attributes: [("tags".into(), tags)].into(), ..ObjectType::default() };
/// let expected = Value::mapping([("tags", Value::mapping([("Name", Value::string("web"))]))]);
/// assert_eq!(decode_flatmap(&flat, &ty)?.value, expected);
/// # Ok::<(), groundstate_states::FlatmapError>(())
/// ```
pub fn decode_flatmap(
    flat: &BTreeMap<Arc<str>, Arc<str>>,
    object: &ObjectType,
) -> Result<Decoded, FlatmapError> {
    if let Some((name, _)) = object.attributes.iter().find(|(_, ty)| !ty.is_within_depth()) {
        return Err(FlatmapError::Unsupported { key: name.to_string() });
    }
    let mut decoder = Decoder { flat, unknown: Vec::new(), missing: 0 };
    let value = decoder.object("", object)?;
    Ok(Decoded { value, unknown: decoder.unknown })
}

struct Decoder<'a> {
    flat: &'a BTreeMap<Arc<str>, Arc<str>>,
    unknown: Vec<String>,
    missing: usize,
}

/// `prefix` is empty or ends in a dot; the key of the position is the prefix without its dots.
impl Decoder<'_> {
    /// The value at `prefix` + `name`.
    fn value(&mut self, key: &str, ty: &Type) -> Result<Value, FlatmapError> {
        match ty {
            Type::String | Type::Number | Type::Bool => self.primitive(key, ty),
            Type::Object(object) => self.object(&format!("{key}."), object),
            Type::Tuple(_) | Type::List(_) => self.sequence(key, ty),
            Type::Map(element) => self.map(key, element),
            Type::Set(element) => self.set(key, element),
            Type::Dynamic => Err(FlatmapError::Unsupported { key: key.to_owned() }),
        }
    }

    fn primitive(&mut self, key: &str, ty: &Type) -> Result<Value, FlatmapError> {
        let Some(text) = self.flat.get(key) else { return Ok(Value::Null) };
        if self.is_unknown(key) {
            return Ok(Value::Null);
        }
        let expected = match ty {
            Type::Number => "number",
            Type::Bool => "bool",
            _ => "string",
        };
        ty.parse_primitive(text).ok_or_else(|| FlatmapError::NotPrimitive { key: key.to_owned(), expected })
    }

    fn object(&mut self, prefix: &str, object: &ObjectType) -> Result<Value, FlatmapError> {
        let mut members = BTreeMap::new();
        for (name, ty) in &object.attributes {
            members.insert(Arc::clone(name), self.value(&format!("{prefix}{name}"), ty)?);
        }
        Ok(Value::Mapping(members))
    }

    fn sequence(&mut self, key: &str, ty: &Type) -> Result<Value, FlatmapError> {
        let Some(count) = self.count(key, '#')? else { return Ok(Value::Null) };
        let (types, element) = match ty {
            Type::Tuple(types) => (types.as_slice(), None),
            Type::List(element) => (&[][..], Some(element.as_ref())),
            _ => (&[][..], None),
        };
        if element.is_none() && u64::try_from(types.len()) != Ok(count) {
            let key = format!("{key}.#");
            return Err(FlatmapError::WrongLength { key, found: count, expected: types.len() });
        }
        let mut elements = Vec::new();
        for index in 0..count {
            let position = usize::try_from(index).ok().and_then(|index| types.get(index));
            let Some(ty) = position.or(element) else { break };
            let element_key = format!("{key}.{index}");
            self.charge(key, &element_key)?;
            elements.push(self.value(&element_key, ty)?);
        }
        Ok(Value::Sequence(elements))
    }

    fn map(&mut self, key: &str, element: &Type) -> Result<Value, FlatmapError> {
        if self.is_unknown(key) || !self.flat.contains_key(&*format!("{key}.%")) {
            return Ok(Value::Null);
        }
        if self.is_unknown(&format!("{key}.%")) {
            return Ok(Value::Null);
        }
        let prefix = format!("{key}.");
        // Only the presence of the count matters, as in Terraform: the keys say which elements there are.
        let names: Vec<&str> = below(self.flat, &prefix).filter(|name| *name != "%").collect();
        let mut members = Vec::new();
        for name in names {
            members.push((name, self.value(&format!("{prefix}{name}"), element)?));
        }
        Ok(Value::mapping(members))
    }

    fn set(&mut self, key: &str, element: &Type) -> Result<Value, FlatmapError> {
        let Some(count) = self.count(key, '#')? else { return Ok(Value::Null) };
        let prefix = format!("{key}.");
        let ids: BTreeSet<&str> = below(self.flat, &prefix)
            .map(|rest| rest.split_once('.').map_or(rest, |(id, _)| id))
            .filter(|id| *id != "#")
            .collect();
        let mut elements = Vec::new();
        for id in &ids {
            elements.push(self.value(&format!("{prefix}{id}"), element)?);
        }
        // Writers left out every entry of an empty element; only the count of one tells that there was one.
        if ids.is_empty() && count == 1 {
            elements.push(empty(element));
        }
        Ok(Value::set(elements, element))
    }

    /// The count of a collection; none if the collection is null or not known.
    fn count(&mut self, key: &str, sign: char) -> Result<Option<u64>, FlatmapError> {
        let count_key = format!("{key}.{sign}");
        if self.is_unknown(key) || self.is_unknown(&count_key) {
            return Ok(None);
        }
        let Some(text) = self.flat.get(&*count_key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| FlatmapError::BadCount { key: count_key })
    }

    fn is_unknown(&mut self, key: &str) -> bool {
        let unknown = self.flat.get(key).is_some_and(|text| &**text == UNKNOWN);
        if unknown {
            self.unknown.push(key.to_owned());
        }
        unknown
    }

    /// Counts come from the file; without a limit a short one could demand any amount of memory.
    fn charge(&mut self, key: &str, element_key: &str) -> Result<(), FlatmapError> {
        let present = self.flat.contains_key(element_key)
            || below(self.flat, &format!("{element_key}.")).next().is_some();
        self.missing += usize::from(!present);
        if self.missing > MAX_MISSING {
            return Err(FlatmapError::TooMany { key: format!("{key}.#") });
        }
        Ok(())
    }
}

/// The rests of all keys that begin with the prefix.
fn below<'a>(flat: &'a BTreeMap<Arc<str>, Arc<str>>, prefix: &str) -> impl Iterator<Item = &'a str> {
    let from = (Bound::Included(prefix), Bound::Unbounded);
    let keys = flat.range::<str, _>(from).map(|(key, _)| key);
    keys.map_while(move |key| key.strip_prefix(prefix))
}

/// The one element of a set whose entries were all left out as empty.
fn empty(element: &Type) -> Value {
    match element {
        Type::List(_) | Type::Set(_) => Value::Sequence(Vec::new()),
        Type::Map(_) => Value::Mapping(BTreeMap::new()),
        Type::Object(object) => Value::mapping(object.attributes.keys().map(|name| (name, Value::Null))),
        _ => Value::Null,
    }
}
