//! The rules once more, pair by pair and without any economy, and orders that must be possible.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_ordering::{
    Action, ApplyKind, DepRef, Edge, EdgeReason, Input, NodeKey, ObjectRecord, OpKind, OpNode,
    OperationGraph, Options, Part, PlanMode, Profile, ReplaceOrder, Scope,
};
use groundstate_states::Generation;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource, ModuleInstance};

/// What a resource refers to directly, modules resolved and providers passed through.
fn direct(input: &Input, resource: &ConfigResource) -> BTreeSet<ConfigResource> {
    let Some(block) = input.resources.iter().find(|block| block.addr == *resource) else {
        return BTreeSet::new();
    };
    let listed = input.providers.as_deref().unwrap_or_default();
    let provider = listed.iter().find(|provider| provider.id == block.provider);
    let through = provider.map(|provider| provider.config_dependencies.as_slice()).unwrap_or_default();
    let mut found = BTreeSet::new();
    for reference in block.dependencies.iter().chain(through) {
        match reference {
            DepRef::Resource(other) => {
                found.insert(other.clone());
            }
            DepRef::Module(module) => found.extend(
                input
                    .resources
                    .iter()
                    .map(|block| &block.addr)
                    .filter(|addr| addr.module.steps().starts_with(module.steps()))
                    .cloned(),
            ),
        }
    }
    found.remove(resource);
    found
}

/// All that a resource depends on by configuration.
pub(crate) fn closure(input: &Input, resource: &ConfigResource) -> BTreeSet<ConfigResource> {
    let mut found = BTreeSet::new();
    let mut stack = vec![resource.clone()];
    while let Some(at) = stack.pop() {
        for next in direct(input, &at) {
            if next != *resource && found.insert(next.clone()) {
                stack.push(next);
            }
        }
    }
    found
}

/// What the rules need to know about a node.
struct Facts<'a> {
    node: &'a OpNode,
    addr: &'a AbsResourceInstance,
    resource: ConfigResource,
    stored: BTreeSet<ConfigResource>,
    provider: Option<String>,
}

impl Facts<'_> {
    fn is_apply(&self) -> bool {
        matches!(self.node.kind, OpKind::Apply(_))
    }

    fn participates(&self) -> bool {
        matches!(self.node.kind, OpKind::Apply(kind) if kind != ApplyKind::Check)
    }

    fn destroys(&self) -> bool {
        matches!(self.node.kind, OpKind::Destroy | OpKind::DestroyDeposed(_))
    }
}

fn current<'a>(input: &'a Input, addr: &AbsResourceInstance) -> Option<&'a ObjectRecord> {
    input.instances.iter().find(|instance| instance.addr == *addr)?.current.as_ref()
}

fn planned(input: &Input, addr: &AbsResourceInstance) -> Action {
    let change =
        input.changes.iter().find(|change| change.addr == *addr && change.object == Generation::Current);
    change.map_or(Action::NoOp, |change| change.action)
}

/// What the node is ordered by, in the profile `Fixed`.
fn stored(input: &Input, options: &Options, node: &OpNode) -> BTreeSet<ConfigResource> {
    let Some(addr) = node.key.addr() else { return BTreeSet::new() };
    let own = addr.resource.to_config();
    let declared = input.resources.iter().any(|block| block.addr == own);
    let object = current(input, addr);
    let instance = input.instances.iter().find(|instance| instance.addr == *addr);
    let of_current = |object: Option<&ObjectRecord>, merged: bool| {
        let mut found: BTreeSet<ConfigResource> =
            object.map(|object| object.dependencies.iter().cloned().collect()).unwrap_or_default();
        if merged {
            found.extend(closure(input, &own));
        }
        found
    };
    let merge = !options.recorded_only;
    let desired = planned(input, addr).is_desired();
    let destroys_merged = merge && declared && (desired || options.mode == PlanMode::Destroy);
    let mut found = match node.kind {
        OpKind::Apply(ApplyKind::Read) => closure(input, &own),
        OpKind::Apply(_) => of_current(object, merge || object.is_none()),
        OpKind::Destroy => of_current(object, destroys_merged),
        OpKind::DestroyDeposed(key) => match instance.and_then(|instance| instance.deposed.get(&key)) {
            Some(leftover) => leftover.dependencies.iter().cloned().collect(),
            None => of_current(object, destroys_merged),
        },
        _ => BTreeSet::new(),
    };
    found.remove(&own);
    found
}

