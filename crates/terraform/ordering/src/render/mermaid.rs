//! Drawings for Mermaid.

use std::collections::BTreeMap;
use std::fmt::Write;

use groundstate_common::one_line;

use super::picture::{Picture, Tint};
use crate::graph::OperationGraph;

impl OperationGraph {
    /// The picture for people as a Mermaid flowchart: without superfluous edges, grouped by module, coloured by what is
    /// done. Arrows lead from what is done first to what waits for it; cycles are red.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        flowchart(&Picture::of(self))
    }
}

/// A picture for people.
pub(crate) fn flowchart(picture: &Picture) -> String {
    let mut text = String::from("flowchart TD\n");
    subgraphs(&mut text, picture);
    for hub in picture.hubs.clone() {
        let _written = writeln!(text, "  n{hub}((\" \"))");
    }
    let mut red = Vec::new();
    for (number, edge) in picture.edges.iter().enumerate() {
        let arrow = if edge.turned { "-.->" } else { "-->" };
        let _written = writeln!(text, "  n{} {arrow} n{}", edge.first, edge.then);
        if edge.on_cycle {
            red.push(number.to_string());
        }
    }
    let mut classes: BTreeMap<&str, Tint> = BTreeMap::new();
    for node in &picture.nodes {
        classes.insert(node.class, node.tint);
    }
    for (class, Tint { fill, line, dashed }) in classes {
        let dashes = if dashed { ",stroke-dasharray:4 3" } else { "" };
        let _written = writeln!(text, "  classDef {class} fill:{fill},stroke:{line},color:#24292f{dashes}");
    }
    if !red.is_empty() {
        let _written = writeln!(text, "  linkStyle {} stroke:#cf222e,stroke-width:2px", red.join(","));
    }
    text
}

/// The modules as subgraphs, each with its nodes.
fn subgraphs(text: &mut String, picture: &Picture) {
    let mut open = 0;
    let close = |text: &mut String, depth: usize| text.push_str(&format!("{}end\n", "  ".repeat(depth)));
    for (number, group) in picture.groups.iter().enumerate() {
        while open >= group.depth.max(1) {
            close(text, open);
            open -= 1;
        }
        let margin = "  ".repeat(group.depth);
        if group.depth > 0 {
            open = group.depth;
            let _written = writeln!(text, "{margin}subgraph g{number}[\"{}\"]", quoted(&group.name));
        }
        for &node in &group.nodes {
            let it = &picture.nodes[node];
            let (left, right) = if it.is_provider { ("{{", "}}") } else { ("(", ")") };
            let _written = writeln!(
                text,
                "{margin}  n{node}{left}\"{}<br/>{}\"{right}:::{}",
                quoted(&it.name),
                quoted(&it.action),
                it.class,
            );
        }
    }
    for depth in (1..=open).rev() {
        close(text, depth);
    }
}

/// Text between the quotes of a Mermaid label.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            c => out.push(c),
        }
    }
    out
}
