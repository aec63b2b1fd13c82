//! A destruction as text: JSON and drawings.

use std::io;

use groundstate_json::{Escapes, Layout, Writer};

use super::{Destruction, RemovalReasons};
use crate::network::Network;
use crate::render::DotStyle;
use crate::render::dot::{PlainEdge, picture, plain};
use crate::render::json::{Json, flag, strings, text};
use crate::render::mermaid::flowchart;

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
        let annotated = match style {
            DotStyle::Picture => return picture(&self.picture(), true),
            DotStyle::Flat => return picture(&self.picture(), false),
            DotStyle::Compatible => false,
            DotStyle::Annotated => true,
        };
        let edges = self.edges().map(|step| PlainEdge {
            from: step.from,
            to: step.to,
            reasons: if annotated { step.reasons.to_string() } else { String::new() },
            inverted: false,
            on_cycle: false,
        });
        let ranks = annotated.then(|| self.waves().groups());
        plain(&self.labels, |node| self.is_provider(node), edges, ranks)
    }

    /// The picture for people as a Mermaid flowchart: without superfluous edges, grouped by component.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        flowchart(&self.picture())
    }

    /// The network without superfluous edges.
    pub(super) fn for_drawing(&self) -> Network {
        self.network.reduced().unwrap_or_else(|| self.network.clone())
    }

    pub(super) fn is_provider(&self, node: usize) -> bool {
        self.entries[self.removals[node].entry].type_.starts_with("pulumi:providers:")
    }

    fn write_json(&self) -> io::Result<Vec<u8>> {
        let waves = self.waves();
        let mut json = Writer::new(Vec::new(), Layout::COMPACT.with_escapes(Escapes::Plain));
        json.open('{');
        json.name("format_version");
        json.scalar("1");
        json.name("nodes");
        json.open('[');
        for node in 0..self.removals.len() {
            self.write_node(&mut json, node, waves.earliest.get(node).copied())?;
        }
        if self.has_groups() {
            for group in self.removals.len()..self.network.len() as usize {
                json.open('{');
                text(&mut json, "id", &self.name_of(group));
                text(&mut json, "kind", "group");
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
        strings(&mut json, self.order().into_iter().map(|node| self.label(node)))?;
        json.name("waves");
        json.open('[');
        for group in waves.groups() {
            strings(&mut json, group.into_iter().map(|node| self.label(node)))?;
        }
        json.close(']')?;
        json.close('}')?;
        json.finish()
    }

    /// Whether pairs of removals are so many that groups stand for them in the document.
    pub(super) fn has_groups(&self) -> bool {
        let compact = u64::from(self.network.len()) + self.network.graph().edge_count() as u64;
        self.network.edge_bound() > MOST_PAIRS * compact
    }

    /// The edges of the compact form, with groups as they are.
    fn grouped_edges(&self) -> impl Iterator<Item = (usize, usize, RemovalReasons)> {
        (0..self.network.len()).flat_map(|from| {
            let links = self.network.links(from);
            links.map(move |(to, link)| (from as usize, to as usize, RemovalReasons(link.set())))
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
        text(json, "from", from);
        text(json, "to", to);
        json.name("reasons");
        strings(json, reasons.iter().map(|reason| reason.name()))?;
        json.close('}')
    }

    fn write_node(&self, json: &mut Json, node: usize, wave: Option<u32>) -> io::Result<()> {
        let removal = &self.removals[node];
        let entry = &self.entries[removal.entry];
        json.open('{');
        text(json, "id", &self.labels[node]);
        text(json, "kind", removal.kind.name());
        text(json, "urn", entry.urn.as_str());
        text(json, "type", &entry.type_);
        if let Some(provider) = &entry.provider {
            text(json, "provider", provider.urn.as_str());
        }
        if entry.delete {
            flag(json, "delete", true);
        }
        flag(json, "blocked", removal.blocked);
        if !removal.members.is_empty() {
            json.name("takes_along");
            strings(json, removal.members.iter().map(|&at| self.entries[at].urn.as_str()))?;
        }
        if let Some(wave) = wave {
            json.name("wave");
            json.scalar(&wave.to_string());
        }
        json.close('}')
    }
}
