//! Which operation waits for which: as a program draws it, and as `groundstate order` prints it.

use std::collections::{BTreeMap, BTreeSet};

/// Operations, and all pairs of which the first waits for the second, directly or not.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) operations: BTreeSet<String>,
    pub(super) pairs: BTreeSet<(String, String)>,
}

impl Waits {
    pub(super) fn both(&self, other: &Self, operation: &str) -> bool {
        self.operations.contains(operation) && other.operations.contains(operation)
    }

    fn of(nodes: &BTreeSet<String>, edges: &BTreeMap<String, BTreeSet<String>>) -> Self {
        let mut pairs = BTreeSet::new();
        for from in nodes.iter().filter(|node| is_operation(node)) {
            let (mut seen, mut stack) = (BTreeSet::new(), vec![from]);
            while let Some(node) = stack.pop() {
                for to in edges.get(node).into_iter().flatten() {
                    if seen.insert(to) {
                        stack.push(to);
                    }
                }
            }
            let waits = seen.into_iter().filter(|to| is_operation(to));
            pairs.extend(waits.map(|to| (plain(from), plain(to))));
        }
        let operations = nodes.iter().filter(|node| is_operation(node)).map(|node| plain(node)).collect();
        Self { operations, pairs }
    }
}

/// The graph in Graphviz's language, one edge or node a line.
pub(super) fn drawn(dot: &str) -> Waits {
    let mut nodes = BTreeSet::new();
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in dot.lines().map(str::trim) {
        let name = |text: &str| {
            let text = text.trim().strip_prefix('"')?.strip_suffix('"')?;
            Some(text.strip_prefix("[root] ").unwrap_or(text).replace("\\\"", "\""))
        };
        if let Some((from, to)) = line.split_once(" -> ") {
            let (from, to) = (name(from).expect("a name"), name(to).expect("a name"));
            nodes.extend([from.clone(), to.clone()]);
            edges.entry(from).or_default().insert(to);
        } else if let Some((node, _)) = line.split_once(" [label") {
            nodes.extend(name(node));
        }
    }
    Waits::of(&nodes, &edges)
}

/// The graph that `-f json` prints.
pub(super) fn printed(json: &str) -> Waits {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let nodes = json["nodes"].as_array().unwrap().iter().map(|node| text(&node["id"])).collect();
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for edge in json["edges"].as_array().unwrap() {
        edges.entry(text(&edge["from"])).or_default().insert(text(&edge["to"]));
    }
    Waits::of(&nodes, &edges)
}

fn is_operation(node: &str) -> bool {
    node.contains("terraform_data.") && !node.ends_with("(expand)")
}

/// The label without the key of a deposed object, which each program draws for itself.
fn plain(label: &str) -> String {
    let label = label.replace("(destroy the old one)", "(destroy deposed)");
    match label.find(" deposed ") {
        Some(at) => format!("{} deposed)", &label[..at]),
        None => label,
    }
}
