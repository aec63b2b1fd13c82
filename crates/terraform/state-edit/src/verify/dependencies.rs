//! Rules on what resources depend on.

use std::collections::HashMap;

use groundstate_dag::{Graph, NodeIndex};
use groundstate_states::addr::{AbsResource, ConfigResource};

use super::facts::{Facts, ResourceFact};
use super::finding::Draft;
use super::rule::Rule;

/// Resources as configuration declares them, each with its first entry.
type Nodes<'f> = HashMap<ConfigResource, (NodeIndex, &'f ResourceFact)>;

pub(super) fn check(facts: &Facts, out: &mut Vec<Draft>) {
    let mut graph = Graph::with_capacity(facts.resources.len());
    let mut nodes: Nodes<'_> = HashMap::with_capacity(facts.resources.len());
    let mut offsets: HashMap<(NodeIndex, NodeIndex), usize> = HashMap::new();
    let mut node_of = Vec::with_capacity(facts.resources.len());
    for entry in &facts.resources {
        let config = entry.address.to_config();
        let (node, _) = nodes.entry(config.clone()).or_insert_with(|| (graph.add_node(config), entry));
        node_of.push(*node);
    }
    // What is not an address is a problem of the reader.
    let targets: Vec<Option<ConfigResource>> = facts
        .targets
        .iter()
        .map(|text| AbsResource::parse(text).ok().map(|target| target.to_config()))
        .collect();
    for (entry, &from) in facts.resources.iter().zip(&node_of) {
        for &(target, offset) in facts.dependencies_of(entry) {
            let Some(target) = targets.get(target).and_then(Option::as_ref) else { continue };
            match nodes.get(target) {
                None => out.extend(dangling(facts, entry, target, offset)),
                Some((to, _)) if *to == from => out.push(on_itself(entry, offset)),
                Some((to, _)) => {
                    graph.add_edge(from, *to);
                    offsets.entry((from, *to)).or_insert(offset);
                }
            }
        }
    }
    cycles(&graph, &offsets, out);
}

/// Only judged when all resources are known.
fn dangling(facts: &Facts, entry: &ResourceFact, target: &ConfigResource, offset: usize) -> Option<Draft> {
    facts.complete.then(|| {
        let message = format!("{} depends on {target}, which is not in the state", entry.address);
        Draft::new(Rule::DanglingDependency, offset, message).of(&entry.address)
    })
}

fn on_itself(entry: &ResourceFact, offset: usize) -> Draft {
    Draft::new(Rule::SelfDependency, offset, format!("{} depends on itself", entry.address))
        .of(&entry.address)
}

/// One finding for each group of resources that all depend on each other, with a shortest cycle written out.
fn cycles(
    graph: &Graph<ConfigResource>,
    offsets: &HashMap<(NodeIndex, NodeIndex), usize>,
    out: &mut Vec<Draft>,
) {
    let mut cycles = graph.cycles().peekable();
    if cycles.peek().is_none() {
        return;
    }
    let components = graph.strongly_connected_components();
    let sizes: HashMap<NodeIndex, usize> =
        components.iter().filter_map(|component| Some((*component.first()?, component.len()))).collect();
    for cycle in cycles {
        let &[first, second, ..] = cycle.nodes() else { continue };
        let length = cycle.nodes().len();
        let path = cycle.describe(|node| &graph[node]);
        let message = match sizes.get(&first) {
            Some(&all) if all > length => {
                format!(
                    "{path}; {all} resources in all depend on each other there, so there are more such cycles"
                )
            }
            _ => path,
        };
        let offset = offsets.get(&(first, second)).copied().unwrap_or(0);
        out.push(Draft::new(Rule::DependencyCycle, offset, message).of(&graph[first]));
    }
}
