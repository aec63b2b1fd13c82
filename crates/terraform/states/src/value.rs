//! Output values and their types.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::{Number, set_order};

/// How deep types and values may nest. Readers refuse deeper ones, so recursion over a value is safe.
pub const MAX_VALUE_DEPTH: usize = 256;

/// The type of an output value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Type {
    /// `"string"`
    String,
    /// `"number"`
    Number,
    /// `"bool"`
    Bool,
    /// `"dynamic"`: the value carries its own type.
    Dynamic,
    /// `["list",T]`
    List(Box<Self>),
    /// `["set",T]`
    Set(Box<Self>),
    /// `["map",T]`
    Map(Box<Self>),
    /// `["tuple",[T…]]`
    Tuple(Vec<Self>),
    /// `["object",{…}]`
    Object(ObjectType),
}

/// Attributes of an object type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ObjectType {
    /// Attribute types by name.
    pub attributes: BTreeMap<Arc<str>, Type>,
    /// Names of attributes that may be missing.
    pub optional: BTreeSet<Arc<str>>,
}

/// A value; its type is kept beside it.
///
/// `Debug` shows the content. What holds values that may be secret redacts them in its own `Debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Value {
    /// Null of any type.
    Null,
    /// A bool.
    Bool(bool),
    /// A number of any size.
    Number(Number),
    /// A string in normalization form C.
    String(Arc<str>),
    /// Elements of a list, set or tuple; a set's are sorted and distinct.
    Sequence(Vec<Self>),
    /// Members of a map or object.
    Mapping(BTreeMap<Arc<str>, Self>),
    /// A value in a dynamic position, with its own type.
    Dynamic(Box<(Type, Self)>),
}

impl Type {
    /// Whether values of this type have no parts.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::String | Self::Number | Self::Bool)
    }

    /// Whether the type nests no deeper than [`MAX_VALUE_DEPTH`].
    #[must_use]
    pub fn is_within_depth(&self) -> bool {
        let mut pending = vec![(self, 1)];
        while let Some((ty, depth)) = pending.pop() {
            if depth > MAX_VALUE_DEPTH {
                return false;
            }
            match ty {
                Self::String | Self::Number | Self::Bool | Self::Dynamic => {}
                Self::List(element) | Self::Set(element) | Self::Map(element) => {
                    pending.push((element.as_ref(), depth + 1));
                }
                Self::Tuple(elements) => pending.extend(elements.iter().map(|element| (element, depth + 1))),
                Self::Object(object) => {
                    pending.extend(object.attributes.values().map(|attribute| (attribute, depth + 1)));
                }
            }
        }
        true
    }

    /// The value of this primitive type that `text` spells, as strings are converted: decimal numbers, and
    /// `true` `1` `false` `0` for bools. None if it spells none, or the type is not primitive.
    #[must_use]
    pub fn parse_primitive(&self, text: &str) -> Option<Value> {
        match (self, text) {
            (Self::String, _) => Some(Value::string(text)),
            (Self::Number, _) => Number::parse(text).ok().map(Value::Number),
            (Self::Bool, "true" | "1") => Some(Value::Bool(true)),
            (Self::Bool, "false" | "0") => Some(Value::Bool(false)),
            _ => None,
        }
    }
}

impl Value {
    /// A string, brought into normalization form C as all strings are.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::String(normalize(text))
    }

    /// A map or object. Names are normalized like strings; the last of equal names wins.
    pub fn mapping<N: AsRef<str>>(members: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Mapping(members.into_iter().map(|(name, value)| (normalize(name.as_ref()), value)).collect())
    }

    /// A set of elements of the given type: sorted the way writers sort them, without duplicates.
    ///
    /// ```
    /// use groundstate_states::{Number, Type, Value};
    ///
    /// let numbers = ["10", "9", "10.0"].map(|text| Number::parse(text).map(Value::Number));
    /// let set = Value::set(numbers.into_iter().collect::<Result<_, _>>()?, &Type::Number);
    /// assert_eq!(set, Value::Sequence(vec![Value::Number(9_u64.into()), Value::Number(10_u64.into())]));
    /// # Ok::<(), groundstate_states::NumberError>(())
    /// ```
    #[must_use]
    pub fn set(elements: Vec<Self>, element: &Type) -> Self {
        Self::Sequence(set_order::arrange(elements, element))
    }

    /// Whether this is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether the value nests no deeper than [`MAX_VALUE_DEPTH`].
    #[must_use]
    pub fn is_within_depth(&self) -> bool {
        let mut pending = vec![(self, 1)];
        while let Some((value, depth)) = pending.pop() {
            if depth > MAX_VALUE_DEPTH {
                return false;
            }
            match value {
                Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => {}
                Self::Sequence(elements) => {
                    pending.extend(elements.iter().map(|element| (element, depth + 1)))
                }
                Self::Mapping(members) => pending.extend(members.values().map(|member| (member, depth + 1))),
                Self::Dynamic(typed) => {
                    if !typed.0.is_within_depth() {
                        return false;
                    }
                    pending.push((&typed.1, depth + 1));
                }
            }
        }
        true
    }

    /// Whether this is a value of the type. Null is a value of every type; an object has exactly the attributes
    /// of its type, of which optional ones may be missing.
    #[must_use]
    pub fn conforms_to(&self, ty: &Type) -> bool {
        let mut pending = vec![(self, ty)];
        while let Some((value, ty)) = pending.pop() {
            match (value, ty) {
                (Self::Null, _)
                | (Self::Bool(_), Type::Bool)
                | (Self::Number(_), Type::Number)
                | (Self::String(_), Type::String) => {}
                (Self::Dynamic(typed), Type::Dynamic) => pending.push((&typed.1, &typed.0)),
                (Self::Sequence(elements), Type::List(ty) | Type::Set(ty)) => {
                    pending.extend(elements.iter().map(|element| (element, ty.as_ref())));
                }
                (Self::Sequence(elements), Type::Tuple(types)) if elements.len() == types.len() => {
                    pending.extend(elements.iter().zip(types));
                }
                (Self::Mapping(members), Type::Map(ty)) => {
                    pending.extend(members.values().map(|member| (member, ty.as_ref())));
                }
                (Self::Mapping(members), Type::Object(object)) => {
                    if !object.has_exactly(members) {
                        return false;
                    }
                    let typed = |(name, ty)| members.get(name).map(|member| (member, ty));
                    pending.extend(object.attributes.iter().filter_map(typed));
                }
                _ => return false,
            }
        }
        true
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Number(_) => 1,
            Self::String(_) => 2,
            Self::Sequence(_) => 3,
            Self::Mapping(_) => 4,
            Self::Dynamic(_) => 5,
            Self::Null => 6,
        }
    }
}

impl ObjectType {
    fn has_exactly(&self, members: &BTreeMap<Arc<str>, Value>) -> bool {
        members.keys().all(|name| self.attributes.contains_key(name))
            && self.attributes.keys().all(|name| members.contains_key(name) || self.optional.contains(name))
    }
}

/// By kind, then by content; null comes last. Sets are not written in this order if their elements are composite.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => left.cmp(right),
            (Self::String(left), Self::String(right)) => left.cmp(right),
            (Self::Sequence(left), Self::Sequence(right)) => left.cmp(right),
            (Self::Mapping(left), Self::Mapping(right)) => left.cmp(right),
            (Self::Dynamic(left), Self::Dynamic(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn normalize(text: &str) -> Arc<str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
    }
}
