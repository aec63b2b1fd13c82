//! The order of operations on resource instances, as it is listed and drawn.

use groundstate_ordering::{ApplyKind, DotStyle, OpKind, OperationGraph, Waves};

use crate::report::order::Graph;
use crate::report::svg;

impl Graph for OperationGraph {
    fn order(&self) -> Option<Vec<usize>> {
        self.order_numbers().ok()
    }

    fn waves(&self) -> Option<Waves> {
        self.waves().ok()
    }

    fn line(&self, number: usize) -> String {
        let node = &self.nodes()[number];
        let action = match node.kind {
            OpKind::Apply(ApplyKind::Check) => "check",
            OpKind::Apply(ApplyKind::Create) => "create",
            OpKind::Apply(ApplyKind::Read) => "read",
            OpKind::Apply(ApplyKind::Update) => "update",
            OpKind::Apply(ApplyKind::ReplaceCreate) => "create the new one",
            OpKind::Apply(ApplyKind::ForgetCreate) => "create, the old one is forgotten",
            _ => return self.label(number),
        };
        match node.key.addr() {
            Some(addr) => format!("{addr} ({action})"),
            None => node.key.to_string(),
        }
    }

    fn edge_bound(&self) -> u64 {
        self.written_size().1 as u64
    }

    fn has_groups_in_json(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Box<dyn FnMut(usize) -> Vec<usize> + '_>> {
        self.is_sparse().then(|| Box::new(self.dependency_finder()) as _)
    }

    fn size(&self) -> svg::Size {
        let (nodes, edges) = self.written_size();
        svg::Size { nodes, edges }
    }

    fn json(&self) -> String {
        self.to_json()
    }

    fn dot(&self, style: DotStyle) -> String {
        self.to_dot(style)
    }

    fn svg(&self) -> String {
        self.to_svg()
    }

    fn mermaid(&self) -> String {
        self.to_mermaid()
    }
}
