//! The edges of a resource: in what order they are enumerated, and how all of them are rewritten.

use crate::provider_ref::{ProviderRef, ProviderRefError};
use crate::resource::Resource;
use crate::urn::Urn;

/// Why one resource needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DependencyKind<'a> {
    /// It is its child.
    Parent,
    /// It names it among its dependencies.
    Dependency,
    /// The value of this property came from it.
    Property(&'a str),
    /// It is deleted together with it.
    DeletedWith,
    /// It is replaced together with it.
    ReplaceWith,
}

/// One edge of a resource to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency<'a> {
    /// Why it is needed.
    pub kind: DependencyKind<'a>,
    /// The resource that is needed.
    pub urn: &'a Urn,
}

/// A member of a resource that names a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum UrnField {
    /// The resource's own name.
    Own,
    /// Its parent.
    Parent,
    /// The provider in its reference to one.
    Provider,
    /// A dependency.
    Dependency,
    /// A dependency of a property.
    PropertyDependency,
    /// The resource it is deleted with.
    DeletedWith,
    /// A resource it is replaced with.
    ReplaceWith,
    /// A name it was known by.
    Alias,
    /// The resource it is a view of.
    ViewOf,
}

impl Resource {
    /// All that it needs besides its provider, in the order in which every operation takes it: the parent, dependencies,
    /// dependencies of properties by the order of their names, the resource it is deleted with, those it is replaced with.
    ///
    /// Empty names are left out. A view does not depend on what it is a view of.
    pub fn all_dependencies(&self) -> impl Iterator<Item = Dependency<'_>> {
        let parent = self.parent.iter().map(|urn| (DependencyKind::Parent, urn));
        let plain = self.dependencies.iter().map(|urn| (DependencyKind::Dependency, urn));
        let of_properties = self.property_dependencies.iter().flat_map(|(property, urns)| {
            urns.unwrap_or_default().iter().map(move |urn| (DependencyKind::Property(property), urn))
        });
        let deleted_with = self.deleted_with.iter().map(|urn| (DependencyKind::DeletedWith, urn));
        let replace_with = self.replace_with.iter().map(|urn| (DependencyKind::ReplaceWith, urn));
        parent
            .chain(plain)
            .chain(of_properties)
            .chain(deleted_with)
            .chain(replace_with)
            .filter(|(_, urn)| !urn.is_empty())
            .map(|(kind, urn)| Dependency { kind, urn })
    }

    /// Asks the function for every name in the resource, its own included, and puts the answers in place.
    ///
    /// No answer leaves a name as it is. A reference to a provider is put together anew if its URN changes, and stays byte
    /// for byte if it does not. Names inside inputs and outputs are the codec's. Tells whether anything changed.
    ///
    /// # Errors
    ///
    /// The reference to the provider cannot be read; nothing has been changed then.
    pub fn rewrite_urns(
        &mut self,
        mut rewrite: impl FnMut(UrnField, &Urn) -> Option<Urn>,
    ) -> Result<bool, ProviderRefError> {
        let provider = match self.provider() {
            Some(reference) => rewrite_provider(reference, |urn| rewrite(UrnField::Provider, urn))?,
            None => None,
        };
        let mut changed = provider.is_some();
        if provider.is_some() {
            self.provider = provider;
        }
        let mut one = |field: UrnField, urn: &mut Urn| {
            if urn.is_empty() {
                return;
            }
            if let Some(new) = rewrite(field, urn).filter(|new| new != urn) {
                *urn = new;
                changed = true;
            }
        };
        one(UrnField::Own, &mut self.urn);
        self.parent.iter_mut().for_each(|urn| one(UrnField::Parent, urn));
        self.dependencies.iter_mut().for_each(|urn| one(UrnField::Dependency, urn));
        for (_, urns) in self.property_dependencies.iter_mut() {
            urns.iter_mut().for_each(|urn| one(UrnField::PropertyDependency, urn));
        }
        self.deleted_with.iter_mut().for_each(|urn| one(UrnField::DeletedWith, urn));
        self.replace_with.iter_mut().for_each(|urn| one(UrnField::ReplaceWith, urn));
        self.aliases.iter_mut().for_each(|urn| one(UrnField::Alias, urn));
        self.view_of.iter_mut().for_each(|urn| one(UrnField::ViewOf, urn));
        Ok(changed)
    }
}

/// The reference to the provider under its new name, if it has one.
fn rewrite_provider(
    reference: &ProviderRef,
    rewrite: impl FnOnce(&Urn) -> Option<Urn>,
) -> Result<Option<ProviderRef>, ProviderRefError> {
    let (urn, id) = reference.split()?;
    match rewrite(&urn).filter(|new| *new != urn) {
        Some(new) => ProviderRef::build(&new, &id).map(Some),
        None => Ok(None),
    }
}
