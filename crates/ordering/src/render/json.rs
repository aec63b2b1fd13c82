//! The graph as JSON, the same bytes for the same graph.

use std::io;

use groundstate_json::{Escapes, Layout, Writer};

use crate::edge::Reasons;
use crate::graph::OperationGraph;
use crate::node::{OpKind, OpNode};

pub(crate) type Json = Writer<Vec<u8>>;

impl OperationGraph {
    /// The graph as JSON: nodes, edges, order, waves, what was dropped, and what a state is to record.
    ///
    /// A graph with cycles has no order and no waves; their members are left out.
    #[must_use]
    pub fn to_json(&self) -> String {
        let bytes = self.write_json().expect("a vector takes all that is written");
        String::from_utf8(bytes).expect("the writer is given text")
    }

    fn write_json(&self) -> io::Result<Vec<u8>> {
        let labels = self.labels();
        let waves = self.waves().ok();
        let mut json = Writer::new(Vec::new(), Layout::COMPACT.with_escapes(Escapes::Plain));
        json.open('{');
        json.name("format_version");
        json.scalar("1");
        json.name("nodes");
        json.open('[');
        for (number, node) in self.nodes().iter().enumerate() {
            let wave = waves.as_ref().map(|waves| waves.earliest[number]);
            write_node(&mut json, node, &labels[number], wave)?;
        }
        json.close(']')?;
        json.name("edges");
        json.open('[');
        for (from, to, link) in self.network().op_edges() {
            json.open('{');
            text(&mut json, "from", &labels[from as usize]);
            text(&mut json, "to", &labels[to as usize]);
            reasons(&mut json, link.reasons())?;
            flag(&mut json, "inverted", link.is_inverted());
            json.close('}')?;
        }
        json.close(']')?;
        if let (Ok(order), Some(waves)) = (self.order_numbers(), &waves) {
            json.name("order");
            strings(&mut json, order.iter().map(|&node| labels[node].as_str()))?;
            json.name("waves");
            json.open('[');
            for group in waves.groups() {
                strings(&mut json, group.iter().map(|&node| labels[node].as_str()))?;
            }
            json.close(']')?;
        }
        json.name("dropped");
        json.open('[');
        for edge in self.dropped() {
            json.open('{');
            text(&mut json, "from", &edge.from.to_string());
            text(&mut json, "to", &edge.to.to_string());
            reasons(&mut json, edge.reasons)?;
            json.close('}')?;
        }
        json.close(']')?;
        json.name("persist");
        json.open('[');
        for (addr, meta) in self.persist_all() {
            json.open('{');
            text(&mut json, "address", &addr.to_string());
            flag(&mut json, "create_before_destroy", meta.create_before_destroy);
            json.name("dependencies");
            let names: Vec<String> = meta.dependencies.iter().map(ToString::to_string).collect();
            strings(&mut json, names.iter().map(String::as_str))?;
            json.close('}')?;
        }
        json.close(']')?;
        json.close('}')?;
        json.finish()
    }
}

fn write_node(json: &mut Json, node: &OpNode, label: &str, wave: Option<u32>) -> io::Result<()> {
    json.open('{');
    text(json, "id", label);
    text(json, "kind", node.kind.name());
    if let Some(addr) = node.key.addr() {
        text(json, "address", &addr.to_string());
    }
    if let OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) = node.kind {
        text(json, "deposed", key.as_str());
    }
    if let Some(key) = node.deposes_to {
        text(json, "deposes_to", key.as_str());
    }
    if let Some(provider) = &node.provider {
        text(json, "provider", &provider.to_string());
    }
    flag(json, "cbd", node.cbd);
    if node.skip_destroy {
        json.name("skip_destroy");
        json.scalar("true");
    }
    if let Some(wave) = wave {
        json.name("wave");
        json.scalar(&wave.to_string());
    }
    json.close('}')
}

pub(crate) fn text(json: &mut Json, name: &str, value: &str) {
    json.name(name);
    json.string(value);
}

pub(crate) fn flag(json: &mut Json, name: &str, set: bool) {
    json.name(name);
    json.scalar(if set { "true" } else { "false" });
}

pub(crate) fn strings<'a>(json: &mut Json, values: impl Iterator<Item = &'a str>) -> io::Result<()> {
    json.open('[');
    values.for_each(|value| json.string(value));
    json.close(']')
}

fn reasons(json: &mut Json, reasons: Reasons) -> io::Result<()> {
    json.name("reasons");
    let names: Vec<&str> = reasons.iter().map(|reason| reason.name()).collect();
    strings(json, names.into_iter())
}
