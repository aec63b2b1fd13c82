//! Nodes and edges of the full graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use groundstate_states::addr::{ConfigResource, Module, ProviderConfig};

use super::{FullGraph, FullKey, Node, Ref, Role, Surroundings, ValueKind};
use crate::edge::EdgeReason;
use crate::graph::OperationGraph;
use crate::input::{DepRef, Input};
use crate::node::{NodeKey, OpKind, Part};

/// Where what can be referred to stands.
#[derive(Default)]
struct Places {
    expansions: HashMap<ConfigResource, u32>,
    /// Apply nodes, and forget nodes of declared resources.
    instances: HashMap<ConfigResource, Vec<u32>>,
    values: HashMap<String, u32>,
    opens: BTreeMap<Module, u32>,
    closes: BTreeMap<Module, u32>,
    providers: HashMap<ProviderConfig, u32>,
}

impl Places {
    fn of(&self, reference: &Ref) -> Vec<u32> {
        match reference {
            Ref::Resource(resource) => {
                let instances = self.instances.get(resource).into_iter().flatten();
                self.expansions.get(resource).into_iter().chain(instances).copied().collect()
            }
            Ref::Value(label) => self.values.get(label).copied().into_iter().collect(),
            Ref::Module(module) => self.closes.get(module).copied().into_iter().collect(),
        }
    }
}

/// Everything but what closes: the shutdown of providers, and the root.
pub(super) fn nodes_and_edges(graph: &OperationGraph, input: &Input, around: &Surroundings) -> FullGraph {
    let mut full = FullGraph { nodes: Vec::new(), edges: Vec::new() };
    let mut places = Places::default();
    nodes(&mut full, &mut places, graph, input, around);
    operations(&mut full, graph, &places);
    references(&mut full, &places, input, around);
    modules(&mut full, &places, around);
    full
}

fn node(key: FullKey, role: Role, module: Option<Module>) -> Node {
    Node { key, role, module, provider: None }
}

fn nodes(
    full: &mut FullGraph,
    places: &mut Places,
    graph: &OperationGraph,
    input: &Input,
    around: &Surroundings,
) {
    let declared: BTreeSet<&ConfigResource> = input.resources.iter().map(|block| &block.addr).collect();
    for provider in input.providers.iter().flatten() {
        let key = FullKey::Operation(NodeKey::Provider(provider.id.clone()));
        let mut it = node(key, Role::Provider, None);
        it.provider = Some(provider.id.clone());
        let number = full.push(it);
        places.providers.insert(provider.id.clone(), number);
    }
    for op in graph.nodes() {
        let Some(addr) = op.key.addr() else { continue };
        let destroys = op.key.part().is_some_and(Part::is_destroy);
        let resource = addr.resource.to_config();
        let mut it = node(
            FullKey::Operation(op.key.clone()),
            Role::Instance { destroys },
            Some(resource.module.clone()),
        );
        it.provider = op.provider.clone();
        let number = full.push(it);
        let configured = matches!(op.kind, OpKind::Apply(_))
            || (op.kind == OpKind::Forget && declared.contains(&resource));
        if configured {
            places.instances.entry(resource).or_default().push(number);
        }
    }
    let mut modules: BTreeSet<Module> = around.calls.iter().map(|(module, _)| module.clone()).collect();
    for block in &input.resources {
        let addr = &block.addr;
        let it = node(FullKey::Expand(addr.clone()), Role::Expansion, Some(addr.module.clone()));
        let number = full.push(it);
        places.expansions.insert(addr.clone(), number);
        modules.insert(addr.module.clone());
    }
    for value in &around.values {
        let of_root = value.module.is_root() && value.kind == ValueKind::Output;
        let role = Role::Value { kind: value.kind, of_root };
        let number = full.push(node(FullKey::Value(value.label.clone()), role, Some(value.module.clone())));
        places.values.insert(value.label.clone(), number);
        modules.insert(value.module.clone());
    }
    // A module has its parents around it, down from the root, which is neither opened nor closed here.
    let mut all = BTreeSet::new();
    for module in modules {
        let mut at = Some(module);
        while let Some(module) = at.filter(|module| !module.is_root()) {
            at = module.parent();
            all.insert(module);
        }
    }
    for module in all {
        let open = full.push(node(FullKey::Open(module.clone()), Role::Open, Some(module.clone())));
        // What closes a module belongs to the one around it.
        let close = full.push(node(FullKey::Close(module.clone()), Role::Close, module.parent()));
        places.opens.insert(module.clone(), open);
        places.closes.insert(module, close);
    }
}

