//! Output values and their types.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Number;

/// The type of an output value.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectType {
    /// Attribute types by name.
    pub attributes: BTreeMap<Arc<str>, Type>,
    /// Names of attributes that may be missing.
    pub optional: std::collections::BTreeSet<Arc<str>>,
}

/// A value; its type is kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
