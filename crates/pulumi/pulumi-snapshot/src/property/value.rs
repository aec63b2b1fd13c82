//! The value tree and its maps.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::sync::Arc;

use crate::property::{Archive, Asset, Number, ResourceReference, Secret};
use crate::urn::Urn;

/// A value of an input or output.
///
/// `==` compares all there is, also how a number was written; [`PropertyValue::deep_equals`] compares what it means.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum PropertyValue {
    /// No value.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    String(Arc<str>),
    /// Text that is not UTF-8; [`PropertyValue::bytes`] makes one.
    Bytes(Arc<[u8]>),
    /// A list.
    Array(Vec<Self>),
    /// Values by name.
    Object(PropertyMap),
    /// A value that is not known yet, with a sample of its kind.
    Computed(Box<Self>),
    /// A value with what is known about it. Files have no form for it.
    Output(Box<Output>),
    /// A file or a text.
    Asset(Box<Asset>),
    /// Several files.
    Archive(Box<Archive>),
    /// Another resource.
    ResourceReference(Box<ResourceReference>),
    /// A value that is stored encrypted.
    Secret(Secret),
}

/// A value together with what is known about it.
#[derive(Clone, PartialEq)]
pub struct Output {
    /// The value, or a sample of its kind while it is not known.
    pub element: PropertyValue,
    /// Whether it is known.
    pub known: bool,
    /// Whether it is to be stored encrypted.
    pub secret: bool,
    /// The resources it came from.
    pub dependencies: Vec<Urn>,
}

impl PropertyValue {
    /// Text of any bytes: [`PropertyValue::String`] if it is UTF-8, [`PropertyValue::Bytes`] otherwise.
    pub fn bytes(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::String(text.into()),
            Err(_) => Self::Bytes(bytes.into()),
        }
    }

    /// A value that is not known, of which nothing else is known either.
    pub fn unknown() -> Self {
        Self::Computed(Box::new(Self::String(Arc::default())))
    }

    /// The same value as a secret that has not been encrypted yet.
    #[must_use]
    pub fn into_secret(self) -> Self {
        Self::Secret(Secret::new(self))
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&PropertyMap> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// What is directly inside: elements, members, the value of an opened secret, the assets of an archive.
    pub fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        use crate::property::ArchiveContent;
        match self {
            Self::Array(elements) => Box::new(elements.iter()),
            Self::Object(map) => Box::new(map.values()),
            Self::Computed(element) => Box::new(std::iter::once(&**element)),
            Self::Output(output) => Box::new(std::iter::once(&output.element)),
            Self::Secret(secret) => Box::new(secret.value().into_iter()),
            Self::Archive(archive) => match &archive.content {
                ArchiveContent::Assets(assets) => Box::new(assets.values()),
                _ => Box::new(std::iter::empty()),
            },
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Whether this value or one inside is a secret.
    pub fn contains_secrets(&self) -> bool {
        match self {
            Self::Secret(_) => true,
            Self::Output(output) if output.secret => true,
            other => other.children().any(Self::contains_secrets),
        }
    }

    /// Whether this value or one inside is not known.
    pub fn contains_unknowns(&self) -> bool {
        match self {
            Self::Computed(_) => true,
            Self::Output(output) if !output.known => true,
            other => other.children().any(Self::contains_unknowns),
        }
    }

    /// Whether a text that is not UTF-8 stands in it, as the feature `byteString` means it: in elements and members, in
    /// opened secrets and outputs, but not in assets, archives or names.
    pub fn contains_bytes(&self) -> bool {
        match self {
            Self::Bytes(_) => true,
            Self::Archive(_) => false,
            other => other.children().any(Self::contains_bytes),
        }
    }
}

impl From<&str> for PropertyValue {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for PropertyValue {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for PropertyValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for PropertyValue {
    fn from(value: f64) -> Self {
        Self::Number(Number::new(value))
    }
}

impl From<Vec<Self>> for PropertyValue {
    fn from(elements: Vec<Self>) -> Self {
        Self::Array(elements)
    }
}

impl From<PropertyMap> for PropertyValue {
    fn from(map: PropertyMap) -> Self {
        Self::Object(map)
    }
}

impl From<Secret> for PropertyValue {
    fn from(secret: Secret) -> Self {
        Self::Secret(secret)
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Output");
        if self.secret {
            shown.field("element", &"[secret]");
        } else {
            shown.field("element", &self.element);
        }
        shown.field("known", &self.known).field("dependencies", &self.dependencies).finish()
    }
}

/// Values by name, in the order of the names' bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct PropertyMap(BTreeMap<Arc<str>, PropertyValue>);

impl PropertyMap {
    /// No values.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&PropertyValue> {
        self.0.get(name)
    }

    /// The value of this name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut PropertyValue> {
        self.0.get_mut(name)
    }

    /// Adds or replaces a value, and gives back the one that was there.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: PropertyValue) -> Option<PropertyValue> {
        self.0.insert(name.into(), value)
    }

    /// Takes a value out.
    pub fn remove(&mut self, name: &str) -> Option<PropertyValue> {
        self.0.remove(name)
    }

    /// Names and values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &PropertyValue)> + ExactSizeIterator {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Names and values, the values to be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut PropertyValue)> {
        self.0.iter_mut().map(|(name, value)| (&**name, value))
    }

    /// The names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.keys().map(|name| &**name)
    }

    /// The values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &PropertyValue> {
        self.0.values()
    }
}

impl<N: Into<Arc<str>>, V: Into<PropertyValue>> FromIterator<(N, V)> for PropertyMap {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl IntoIterator for PropertyMap {
    type Item = (Arc<str>, PropertyValue);
    type IntoIter = btree_map::IntoIter<Arc<str>, PropertyValue>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
