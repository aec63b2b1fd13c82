//! References from one resource to others, with the places they stand at.

use std::fmt;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{DependencyKind, Resource, Urn};

/// How one resource refers to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ReferenceKind {
    /// As its provider.
    Provider,
    /// As its parent.
    Parent,
    /// Among its dependencies.
    Dependency,
    /// As something the value of this property came from.
    Property(Arc<str>),
    /// As what it is deleted with.
    DeletedWith,
    /// Among what it is replaced with.
    ReplaceWith,
    /// As what it is a view of, which is no dependency.
    ViewOf,
}

/// A reference of a resource to another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// How it refers to it.
    pub kind: ReferenceKind,
    /// The name it refers to.
    pub urn: Urn,
}

impl From<DependencyKind<'_>> for ReferenceKind {
    fn from(kind: DependencyKind<'_>) -> Self {
        match kind {
            DependencyKind::Parent => Self::Parent,
            DependencyKind::Property(property) => Self::Property(property.into()),
            DependencyKind::DeletedWith => Self::DeletedWith,
            DependencyKind::ReplaceWith => Self::ReplaceWith,
            // A kind that is not known is still something that must stand before.
            _ => Self::Dependency,
        }
    }
}

impl fmt::Display for ReferenceKind {
    /// The words that Pulumi's summary of a repair uses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider => f.write_str("provider"),
            Self::Parent => f.write_str("parent"),
            Self::Dependency => f.write_str("dependency"),
            Self::Property(property) => write!(f, "property dependency: {property}"),
            Self::DeletedWith => f.write_str("deleted with"),
            Self::ReplaceWith => f.write_str("replace with"),
            Self::ViewOf => f.write_str("view of"),
        }
    }
}

/// An edge with its position in the list it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge<'a> {
    pub(crate) kind: DependencyKind<'a>,
    pub(crate) position: usize,
    pub(crate) urn: &'a Urn,
}

/// All members that name what must stand before the resource, empty names included, in the order in which every operation
/// takes them.
pub(crate) fn edges(resource: &Resource) -> impl Iterator<Item = Edge<'_>> {
    let list = |kind: DependencyKind<'static>, urns| numbered(kind, urns);
    let of_properties = resource
        .property_dependencies
        .iter()
        .flat_map(|(property, urns)| numbered(DependencyKind::Property(property), urns.unwrap_or_default()));
    list(DependencyKind::Parent, resource.parent.as_slice())
        .chain(list(DependencyKind::Dependency, &resource.dependencies))
        .chain(of_properties)
        .chain(list(DependencyKind::DeletedWith, resource.deleted_with.as_slice()))
        .chain(list(DependencyKind::ReplaceWith, &resource.replace_with))
}

fn numbered<'a>(kind: DependencyKind<'a>, urns: &'a [Urn]) -> impl Iterator<Item = Edge<'a>> {
    urns.iter().enumerate().map(move |(position, urn)| Edge { kind, position, urn })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_a_reference_of_the_same_kind() {
        let kinds = [
            (DependencyKind::Parent, "parent"),
            (DependencyKind::Dependency, "dependency"),
            (DependencyKind::Property("k"), "property dependency: k"),
            (DependencyKind::DeletedWith, "deleted with"),
            (DependencyKind::ReplaceWith, "replace with"),
        ];
        for (kind, text) in kinds {
            assert_eq!(ReferenceKind::from(kind).to_string(), text);
        }
    }

    #[test]
    fn edges_come_in_the_order_of_the_model() {
        let urn = |name: &str| Urn::build("s", "p", "", "t:t:t", name);
        let mut resource = Resource::new(urn("x"), "t:t:t");
        resource.replace_with = vec![urn("r"), Urn::default()];
        resource.deleted_with = Some(urn("w"));
        resource.property_dependencies.insert("k", Some(vec![urn("k0"), urn("k1")]));
        resource.property_dependencies.insert("absent", None);
        resource.dependencies = vec![urn("d0"), urn("d1")];
        resource.parent = Some(urn("p"));
        let own: Vec<_> =
            edges(&resource).filter(|edge| !edge.urn.is_empty()).map(|edge| (edge.kind, edge.urn)).collect();
        let models: Vec<_> = resource.all_dependencies().map(|edge| (edge.kind, edge.urn)).collect();
        assert_eq!(own, models);
        assert_eq!(edges(&resource).count(), own.len() + 1, "empty names are edges here");
    }
}
