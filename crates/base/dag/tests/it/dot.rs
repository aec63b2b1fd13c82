//! Drawings in the DOT language.

use groundstate_dag::Graph;
use proptest::prelude::*;

use crate::naive::graph;

#[test]
fn nodes_come_first_and_edges_after_them() {
    let graph = graph(2, &[(1, 0), (1, 1)]);
    let expected = "digraph {\n  n0 [label=\"r0\"];\n  n1 [label=\"r1\"];\n  n1 -> n0;\n  n1 -> n1;\n}\n";
    assert_eq!(graph.to_dot(|_, node| format!("r{node}")), expected);
    assert_eq!(Graph::<u8>::new().to_dot(|_, node| *node), "digraph {\n}\n");
}

#[test]
fn what_means_something_in_a_label_is_escaped() {
    for (label, expected) in [
        (r#"a["x"]"#, r#"a[\"x\"]"#),
        (r"C:\new", r"C:\\new"),
        (r"\", r"\\"),
        ("one\ntwo", r"one\ntwo"),
        ("one\r\ntwo", r"one&#13;\ntwo"),
        ("a &lt; b", "a &amp;lt; b"),
        ("a\0b", "a\u{fffd}b"),
        ("ä ☃", "ä ☃"),
        ("\"]; n9 [label=\"", r#"\"]; n9 [label=\""#),
    ] {
        let mut graph = Graph::new();
        graph.add_node(label);
        let dot = graph.to_dot(|_, label| label);
        assert_eq!(dot, format!("digraph {{\n  n0 [label=\"{expected}\"];\n}}\n"));
    }
}

/// Reads the one label of a drawing as Graphviz does, and what follows its closing quote.
fn read_label(dot: &str) -> Option<(String, &str)> {
    let (_, rest) = dot.split_once('"')?;
    let mut label = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((label.replace("&#13;", "\r").replace("&amp;", "&"), &rest[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => label.push('\n'),
                escaped @ ('"' | '\\') => label.push(escaped),
                _ => return None,
            },
            c => label.push(c),
        }
    }
    None
}

proptest! {
    #[test]
    fn any_label_reads_back_as_it_was(label in "(\\PC|[\"\\\\\n\r&;#13]){0,12}") {
        let mut graph = Graph::new();
        graph.add_node(label.clone());
        let dot = graph.to_dot(|_, label| label);
        prop_assert_eq!(read_label(&dot), Some((label, "];\n}\n")));
    }
}
