//! What is printed of a graph, whichever family's it is.

use groundstate_ordering::{ApplyKind, DotStyle, OpKind, OperationGraph, Waves};
use groundstate_pulumi_ordering::Destruction;

use crate::args::GraphFormat;
use crate::report::error::{Failure, Kind, Result};
use crate::report::svg;

/// More edges than these are not drawn.
const MOST_EDGES: u64 = 10_000_000;

/// A graph that can be listed and drawn. Nodes are numbered from 0.
pub(crate) trait Graph {
    /// An order that keeps to all edges, unless there are cycles.
    fn order(&self) -> Option<Vec<usize>>;
    fn waves(&self) -> Option<Waves>;
    /// The node and what it does.
    fn line(&self, node: usize) -> String;
    /// At most how many edges a drawing has.
    fn edge_bound(&self) -> u64;
    /// Finds what a node waits for, unless there are too many edges to list.
    fn waits(&self) -> Option<Box<dyn FnMut(usize) -> Vec<usize> + '_>>;
    /// Whether groups stand for many edges in JSON.
    fn has_groups_in_json(&self) -> bool {
        false
    }

    fn size(&self) -> svg::Size;
    fn json(&self) -> String;
    fn dot(&self, style: DotStyle) -> String;
    fn mermaid(&self) -> String;
}

/// How a graph without cycles is printed for people.
pub(super) type Text = fn(&dyn Graph) -> Option<String>;

/// The graph in a format.
pub(super) fn draw(graph: &dyn Graph, format: GraphFormat, text: Text) -> Result<String> {
    let lists_edges = match format {
        GraphFormat::Text => false,
        GraphFormat::Json => !graph.has_groups_in_json(),
        _ => true,
    };
    if lists_edges && graph.edge_bound() > MOST_EDGES {
        let message = format!("the graph has more than {MOST_EDGES} edges, too many to write");
        return Err(
            Failure::new(Kind::Usage, message).hint("ask for a part with `--target`, or for `--format text`")
        );
    }
    Ok(match format {
        GraphFormat::Text => text(graph).unwrap_or_default(),
        GraphFormat::Json => graph.json(),
        GraphFormat::Dot => graph.dot(DotStyle::Picture),
        GraphFormat::Mermaid => graph.mermaid(),
        GraphFormat::Svg => svg::draw(&graph.dot(DotStyle::Flat), graph.size())?,
    })
}

impl Graph for OperationGraph {
    fn order(&self) -> Option<Vec<usize>> {
        self.order_numbers().ok()
    }

    fn waves(&self) -> Option<Waves> {
        self.waves().ok()
    }

    fn line(&self, number: usize) -> String {
        let node = &self.nodes()[number];
        let action = match node.kind {
            OpKind::Apply(ApplyKind::Check) => "check",
            OpKind::Apply(ApplyKind::Create) => "create",
            OpKind::Apply(ApplyKind::Read) => "read",
            OpKind::Apply(ApplyKind::Update) => "update",
            OpKind::Apply(ApplyKind::ReplaceCreate) => "create the new one",
            OpKind::Apply(ApplyKind::ForgetCreate) => "create, the old one is forgotten",
            _ => return self.label(number),
        };
        match node.key.addr() {
            Some(addr) => format!("{addr} ({action})"),
            None => node.key.to_string(),
        }
    }

    fn edge_bound(&self) -> u64 {
        self.written_size().1 as u64
    }

    fn has_groups_in_json(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Box<dyn FnMut(usize) -> Vec<usize> + '_>> {
        self.is_sparse().then(|| Box::new(self.dependency_finder()) as _)
    }

    fn size(&self) -> svg::Size {
        let (nodes, edges) = self.written_size();
        svg::Size { nodes, edges }
    }

    fn json(&self) -> String {
        self.to_json()
    }

    fn dot(&self, style: DotStyle) -> String {
        self.to_dot(style)
    }

    fn mermaid(&self) -> String {
        self.to_mermaid()
    }
}

impl Graph for Destruction {
    fn order(&self) -> Option<Vec<usize>> {
        Some(self.order())
    }

    fn waves(&self) -> Option<Waves> {
        Some(self.waves())
    }

    fn line(&self, node: usize) -> String {
        let members = &self.removals()[node].members;
        let mut line = self.label(node).to_owned();
        for (number, member) in members.iter().enumerate() {
            let lead = if number == 0 { "  takes along " } else { ", " };
            line.push_str(lead);
            line.push_str(self.resources()[*member].urn.as_str());
        }
        line
    }

    fn edge_bound(&self) -> u64 {
        self.written_size().1 as u64
    }

    fn has_groups_in_json(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Box<dyn FnMut(usize) -> Vec<usize> + '_>> {
        (Self::edge_bound(self) <= MOST_EDGES).then(|| Box::new(self.dependency_finder()) as _)
    }

    fn size(&self) -> svg::Size {
        let (nodes, edges) = self.written_size();
        svg::Size { nodes, edges }
    }

    fn json(&self) -> String {
        self.to_json()
    }

    fn dot(&self, style: DotStyle) -> String {
        self.to_dot(style)
    }

    fn mermaid(&self) -> String {
        self.to_mermaid()
    }
}
