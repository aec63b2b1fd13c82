//! From an input to its operation graph.

mod cross;
mod edges;
mod flags;
mod intern;
mod model;
mod ops;
mod scope;
mod wires;

use std::collections::BTreeMap;

use groundstate_states::addr::ProviderConfig;

use crate::edge::EdgeReason;
use crate::error::{BuildError, BuildErrors};
use crate::graph::{OperationGraph, Persisted};
use crate::input::Input;
use crate::keys::{CountedKeys, DeposedKeys};
use crate::network::{Link, Network, RawEdge};
use crate::node::{NodeKey, OpKind, OpNode, Part};
use crate::options::{CrossProvider, Options, PlanMode, Profile};
use crate::select;
use cross::Decided;
use edges::Edges;
use flags::Flags;
use model::{Model, Reader};
use ops::{Maker, Op, Operations};
use scope::Scoping;
use wires::Wires;

/// Builds the operation graph of an input, with keys for deposed objects that are counted from 1.
///
/// # Errors
///
/// Everything that is wrong with the input, or the cycles of its graph.
///
/// # Examples
///
/// ```
/// use groundstate_ordering::{Action, InstanceInput, Input, ObjectRecord, Options, PlannedChange, build};
/// use groundstate_states::addr::{AbsResourceInstance, ConfigResource, ProviderConfig, TERRAFORM_REGISTRY};
///
/// let provider = ProviderConfig::parse(r#"provider["acme/x"]"#, TERRAFORM_REGISTRY)?;
/// let mut input = Input::default();
/// for (addr, dependencies) in [("net.a", vec![]), ("vm.b", vec![ConfigResource::parse("net.a")?])] {
///     let addr = AbsResourceInstance::parse(addr)?;
///     let mut instance = InstanceInput::new(addr.clone(), provider.clone());
///     instance.current = Some(ObjectRecord { dependencies, ..ObjectRecord::default() });
///     input.instances.push(instance);
///     input.changes.push(PlannedChange::current(addr, Action::Delete));
/// }
/// let graph = build(&input, &Options::default())?;
/// let order: Vec<String> = graph.order()?.iter().map(|node| node.key.to_string()).collect();
/// assert_eq!(order, ["vm.b (destroy)", "net.a (destroy)"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(input: &Input, options: &Options) -> Result<OperationGraph, BuildErrors> {
    match build_with(input, options, &mut CountedKeys) {
        Ok(graph) => Ok(graph.with_invented_keys()),
        Err(BuildErrors { errors, cyclic }) => {
            let cyclic = cyclic.map(|graph| Box::new(graph.with_invented_keys()));
            Err(BuildErrors { errors, cyclic })
        }
    }
}

/// As [`build`], with deposed keys from elsewhere.
///
/// # Errors
///
/// As [`build`].
pub fn build_with(
    input: &Input,
    options: &Options,
    keys: &mut dyn DeposedKeys,
) -> Result<OperationGraph, BuildErrors> {
    const MOST: usize = 1 << 31;
    let entries = input.instances.iter().map(|instance| {
        let records = instance.current.iter().chain(instance.deposed.values());
        1 + records.map(|record| 2 + record.dependencies.len()).sum::<usize>()
    });
    let references = input.resources.iter().map(|block| 1 + block.dependencies.len());
    if entries.chain(references).sum::<usize>().saturating_add(input.changes.len()) > MOST {
        return Err(vec![BuildError::TooLarge].into());
    }

    let (model, mut errors) = Reader::new(input).read();
    let flags = Flags::of(&model, options);
    let made = Operations { ops: Vec::new(), orders: Vec::new() };
    let mut maker =
        Maker { model: &model, flags: &flags, options, keys, errors: Vec::new(), warnings: Vec::new(), made };
    maker.run();
    let Maker { errors: more, warnings, made, .. } = maker;
    errors.extend(more);
    errors.extend(unknown_providers(&model, &made.ops));
    if !options.targets.is_empty() && !options.excludes.is_empty() {
        errors.push(BuildError::TargetsAndExcludes);
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }

    let assembly = Assembly { model: &model, options, ops: &made.ops };
    let decided = assembly.edges();
    if decided.edges.len() > MOST {
        return Err(vec![BuildError::TooLarge].into());
    }
    let nodes = assembly.nodes();
    let network = Network::new(nodes.len(), decided.nodes as usize, decided.edges);
    let label = |node: u32| nodes[node as usize].key.clone();
    let dropped = decided.dropped.iter().map(|&(from, to, link)| crate::edge::DroppedEdge {
        from: label(from),
        to: label(to),
        reasons: link.reasons(),
    });
    let dropped = dropped.collect();
    let keep = if options.targets.is_empty() && options.excludes.is_empty() {
        None
    } else {
        Some(select::kept(&network, &nodes, &options.targets, &options.excludes))
    };
    let (nodes, network) = finish(nodes, network, keep);
    let network = if options.reduce { network.reduced().unwrap_or(network) } else { network };

    let mut all_warnings = Vec::new();
    let orders: BTreeMap<_, _> = made
        .orders
        .iter()
        .map(|&(instance, order)| (model.instances[instance as usize].addr.clone(), order))
        .collect();
    let mut persisted = Vec::new();
    for (number, instance) in (0_u32..).zip(&model.instances) {
        if instance.is_desired() {
            persisted.push((instance.addr.clone(), instance.resource, flags.effective(&model, number)));
        }
    }
    let Model { config, warnings: of_model, .. } = model;
    all_warnings.extend(of_model);
    all_warnings.extend(warnings);
    all_warnings.sort();
    let persisted = Persisted { instances: persisted, causes: flags.causes };
    let graph = OperationGraph::new(nodes, network, dropped, orders, persisted, config, all_warnings);
    graph.checked()
}

