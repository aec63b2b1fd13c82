//! A destruction as text: JSON and drawings.

use std::io;

use groundstate_json::{Escapes, Layout, Writer};
use groundstate_schedule::drawing::{DotStyle, EdgeNote, plain_dot};

use super::{Destruction, RemovalReasons};

type Json = Writer<Vec<u8>>;

/// Edges that follow from each edge and node of the compact form, up to which they are written one by one.
const MOST_PAIRS: u64 = 10;

impl Destruction {
    /// The removals as JSON: nodes, edges, order and waves, the same bytes for the same list.
    ///
    /// Where whole groups wait for whole groups, nodes of the kind `group` stand for the pairs: each that waits for a group waits
    /// for all that the group waits for. Groups have no place in the order, and no wave.
    #[must_use]
    pub fn to_json(&self) -> String {
        let bytes = self.write_json().expect("a vector takes all that is written");
        String::from_utf8(bytes).expect("the writer is given text")
    }

    /// The removals in Graphviz's DOT language. Groups are components.
    #[must_use]
    pub fn to_dot(&self, style: DotStyle) -> String {
        let note = |reasons: RemovalReasons| EdgeNote { reasons: reasons.to_string(), dashed: false };
        match style {
            DotStyle::Compatible => self.plain_dot(None),
            DotStyle::Annotated => self.plain_dot(Some(&note)),
            DotStyle::Flat => self.drawing().to_dot(false),
            _ => self.drawing().to_dot(true),
        }
    }

    /// The picture for people as a Mermaid flowchart: without superfluous edges, grouped by component.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        self.drawing().to_mermaid()
    }

    /// The picture for people as SVG, grouped by component.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.drawing().to_svg()
    }

    fn plain_dot(&self, note: Option<&dyn Fn(RemovalReasons) -> EdgeNote>) -> String {
        let shape = |node: usize| if self.is_provider(node) { "diamond" } else { "box" };
        plain_dot(&self.graph, &self.labels, shape, note)
    }

    fn write_json(&self) -> io::Result<Vec<u8>> {
        let waves = self.waves();
        let mut json = Writer::new(Vec::new(), Layout::COMPACT.with_escapes(Escapes::Plain));
        json.open('{');
        json.string_member("format_version", "1.0");
        json.name("nodes");
        json.open('[');
        for node in 0..self.removals.len() {
            self.write_node(&mut json, node, waves.earliest.get(node).copied())?;
        }
        if self.has_groups() {
            for group in self.removals.len()..self.graph.node_count() as usize {
                json.open('{');
                json.string_member("id", &self.name_of(group));
                json.string_member("kind", "group");
                json.close('}')?;
            }
        }
        json.close(']')?;
        json.name("edges");
        json.open('[');
        if self.has_groups() {
            for (from, to, reasons) in self.grouped_edges() {
                self.write_edge(&mut json, (&self.name_of(from), &self.name_of(to)), reasons)?;
            }
        } else {
            for step in self.edges() {
                let ends = (self.labels[step.from].as_str(), self.labels[step.to].as_str());
                self.write_edge(&mut json, ends, step.reasons)?;
            }
        }
        json.close(']')?;
        json.name("order");
        json.strings(self.order().into_iter().map(|node| self.label(node)))?;
        json.name("waves");
        json.open('[');
        for group in waves.groups() {
            json.strings(group.into_iter().map(|node| self.label(node)))?;
        }
        json.close(']')?;
        json.close('}')?;
        json.finish()
    }

    /// Whether pairs of removals are so many that groups stand for them in the document.
    pub(super) fn has_groups(&self) -> bool {
        let compact = u64::from(self.graph.node_count()) + self.graph.graph().edge_count() as u64;
        self.graph.edge_bound() > MOST_PAIRS * compact
    }

    /// The edges of the compact form, with groups as they are.
    fn grouped_edges(&self) -> impl Iterator<Item = (usize, usize, RemovalReasons)> {
        (0..self.graph.node_count()).flat_map(|from| {
            let links = self.graph.links(from);
            links.map(move |(to, reasons)| (from as usize, to as usize, reasons))
        })
    }

    /// The label of a removal, or the name of a group.
    fn name_of(&self, node: usize) -> String {
        match self.labels.get(node) {
            Some(label) => label.clone(),
            None => format!("group {}", node - self.labels.len() + 1),
        }
    }

    fn write_edge(
        &self,
        json: &mut Json,
        (from, to): (&str, &str),
        reasons: RemovalReasons,
    ) -> io::Result<()> {
        json.open('{');
        json.string_member("from", from);
        json.string_member("to", to);
        json.name("reasons");
        json.strings(reasons.iter().map(|reason| reason.name()))?;
        json.close('}')
    }

    fn write_node(&self, json: &mut Json, node: usize, wave: Option<u32>) -> io::Result<()> {
        let removal = &self.removals[node];
        let entry = &self.resources[removal.entry];
        json.open('{');
        json.string_member("id", &self.labels[node]);
        json.string_member("kind", removal.kind.name());
        json.string_member("urn", entry.urn.as_str());
        json.string_member("type", entry.resource_type.as_str());
        if let Some(provider) = &self.providers[removal.entry] {
            json.string_member("provider", provider.as_str());
        }
        if entry.delete {
            json.bool_member("delete", true);
        }
        json.bool_member("blocked", removal.blocked);
        if !removal.members.is_empty() {
            json.name("takes_along");
            json.strings(removal.members.iter().map(|&at| self.resources[at].urn.as_str()))?;
        }
        if let Some(wave) = wave {
            json.name("wave");
            json.scalar(&wave.to_string());
        }
        json.close('}')
    }
}