fn excluded(options: &Options, x: &ModuleInstance, y: &ModuleInstance) -> bool {
    match options.scope {
        Scope::None => false,
        Scope::SameModule => x.to_config() == y.to_config() && x != y,
        Scope::CommonPrefix => {
            let both = x.steps().iter().zip(y.steps());
            both.take_while(|(x, y)| x.name == y.name).any(|(x, y)| x.key != y.key)
        }
    }
}

type Pairs = BTreeMap<(String, String), (BTreeSet<EdgeReason>, bool)>;

/// All edges between operations on instances by the rules of the profile `Fixed`, before any is dropped.
fn naive_edges(input: &Input, options: &Options, graph: &OperationGraph) -> Pairs {
    let facts: Vec<Facts<'_>> = graph
        .nodes()
        .iter()
        .filter_map(|node| {
            let addr = node.key.addr()?;
            let resource = addr.resource.to_config();
            let block = input.resources.iter().find(|block| block.addr == resource);
            let recorded = input.instances.iter().find(|instance| instance.addr == *addr);
            let provider = block
                .map(|block| block.provider.to_string())
                .or_else(|| recorded.map(|instance| instance.provider.to_string()));
            Some(Facts { node, addr, resource, stored: stored(input, options, node), provider })
        })
        .collect();
    let mut pairs = Pairs::new();
    let mut add = |from: &Facts<'_>, to: &Facts<'_>, reason, turned: bool| {
        let (from, to) = if turned { (to, from) } else { (from, to) };
        let entry = pairs.entry((from.node.key.to_string(), to.node.key.to_string())).or_default();
        entry.0.insert(reason);
        entry.1 |= turned;
    };
    let declared = |resource: &ConfigResource| input.resources.iter().any(|block| block.addr == *resource);
    for x in &facts {
        let configured = x.is_apply() || (x.node.kind == OpKind::Forget && declared(&x.resource));
        let closure = closure(input, &x.resource);
        for y in &facts {
            let refs = y.is_apply() || (y.node.kind == OpKind::Forget && declared(&y.resource));
            if configured && refs && closure.contains(&y.resource) {
                add(x, y, EdgeReason::Config, false);
            }
            let turned = y.node.cbd && x.is_apply();
            if x.addr == y.addr && x.is_apply() && y.destroys() {
                add(x, y, EdgeReason::Own, turned);
            }
            let forgets = x.node.kind == OpKind::Apply(ApplyKind::ForgetCreate);
            if x.addr == y.addr && forgets && y.node.kind == OpKind::Forget {
                add(x, y, EdgeReason::ForgetFirst, false);
            }
            let deposed = x.node.deposes_to.map(OpKind::ForgetDeposed);
            if x.addr == y.addr && x.is_apply() && deposed == Some(y.node.kind) {
                add(x, y, EdgeReason::Own, true);
            }
            if excluded(options, x.addr.module(), y.addr.module()) {
                continue;
            }
            if x.participates() && y.destroys() && x.stored.contains(&y.resource) {
                add(x, y, EdgeReason::StoredCreate, turned);
            }
            if y.destroys() && y.stored.contains(&x.resource) {
                if x.destroys() {
                    add(x, y, EdgeReason::StoredDestroy, false);
                }
                if x.participates() {
                    add(x, y, EdgeReason::StoredUpdate, turned);
                }
            }
        }
    }
    for fact in &facts {
        assert!(fact.provider.is_some(), "every operation has a provider");
    }
    pairs
}

fn edge_pairs<'a>(edges: impl Iterator<Item = Edge<'a>>) -> Pairs {
    let operations = edges.filter(|edge| edge.from.addr().is_some() && edge.to.addr().is_some());
    let mut pairs = Pairs::new();
    for edge in operations {
        let ends = (edge.from.to_string(), edge.to.to_string());
        let before = pairs.insert(ends, (edge.reasons.iter().map(as_rule).collect(), edge.inverted));
        assert!(before.is_none(), "{} -> {} is there twice", edge.from, edge.to);
    }
    pairs
}

/// The rules do not tell records from what the configuration says of recorded objects.
fn as_rule(reason: EdgeReason) -> EdgeReason {
    match reason {
        EdgeReason::ConfigCreate => EdgeReason::StoredCreate,
        EdgeReason::ConfigDestroy => EdgeReason::StoredDestroy,
        EdgeReason::ConfigUpdate => EdgeReason::StoredUpdate,
        other => other,
    }
}

