//! Drawings of operations for people: as SVG, and in the languages of Graphviz and Mermaid.
//!
//! A [`Drawing`] says what is shown: nodes in groups, and arrows from what is done first to what waits for it. Edges that
//! follow from others are left out, cycles are red, and where many wait for many a point stands for the pairs.
//!
//! ```
//! use groundstate_schedule::WaitGraph;
//! use groundstate_schedule::drawing::{Drawing, Node, NodeGroup, NodeStyle, Shape};
//!
//! let style = NodeStyle { class: "create", fill: "#dafbe1", line: "#1a7f37", dashed: false };
//! let node = |name: &str| Node::new(name, "create", style);
//! let graph = WaitGraph::new(2, 2, vec![(1, 0, ())]);
//! let whole = NodeGroup { name: String::new(), depth: 0, nodes: vec![0, 1] };
//! let drawing = Drawing::new(&graph, vec![node("network"), node("server")], vec![whole], |()| false);
//!
//! assert!(drawing.to_mermaid().contains("n0(\"network<br/>create\"):::create"));
//! assert!(drawing.to_dot(true).contains("n0 -> n1;"));
//! ```

mod collapse;
mod dot;
mod fold;
mod layout;
mod mermaid;
mod svg;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::graph::{Label, WaitEdge, WaitGraph};

pub use dot::{DotStyle, EdgeNote, dot_text, plain_dot};
pub use mermaid::mermaid_text;
pub use svg::{Figure, Frame, Picture};

/// Groups that lie deeper are to be drawn as a part of the one this deep.
pub const MAX_GROUP_DEPTH: usize = 12;

/// What is shown, whatever language it is drawn in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drawing {
    /// The operations, by number.
    pub nodes: Vec<Node>,
    /// All that is outside of groups, and then the groups, each behind the one it lies in.
    pub groups: Vec<NodeGroup>,
    /// From what is done first to what waits for it.
    pub arrows: Vec<Arrow>,
    /// Nodes, numbered behind the others, that stand for groups of edges: all that comes before one comes before all behind it.
    pub hubs: Range<u32>,
    /// What dashed arrows mean; shown below the drawing if it has some.
    pub dashed_means: Option<&'static str>,
}

/// An operation as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The first line.
    pub name: String,
    /// The whole name, which no group shortens.
    pub title: String,
    /// What kind of thing it is, its name of that kind, and what tells it from its siblings: empty for what has none.
    pub kind: String,
    /// The name among things of its kind.
    pub short: String,
    /// The key of an instance, with its brackets.
    pub key: String,
    /// What happens: the second line.
    pub action: String,
    /// Its colours.
    pub style: NodeStyle,
    /// Its outline.
    pub shape: Shape,
}

impl Node {
    /// A box with a name that has no parts.
    #[must_use]
    pub fn new(name: &str, action: &str, style: NodeStyle) -> Self {
        let [name, title, short] = [name; 3].map(str::to_owned);
        let (kind, key) = (String::new(), String::new());
        Self { name, title, kind, short, key, action: action.to_owned(), style, shape: Shape::Rounded }
    }
}

/// The outline of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A box with round corners.
    #[default]
    Rounded,
    /// For what serves other nodes: a hexagon.
    Hexagon,
}

/// The colours of a kind of node, as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeStyle {
    /// The name of the kind: ASCII letters only.
    pub class: &'static str,
    /// The colour inside.
    pub fill: &'static str,
    /// The colour of the line around it.
    pub line: &'static str,
    /// Whether that line is dashed.
    pub dashed: bool,
}

/// A group of nodes, which lies in the last one before it that is less deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    /// Its whole name; empty for what is outside of groups.
    pub name: String,
    /// How many groups it lies in, itself included; 0 for what is outside of groups.
    pub depth: usize,
    /// Its nodes, without those of groups in it.
    pub nodes: Vec<usize>,
}

/// An arrow between two nodes or hubs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// What is done first.
    pub first: u32,
    /// What waits for it.
    pub then: u32,
    /// Drawn as a dashed line.
    pub dashed: bool,
    /// Drawn in red.
    pub on_cycle: bool,
}

impl Drawing {
    /// The drawing of a graph: one of `nodes` for each operation, and each of them in one of `groups`.
    #[must_use]
    pub fn new<L: Label>(
        graph: &WaitGraph<L>,
        nodes: Vec<Node>,
        groups: Vec<NodeGroup>,
        is_dashed: impl Fn(L) -> bool,
    ) -> Self {
        // A graph with cycles cannot be reduced, and is drawn as it is.
        let reduced = graph.reduced();
        let graph = reduced.as_ref().unwrap_or(graph);
        let red = edges_on_cycles(graph);
        let arrow = |(from, to, label): WaitEdge<L>| Arrow {
            first: to,
            then: from,
            dashed: is_dashed(label),
            on_cycle: red.contains(&(from, to)),
        };
        Self {
            nodes,
            groups,
            arrows: graph.written_edges().map(arrow).collect(),
            hubs: graph.operations()..graph.operations() + graph.written_barriers(),
            dashed_means: None,
        }
    }

    /// Sets what dashed arrows mean.
    #[must_use]
    pub fn dashed_means(mut self, text: &'static str) -> Self {
        self.dashed_means = Some(text);
        self
    }

    /// What cannot be seen from the drawing itself.
    fn caption(&self) -> Option<&'static str> {
        self.dashed_means.filter(|_| self.arrows.iter().any(|arrow| arrow.dashed))
    }
}

/// The edges of one walk along each cycle.
fn edges_on_cycles<L: Label>(graph: &WaitGraph<L>) -> BTreeSet<(u32, u32)> {
    let edges = graph.cycles().into_iter().flat_map(|cycle| cycle.path);
    edges.map(|(from, to, _)| (from, to)).collect()
}
