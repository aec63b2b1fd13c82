//! `groundstate graph`: the resources of a deployment, grouped by the components they belong to.

use std::collections::HashMap;

use groundstate_pulumi_snapshot::{DependencyKind, Resource, Snapshot, UrnIndex};

use crate::input::pulumi::{PulumiState, load, snapshot};
use crate::report::error::Result;
use crate::report::graph::{Drawing, Edge, Group, Line, Node};

/// Who needs whom in a deployment.
pub(crate) fn graph(source: &PulumiState) -> Result<Drawing> {
    let loaded = load(source)?;
    Ok(drawing(&snapshot(&loaded.file)))
}

fn drawing(snapshot: &Snapshot) -> Drawing {
    let index = snapshot.urn_index();
    let mut drawing = Drawing::default();
    let groups = groups(snapshot, &index, &mut drawing.groups);
    for (at, resource) in snapshot.indexed() {
        let parent = parent(&index, at, resource);
        // A component lies in its own group, with all that belongs to it.
        let group = groups.get(&at).or_else(|| groups.get(&parent?)).copied();
        let kind = resource.resource_type.as_str().to_owned();
        drawing.nodes.push(Node {
            name: resource.urn.to_string(),
            label: vec![kind, resource.urn.name().to_owned()],
            group,
            within: None,
            remark: remark(resource),
            missing: false,
        });
    }
    let mut missing: HashMap<String, usize> = HashMap::new();
    for (from, resource) in snapshot.indexed() {
        for dependency in resource.all_dependencies() {
            let to = index.resolve(dependency.urn, resource.delete).unwrap_or_else(|| {
                let name = dependency.urn.to_string();
                *missing.entry(name.clone()).or_insert_with(|| add_missing(&mut drawing.nodes, name))
            });
            let (kind, line) = match dependency.kind {
                DependencyKind::Parent if groups.contains_key(&to) => ("parent", Line::None),
                // What lies below the root of the stack lies in no group, and needs no arrow to it.
                DependencyKind::Parent if is_root(snapshot, to) => ("parent", Line::None),
                DependencyKind::Parent => ("parent", Line::Solid),
                DependencyKind::Property(_) => ("property", Line::Solid),
                DependencyKind::DeletedWith => ("deleted_with", Line::Dashed),
                DependencyKind::ReplaceWith => ("replace_with", Line::Dashed),
                _ => ("dependency", Line::Solid),
            };
            let edge = Edge { from, to, kind, line };
            drawing.edges.push(edge);
        }
        if let Some(to) = index.provider(resource) {
            drawing.edges.push(Edge { from, to, kind: "provider", line: Line::Dashed });
        }
    }
    drawing.edges.sort();
    drawing.edges.dedup();
    drawing
}

fn add_missing(nodes: &mut Vec<Node>, name: String) -> usize {
    nodes.push(Node {
        label: vec![name.clone()],
        name,
        group: None,
        within: None,
        remark: None,
        missing: true,
    });
    nodes.len() - 1
}

fn is_root(snapshot: &Snapshot, index: usize) -> bool {
    snapshot.resource(index).is_some_and(Resource::is_root_stack)
}

/// The parent that stands before a resource, as it does where the rules are kept: so nothing is its own ancestor.
fn parent(index: &UrnIndex<'_>, at: usize, resource: &Resource) -> Option<usize> {
    let found = index.resolve(resource.parent()?, resource.delete)?;
    (found < at).then_some(found)
}

/// A group for each resource, but the root of the stack, that others belong to.
fn groups(snapshot: &Snapshot, index: &UrnIndex<'_>, out: &mut Vec<Group>) -> HashMap<usize, usize> {
    let parents: Vec<Option<usize>> =
        snapshot.indexed().map(|(at, resource)| parent(index, at, resource)).collect();
    let mut has_children = vec![false; parents.len()];
    for parent in parents.iter().flatten() {
        if let Some(has) = has_children.get_mut(*parent) {
            *has = true;
        }
    }
    let mut groups = HashMap::new();
    for ((at, resource), outer) in snapshot.indexed().zip(&parents) {
        if !has_children.get(at).copied().unwrap_or(false) || resource.is_root_stack() {
            continue;
        }
        // Parents stand before their children, so the group around this one is there already.
        let outer = outer.and_then(|outer| groups.get(&outer).copied());
        groups.insert(at, out.len());
        out.push(Group { name: resource.urn.to_string(), outer });
    }
    groups
}

fn remark(resource: &Resource) -> Option<&'static str> {
    match resource {
        Resource { delete: true, .. } => Some("waits for its deletion"),
        Resource { pending_replacement: true, .. } => Some("waits for its replacement"),
        Resource { taint: true, .. } => Some("tainted"),
        Resource { protect: true, .. } => Some("protected"),
        _ => None,
    }
}
