//! The graph as a drawing in Graphviz's DOT language.

use std::fmt::{self, Write};

use crate::{Graph, NodeIndex};

impl<N> Graph<N> {
    /// The graph in the DOT language, each node shown by the label that `label` gives it.
    ///
    /// Labels may be any text: quotes, backslashes, line breaks and ampersands come out in the drawing as they are.
    /// Only NUL, which Graphviz takes for the end of its input, is replaced by U+FFFD.
    ///
    /// ```
    /// let mut graph = groundstate_dag::Graph::new();
    /// let app = graph.add_node(r#"app["eu"]"#);
    /// let network = graph.add_node("network");
    /// graph.add_edge(app, network);
    /// assert_eq!(
    ///     graph.to_dot(|_, name| name),
    ///     r#"digraph {
    ///   n0 [label="app[\"eu\"]"];
    ///   n1 [label="network"];
    ///   n0 -> n1;
    /// }
    /// "#
    /// );
    /// ```
    pub fn to_dot<'a, L: fmt::Display>(&'a self, mut label: impl FnMut(NodeIndex, &'a N) -> L) -> String {
        let mut text = String::from("digraph {\n");
        for (index, node) in self.nodes() {
            text.push_str("  n");
            text.push_str(&index.0.to_string());
            text.push_str(" [label=\"");
            // Writing into a `String` does not fail; a label whose `Display` does is cut where it stopped.
            let _cut_short = write!(Escape(&mut text), "{}", label(index, node)).is_err();
            text.push_str("\"];\n");
        }
        for (from, to) in self.edges() {
            text.push_str(&format!("  n{} -> n{};\n", from.0, to.0));
        }
        text.push_str("}\n");
        text
    }
}

/// Writes text so that it stands for itself between the quotes of a label.
struct Escape<'a>(&'a mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                '\r' => self.0.push_str("&#13;"),
                // Graphviz reads `&lt;` and the like in every label.
                '&' => self.0.push_str("&amp;"),
                '\0' => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}
