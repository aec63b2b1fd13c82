//! The graph as JSON, the same bytes for the same graph.

use std::io;

use groundstate_json::{Escapes, Layout, Writer};

use groundstate_states::addr::AbsResourceInstance;

use crate::edge::Reasons;
use crate::graph::{OperationGraph, PersistMeta};
use crate::node::{OpKind, OpNode};

type Json = Writer<Vec<u8>>;

impl OperationGraph {
    /// The graph as JSON: nodes, edges, order, waves, what was dropped, and what a state is to record.
    ///
    /// Where many nodes wait for many, `groups` stand for their edges: all that waits for a group waits for all that the
    /// group waits for. A graph with cycles has no order and no waves; their members are left out. What a state is to record
    /// is left out where it is far more than the graph.
    #[must_use]
    pub fn to_json(&self) -> String {
        let bytes = self.write_json().expect("a vector takes all that is written");
        String::from_utf8(bytes).expect("the writer is given text")
    }

    fn write_json(&self) -> io::Result<Vec<u8>> {
        let mut labels: Vec<String> = (0..self.nodes().len()).map(|node| self.label(node)).collect();
        let groups = self.network().written_barriers();
        labels.extend((1..=groups).map(|number| format!("group {number}")));
        let (of_nodes, of_groups) = labels.split_at(self.nodes().len());
        let waves = self.waves().ok();
        let mut json = Writer::new(Vec::new(), Layout::COMPACT.with_escapes(Escapes::Plain));
        json.open('{');
        json.string_member("format_version", "1.0");
        json.name("nodes");
        json.open('[');
        for (number, node) in self.nodes().iter().enumerate() {
            let wave = waves.as_ref().map(|waves| waves.earliest[number]);
            write_node(
                &mut json,
                (node, self.is_unborn(node)),
                &of_nodes[number],
                wave,
                self.has_invented_keys(),
            )?;
        }
        json.close(']')?;
        if groups > 0 {
            json.name("groups");
            json.strings(of_groups.iter().map(String::as_str))?;
        }
        json.name("edges");
        json.open('[');
        for (from, to, link) in self.network().written_edges() {
            json.open('{');
            json.string_member("from", &labels[from as usize]);
            json.string_member("to", &labels[to as usize]);
            reasons(&mut json, link.reasons())?;
            json.bool_member("inverted", link.is_inverted());
            json.close('}')?;
        }
        json.close(']')?;
        if let (Ok(order), Some(waves)) = (self.order_numbers(), &waves) {
            json.name("order");
            json.strings(order.iter().map(|&node| labels[node].as_str()))?;
            json.name("waves");
            json.open('[');
            for group in waves.groups() {
                json.strings(group.iter().map(|&node| labels[node].as_str()))?;
            }
            json.close(']')?;
        }
        json.name("dropped");
        json.open('[');
        for edge in self.dropped() {
            json.open('{');
            json.string_member("from", &self.label_of(&edge.from));
            json.string_member("to", &self.label_of(&edge.to));
            reasons(&mut json, edge.reasons)?;
            json.close('}')?;
        }
        json.close(']')?;
        if let Some(persisted) = self.persist_bounded() {
            write_persisted(&mut json, &persisted)?;
        }
        json.close('}')?;
        json.finish()
    }
}

fn write_persisted(json: &mut Json, persisted: &[(&AbsResourceInstance, PersistMeta)]) -> io::Result<()> {
    json.name("persist");
    json.open('[');
    for (addr, meta) in persisted {
        json.open('{');
        json.string_member("address", &addr.to_string());
        json.bool_member("create_before_destroy", meta.create_before_destroy);
        json.name("dependencies");
        let names: Vec<String> = meta.dependencies.iter().map(ToString::to_string).collect();
        json.strings(names.iter().map(String::as_str))?;
        json.close('}')?;
    }
    json.close(']')
}

/// Writes a node; keys of objects that are yet to be deposed are left out where they are made up.
fn write_node(
    json: &mut Json,
    (node, is_unborn): (&OpNode, bool),
    label: &str,
    wave: Option<u32>,
    invented_keys: bool,
) -> io::Result<()> {
    json.open('{');
    json.string_member("id", label);
    json.string_member("kind", node.kind.name());
    if let Some(addr) = node.key.addr() {
        json.string_member("address", &addr.to_string());
    }
    if let OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) = node.kind
        && !is_unborn
    {
        json.string_member("deposed", key.as_str());
    }
    if let Some(key) = node.deposes_to.filter(|_| !invented_keys) {
        json.string_member("deposes_to", key.as_str());
    }
    if let Some(provider) = &node.provider {
        json.string_member("provider", &provider.to_string());
    }
    json.bool_member("cbd", node.cbd);
    if node.skip_destroy {
        json.bool_member("skip_destroy", true);
    }
    if let Some(wave) = wave {
        json.name("wave");
        json.scalar(&wave.to_string());
    }
    json.close('}')
}

fn reasons(json: &mut Json, reasons: Reasons) -> io::Result<()> {
    json.name("reasons");
    let names: Vec<&str> = reasons.iter().map(|reason| reason.name()).collect();
    json.strings(names)
}
