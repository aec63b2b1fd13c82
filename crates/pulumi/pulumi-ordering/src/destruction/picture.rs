//! What pictures of a destruction show.

use std::collections::{BTreeMap, HashSet};

use groundstate_pulumi_snapshot::Resource;
use groundstate_schedule::drawing::{Drawing, MAX_GROUP_DEPTH, Node, NodeGroup, NodeStyle, Shape};

use super::{Destruction, RemovalKind};
use crate::StackIndex;

impl Destruction {
    pub(super) fn drawing(&self) -> Drawing {
        let nodes = (0..self.removals.len()).map(|node| self.drawn(node)).collect();
        Drawing::new(&self.graph, nodes, self.groups(), |_| false)
    }

    pub(super) fn is_provider(&self, node: usize) -> bool {
        self.resources[self.removals[node].entry].is_provider()
    }

    fn drawn(&self, node: usize) -> Node {
        let removal = &self.removals[node];
        let entry = &self.resources[removal.entry];
        let label = &self.labels[node];
        let action = label.strip_prefix(entry.urn.as_str()).unwrap_or(label);
        let mut action = action.trim_start_matches([' ', '(']).trim_end_matches(')').to_owned();
        match removal.members.as_slice() {
            [] => {}
            [one] => action.push_str(&format!(", takes {} along", short(&self.resources[*one]))),
            more => action.push_str(&format!(", takes {} others along", more.len())),
        }
        let (class, fill, line, dashed) = match removal.kind {
            RemovalKind::Protected => ("protected", "#fff8c5", "#9a6700", false),
            _ if removal.blocked => ("blocked", "#ffffff", "#9a6700", true),
            RemovalKind::Delete => ("destroy", "#ffebe9", "#cf222e", false),
            RemovalKind::DeleteReplaced => ("old", "#ffebe9", "#cf222e", true),
            RemovalKind::Component => ("component", "#f6f8fa", "#6e7781", false),
            RemovalKind::External | RemovalKind::Retain | RemovalKind::Pending | RemovalKind::TakenAlong => {
                ("forget", "#eaeef2", "#6e7781", true)
            }
        };
        let shape = if self.is_provider(node) { Shape::Hexagon } else { Shape::Rounded };
        let style = NodeStyle { class, fill, line, dashed };
        let (kind, name) = match entry.urn.is_valid() {
            true => (entry.resource_type.to_string(), entry.urn.name().to_owned()),
            false => (String::new(), entry.urn.to_string()),
        };
        let title = entry.urn.to_string();
        Node { name: short(entry), title, kind, short: name, key: String::new(), action, style, shape }
    }

    /// The components, each with its nodes, in the order of the list.
    fn groups(&self) -> Vec<NodeGroup> {
        let paths = self.paths();
        let mut by_path: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        // The root of the drawing comes first, with or without nodes.
        by_path.entry(&[]).or_default();
        for (node, removal) in self.removals.iter().enumerate() {
            let path = paths[removal.entry].as_slice();
            for depth in 1..path.len() {
                by_path.entry(&path[..depth]).or_default();
            }
            by_path.entry(path).or_default().push(node);
        }
        let group = |(path, nodes): (&[usize], Vec<usize>)| NodeGroup {
            name: path.iter().map(|&at| short(&self.resources[at])).collect::<Vec<_>>().join(" / "),
            depth: path.len(),
            nodes,
        };
        by_path.into_iter().map(group).collect()
    }

    /// For each entry the components that it lies in, from the outermost; a component with children lies in itself.
    fn paths(&self) -> Vec<Vec<usize>> {
        let index = StackIndex::new(&self.resources);
        let parent = |at: usize| index.resolve(at, self.resources[at].parent()?);
        let parents: HashSet<usize> = (0..self.resources.len()).filter_map(parent).collect();
        let mut paths: Vec<Vec<usize>> = Vec::with_capacity(self.resources.len());
        for (at, entry) in self.resources.iter().enumerate() {
            let mut path = parent(at).and_then(|on| paths.get(on).cloned()).unwrap_or_default();
            // The root of a stack, which all belongs to, makes no group.
            let holds = !entry.custom && !entry.resource_type.is_root_stack() && parents.contains(&at);
            if holds && path.len() < MAX_GROUP_DEPTH {
                path.push(at);
            }
            paths.push(path);
        }
        paths
    }
}

/// Type and name, or the whole name of what is no URN.
fn short(resource: &Resource) -> String {
    match resource.urn.is_valid() {
        true => format!("{}::{}", resource.resource_type, resource.urn.name()),
        false => resource.urn.to_string(),
    }
}
