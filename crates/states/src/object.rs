//! Instance objects: the record of one remote object.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::{AbsResourceInstance, ConfigResource};
use crate::{AttributePath, Extra, RawJson};

/// Identifies a deposed object inside its instance: eight bytes, by convention lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeposedKey([u8; 8]);

/// Which object of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// The current object.
    Current,
    /// A deposed object.
    Deposed(DeposedKey),
}

/// The state of an instance object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ObjectStatus {
    /// Usable.
    #[default]
    Ready,
    /// To be replaced.
    Tainted,
    /// A placeholder of a running plan; writing it is an error.
    Planned,
}

/// Provider-defined attributes in the form they were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// JSON, by the resource type's schema.
    Json(RawJson),
    /// The flat string map of Terraform before 0.12.
    Flat(BTreeMap<Arc<str>, Arc<str>>),
}

/// One remote object as state stores it. Replaced as a whole, never edited in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSrc {
    /// Version of the schema the attributes were encoded by.
    pub schema_version: u64,
    /// The attributes.
    pub attributes: Attributes,
    /// Paths of sensitive attributes.
    pub sensitive_paths: Vec<AttributePath>,
    /// Opaque data of the provider; empty means none.
    pub private: Arc<[u8]>,
    /// Ready, tainted or planned.
    pub status: ObjectStatus,
    /// Resources this one depends on; a set, kept in the order it was read.
    pub dependencies: Vec<ConfigResource>,
    /// Instances this one depends on (OpenTofu); a set, kept in the order it was read.
    pub depends_on: Vec<AbsResourceInstance>,
    /// Replacements are created before this object is destroyed.
    pub create_before_destroy: bool,
    /// The remote object is left alone when this one is destroyed (OpenTofu).
    pub skip_destroy: bool,
    /// Identity of the remote object.
    pub identity: Option<RawJson>,
    /// Version of the identity schema.
    pub identity_schema_version: Option<u64>,
    /// Members that are not understood.
    pub extra: Extra,
}
