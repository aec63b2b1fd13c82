//! What differs in meaning between two states: not bytes, but resources, values and metadata.

mod fields;
mod moved;
mod parts;
mod tree;

use std::fmt;
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, AbsResourceInstance, CheckableKind};
use groundstate_states::{DeposedKey, ObjectSrc, RawJson, State};

use groundstate_statefile::File;

/// The differences between two files, in a stable order: the document, outputs, resources, check results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// One entry for each thing that differs.
    pub entries: Vec<Entry>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// What differs.
    pub subject: Subject,
    /// Whether it is there on both sides.
    pub kind: ChangeKind,
    /// The fields that differ. Of something that is there on one side only, those that describe it best.
    pub fields: Vec<FieldChange>,
}

/// What an entry is about. `Display` gives its address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// The document: lineage, serial, version of the writer, unknown members.
    Document,
    /// An output of the root module.
    Output(Arc<str>),
    /// A resource: its provider, or that it is there at all if it has no instances.
    Resource(AbsResource),
    /// An instance apart from its objects: the key of its provider.
    Instance(AbsResourceInstance),
    /// The current object of an instance.
    Current(AbsResourceInstance),
    /// An object that waits to be destroyed.
    Deposed(AbsResourceInstance, DeposedKey),
    /// Results of one checkable object of the configuration.
    Check {
        /// Whether it is a resource, an output, a check or a variable.
        kind: CheckableKind,
        /// Its printed address.
        address: String,
    },
}

/// What names a subject in documents for programs: the words are stable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubjectNames {
    /// `document`, `output`, `resource`, `instance`, `object`, `deposed_object` or `check`.
    pub kind: &'static str,
    /// The name of an output.
    pub name: Option<String>,
    /// The address, which documents and outputs do not have.
    pub address: Option<String>,
    /// The key of a deposed object.
    pub deposed_key: Option<String>,
}

/// On which side something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Only in the second state.
    Added,
    /// Only in the first state.
    Removed,
    /// In both, but not the same.
    Changed,
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// Path of the member, for example `attributes.tags.Name` or `attributes.ingress[0].port`.
    pub path: String,
    /// Value in the first state, if it is there.
    pub before: Option<DiffValue>,
    /// Value in the second state, if it is there.
    pub after: Option<DiffValue>,
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Path of the member, for example `attributes.tags`.
    pub path: String,
    /// What the member is set to.
    pub value: DiffValue,
}

/// A value as compact JSON. `Debug` shows sizes only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffValue {
    /// May be shown.
    Plain(RawJson),
    /// One of the states marks it, or something around or inside it, as sensitive.
    Sensitive(RawJson),
}

impl Diff {
    /// Whether both states mean the same.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries there are of this kind.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.entries.iter().filter(|entry| entry.kind == kind).count()
    }
}

impl Subject {
    /// What names it in documents for programs.
    pub fn names(&self) -> SubjectNames {
        let of = |kind| SubjectNames { kind, name: None, address: None, deposed_key: None };
        let at = |kind, address: String| SubjectNames { address: Some(address), ..of(kind) };
        match self {
            Self::Document => of("document"),
            Self::Output(name) => SubjectNames { name: Some(name.to_string()), ..of("output") },
            Self::Resource(address) => at("resource", address.to_string()),
            Self::Instance(address) => at("instance", address.to_string()),
            Self::Current(address) => at("object", address.to_string()),
            Self::Deposed(address, key) => {
                let deposed_key = Some(key.as_str().to_owned());
                SubjectNames { deposed_key, ..at("deposed_object", address.to_string()) }
            }
            Self::Check { address, .. } => at("check", address.clone()),
        }
    }
}

impl DiffValue {
    /// The JSON text, unless it is sensitive.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(raw) => Some(raw.as_str()),
            Self::Sensitive(_) => None,
        }
    }

    /// The JSON text, sensitive or not: only for those who asked to see secrets.
    pub fn reveal(&self) -> &str {
        match self {
            Self::Plain(raw) | Self::Sensitive(raw) => raw.as_str(),
        }
    }

    /// Whether the value should be hidden.
    pub fn is_sensitive(&self) -> bool {
        matches!(self, Self::Sensitive(_))
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => f.write_str("document"),
            Self::Output(name) => write!(f, "output.{name}"),
            Self::Resource(address) => address.fmt(f),
            Self::Instance(address) | Self::Current(address) => address.fmt(f),
            Self::Deposed(address, key) => write!(f, "{address} (deposed {key})"),
            Self::Check { kind: CheckableKind::Resource, address } => write!(f, "check of {address}"),
            Self::Check { address, .. } => f.write_str(address),
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        })
    }
}

/// Compares two files by meaning.
///
/// Order counts in lists only: not in objects and maps, dependencies, sensitive paths and check results. Numbers
/// are compared by value and strings by their characters, however they are spelled. Something that moved to another
/// address is removed at the one and added at the other; if it has got another provider configuration on the way, the entry
/// of the new address has both as `provider`.
pub fn diff(a: &File, b: &File) -> Diff {
    let mut entries = Vec::new();
    parts::document(a, b, &mut entries);
    parts::outputs(&a.state, &b.state, &mut entries);
    let other = alike(a, b);
    parts::resources(&a.state, &other, &mut entries);
    moved::providers(&a.state, &other, &mut entries);
    parts::checks(&a.state, &b.state, &mut entries);
    Diff { entries }
}

/// The attributes of an object, one by one, and its other members that have a value: dependencies, identity, private data, members that
/// are not understood. Status, schema version and flags are not among them.
///
/// As in a [`Diff`], an attribute is sensitive as a whole if a path leads into it, and private data always is.
pub fn members(object: &ObjectSrc) -> Vec<Member> {
    let added = parts::members(object).into_iter();
    added.filter_map(|field| Some(Member { path: field.path, value: field.after? })).collect()
}

/// The second state with its providers as the product of the first completes them: two that leave the registry out are
/// the same, whatever the rest of the files looks like.
fn alike(a: &File, b: &File) -> State {
    let mut state = b.state.clone();
    if a.dialect != b.dialect {
        state.complete_providers(a.dialect.default_registry());
    }
    state
}

#[cfg(test)]
mod tests;
