//! Graphs of who needs whom, as pictures: for Graphviz, for Mermaid, and as JSON.

use std::fmt::Write;

use groundstate_schedule::WaitGraph;
use groundstate_schedule::drawing::{Arrow, Figure, MAX_GROUP_DEPTH, Picture, dot_text, mermaid_text};

use crate::report::json::Json;

/// A graph to be drawn.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// Each stands behind the one it lies in.
    pub(crate) groups: Vec<Group>,
}

/// A resource.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its whole name, which nothing else has unless it is another copy of the same.
    pub(crate) name: String,
    /// The lines of its label.
    pub(crate) label: Vec<String>,
    /// The group it lies in, by its index.
    pub(crate) group: Option<usize>,
    /// The name of what it lies in, if that has no group because it is too deep.
    pub(crate) within: Option<String>,
    /// What is special about it, in words.
    pub(crate) remark: Option<&'static str>,
    /// It is named, and not there.
    pub(crate) missing: bool,
}

/// That one resource needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: &'static str,
    /// How it is drawn; not at all where the groups show it.
    pub(crate) line: Line,
}

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    Solid,
    Dashed,
    None,
}

/// A module, or a component with what belongs to it.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// The group it lies in, by its index, which is smaller than its own.
    pub(crate) outer: Option<usize>,
}

impl Drawing {
    /// The graph in Graphviz's DOT language, with its groups or without. Arrows lead from what needs to what is needed.
    pub(crate) fn dot(&self, grouped: bool) -> String {
        let mut text = String::from(
            "digraph {\n  graph [rankdir=LR, fontname=\"Helvetica\", fontsize=11];\n  \
             node [shape=box, style=\"rounded\", fontname=\"Helvetica\", fontsize=11];\n  \
             edge [color=\"#7d8590\", arrowsize=0.7];\n",
        );
        let node = |text: &mut String, index: usize, node: &Node, margin: &str| {
            let lines: Vec<String> = node.lines().map(dot_text).collect();
            let style = if node.missing { ", style=\"rounded,dashed\", color=\"#cf222e\"" } else { "" };
            let _written = writeln!(text, "{margin}n{index} [label=\"{}\"{style}];", lines.join("\\n"));
        };
        let open = |text: &mut String, index: usize, group: &Group, margin: &str| {
            let name = dot_text(&group.name);
            let _written = writeln!(text, "{margin}subgraph cluster_{index} {{\n{margin}  label=\"{name}\";");
        };
        self.grouped(&mut text, grouped, node, open, "}");
        for edge in self.drawn() {
            let style = if edge.line == Line::Dashed { " [style=dashed]" } else { "" };
            let _written = writeln!(text, "  n{} -> n{}{style};", edge.from, edge.to);
        }
        text + "}\n"
    }

