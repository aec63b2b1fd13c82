//! Drawings for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write;

use groundstate_common::one_line;

use super::picture::{Picture, Tint};
use crate::graph::OperationGraph;
use crate::network::RawEdge;
use crate::node::{OpKind, OpNode};

/// How a drawing for Graphviz looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DotStyle {
    /// For people: without superfluous edges, grouped by module, coloured by what is done. Arrows lead from what is done
    /// first to what waits for it.
    #[default]
    Picture,
    /// As before, with the module in each label instead of groups, for renderers that draw no groups.
    Flat,
    /// As `terraform graph` draws: all edges, from what waits to what is waited for.
    Compatible,
    /// As before, with the reason of each edge, and one rank for each wave.
    Annotated,
}

impl OperationGraph {
    /// The graph in Graphviz's DOT language. Cycles are red.
    #[must_use]
    pub fn to_dot(&self, style: DotStyle) -> String {
        match style {
            DotStyle::Picture => picture(&Picture::of(self), true),
            DotStyle::Flat => picture(&Picture::of(self), false),
            DotStyle::Compatible => self.plain_dot(false),
            DotStyle::Annotated => self.plain_dot(true),
        }
    }

    fn plain_dot(&self, annotated: bool) -> String {
        let red: BTreeSet<(u32, u32)> = self
            .network()
            .cycles()
            .iter()
            .flat_map(|cycle| cycle.path.iter().map(|&(from, to, _)| (from, to)))
            .collect();
        let edge = |(from, to, link): RawEdge| PlainEdge {
            from: from as usize,
            to: to as usize,
            reasons: if annotated { link.reasons().to_string() } else { String::new() },
            inverted: annotated && link.is_inverted(),
            on_cycle: red.contains(&(from, to)),
        };
        let is_provider = |node: &OpNode| matches!(node.kind, OpKind::Provider | OpKind::ProviderClose);
        plain(
            &self.labels(),
            |node| is_provider(&self.nodes()[node]),
            self.network().op_edges().map(edge),
            self.waves().ok().filter(|_| annotated).map(|waves| waves.groups()),
        )
    }
}

/// An edge of a drawing in the manner of `terraform graph`.
pub(crate) struct PlainEdge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Empty if they are not to be shown.
    pub(crate) reasons: String,
    pub(crate) inverted: bool,
    pub(crate) on_cycle: bool,
}

/// A drawing in the manner of `terraform graph`, with a rank for each group.
pub(crate) fn plain(
    labels: &[String],
    is_provider: impl Fn(usize) -> bool,
    edges: impl Iterator<Item = PlainEdge>,
    ranks: Option<Vec<Vec<usize>>>,
) -> String {
    let labels: Vec<String> = labels.iter().map(|label| escaped(label)).collect();
    let mut lines: Vec<String> = Vec::new();
    for (node, label) in labels.iter().enumerate() {
        let shape = if is_provider(node) { "diamond" } else { "box" };
        lines.push(format!("\t\t\"[root] {label}\" [label = \"{label}\", shape = \"{shape}\"]"));
    }
    lines.sort();
    let edge = |edge: PlainEdge| {
        let mut attributes = Vec::new();
        if !edge.reasons.is_empty() {
            attributes.push(format!("label = \"{}\"", edge.reasons));
        }
        if edge.inverted {
            attributes.push("style = dashed".to_owned());
        }
        if edge.on_cycle {
            attributes.push("color = \"red\", penwidth = \"2.0\"".to_owned());
        }
        let [from, to] = [edge.from, edge.to].map(|node| &labels[node]);
        let mut line = format!("\t\t\"[root] {from}\" -> \"[root] {to}\"");
        if !attributes.is_empty() {
            let _written = write!(line, " [{}]", attributes.join(", "));
        }
        line
    };
    let mut edges: Vec<String> = edges.map(edge).collect();
    edges.sort();
    lines.append(&mut edges);
    for rank in ranks.into_iter().flatten() {
        let names: String = rank.into_iter().map(|node| format!(" \"[root] {}\";", labels[node])).collect();
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

/// Text between the quotes of a DOT string.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A picture for people; without clusters, the group stands in each label.
pub(crate) fn picture(picture: &Picture, clustered: bool) -> String {
    let mut text = String::from(
        "digraph {\n  \
         graph [rankdir=TB, newrank=true, nodesep=0.3, ranksep=0.5, pad=0.3, fontname=\"Helvetica\", fontsize=11];\n  \
         node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, margin=\"0.15,0.08\"];\n  \
         edge [color=\"#7d8590\", arrowsize=0.7];\n",
    );
    if let Some(caption) = picture.caption() {
        let _written = writeln!(text, "  label=\"{}\"; labelloc=b; fontcolor=\"#57606a\";", escaped(caption));
    }
    clusters(&mut text, picture, clustered);
    for hub in picture.hubs.clone() {
        let _written = writeln!(text, "  n{hub} [shape=point, width=0.08, label=\"\"];");
    }
    for edge in &picture.edges {
        let mut attributes = Vec::new();
        if edge.turned {
            attributes.push("style=dashed");
        }
        if edge.on_cycle {
            attributes.push("color=\"#cf222e\", penwidth=2");
        }
        let attributes =
            if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        let _written = writeln!(text, "  n{} -> n{}{attributes};", edge.first, edge.then);
    }
    text.push_str("}\n");
    text
}

/// The modules as clusters, each with its nodes; or the nodes alone.
fn clusters(text: &mut String, picture: &Picture, clustered: bool) {
    let mut open = 0;
    let close = |text: &mut String, depth: usize| text.push_str(&format!("{}}}\n", "  ".repeat(depth)));
    for group in &picture.groups {
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
                name = escaped(&group.name),
            );
        }
        let module = if clustered || group.name.is_empty() {
            String::new()
        } else {
            format!("{}\\n", escaped(&group.name))
        };
        for &node in &group.nodes {
            let it = &picture.nodes[node];
            let Tint { fill, line, dashed } = it.tint;
            let style = if dashed { ", style=\"rounded,filled,dashed\"" } else { "" };
            let shape = if it.is_provider { ", shape=hexagon, style=filled" } else { "" };
            let _written = writeln!(
                text,
                "{margin}  n{node} [label=\"{module}{}\\n{}\", fillcolor=\"{fill}\", color=\"{line}\"{style}{shape}];",
                escaped(&it.name),
                escaped(&it.action),
            );
        }
    }
    for depth in (1..=open).rev() {
        close(text, depth);
    }
}
