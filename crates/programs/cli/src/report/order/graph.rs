//! What is printed of a graph, whichever family's it is.

use groundstate_ordering::{DotStyle, Waves};

use crate::args::GraphFormat;
use crate::report::error::{Failure, Kind, Result};
use crate::report::svg;

/// More edges than these are not drawn.
pub(crate) const MOST_EDGES: u64 = 10_000_000;

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
    fn svg(&self) -> String;
}

/// How a graph without cycles is printed for people.
pub(crate) type Text = fn(&dyn Graph) -> Option<String>;

/// The graph in a format.
pub(crate) fn draw(graph: &dyn Graph, format: GraphFormat, text: Text) -> Result<String> {
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
        GraphFormat::Svg => {
            graph.size().is_readable(Some("--target"))?;
            graph.svg()
        }
    })
}