    /// The graph as a Mermaid flowchart.
    pub(crate) fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        let node = |text: &mut String, index: usize, node: &Node, margin: &str| {
            let lines: Vec<String> = node.lines().map(mermaid_text).collect();
            let class = if node.missing { ":::missing" } else { "" };
            let _written = writeln!(text, "{margin}n{index}(\"{}\"){class}", lines.join("<br/>"));
        };
        let open = |text: &mut String, index: usize, group: &Group, margin: &str| {
            let _written = writeln!(text, "{margin}subgraph g{index}[\"{}\"]", mermaid_text(&group.name));
        };
        self.grouped(&mut text, true, node, open, "end");
        for edge in self.drawn() {
            let arrow = if edge.line == Line::Dashed { "-.->" } else { "-->" };
            let _written = writeln!(text, "  n{} {arrow} n{}", edge.from, edge.to);
        }
        if self.nodes.iter().any(|node| node.missing) {
            text.push_str("  classDef missing stroke:#cf222e,stroke-dasharray:4 3\n");
        }
        text
    }

    /// The graph as a picture, without solid arrows that follow from others.
    pub(crate) fn svg(&self) -> String {
        let depths = self.depths();
        let mut groups: Vec<(String, Option<usize>)> = Vec::new();
        let mut place: Vec<Option<usize>> = Vec::with_capacity(self.groups.len());
        for (group, depth) in self.groups.iter().zip(&depths) {
            let outer = group.outer.and_then(|outer| place.get(outer).copied().flatten());
            place.push(if *depth > MAX_GROUP_DEPTH { outer } else { Some(groups.len()) });
            if *depth <= MAX_GROUP_DEPTH {
                groups.push((group.name.clone(), outer));
            }
        }
        let figure = |node: &Node| {
            let short = match node.label.as_slice() {
                [one] => one.rsplit_once('.').unwrap_or(("", one)),
                [kind, name, ..] => (kind.as_str(), name.as_str()),
                [] => ("", node.name.as_str()),
            };
            let group = node.group.and_then(|group| place.get(group).copied().flatten());
            let figure = Figure::existing(&node.name, short, node.missing);
            Figure { remark: node.remark.map(str::to_owned), group, ..figure }
        };
        let mut notes = vec!["arrows lead from what needs something to what it needs".to_owned()];
        if self.drawn().iter().any(|edge| edge.line == Line::Dashed) {
            notes.push("dashed: its provider, or deleted or replaced together".to_owned());
        }
        let figures = self.nodes.iter().map(figure).collect();
        Picture { figures, groups, arrows: self.direct(), points: 0, notes }.to_svg()
    }

    /// The arrows that no solid ones imply; all where resources need each other.
    fn direct(&self) -> Vec<Arrow> {
        let drawn = self.drawn();
        let (solid, dashed): (Vec<Edge>, Vec<Edge>) =
            drawn.into_iter().partition(|edge| edge.line == Line::Solid);
        let ends = |edge: &Edge| (edge.from as u32, edge.to as u32, ());
        let graph = WaitGraph::new(self.nodes.len(), self.nodes.len(), solid.iter().map(ends).collect());
        let arrow = |(first, then): (u32, u32), dashed| Arrow { first, then, dashed, on_cycle: false };
        let direct = graph.reduced_beside_cycles();
        let direct = direct.edges().map(|(from, to, ())| arrow((from, to), false)).collect::<Vec<_>>();
        let others = dashed.iter().map(|edge| arrow((edge.from as u32, edge.to as u32), true));
        direct.into_iter().chain(others).collect()
    }

    /// Nodes and edges for programs; edges name nodes by their positions.
    pub(crate) fn json(&self) -> String {
        Json::document(|json| {
            json.objects("nodes", &self.nodes, |json, node| {
                json.text("name", &node.name);
                let group =
                    node.group.and_then(|group| self.groups.get(group)).map(|group| group.name.as_str());
                if let Some(group) = node.within.as_deref().or(group) {
                    json.text("group", group);
                }
                if let Some(remark) = node.remark {
                    json.text("remark", remark);
                }
                if node.missing {
                    json.raw("missing", true);
                }
            });
            json.objects("edges", &self.edges, |json, edge| {
                json.raw("from", edge.from);
                json.raw("to", edge.to);
                json.text("kind", edge.kind);
            });
        })
    }

    /// How many edges are drawn.
    pub(crate) fn drawn_edges(&self) -> usize {
        self.drawn().len()
    }

    /// The edges that are drawn, each pair of nodes once; a solid line wins.
    fn drawn(&self) -> Vec<Edge> {
        let mut edges: Vec<Edge> =
            self.edges.iter().copied().filter(|edge| edge.line != Line::None).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to, edge.line));
        edges.dedup_by_key(|edge| (edge.from, edge.to));
        edges
    }

    /// Writes all nodes inside their groups.
    fn grouped(
        &self,
        text: &mut String,
        grouped: bool,
        node: impl Fn(&mut String, usize, &Node, &str),
        open: impl Fn(&mut String, usize, &Group, &str),
        close: &str,
    ) {
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); self.groups.len()];
        let mut inner: Vec<Vec<usize>> = vec![Vec::new(); self.groups.len()];
        let mut outermost = Vec::new();
        let depths = self.depths();
        // What lies too deep is drawn in the last group around it that is not; that one comes before it.
        let mut drawn_in: Vec<usize> = Vec::with_capacity(self.groups.len());
        for (index, group) in self.groups.iter().enumerate() {
            let is_deep = depths.get(index).is_some_and(|depth| *depth > MAX_GROUP_DEPTH);
            let outer = group.outer.filter(|_| is_deep).and_then(|outer| drawn_in.get(outer).copied());
            drawn_in.push(outer.unwrap_or(index));
        }
        let place = |group: usize| drawn_in.get(group).copied().unwrap_or(group);
        for (index, item) in self.nodes.iter().enumerate() {
            match item.group.filter(|_| grouped).map(place).and_then(|group| nodes.get_mut(group)) {
                Some(inside) => inside.push(index),
                None => node(text, index, item, "  "),
            }
        }
        if !grouped {
            return;
        }
        for (index, group) in self.groups.iter().enumerate() {
            match group.outer.and_then(|outer| inner.get_mut(outer)) {
                Some(inside) => inside.push(index),
                None => outermost.push(index),
            }
        }
        enum Step {
            Open(usize),
            Close(usize),
        }
        let mut steps: Vec<Step> = outermost.into_iter().rev().map(Step::Open).collect();
        while let Some(step) = steps.pop() {
            let (Step::Open(group) | Step::Close(group)) = step;
            let depth = depths.get(group).copied().unwrap_or(0);
            let drawn = depth <= MAX_GROUP_DEPTH;
            let margin = "  ".repeat(depth.min(MAX_GROUP_DEPTH) + 1);
            if let Step::Close(_) = step {
                if drawn {
                    let _written = writeln!(text, "{margin}{close}");
                }
                continue;
            }
            if let Some(found) = self.groups.get(group).filter(|_| drawn) {
                open(text, group, found, &margin);
            }
            for index in nodes.get(group).into_iter().flatten() {
                if let Some(item) = self.nodes.get(*index) {
                    node(text, *index, item, &format!("{margin}  "));
                }
            }
            steps.push(Step::Close(group));
            steps.extend(inner.get(group).into_iter().flatten().rev().map(|inside| Step::Open(*inside)));
        }
    }

    /// In how many others each group lies.
    fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let outer = group.outer.and_then(|outer| depths.get(outer).copied());
            depths.push(outer.map_or(0, |depth| depth + 1));
        }
        depths
    }
}

