//! Resources in the order of a tree of parents.

use std::collections::HashMap;

use super::scanned::ScannedResource;

/// A resource at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Which of the resources it is.
    pub(super) resource: usize,
    pub(super) depth: u64,
    /// What is wrong with its place.
    pub(super) odd: Option<&'static str>,
}

/// The resources, each behind its parent. All are there: one whose parent is not, or is below itself, begins a tree of its own.
pub(super) fn rows(resources: &[ScannedResource]) -> Vec<Row> {
    // One that waits to be deleted has the URN of what replaced it, and children belong to the latter.
    let mut by_urn: HashMap<&str, usize> = HashMap::new();
    for (index, resource) in resources.iter().enumerate() {
        let known = by_urn.entry(&resource.urn).or_insert(index);
        if resources[*known].delete {
            *known = index;
        }
    }
    let (mut children, mut roots) = (vec![Vec::new(); resources.len()], Vec::new());
    for (index, resource) in resources.iter().enumerate() {
        match by_urn.get(&*resource.parent) {
            _ if resource.parent.is_empty() => roots.push((index, None)),
            Some(parent) => children[*parent].push(index),
            None => roots.push((index, Some("its parent is missing"))),
        }
    }
    let mut walk = Walk { children, seen: vec![false; resources.len()], rows: Vec::new() };
    for (index, odd) in roots {
        walk.from(index, odd);
    }
    for index in 0..resources.len() {
        walk.from(index, Some("it is its own parent"));
    }
    walk.rows
}

struct Walk {
    children: Vec<Vec<usize>>,
    seen: Vec<bool>,
    rows: Vec<Row>,
}

impl Walk {
    fn from(&mut self, root: usize, odd: Option<&'static str>) {
        let mut left = vec![Row { resource: root, depth: 0, odd }];
        while let Some(row) = left.pop() {
            if std::mem::replace(&mut self.seen[row.resource], true) {
                continue;
            }
            self.rows.push(row);
            let below = self.children[row.resource].iter().rev();
            left.extend(below.map(|&resource| Row { resource, depth: row.depth + 1, odd: None }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanned::ScannedResource;
    use super::rows;

    fn resource((urn, parent, delete): (&str, &str, bool)) -> ScannedResource {
        ScannedResource {
            urn: urn.to_owned(),
            parent: parent.to_owned(),
            delete,
            ..ScannedResource::default()
        }
    }

    #[test]
    fn every_resource_is_there_once_and_behind_its_parent() {
        let resources: Vec<_> = [
            ("a", "root", false),
            ("root", "", false),
            ("b", "a", false),
            ("x", "y", false),
            ("y", "x", false),
            ("lost", "none", false),
            ("a", "root", true),
            ("c", "a", false),
        ]
        .map(resource)
        .into();
        let found: Vec<_> = rows(&resources)
            .into_iter()
            .map(|row| (resources[row.resource].urn.clone(), row.depth, row.odd.is_some()))
            .collect();
        let expected = [
            ("root", 0, false),
            ("a", 1, false),
            ("b", 2, false),
            ("c", 2, false),
            ("a", 1, false),
            ("lost", 0, true),
            ("x", 0, true),
            ("y", 1, false),
        ];
        assert_eq!(found, expected.map(|(urn, depth, odd)| (urn.to_owned(), depth, odd)));
    }

    #[test]
    fn a_deep_tree_needs_no_deep_stack() {
        let name = |number: usize| format!("n{number}");
        let resources: Vec<_> = (0..100_000_usize)
            .map(|number| {
                let parent = number.checked_sub(1).map(name).unwrap_or_default();
                resource((&name(number), &parent, false))
            })
            .collect();
        assert_eq!(rows(&resources).last().unwrap().depth, 99_999);
    }
}