/// What needs a provider that is not in the list.
fn unknown_providers(model: &Model<'_>, ops: &[Op]) -> Vec<BuildError> {
    if !model.with_providers {
        return Vec::new();
    }
    let mut errors = Vec::new();
    let mut last = None;
    for op in ops.iter().filter(|op| op.needs_provider(model)) {
        let instance = &model.instances[op.instance as usize];
        let Some(provider) = instance.provider else { continue };
        if !model.known_providers[provider as usize] && last != Some(op.instance) {
            last = Some(op.instance);
            let provider = model.config.providers[provider as usize].clone();
            errors.push(BuildError::UnknownProvider { user: instance.addr.to_string(), provider });
        }
    }
    errors
}

/// Puts nodes and edges together.
struct Assembly<'m> {
    model: &'m Model<'m>,
    options: &'m Options,
    ops: &'m [Op],
}

/// The edges of the compact form, and how many nodes it has.
struct Wired {
    edges: Vec<RawEdge>,
    dropped: Vec<RawEdge>,
    nodes: u32,
}

impl Assembly<'_> {
    /// How many provider nodes come before the operations.
    fn providers(&self) -> u32 {
        if self.model.with_providers { self.model.config.providers.len() as u32 } else { 0 }
    }

    fn wire(&self, scoping: &Scoping<'_>, invert: bool, split: bool) -> Wires {
        let first = self.providers();
        let mut edges = Edges {
            model: self.model,
            ops: self.ops,
            first,
            scoping,
            invert,
            split,
            scope_config: self.options.scope_config_edges && !scoping.is_open(),
            scope_direct: self.options.profile == Profile::Classic,
            wires: Wires::new(first as usize + self.ops.len()),
        };
        // Providers are the first vertices of the graph of configuration, in the order of their nodes.
        let configured: Vec<(u32, u32)> = (0..first).map(|provider| (provider, provider)).collect();
        edges.configuration(&configured);
        edges.own();
        edges.stored();
        let mut wires = edges.wires;
        if first > 0 {
            let link = Link::new(EdgeReason::ProviderUse);
            for (node, op) in (first..).zip(self.ops).filter(|(_, op)| op.needs_provider(self.model)) {
                if let Some(provider) = self.model.instances[op.instance as usize].provider {
                    wires.edges.push((node, provider, link));
                }
            }
        }
        wires
    }

    /// All edges. Those between providers are looked at only where there is a cycle.
    fn edges(&self) -> Wired {
        let scoping = Scoping::new(self.model, self.options.scope);
        let policy = match self.options.mode {
            PlanMode::Destroy => CrossProvider::KeepAll,
            PlanMode::Normal => self.options.cross_provider,
        };
        let whole = |wires: Wires| {
            let nodes = wires.nodes;
            Wired { edges: wires.edges, dropped: Vec::new(), nodes }
        };
        let keeps_all = policy == CrossProvider::KeepAll || !self.has_several_providers();
        match self.options.profile {
            Profile::Fixed => {
                let wires = self.wire(&scoping, true, false);
                if keeps_all || is_acyclic(&wires) {
                    return whole(wires);
                }
                let wires = self.wire(&scoping, true, true);
                let Decided { edges, dropped } = cross::decide(&wires, policy);
                Wired { edges, dropped, nodes: wires.nodes }
            }
            Profile::Classic => {
                if keeps_all || is_acyclic(&self.wire(&scoping, false, false)) {
                    return whole(self.wire(&scoping, true, false));
                }
                let given_up = cross::given_up(&self.wire(&scoping, false, true));
                let wires = self.wire(&scoping, true, true);
                let Decided { edges, dropped } = cross::without(&wires, &given_up);
                Wired { edges, dropped, nodes: wires.nodes }
            }
        }
    }

    fn has_several_providers(&self) -> bool {
        let mut providers = self.ops.iter().map(|op| self.model.instances[op.instance as usize].provider);
        let first = providers.next();
        first.is_some_and(|first| providers.any(|other| other != first))
    }

    fn nodes(&self) -> Vec<OpNode> {
        let providers = &self.model.config.providers[..self.providers() as usize];
        let mut nodes: Vec<OpNode> = Vec::with_capacity(providers.len() + self.ops.len());
        nodes.extend(providers.iter().map(|id| provider_node(id, false)));
        nodes.extend(self.ops.iter().map(|op| self.node(op)));
        nodes
    }

    fn node(&self, op: &Op) -> OpNode {
        let instance = &self.model.instances[op.instance as usize];
        let provider = instance.provider.filter(|_| op.needs_provider(self.model));
        let part = match op.kind {
            OpKind::Destroy => Part::Destroy,
            OpKind::DestroyDeposed(key) => Part::DestroyDeposed(key),
            OpKind::Forget => Part::Forget,
            OpKind::ForgetDeposed(key) => Part::ForgetDeposed(key),
            _ => Part::Apply,
        };
        OpNode {
            key: NodeKey::operation(instance.addr.clone(), part),
            kind: op.kind,
            provider: provider.map(|provider| self.model.config.providers[provider as usize].clone()),
            cbd: op.cbd,
            deposes_to: op.deposes_to,
            skip_destroy: op.skip_destroy,
        }
    }
}

