//! Drawings for Graphviz.

use std::fmt::Write;

use groundstate_common::one_line;

use super::{Drawing, NodeStyle, Shape, edges_on_cycles};
use crate::graph::{Label, WaitEdge, WaitGraph};

/// How a graph looks in Graphviz's DOT language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DotStyle {
    /// For people: without superfluous edges, grouped, coloured by what is done. Arrows lead from what is done first to what
    /// waits for it.
    #[default]
    Picture,
    /// As before, with the group in each label instead of groups, for renderers that draw no groups.
    Flat,
    /// As [`plain_dot`] draws: all edges, from what waits to what is waited for, for programs that compare graphs.
    Compatible,
    /// As before, with the reason of each edge, and one rank for each wave.
    Annotated,
}

/// What an annotated drawing says of an edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeNote {
    /// The reasons, in words without quotes.
    pub reasons: String,
    /// Drawn as a dashed line.
    pub dashed: bool,
}

/// A graph in the layout that other tools of the trade draw and read: one node for each label, below the name `root`, with an
/// edge from what waits to what is waited for, barriers resolved. Cycles are red. `shape` gives the name of a
/// node's outline. With notes, each wave is a rank.
#[must_use]
pub fn plain_dot<L: Label>(
    graph: &WaitGraph<L>,
    labels: &[String],
    shape: impl Fn(usize) -> &'static str,
    note: Option<&dyn Fn(L) -> EdgeNote>,
) -> String {
    let names: Vec<String> = labels.iter().map(|label| dot_text(label)).collect();
    let mut lines: Vec<String> = Vec::new();
    for (node, label) in names.iter().enumerate() {
        let shape = shape(node);
        lines.push(format!("\t\t\"[root] {label}\" [label = \"{label}\", shape = \"{shape}\"]"));
    }
    lines.sort();
    let red = edges_on_cycles(graph);
    let edge = |(from, to, label): WaitEdge<L>| {
        let note = note.map(|note| note(label)).unwrap_or_default();
        let mut attributes = Vec::new();
        if !note.reasons.is_empty() {
            attributes.push(format!("label = \"{}\"", note.reasons));
        }
        if note.dashed {
            attributes.push("style = dashed".to_owned());
        }
        if red.contains(&(from, to)) {
            attributes.push("color = \"red\", penwidth = \"2.0\"".to_owned());
        }
        let [from, to] = [from, to].map(|node| &names[node as usize]);
        let mut line = format!("\t\t\"[root] {from}\" -> \"[root] {to}\"");
        if !attributes.is_empty() {
            let _written = write!(line, " [{}]", attributes.join(", "));
        }
        line
    };
    let mut edges: Vec<String> = graph.edges().map(edge).collect();
    edges.sort();
    lines.append(&mut edges);
    for rank in graph.waves().filter(|_| note.is_some()).map(|waves| waves.groups()).into_iter().flatten() {
        let names: String = rank.into_iter().map(|node| format!(" \"[root] {}\";", names[node])).collect();
        lines.push(format!("\t\t{{ rank = same;{names} }}"));
    }
    let mut text =
        String::from("digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n");
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("\t}\n}\n");
    text
}

impl Drawing {
    /// The drawing in Graphviz's DOT language, with groups as clusters or else in each label.
    #[must_use]
    pub fn to_dot(&self, clustered: bool) -> String {
        let mut text = String::from(
            "digraph {\n  \
             graph [rankdir=TB, newrank=true, nodesep=0.3, ranksep=0.5, pad=0.3, fontname=\"Helvetica\", fontsize=11];\n  \
             node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, margin=\"0.15,0.08\"];\n  \
             edge [color=\"#7d8590\", arrowsize=0.7];\n",
        );
        if let Some(caption) = self.caption() {
            let _written =
                writeln!(text, "  label=\"{}\"; labelloc=b; fontcolor=\"#57606a\";", dot_text(caption));
        }
        clusters(&mut text, self, clustered);
        for hub in self.hubs.clone() {
            let _written = writeln!(text, "  n{hub} [shape=point, width=0.08, label=\"\"];");
        }
        for arrow in &self.arrows {
            let mut attributes = Vec::new();
            if arrow.dashed {
                attributes.push("style=dashed");
            }
            if arrow.on_cycle {
                attributes.push("color=\"#cf222e\", penwidth=2");
            }
            let attributes =
                if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
            let _written = writeln!(text, "  n{} -> n{}{attributes};", arrow.first, arrow.then);
        }
        text.push_str("}\n");
        text
    }
}

/// The groups as clusters, each with its nodes; or the nodes alone.
fn clusters(text: &mut String, drawing: &Drawing, clustered: bool) {
    let mut open = 0;
    let close = |text: &mut String, depth: usize| text.push_str(&format!("{}}}\n", "  ".repeat(depth)));
    for group in &drawing.groups {
        let depth = if clustered { group.depth } else { 0 };
        while open >= depth.max(1) {
            close(text, open);
            open -= 1;
        }
        let margin = "  ".repeat(depth);
        if depth > 0 {
            open = depth;
            let _written = write!(
                text,
                "{margin}subgraph \"cluster_{name}\" {{\n{margin}  label=\"{name}\"; style=\"rounded\"; \
                 color=\"#c9d1d9\"; bgcolor=\"#f6f8fa\"; fontcolor=\"#57606a\"; labeljust=l;\n",
                name = dot_text(&group.name),
            );
        }
        let prefix = if clustered || group.name.is_empty() {
            String::new()
        } else {
            format!("{}\\n", dot_text(&group.name))
        };
        for &node in &group.nodes {
            let it = &drawing.nodes[node];
            let NodeStyle { fill, line, dashed, .. } = it.style;
            let style = if dashed { ", style=\"rounded,filled,dashed\"" } else { "" };
            let shape = if it.shape == Shape::Hexagon { ", shape=hexagon, style=filled" } else { "" };
            let _written = writeln!(
                text,
                "{margin}  n{node} [label=\"{prefix}{}\\n{}\", fillcolor=\"{fill}\", color=\"{line}\"{style}{shape}];",
                dot_text(&it.name),
                dot_text(&it.action),
            );
        }
    }
    for depth in (1..=open).rev() {
        close(text, depth);
    }
}

/// Text as it is written between the quotes of a DOT string, on one line and without control characters.
#[must_use]
pub fn dot_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
