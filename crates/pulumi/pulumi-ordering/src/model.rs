//! What a stack is planned from: entries of the list, goals of the program, and who compares them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::Relation;

/// The name of a resource in its stack. Any text: nothing here looks inside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Urn(Arc<str>);

impl Urn {
    /// The name that this text is.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Which provider manages an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderRef {
    /// The entry of the provider.
    pub urn: Urn,
    /// Its id at that time, which tells a replaced provider from the one that replaced it.
    pub id: String,
}

/// One entry of the list: what is known of an object, or of a component, which is none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackEntry {
    /// Its name.
    pub urn: Urn,
    /// The provider's name for the object.
    pub id: Option<String>,
    /// Its type.
    pub type_: String,
    /// Whether a provider manages it. Components are not custom.
    pub custom: bool,
    /// Whether it is only read, and managed elsewhere.
    pub external: bool,
    /// Which provider manages it.
    pub provider: Option<ProviderRef>,
    /// The component that it belongs to.
    pub parent: Option<Urn>,
    /// What it depends on as a whole.
    pub dependencies: Vec<Urn>,
    /// What its properties depend on.
    pub property_dependencies: BTreeMap<String, Vec<Urn>>,
    /// The entry whose deletion takes the object along.
    pub deleted_with: Option<Urn>,
    /// Entries whose replacement replaces this one.
    pub replace_with: Vec<Urn>,
    /// It is not to be deleted.
    pub protect: bool,
    /// The object stays when the entry goes.
    pub retain_on_delete: bool,
    /// It was replaced, and is the old object, which still has to be deleted.
    pub delete: bool,
    /// The object was deleted, and the entry stays until the new one is there.
    pub pending_replacement: bool,
    /// Why the object was made only in part.
    pub init_errors: Vec<String>,
}

/// What the program wants a resource to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Goal {
    /// Its name.
    pub urn: Urn,
    /// Its type.
    pub type_: String,
    /// Whether a provider manages it.
    pub custom: bool,
    /// Whether it is only read.
    pub external: bool,
    /// The id of an existing object to take over.
    pub adopts: Option<String>,
    /// Which provider manages it.
    pub provider: Option<ProviderRef>,
    /// The component that it belongs to.
    pub parent: Option<Urn>,
    /// What it depends on as a whole.
    pub dependencies: Vec<Urn>,
    /// What its properties depend on.
    pub property_dependencies: BTreeMap<String, Vec<Urn>>,
    /// The resource whose deletion takes the object along.
    pub deleted_with: Option<Urn>,
    /// Resources whose replacement replaces this one.
    pub replace_with: Vec<Urn>,
    /// It is not to be deleted.
    pub protect: bool,
    /// The object stays when the resource goes.
    pub retain_on_delete: bool,
    /// Overrides what the provider says about deleting before creating, in both directions.
    pub delete_before_replace: Option<bool>,
}

/// How a goal differs from the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diff {
    /// Not at all.
    Same,
    /// In a way that the object can be changed to.
    Update,
    /// In a way that needs another object.
    Replace {
        /// The old object has to go first.
        dbr: bool,
    },
}

/// Compares goals with entries, usually by asking providers.
pub trait Differ {
    /// How the goal differs from the entry.
    fn diff(&mut self, old: &StackEntry, new: &Goal) -> Diff;

    /// Whether the entry would have to be replaced if nothing were known of these properties, options that force a
    /// replacement included.
    fn replaces_if_unknown(&mut self, entry: &StackEntry, properties: &BTreeSet<String>) -> bool;

    /// Whether that the provider is another one means that the object must be.
    fn provider_change_replaces(&mut self, old: &StackEntry, new: &Goal) -> bool;
}

impl Goal {
    /// A resource that a provider manages, and that depends on nothing yet.
    #[must_use]
    pub fn custom(urn: Urn, type_: &str) -> Self {
        Self {
            urn,
            type_: type_.to_owned(),
            custom: true,
            external: false,
            adopts: None,
            provider: None,
            parent: None,
            dependencies: Vec::new(),
            property_dependencies: BTreeMap::new(),
            deleted_with: None,
            replace_with: Vec::new(),
            protect: false,
            retain_on_delete: false,
            delete_before_replace: None,
        }
    }

    /// A component.
    #[must_use]
    pub fn component(urn: Urn, type_: &str) -> Self {
        Self { custom: false, ..Self::custom(urn, type_) }
    }

    /// Lets a property depend on a resource.
    #[must_use]
    pub fn property(mut self, name: &str, on: Urn) -> Self {
        self.property_dependencies.entry(name.to_owned()).or_default().push(on);
        self
    }

    /// The entry of an object that is as the goal wants it.
    #[must_use]
    pub fn entry(&self, id: Option<String>) -> StackEntry {
        StackEntry {
            urn: self.urn.clone(),
            id,
            type_: self.type_.clone(),
            custom: self.custom,
            external: self.external,
            provider: self.provider.clone(),
            parent: self.parent.clone(),
            dependencies: self.dependencies.clone(),
            property_dependencies: self.property_dependencies.clone(),
            deleted_with: self.deleted_with.clone(),
            replace_with: self.replace_with.clone(),
            protect: self.protect,
            retain_on_delete: self.retain_on_delete,
            delete: false,
            pending_replacement: false,
            init_errors: Vec::new(),
        }
    }

    /// Everything it refers to, and how.
    pub fn references(&self) -> impl Iterator<Item = (Relation, &Urn)> {
        references(
            self.provider.as_ref(),
            self.parent.as_ref(),
            &self.dependencies,
            &self.property_dependencies,
            self.deleted_with.as_ref(),
            &self.replace_with,
        )
    }
}

impl StackEntry {
    /// Everything it refers to, and how.
    pub fn references(&self) -> impl Iterator<Item = (Relation, &Urn)> {
        references(
            self.provider.as_ref(),
            self.parent.as_ref(),
            &self.dependencies,
            &self.property_dependencies,
            self.deleted_with.as_ref(),
            &self.replace_with,
        )
    }

    /// Whether a provider has an object for it that this stack manages.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        self.custom && !self.external
    }
}

fn references<'a>(
    provider: Option<&'a ProviderRef>,
    parent: Option<&'a Urn>,
    dependencies: &'a [Urn],
    properties: &'a BTreeMap<String, Vec<Urn>>,
    deleted_with: Option<&'a Urn>,
    replace_with: &'a [Urn],
) -> impl Iterator<Item = (Relation, &'a Urn)> {
    let provider = provider.map(|provider| (Relation::Provider, &provider.urn));
    let parent = parent.map(|urn| (Relation::Parent, urn));
    let dependencies = dependencies.iter().map(|urn| (Relation::Dependency, urn));
    let properties = properties.values().flatten().map(|urn| (Relation::Property, urn));
    let deleted_with = deleted_with.map(|urn| (Relation::DeletedWith, urn));
    let replace_with = replace_with.iter().map(|urn| (Relation::ReplaceWith, urn));
    provider
        .into_iter()
        .chain(parent)
        .chain(dependencies)
        .chain(properties)
        .chain(deleted_with)
        .chain(replace_with)
}