impl Node {
    fn lines(&self) -> impl Iterator<Item = &str> {
        let missing = self.missing.then_some("(missing)");
        self.label.iter().map(String::as_str).chain(self.remark).chain(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::{Drawing, Edge, Group, Line, MAX_GROUP_DEPTH, Node};

    fn node(name: &str, group: Option<usize>) -> Node {
        Node {
            name: name.to_owned(),
            label: vec![name.to_owned()],
            group,
            within: None,
            remark: None,
            missing: false,
        }
    }

    #[test]
    fn escapes_what_ends_a_label() {
        let drawing = Drawing { nodes: vec![node("a\"\\\n<b>#`", None)], ..Drawing::default() };
        assert!(drawing.dot(true).contains("n0 [label=\"a\\\"\\\\\\\\n<b>#`\"];"), "{}", drawing.dot(true));
        assert!(drawing.mermaid().contains("n0(\"a#quot;\\\\n#lt;b#gt;#35;#96;\")"), "{}", drawing.mermaid());
    }

    #[test]
    fn draws_groups_that_nest_deeply() {
        let group = |index: usize| Group { name: format!("g{index}"), outer: index.checked_sub(1) };
        let nodes = vec![node("in", Some(9_999)), node("out", None)];
        let drawing = Drawing { nodes, groups: (0..10_000).map(group).collect(), edges: Vec::new() };
        let text = drawing.dot(true);
        assert_eq!(text.matches("subgraph").count(), MAX_GROUP_DEPTH + 1);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.contains("[label=\"in\"]"));
        assert_eq!(drawing.mermaid().matches("end\n").count(), MAX_GROUP_DEPTH + 1);
    }

    #[test]
    fn draws_each_pair_once_and_what_groups_show_not_at_all() {
        let edge = |from, to, line| Edge { from, to, kind: "k", line };
        let edges = vec![edge(0, 1, Line::Dashed), edge(0, 1, Line::Solid), edge(1, 0, Line::None)];
        let drawing = Drawing { nodes: vec![node("a", None), node("b", None)], edges, groups: Vec::new() };
        assert_eq!(drawing.dot(false).matches("->").count(), 1);
        assert!(drawing.mermaid().contains("n0 --> n1") && drawing.drawn_edges() == 1);
        assert_eq!(drawing.json().matches("\"kind\"").count(), 3);
    }
}
