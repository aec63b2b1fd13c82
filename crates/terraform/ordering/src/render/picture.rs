//! What a picture for people shows, whatever language it is drawn in.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_states::addr::ModuleStep;

use crate::graph::OperationGraph;
use crate::node::{ApplyKind, NodeKey, OpKind, OpNode};

/// Nodes in groups, and arrows from what is done first to what waits for it.
pub(crate) struct Picture {
    pub(crate) nodes: Vec<Drawn>,
    /// The root module and then the others, each behind the one it lies in.
    pub(crate) groups: Vec<Group>,
    pub(crate) edges: Vec<Arrow>,
    /// Nodes, numbered behind the others, that stand for groups of edges: all that comes before one comes before all behind it.
    pub(crate) hubs: std::ops::Range<u32>,
}

pub(crate) struct Drawn {
    pub(crate) name: String,
    pub(crate) action: String,
    pub(crate) tint: Tint,
    pub(crate) class: &'static str,
    pub(crate) is_provider: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tint {
    pub(crate) fill: &'static str,
    pub(crate) line: &'static str,
    pub(crate) dashed: bool,
}

/// A module instance, which lies in the last one before it that is less deep.
pub(crate) struct Group {
    /// Its whole address; empty for the root.
    pub(crate) name: String,
    /// How many modules it lies in.
    pub(crate) depth: usize,
    pub(crate) nodes: Vec<usize>,
}

pub(crate) struct Arrow {
    pub(crate) first: u32,
    pub(crate) then: u32,
    /// The old object goes after its successor has come.
    pub(crate) turned: bool,
    pub(crate) on_cycle: bool,
}

impl Picture {
    pub(crate) fn of(graph: &OperationGraph) -> Self {
        let network = graph.for_drawing();
        let red: BTreeSet<(u32, u32)> = network
            .cycles()
            .iter()
            .flat_map(|cycle| cycle.path.iter().map(|&(from, to, _)| (from, to)))
            .collect();
        let arrow = |(from, to, link): crate::network::RawEdge| Arrow {
            first: to,
            then: from,
            turned: link.is_inverted(),
            on_cycle: red.contains(&(from, to)),
        };
        Self {
            nodes: drawn_all(graph.nodes()),
            groups: groups(graph.nodes()),
            edges: network.written_edges().map(arrow).collect(),
            hubs: network.ops()..network.ops() + network.written_barriers(),
        }
    }

    /// What cannot be seen from the picture itself.
    pub(crate) fn caption(&self) -> Option<&'static str> {
        let turned = self.edges.iter().any(|edge| edge.turned);
        turned.then_some("dashed: the old object goes after what replaces or used it is in place")
    }
}

/// Modules that lie deeper are drawn as a part of the one this deep.
pub(crate) const DEEPEST: usize = 12;

/// The modules, each with its nodes. A module has its place even if only those in it have nodes.
fn groups(nodes: &[OpNode]) -> Vec<Group> {
    let mut by_module: BTreeMap<&[ModuleStep], Vec<usize>> = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        let steps = node.key.addr().map(|addr| addr.module().steps()).unwrap_or_default();
        let steps = &steps[..steps.len().min(DEEPEST)];
        for depth in 0..steps.len() {
            by_module.entry(&steps[..depth]).or_default();
        }
        by_module.entry(steps).or_default().push(number);
    }
    let group = |(steps, nodes): (&[ModuleStep], Vec<usize>)| Group {
        name: steps.iter().map(ToString::to_string).collect::<Vec<_>>().join("."),
        depth: steps.len(),
        nodes,
    };
    by_module.into_iter().map(group).collect()
}

fn drawn_all(nodes: &[OpNode]) -> Vec<Drawn> {
    let deposed = |node: &OpNode| matches!(node.kind, OpKind::DestroyDeposed(_) | OpKind::ForgetDeposed(_));
    let mut drawn_nodes = Vec::with_capacity(nodes.len());
    // Operations on one instance stand side by side; keys are shown where there are several old objects to tell apart.
    for same in nodes.chunk_by(|a, b| a.key.addr().is_some() && a.key.addr() == b.key.addr()) {
        let several = same.iter().filter(|node| deposed(node)).count() > 1;
        drawn_nodes.extend(same.iter().map(|node| drawn(node, several)));
    }
    drawn_nodes
}

fn drawn(node: &OpNode, several_old: bool) -> Drawn {
    let name = match &node.key {
        NodeKey::Provider(id) | NodeKey::ProviderClose(id) => id.to_string(),
        NodeKey::Operation { addr, .. } => {
            let deeper = addr.module().steps().iter().skip(DEEPEST);
            let modules: String = deeper.map(|step| format!("{step}.")).collect();
            format!("{modules}{}{}", addr.resource.resource, addr.key)
        }
    };
    let action = match node.kind {
        OpKind::Apply(ApplyKind::ReplaceCreate) => "create the new one".to_owned(),
        OpKind::Apply(ApplyKind::ForgetCreate) => "create anew".to_owned(),
        OpKind::Apply(_) => node.kind.name().to_owned(),
        OpKind::Destroy => "destroy".to_owned(),
        OpKind::DestroyDeposed(key) if several_old => format!("destroy the old one {key}"),
        OpKind::DestroyDeposed(_) => "destroy the old one".to_owned(),
        OpKind::Forget => "forget".to_owned(),
        OpKind::ForgetDeposed(key) if several_old => format!("forget the old one {key}"),
        OpKind::ForgetDeposed(_) => "forget the old one".to_owned(),
        OpKind::Provider => "configure".to_owned(),
        OpKind::ProviderClose => "shut down".to_owned(),
    };
    let (class, fill, line, dashed) = match node.kind {
        OpKind::Apply(ApplyKind::Create) => ("create", "#dafbe1", "#1a7f37", false),
        OpKind::Apply(ApplyKind::ReplaceCreate | ApplyKind::ForgetCreate) => {
            ("replace", "#ddf4ff", "#0969da", false)
        }
        OpKind::Apply(ApplyKind::Update) => ("update", "#fff8c5", "#9a6700", false),
        OpKind::Apply(ApplyKind::Read) => ("read", "#fbefff", "#8250df", false),
        OpKind::Apply(ApplyKind::Check) => ("check", "#ffffff", "#8c959f", false),
        OpKind::Destroy => ("destroy", "#ffebe9", "#cf222e", false),
        OpKind::DestroyDeposed(_) => ("deposed", "#ffebe9", "#cf222e", true),
        OpKind::Forget | OpKind::ForgetDeposed(_) => ("forget", "#eaeef2", "#6e7781", true),
        OpKind::Provider | OpKind::ProviderClose => ("provider", "#ffffff", "#6e7781", false),
    };
    let is_provider = node.key.addr().is_none();
    Drawn { name, action, tint: Tint { fill, line, dashed }, class, is_provider }
}
