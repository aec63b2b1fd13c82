//! What an update is planned from: goals of the program, and who compares them with what is stored.

use std::collections::BTreeSet;

use groundstate_pulumi_snapshot::{Resource, ResourceId, TypeToken, Urn};

/// What the program wants a resource to be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Goal {
    /// The resource as the program wants it, without what only its provider knows.
    pub resource: Resource,
    /// The identifier of an existing object to take over.
    pub adopts: Option<ResourceId>,
    /// Overrides what the provider says about deleting before creating, in both directions.
    pub delete_before_replace: Option<bool>,
}

/// How a goal differs from the stored resource.
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

/// Compares goals with stored resources, usually by asking providers.
pub trait Differ {
    /// How the goal differs from the stored resource.
    fn diff(&mut self, old: &Resource, new: &Goal) -> Diff;

    /// Whether the resource would have to be replaced if nothing were known of these properties, options that force a
    /// replacement included.
    fn replaces_if_unknown(&mut self, old: &Resource, properties: &BTreeSet<String>) -> bool;

    /// Whether the object must be replaced because its provider is another one.
    fn provider_change_replaces(&mut self, old: &Resource, new: &Goal) -> bool;
}

impl Goal {
    /// A goal without options.
    #[must_use]
    pub fn new(resource: Resource) -> Self {
        Self { resource, adopts: None, delete_before_replace: None }
    }

    /// A resource that a provider manages, and that depends on nothing yet.
    pub fn custom(urn: impl Into<Urn>, resource_type: impl Into<TypeToken>) -> Self {
        Self::new(Resource { custom: true, ..Resource::new(urn, resource_type) })
    }

    /// A component.
    pub fn component(urn: impl Into<Urn>, resource_type: impl Into<TypeToken>) -> Self {
        Self::new(Resource::new(urn, resource_type))
    }

    /// Lets a property depend on a resource.
    #[must_use]
    pub fn property(mut self, name: &str, on: Urn) -> Self {
        let all = &mut self.resource.property_dependencies;
        let mut urns = all.get(name).unwrap_or_default().to_vec();
        urns.push(on);
        all.insert(name, Some(urns));
        self
    }

    /// The URN that the resource has or will have.
    #[must_use]
    pub fn urn(&self) -> &Urn {
        &self.resource.urn
    }
}
