//! Rules about what must stand before a resource.

use groundstate_pulumi_snapshot::{DependencyKind, Resource, Urn};

use super::{Checker, Finding};
use crate::reference::{Edge, edges};
use crate::rule::Rule;

impl Checker<'_> {
    pub(super) fn edges(&mut self, index: usize, resource: &Resource) {
        let mut parent = None;
        for edge in edges(resource) {
            if edge.urn.is_empty() {
                if edge.kind != DependencyKind::Parent {
                    let finding = Finding::new(Rule::EmptyReference, "a reference names nothing", "");
                    self.about(index, resource, &member(edge), finding);
                }
                continue;
            }
            let found = self.known.names.get(edge.urn.as_str()).copied();
            if found.is_some_and(|name| name.first < index) {
                parent = parent.or((edge.kind == DependencyKind::Parent).then_some(edge.urn));
                continue;
            }
            // The resource itself does not come before itself, so a resource that names itself names nothing before it.
            let after = found.is_some_and(|name| name.last > index);
            self.out_of_order |= found.is_some();
            let finding = match after {
                true => stands_after(resource, edge),
                false => is_missing(resource, edge),
            };
            self.about(index, resource, &member(edge), finding);
        }
        if let Some(parent) = parent
            && !is_below(&resource.urn, parent, resource.resource_type.as_str())
        {
            let message = format!("its URN is not that of a child of {parent}");
            self.about(index, resource, ".parent", Finding::new(Rule::ParentType, message, ""));
        }
    }
}

/// Whether a URN has the type of the parent in front of its own.
pub(crate) fn is_below(urn: &Urn, parent: &Urn, own_type: &str) -> bool {
    let qualified = urn.qualified_type();
    let parent = parent.qualified_type();
    if parent == groundstate_pulumi_snapshot::ROOT_STACK_TYPE {
        return qualified == own_type;
    }
    qualified.strip_prefix(parent).and_then(|rest| rest.strip_prefix('$')) == Some(own_type)
}

/// The member that holds an edge, as the end of a path.
fn member(edge: Edge<'_>) -> String {
    let at = edge.position;
    match edge.kind {
        DependencyKind::Parent => ".parent".to_owned(),
        DependencyKind::Property(property) => {
            let mut path = String::from(".propertyDependencies");
            groundstate_json::push_name(&mut path, property);
            format!("{path}[{at}]")
        }
        DependencyKind::DeletedWith => ".deletedWith".to_owned(),
        DependencyKind::ReplaceWith => format!(".replaceWith[{at}]"),
        _ => format!(".dependencies[{at}]"),
    }
}

fn stands_after(resource: &Resource, edge: Edge<'_>) -> Finding {
    let (urn, other) = (&resource.urn, edge.urn);
    let (rule, message, original) = match edge.kind {
        DependencyKind::Parent => (
            Rule::ParentAfter,
            format!("its parent {other} comes after it"),
            format!("child resource {urn}'s parent {other} comes after it"),
        ),
        DependencyKind::Property(property) => (
            Rule::PropertyDependencyAfter,
            format!("its property {property:?} came from {other}, which comes after it"),
            format!("resource {urn}'s property dependency {other} (from property {property}) comes after it"),
        ),
        DependencyKind::DeletedWith => (
            Rule::DeletedWithAfter,
            format!("it is deleted with {other}, which comes after it"),
            format!("resource {urn} is specified as being deleted with {other}, which comes after it"),
        ),
        DependencyKind::ReplaceWith => (
            Rule::ReplaceWithAfter,
            format!("it is replaced with {other}, which comes after it"),
            format!("resource {urn} is specified as being replaced with {other}, which comes after it"),
        ),
        _ => (
            Rule::DependencyAfter,
            format!("its dependency {other} comes after it"),
            format!("resource {urn}'s dependency {other} comes after it"),
        ),
    };
    Finding::new(rule, message, "").original(original)
}

fn is_missing(resource: &Resource, edge: Edge<'_>) -> Finding {
    let (urn, other) = (&resource.urn, edge.urn);
    let what = if urn == other { "is the resource itself" } else { "is not there" };
    let (rule, message, original) = match edge.kind {
        DependencyKind::Parent => (
            Rule::ParentMissing,
            format!("its parent {other} {what}"),
            format!("child resource {urn} refers to missing parent {other}"),
        ),
        DependencyKind::Property(property) => (
            Rule::PropertyDependencyMissing,
            format!("its property {property:?} came from {other}, which {what}"),
            format!(
                "resource {urn}'s property dependency {other} (from property {property}) refers to missing resource"
            ),
        ),
        DependencyKind::DeletedWith => (
            Rule::DeletedWithMissing,
            format!("it is deleted with {other}, which {what}"),
            format!("resource {urn} is specified as being deleted with {other}, which is missing"),
        ),
        DependencyKind::ReplaceWith => (
            Rule::ReplaceWithMissing,
            format!("it is replaced with {other}, which {what}"),
            format!("resource {urn} is specified as being replaced with {other}, which is missing"),
        ),
        _ => (
            Rule::DependencyMissing,
            format!("its dependency {other} {what}"),
            format!("resource {urn}'s dependency {other} refers to missing resource"),
        ),
    };
    Finding::new(rule, message, "").original(original)
}