fn is_acyclic(wires: &Wires) -> bool {
    Network::new(wires.ops() as usize, wires.nodes as usize, wires.edges.clone())
        .graph()
        .topo_order()
        .is_some()
}

fn provider_node(id: &ProviderConfig, close: bool) -> OpNode {
    let (key, kind) = if close {
        (NodeKey::ProviderClose(id.clone()), OpKind::ProviderClose)
    } else {
        (NodeKey::Provider(id.clone()), OpKind::Provider)
    };
    OpNode { key, kind, provider: Some(id.clone()), cbd: false, deposes_to: None, skip_destroy: false }
}

/// Leaves out what was not selected and providers that nothing uses, and adds the shutdown of the others.
fn finish(nodes: Vec<OpNode>, network: Network, selected: Option<Vec<bool>>) -> (Vec<OpNode>, Network) {
    let providers = nodes.iter().take_while(|node| node.kind == OpKind::Provider).count();
    if providers == 0 && selected.is_none() {
        return (nodes, network);
    }
    let mut keep = selected.unwrap_or_else(|| vec![true; nodes.len()]);
    let uses = |from: u32, to: u32| {
        let mut links = network.links(from);
        links.any(|(other, link)| other == to && link.reasons().contains(EdgeReason::ProviderUse))
    };
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); providers];
    for (provider, users) in (0_u32..).zip(&mut users) {
        let waiters = network.waiters(provider).iter().copied();
        let waiters = waiters.filter(|&from| network.is_operation(from) && keep[from as usize]);
        users.extend(waiters.filter(|&from| uses(from, provider)));
        keep[provider as usize] &= !users.is_empty();
    }

    let kept: Vec<u32> = (0_u32..).zip(&keep).filter(|(_, keep)| **keep).map(|(node, _)| node).collect();
    let closed: Vec<u32> = (0..providers as u32).filter(|&provider| keep[provider as usize]).collect();
    let ops = (kept.len() + closed.len()) as u32;
    // The new number of each node that stays; barriers come behind the operations.
    let mut number = vec![u32::MAX; network.node_count() as usize];
    for (new, &old) in (0_u32..).zip(&kept) {
        number[old as usize] = new;
    }
    let mut next = ops;
    let mut edges: Vec<RawEdge> = Vec::new();
    let mut stack = kept.clone();
    while let Some(from) = stack.pop() {
        for (to, link) in network.links(from) {
            if network.is_operation(to) && !keep[to as usize] {
                continue;
            }
            if number[to as usize] == u32::MAX {
                number[to as usize] = next;
                next += 1;
                stack.push(to);
            }
            edges.push((number[from as usize], number[to as usize], link));
        }
    }
    let close = Link::new(EdgeReason::ProviderClose);
    for (at, &provider) in (kept.len() as u32..).zip(&closed) {
        edges.push((at, number[provider as usize], close));
        edges.extend(users[provider as usize].iter().map(|&user| (at, number[user as usize], close)));
    }
    let ids: Vec<ProviderConfig> =
        closed.iter().filter_map(|&provider| nodes[provider as usize].provider.clone()).collect();
    let mut kept_nodes: Vec<OpNode> =
        nodes.into_iter().zip(&keep).filter(|(_, keep)| **keep).map(|(node, _)| node).collect();
    kept_nodes.extend(ids.iter().map(|id| provider_node(id, true)));
    (kept_nodes, Network::new(ops as usize, next as usize, edges))
}