/// The edges among operations, but for those of configuration, which follow from expansions.
fn operations(full: &mut FullGraph, graph: &OperationGraph, places: &Places) {
    let numbers: HashMap<String, u32> =
        full.nodes.iter().zip(0_u32..).map(|(node, number)| (node.key.to_string(), number)).collect();
    for edge in graph.edges() {
        let only_config = edge
            .reasons
            .iter()
            .all(|reason| matches!(reason, EdgeReason::Config | EdgeReason::ProviderConfig));
        let (from, to) = (numbers.get(&edge.from.to_string()), numbers.get(&edge.to.to_string()));
        if let (Some(&from), Some(&to), false) = (from, to, only_config) {
            full.edges[from as usize].insert(to);
        }
    }
    for number in 0..full.nodes.len() {
        let it = &full.nodes[number];
        let provider = it.provider.as_ref().and_then(|provider| places.providers.get(provider));
        if let (Role::Instance { .. }, Some(&provider)) = (it.role, provider) {
            full.edges[number].insert(provider);
        }
    }
}

fn references(full: &mut FullGraph, places: &Places, input: &Input, around: &Surroundings) {
    let listed: HashMap<&ConfigResource, &Vec<Ref>> =
        around.blocks.iter().map(|(resource, references)| (resource, references)).collect();
    let as_ref = |dependency: &DepRef| match dependency {
        DepRef::Resource(resource) => Ref::Resource(resource.clone()),
        DepRef::Module(module) => Ref::Module(module.clone()),
    };
    for block in &input.resources {
        let Some(&expansion) = places.expansions.get(&block.addr) else { continue };
        let direct: Vec<Ref> = match listed.get(&block.addr) {
            Some(references) => references.to_vec(),
            None => block.dependencies.iter().map(as_ref).collect(),
        };
        let own = Ref::Resource(block.addr.clone());
        let mut below: BTreeSet<u32> =
            direct.iter().filter(|other| **other != own).flat_map(|other| places.of(other)).collect();
        below.extend(places.providers.get(&block.provider));
        below.extend(places.opens.get(&block.addr.module));
        full.edges[expansion as usize].extend(below);
        for &instance in places.instances.get(&block.addr).into_iter().flatten() {
            full.edges[instance as usize].insert(expansion);
        }
    }
    for provider in input.providers.iter().flatten() {
        if let Some(&number) = places.providers.get(&provider.id) {
            let below = provider.config_dependencies.iter().map(as_ref).flat_map(|other| places.of(&other));
            full.edges[number as usize].extend(below);
        }
    }
    for value in &around.values {
        if let Some(&number) = places.values.get(&value.label) {
            full.edges[number as usize].extend(value.references.iter().flat_map(|other| places.of(other)));
        }
    }
}

fn modules(full: &mut FullGraph, places: &Places, around: &Surroundings) {
    let calls: HashMap<&Module, &Vec<Ref>> =
        around.calls.iter().map(|(module, references)| (module, references)).collect();
    for (module, &open) in &places.opens {
        let parent = module.parent().and_then(|parent| places.opens.get(&parent));
        let below = calls.get(module).into_iter().flat_map(|references| references.iter());
        full.edges[open as usize].extend(parent);
        full.edges[open as usize].extend(below.flat_map(|other| places.of(other)));
    }
    for number in 0..full.nodes.len() as u32 {
        let it = &full.nodes[number as usize];
        let destroys = matches!(it.role, Role::Instance { destroys: true });
        let close = it.module.as_ref().and_then(|module| places.closes.get(module));
        if let (Some(&close), false) = (close, destroys) {
            full.edges[close as usize].insert(number);
        }
    }
}

/// Adds the shutdown of providers, and the root behind everything.
pub(super) fn close(full: &mut FullGraph) {
    let providers: Vec<(u32, ProviderConfig)> = full
        .nodes
        .iter()
        .zip(0_u32..)
        .filter(|(node, _)| node.role == Role::Provider)
        .filter_map(|(node, number)| Some((number, node.provider.clone()?)))
        .collect();
    for (number, id) in providers {
        let users = full.nodes.iter().zip(0_u32..).filter(|(node, _)| {
            matches!(node.role, Role::Instance { .. }) && node.provider.as_ref() == Some(&id)
        });
        let below: BTreeSet<u32> = users.map(|(_, user)| user).chain([number]).collect();
        let key = FullKey::Operation(NodeKey::ProviderClose(id));
        let close = full.push(node(key, Role::ProviderClose, None));
        full.edges[close as usize] = below;
    }
    let waiters = full.waiters();
    let last: BTreeSet<u32> =
        (0_u32..).zip(&waiters).filter(|(_, waiters)| waiters.is_empty()).map(|(node, _)| node).collect();
    let root = full.push(node(FullKey::Root, Role::Root, None));
    full.edges[root as usize] = last;
}
