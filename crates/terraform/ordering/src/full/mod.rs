//! The full graph: operations together with what is evaluated around them, as Terraform and OpenTofu build it.
//!
//! Expansions of resources, variables, locals, outputs, and the opening and closing of modules are nodes of their own here.
//! It serves drawings and comparisons; for order, waves and walks the [`OperationGraph`] is what is needed.

mod build;
mod prune;
mod select;

use std::collections::BTreeSet;
use std::fmt;

use groundstate_schedule::WaitGraph;
use groundstate_schedule::drawing::plain_dot;
use groundstate_states::addr::{ConfigResource, Module, ProviderConfig, Target};

use crate::graph::OperationGraph;
use crate::input::Input;
use crate::node::NodeKey;
use crate::options::Options;

/// What the full graph needs besides the input of the operations.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Surroundings {
    /// Variables, locals and outputs.
    pub values: Vec<ValueInput>,
    /// What single blocks refer to directly. Blocks that are not listed refer to their dependencies.
    pub blocks: Vec<(ConfigResource, Vec<Ref>)>,
    /// What the number of a module's instances refers to, for modules where it refers to something.
    pub calls: Vec<(Module, Vec<Ref>)>,
}

/// A variable, local value or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueInput {
    /// How it is labelled and referred to, unique in the graph, for example `module.m.var.size`.
    pub label: String,
    /// The module it belongs to.
    pub module: Module,
    /// What it is.
    pub kind: ValueKind,
    /// What its expression refers to; for variables of modules, the expression of the caller.
    pub references: Vec<Ref>,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// A variable.
    Variable,
    /// A local value.
    Local,
    /// An output.
    Output,
}

/// Something an expression refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ref {
    /// A resource.
    Resource(ConfigResource),
    /// A value, by its label.
    Value(String),
    /// A module as a whole.
    Module(Module),
}

/// Names a node of the full graph. `Display` prints the label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FullKey {
    /// An operation, a provider or its shutdown.
    Operation(NodeKey),
    /// The instances of a resource are worked out.
    Expand(ConfigResource),
    /// A value is evaluated.
    Value(String),
    /// The instances of a module are worked out.
    Open(Module),
    /// All of a module is done.
    Close(Module),
    /// Everything is done.
    Root,
}

/// The full graph.
#[derive(Clone, Debug)]
pub struct FullGraph {
    nodes: Vec<Node>,
    /// For each node the numbers of those it waits for.
    edges: Vec<BTreeSet<u32>>,
}

#[derive(Clone, Debug)]
struct Node {
    key: FullKey,
    role: Role,
    /// The module it belongs to, if it belongs to one.
    module: Option<Module>,
    provider: Option<ProviderConfig>,
}

/// What matters of a node when others are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// An operation on an instance; whether it destroys.
    Instance {
        destroys: bool,
    },
    Expansion,
    /// Whether it is an output of the root module.
    Value {
        kind: ValueKind,
        of_root: bool,
    },
    Open,
    Close,
    Provider,
    ProviderClose,
    Root,
}

impl FullGraph {
    /// The full graph around operations that were built of the same input with the same options.
    ///
    /// Targets or excludes of the options select here too; the graph of the operations is best built without them.
    #[must_use]
    pub fn new(graph: &OperationGraph, input: &Input, around: &Surroundings, options: &Options) -> Self {
        let mut full = build::nodes_and_edges(graph, input, around);
        prune::prune(&mut full, options.mode);
        if !options.targets.is_empty() || !options.excludes.is_empty() {
            let kept = select::kept(&full, &options.targets, &options.excludes);
            full.retain(|node| kept[node]);
        }
        build::close(&mut full);
        if options.reduce { full.reduced() } else { full }
    }

    /// The labels of all nodes, in the order of their bytes.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = self.nodes.iter().map(|node| node.key.to_string()).collect();
        labels.sort();
        labels
    }

    /// The labels of the nodes that targets select, or that excludes leave. One of the lists is to be empty.
    #[must_use]
    pub fn select(&self, targets: &[Target], excludes: &[Target]) -> Vec<String> {
        let kept = select::kept(self, targets, excludes);
        let mut labels: Vec<String> = self
            .nodes
            .iter()
            .zip(kept)
            .filter(|(_, kept)| *kept)
            .map(|(node, _)| node.key.to_string())
            .collect();
        labels.sort();
        labels
    }

    /// Each label on a line of its own, in the order of their bytes; below it, indented, the labels of what it waits for.
    #[must_use]
    pub fn to_text(&self) -> String {
        let labels: Vec<String> = self.nodes.iter().map(|node| node.key.to_string()).collect();
        let mut by_label: Vec<usize> = (0..labels.len()).collect();
        by_label.sort_by(|&a, &b| labels[a].cmp(&labels[b]));
        let mut text = String::new();
        for node in by_label {
            text.push_str(&labels[node]);
            text.push('\n');
            let mut below: Vec<&str> = self.edges[node].iter().map(|&to| &*labels[to as usize]).collect();
            below.sort_unstable();
            for label in below {
                text.push_str("  ");
                text.push_str(label);
                text.push('\n');
            }
        }
        text
    }

    /// A drawing as `terraform graph` makes it.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let shape = |node: usize| match self.nodes[node].role {
            Role::Provider | Role::ProviderClose => "diamond",
            Role::Value { kind: ValueKind::Variable | ValueKind::Output, .. } => "note",
            _ => "box",
        };
        let labels: Vec<String> = self.nodes.iter().map(|node| node.key.to_string()).collect();
        plain_dot(&self.waits(), &labels, shape, None)
    }

    fn waits(&self) -> WaitGraph<()> {
        let all = self.edges.iter().zip(0_u32..);
        let edges = all.flat_map(|(to, from)| to.iter().map(move |&to| (from, to, ()))).collect();
        WaitGraph::new(self.nodes.len(), self.nodes.len(), edges)
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.edges.push(BTreeSet::new());
        self.nodes.len() as u32 - 1
    }

    /// For each node those that wait for it.
    fn waiters(&self) -> Vec<Vec<usize>> {
        let mut waiters = vec![Vec::new(); self.nodes.len()];
        for (from, to) in self.edges.iter().enumerate() {
            for &to in to {
                waiters[to as usize].push(from);
            }
        }
        waiters
    }

    /// Leaves out nodes, with their edges.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut numbers = vec![None; self.nodes.len()];
        let mut next = 0_u32;
        for (node, number) in numbers.iter_mut().enumerate() {
            if keep(node) {
                *number = Some(next);
                next += 1;
            }
        }
        let old = std::mem::take(&mut self.nodes).into_iter().zip(std::mem::take(&mut self.edges));
        for ((node, edges), number) in old.zip(&numbers) {
            if number.is_some() {
                self.nodes.push(node);
                self.edges.push(edges.into_iter().filter_map(|to| numbers[to as usize]).collect());
            }
        }
    }

    fn reduced(self) -> Self {
        let Some(reduced) = self.waits().reduced() else { return self };
        let edges =
            (0..reduced.operations()).map(|node| reduced.dependencies(node).iter().copied().collect());
        Self { edges: edges.collect(), nodes: self.nodes }
    }
}

impl fmt::Display for FullKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(key) => key.fmt(f),
            Self::Expand(resource) => write!(f, "{resource} (expand)"),
            Self::Value(label) => f.write_str(label),
            Self::Open(module) => write!(f, "{module} (expand)"),
            Self::Close(module) => write!(f, "{module} (close)"),
            Self::Root => f.write_str("root"),
        }
    }
}
