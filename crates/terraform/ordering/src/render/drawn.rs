//! Drawings of an operation graph: modules as groups, coloured by what is done.

use std::collections::BTreeMap;

use groundstate_schedule::drawing::{
    DotStyle, Drawing, EdgeNote, MAX_GROUP_DEPTH, Node, NodeGroup, NodeStyle, Shape, plain_dot,
};
use groundstate_states::addr::ModuleStep;

use crate::graph::OperationGraph;
use crate::network::Link;
use crate::node::{ApplyKind, NodeKey, OpKind, OpNode};

impl OperationGraph {
    /// The graph in Graphviz's DOT language. Groups are modules, and cycles are red.
    ///
    /// [`DotStyle::Compatible`] draws as `terraform graph` does.
    #[must_use]
    pub fn to_dot(&self, style: DotStyle) -> String {
        let note = |link: Link| EdgeNote { reasons: link.reasons().to_string(), dashed: link.is_inverted() };
        match style {
            DotStyle::Compatible => self.plain_dot(None),
            DotStyle::Annotated => self.plain_dot(Some(&note)),
            DotStyle::Flat => self.drawing().to_dot(false),
            _ => self.drawing().to_dot(true),
        }
    }

    /// The picture for people as a Mermaid flowchart: without superfluous edges, grouped by module, coloured by what is
    /// done. Arrows lead from what is done first to what waits for it; cycles are red.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        self.drawing().to_mermaid()
    }

    fn plain_dot(&self, note: Option<&dyn Fn(Link) -> EdgeNote>) -> String {
        let shape = |node: usize| match shape(&self.nodes()[node]) {
            Shape::Hexagon => "diamond",
            Shape::Rounded => "box",
        };
        plain_dot(self.network(), &self.labels(), shape, note)
    }

    /// The picture for people as SVG, with instances of one resource as one box.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.drawing().to_svg()
    }

    fn drawing(&self) -> Drawing {
        let nodes = drawn_all(self.nodes());
        Drawing::new(self.network(), nodes, groups(self.nodes()), Link::is_inverted)
            .dashed_means("dashed: the old object goes after what replaces or used it is in place")
    }
}

fn shape(node: &OpNode) -> Shape {
    match node.kind {
        OpKind::Provider | OpKind::ProviderClose => Shape::Hexagon,
        _ => Shape::Rounded,
    }
}

/// The modules, each with its nodes. A module has its place even if only those in it have nodes.
fn groups(nodes: &[OpNode]) -> Vec<NodeGroup> {
    let mut by_module: BTreeMap<&[ModuleStep], Vec<usize>> = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        let steps = node.key.addr().map(|addr| addr.module().steps()).unwrap_or_default();
        let steps = &steps[..steps.len().min(MAX_GROUP_DEPTH)];
        for depth in 0..steps.len() {
            by_module.entry(&steps[..depth]).or_default();
        }
        by_module.entry(steps).or_default().push(number);
    }
    let group = |(steps, nodes): (&[ModuleStep], Vec<usize>)| NodeGroup {
        name: steps.iter().map(ToString::to_string).collect::<Vec<_>>().join("."),
        depth: steps.len(),
        nodes,
    };
    by_module.into_iter().map(group).collect()
}

fn drawn_all(nodes: &[OpNode]) -> Vec<Node> {
    let deposed = |node: &OpNode| matches!(node.kind, OpKind::DestroyDeposed(_) | OpKind::ForgetDeposed(_));
    let mut drawn_nodes = Vec::with_capacity(nodes.len());
    // Operations on one instance stand side by side; keys are shown where there are several old objects to tell apart.
    for same in nodes.chunk_by(|a, b| a.key.addr().is_some() && a.key.addr() == b.key.addr()) {
        let several = same.iter().filter(|node| deposed(node)).count() > 1;
        drawn_nodes.extend(same.iter().map(|node| drawn(node, several)));
    }
    drawn_nodes
}

fn drawn(node: &OpNode, several_old: bool) -> Node {
    let name = match &node.key {
        NodeKey::Provider(id) | NodeKey::ProviderClose(id) => id.to_string(),
        NodeKey::Operation { addr, .. } => {
            let deeper = addr.module().steps().iter().skip(MAX_GROUP_DEPTH);
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
    let style = NodeStyle { class, fill, line, dashed };
    let (kind, short, key) = match node.key.addr() {
        Some(addr) => {
            let resource = &addr.resource.resource;
            let text = resource.to_string();
            let kind = text.strip_suffix(resource.name.as_ref()).unwrap_or_default().trim_end_matches('.');
            (kind.to_owned(), resource.name.to_string(), addr.key.to_string())
        }
        None => ("provider".to_owned(), name.clone(), String::new()),
    };
    let title = node.key.addr().map_or_else(|| name.clone(), ToString::to_string);
    Node { name, title, kind, short, key, action, style, shape: shape(node) }
}
