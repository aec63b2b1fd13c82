//! Drawings for Mermaid.

use std::collections::BTreeMap;
use std::fmt::Write;

use groundstate_common::one_line;

use super::{Drawing, NodeStyle, Shape};

impl Drawing {
    /// The drawing as a Mermaid flowchart.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        subgraphs(&mut text, self);
        for hub in self.hubs.clone() {
            let _written = writeln!(text, "  n{hub}((\" \"))");
        }
        let mut red = Vec::new();
        for (number, arrow) in self.arrows.iter().enumerate() {
            let line = if arrow.dashed { "-.->" } else { "-->" };
            let _written = writeln!(text, "  n{} {line} n{}", arrow.first, arrow.then);
            if arrow.on_cycle {
                red.push(number.to_string());
            }
        }
        let classes: BTreeMap<&str, NodeStyle> =
            self.nodes.iter().map(|node| (node.style.class, node.style)).collect();
        for (class, NodeStyle { fill, line, dashed, .. }) in classes {
            let dashes = if dashed { ",stroke-dasharray:4 3" } else { "" };
            let _written =
                writeln!(text, "  classDef {class} fill:{fill},stroke:{line},color:#24292f{dashes}");
        }
        if !red.is_empty() {
            let _written = writeln!(text, "  linkStyle {} stroke:#cf222e,stroke-width:2px", red.join(","));
        }
        text
    }
}

/// The groups as subgraphs, each with its nodes.
fn subgraphs(text: &mut String, drawing: &Drawing) {
    let mut open = 0;
    let close = |text: &mut String, depth: usize| text.push_str(&format!("{}end\n", "  ".repeat(depth)));
    for (number, group) in drawing.groups.iter().enumerate() {
        while open >= group.depth.max(1) {
            close(text, open);
            open -= 1;
        }
        let margin = "  ".repeat(group.depth);
        if group.depth > 0 {
            open = group.depth;
            let _written = writeln!(text, "{margin}subgraph g{number}[\"{}\"]", mermaid_text(&group.name));
        }
        for &node in &group.nodes {
            let it = &drawing.nodes[node];
            let (left, right) = if it.shape == Shape::Hexagon { ("{{", "}}") } else { ("(", ")") };
            let _written = writeln!(
                text,
                "{margin}  n{node}{left}\"{}<br/>{}\"{right}:::{}",
                mermaid_text(&it.name),
                mermaid_text(&it.action),
                it.style.class,
            );
        }
    }
    for depth in (1..=open).rev() {
        close(text, depth);
    }
}

/// Text as it is written between the quotes of a Mermaid label, on one line and without control characters.
#[must_use]
pub fn mermaid_text(text: &str) -> String {
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
