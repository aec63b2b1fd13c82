//! Instance objects: the record of one remote object.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use groundstate_json::{PathStep, path_steps, push_json_string};

use crate::addr::{AbsResourceInstance, ConfigResource};
use crate::{AttributePath, Extra, RawJson};

/// The state of an instance object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ObjectStatus {
    /// Usable.
    #[default]
    Ready,
    /// To be replaced.
    Tainted,
    /// A placeholder of a running plan; writing it is an error.
    Planned,
}

/// Provider-defined attributes in the form they were stored. `Debug` shows sizes only.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Attributes {
    /// JSON, by the resource type's schema.
    Json(RawJson),
    /// The flat string map of Terraform before 0.12.
    Flat(BTreeMap<Arc<str>, Arc<str>>),
}

impl Attributes {
    /// One attribute by its path, such as `id`, `tags.Name` or `disks[0].size`, as it is spelled; nothing if there is none.
    ///
    /// In the flat form, values are texts, and the path may as well be written as its keys are, `disks.0.size`.
    ///
    /// ```
    /// use groundstate_states::{Attributes, RawJson};
    ///
    /// let attributes = Attributes::Json(RawJson::parse(r#"{"id":"i-1","tags":{"Name":"web"},"size":1.50}"#)?);
    /// assert_eq!(attributes.text("tags.Name").as_deref(), Some("web"));
    /// assert_eq!(attributes.get("size").unwrap().as_str(), "1.50");
    /// # Ok::<(), groundstate_states::RawJsonError>(())
    /// ```
    #[must_use]
    pub fn get(&self, path: &str) -> Option<RawJson> {
        match self {
            Self::Json(raw) => raw.at(path),
            Self::Flat(flat) => {
                let mut quoted = String::new();
                push_json_string(&mut quoted, flat.get(flat_key(path).as_str())?);
                Some(RawJson::from_validated(&quoted))
            }
        }
    }

    /// The same for an attribute that is a string: its content.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        self.get(path)?.to_text()
    }

    /// The attributes with another value at the path, and every other byte as it was; nothing if there is no such attribute, or
    /// if the value is no string and the form is flat.
    #[must_use]
    pub fn replaced(&self, path: &str, value: &RawJson) -> Option<Self> {
        match self {
            Self::Json(raw) => raw.replaced(path, value).map(Self::Json),
            Self::Flat(flat) => {
                let mut flat = flat.clone();
                *flat.get_mut(flat_key(path).as_str())? = value.to_text()?.into();
                Some(Self::Flat(flat))
            }
        }
    }
}

/// The key of the flat form for a path.
fn flat_key(path: &str) -> String {
    let steps = path_steps(path).into_iter().map(|step| match step {
        PathStep::Name(name) => name,
        PathStep::Index(index) => index.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(raw) => f.debug_tuple("Json").field(raw).finish(),
            Self::Flat(flat) => write!(f, "Flat({} entries)", flat.len()),
        }
    }
}

/// One remote object as state stores it. Replaced as a whole, never edited in place.
///
/// `Debug` shows no attribute, identity or private data.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
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

impl ObjectSrc {
    /// A ready object with these attributes and nothing else.
    #[must_use]
    pub fn new(schema_version: u64, attributes: RawJson) -> Self {
        Self {
            schema_version,
            attributes: Attributes::Json(attributes),
            sensitive_paths: Vec::new(),
            private: Arc::default(),
            status: ObjectStatus::Ready,
            dependencies: Vec::new(),
            depends_on: Vec::new(),
            create_before_destroy: false,
            skip_destroy: false,
            identity: None,
            identity_schema_version: None,
            extra: Extra::new(),
        }
    }

    /// The same object, marked for replacement.
    #[must_use]
    pub fn as_tainted(&self) -> Self {
        Self { status: ObjectStatus::Tainted, ..self.clone() }
    }

    /// The same object after its provider upgraded the attributes to a newer schema. Flat attributes are gone.
    #[must_use]
    pub fn complete_upgrade(&self, attributes: RawJson, schema_version: u64) -> Self {
        Self { attributes: Attributes::Json(attributes), schema_version, ..self.clone() }
    }
}

impl fmt::Debug for ObjectSrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectSrc")
            .field("schema_version", &self.schema_version)
            .field("attributes", &self.attributes)
            .field("sensitive_paths", &self.sensitive_paths)
            .field("private", &format_args!("{} bytes", self.private.len()))
            .field("status", &self.status)
            .field("dependencies", &self.dependencies)
            .field("depends_on", &self.depends_on)
            .field("create_before_destroy", &self.create_before_destroy)
            .field("skip_destroy", &self.skip_destroy)
            .field("identity", &self.identity)
            .field("identity_schema_version", &self.identity_schema_version)
            .field("extra", &self.extra)
            .finish()
    }
}
