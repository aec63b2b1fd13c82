//! The graph as text: listings, drawings, JSON.

mod drawn;
mod json;

use std::fmt::Write;

use groundstate_schedule::Scratch;

use crate::graph::{CyclicGraph, OperationGraph};

impl OperationGraph {
    /// Each label on a line of its own, in the order of their bytes; below it, indented, the labels of what it waits for.
    #[must_use]
    pub fn to_text(&self) -> String {
        let labels = self.labels();
        let mut by_label: Vec<u32> = (0..self.network().operations()).collect();
        by_label.sort_by(|&a, &b| labels[a as usize].cmp(&labels[b as usize]));
        let mut scratch = Scratch::default();
        let mut text = String::new();
        for node in by_label {
            text.push_str(&labels[node as usize]);
            text.push('\n');
            let dependencies = self.network().waits(node, &mut scratch);
            let mut dependencies: Vec<&str> =
                dependencies.iter().map(|&(to, _)| labels[to as usize].as_str()).collect();
            dependencies.sort_unstable();
            for dependency in dependencies {
                text.push_str("  ");
                text.push_str(dependency);
                text.push('\n');
            }
        }
        text
    }

    /// One line for each node in order: wave, label and kind, with tabs between them.
    ///
    /// # Errors
    ///
    /// When the graph has cycles.
    pub fn to_listing(&self) -> Result<String, CyclicGraph> {
        let waves = self.waves()?;
        let mut text = String::new();
        for node in self.order_numbers()? {
            let it = &self.nodes()[node];
            // Writing into a `String` does not fail.
            let _written = writeln!(text, "{}\t{}\t{}", waves.earliest[node], it.key, it.kind.name());
        }
        Ok(text)
    }

    fn labels(&self) -> Vec<String> {
        self.nodes().iter().map(|node| node.key.to_string()).collect()
    }
}
