//! The order of a destruction, as it is listed and drawn.

use groundstate_ordering::{DotStyle, Waves};
use groundstate_pulumi_ordering::Destruction;

use crate::report::order::{Graph, MOST_EDGES};
use crate::report::svg;

impl Graph for Destruction {
    fn order(&self) -> Option<Vec<usize>> {
        Some(self.order())
    }

    fn waves(&self) -> Option<Waves> {
        Some(self.waves())
    }

    fn line(&self, node: usize) -> String {
        let members = &self.removals()[node].members;
        let mut line = self.label(node).to_owned();
        for (number, member) in members.iter().enumerate() {
            let lead = if number == 0 { "  takes along " } else { ", " };
            line.push_str(lead);
            line.push_str(self.resources()[*member].urn.as_str());
        }
        line
    }

    fn edge_bound(&self) -> u64 {
        self.written_size().1 as u64
    }

    fn has_groups_in_json(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Box<dyn FnMut(usize) -> Vec<usize> + '_>> {
        (Self::edge_bound(self) <= MOST_EDGES).then(|| Box::new(self.dependency_finder()) as _)
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