/// Asserts that the graph has exactly the edges of the rules, and that orders which must be possible are.
#[track_caller]
pub(crate) fn check(input: &Input, options: &Options, graph: &OperationGraph) {
    for edge in graph.edges() {
        assert!(!edge.reasons.is_empty(), "{} -> {} has no reason", edge.from, edge.to);
    }
    let whole = options.targets.is_empty() && options.excludes.is_empty() && !options.reduce;
    if options.profile != Profile::Fixed || options.scope_config_edges || !whole {
        return;
    }
    let mut found = edge_pairs(graph.edges());
    for dropped in graph.dropped() {
        let ends = (dropped.from.to_string(), dropped.to.to_string());
        assert!(!found.contains_key(&ends), "{ends:?} was dropped");
        let turned = dropped.from.part().is_some_and(Part::is_destroy)
            && !dropped.to.part().is_some_and(Part::is_destroy);
        found.insert(ends, (dropped.reasons.iter().map(as_rule).collect(), turned));
    }
    let expected = naive_edges(input, options, graph);
    assert_eq!(found, expected);
    check_flags(input, options, graph);
    if input.providers.is_none() && union_rank(input).is_some() {
        check_three_phases(input, graph);
    }
}

/// The dependencies of what is destroyed last are destroyed last too.
fn check_flags(input: &Input, options: &Options, graph: &OperationGraph) {
    if options.cbd_propagation != groundstate_ordering::CbdPropagation::ConfigAndState {
        return;
    }
    for node in graph.nodes().iter().filter(|node| node.cbd && node.key.part().is_some_and(Part::is_destroy))
    {
        for dependency in stored(input, options, node) {
            assert!(
                graph.cbd_cause(&dependency).is_some(),
                "{} is destroyed after its creation, {dependency} not",
                node.key
            );
        }
    }
    for (addr, order) in graph.orders() {
        let forced = graph.cbd_cause(&addr.resource.to_config()).is_some();
        let explicit = planned(input, addr) == Action::Replace(ReplaceOrder::CreateThenDelete);
        let after =
            if forced || explicit { ReplaceOrder::CreateThenDelete } else { ReplaceOrder::DeleteThenCreate };
        assert_eq!(*order, after, "{addr}");
    }
}

/// The length of the longest way down from each resource, along configuration and records; none when that is cyclic.
fn union_rank(input: &Input) -> Option<BTreeMap<ConfigResource, usize>> {
    let mut edges: BTreeMap<ConfigResource, BTreeSet<ConfigResource>> = BTreeMap::new();
    for block in &input.resources {
        edges.entry(block.addr.clone()).or_default().extend(direct(input, &block.addr));
    }
    for instance in &input.instances {
        let own = instance.addr.resource.to_config();
        for object in instance.current.iter().chain(instance.deposed.values()) {
            let others = object.dependencies.iter().filter(|other| **other != own).cloned();
            edges.entry(own.clone()).or_default().extend(others);
        }
    }
    let all: BTreeSet<ConfigResource> = edges.keys().chain(edges.values().flatten()).cloned().collect();
    let mut rank: BTreeMap<ConfigResource, usize> = BTreeMap::new();
    while rank.len() < all.len() {
        let before = rank.len();
        for resource in &all {
            if rank.contains_key(resource) {
                continue;
            }
            let below = edges.get(resource).into_iter().flatten();
            let ranks: Option<Vec<usize>> = below.map(|other| rank.get(other).copied()).collect();
            if let Some(ranks) = ranks {
                rank.insert(resource.clone(), ranks.into_iter().max().map_or(0, |rank| rank + 1));
            }
        }
        if rank.len() == before {
            return None;
        }
    }
    Some(rank)
}

/// Destroyers without create before destroy by falling rank, then everything else that is applied or forgotten by rising
/// rank, then destroyers with it by falling rank: a possible order of every graph without providers.
fn check_three_phases(input: &Input, graph: &OperationGraph) {
    let Some(rank) = union_rank(input) else { return };
    let place = |key: &NodeKey| -> (u8, isize, u8) {
        let Some(number) = graph.find(key) else { panic!("{key} is no node") };
        let node = &graph.nodes()[number];
        let Some(addr) = key.addr() else { panic!("{key} is no operation") };
        let rank = rank.get(&addr.resource.to_config()).copied().unwrap_or_default() as isize;
        match node.kind {
            OpKind::Destroy | OpKind::DestroyDeposed(_) if !node.cbd => (1, -rank, 0),
            OpKind::Destroy | OpKind::DestroyDeposed(_) => (3, -rank, 0),
            OpKind::Apply(_) => (2, rank, 1),
            _ => (2, rank, 0),
        }
    };
    for edge in graph.edges() {
        assert!(place(edge.to) < place(edge.from), "{} waits for {}, which comes later", edge.from, edge.to);
    }
}
