//! Drawings: quoting, groups, cycles and hubs.

use groundstate_schedule::WaitGraph;
use groundstate_schedule::drawing::{Drawing, EdgeNote, Node, NodeGroup, NodeStyle, plain_dot};

fn drawing(graph: &WaitGraph<()>, names: &[&str], groups: &[(&str, usize, &[usize])]) -> Drawing {
    let style = NodeStyle { class: "create", fill: "#dafbe1", line: "#1a7f37", dashed: false };
    let node = |name: &&str| Node::new(name, "create", style);
    let group = |&(name, depth, nodes): &(&str, usize, &[usize])| NodeGroup {
        name: name.to_owned(),
        depth,
        nodes: nodes.to_vec(),
    };
    Drawing::new(graph, names.iter().map(node).collect(), groups.iter().map(group).collect(), |()| false)
}

#[test]
fn names_are_quoted_in_each_language() {
    let graph = WaitGraph::new(1, 1, Vec::new());
    let drawn = drawing(&graph, &["a[\"x\"]<br>\n#"], &[("", 0, &[0])]);
    assert!(drawn.to_dot(true).contains(r#"label="a[\"x\"]<br>"#), "{}", drawn.to_dot(true));
    assert!(drawn.to_mermaid().contains("a[#quot;x#quot;]#lt;br#gt;"), "{}", drawn.to_mermaid());
    assert_eq!(drawn.to_mermaid().lines().count(), 3, "a line break in a name begins no line");
}

#[test]
fn groups_lie_in_each_other_and_are_closed() {
    let graph = WaitGraph::new(3, 3, vec![(1, 0, ()), (2, 1, ()), (2, 0, ())]);
    let groups: &[(&str, usize, &[usize])] = &[("", 0, &[0]), ("net", 1, &[1]), ("net.inner", 2, &[2])];
    let drawn = drawing(&graph, &["a", "b", "c"], groups);
    let dot = drawn.to_dot(true);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains("subgraph \"cluster_net.inner\""), "{dot}");
    assert!(!dot.contains("n0 -> n2"), "the edge follows from the others:\n{dot}");
    let mermaid = drawn.to_mermaid();
    assert_eq!(
        mermaid.matches("subgraph").count(),
        mermaid.lines().filter(|line| line.trim() == "end").count()
    );
    assert!(drawn.to_dot(false).contains("label=\"net.inner\\nc\\ncreate\""), "{}", drawn.to_dot(false));
}

#[test]
fn many_that_wait_for_many_are_drawn_by_way_of_a_hub() {
    let half = 400;
    let barrier = 2 * half;
    let above = (half..barrier).map(|from| (from, barrier, ()));
    let edges: Vec<_> = above.chain((0..half).map(|to| (barrier, to, ()))).collect();
    let graph = WaitGraph::new(barrier as usize, barrier as usize + 1, edges);
    assert_eq!(graph.edge_bound(), 160_000);
    let names = vec!["x"; barrier as usize];
    let all: Vec<usize> = (0..names.len()).collect();
    let drawn = drawing(&graph, &names, &[("", 0, &all)]);
    assert_eq!((drawn.arrows.len(), drawn.hubs.clone()), (barrier as usize, barrier..barrier + 1));
    assert!(drawn.to_dot(true).contains("n800 [shape=point"));
}

#[test]
fn cycles_are_red_and_notes_bring_ranks() {
    let labels = ["a", "b", "c"].map(str::to_owned);
    let cyclic = WaitGraph::new(3, 3, vec![(0, 1, ()), (1, 0, ()), (2, 0, ())]);
    let dot = plain_dot(&cyclic, &labels, |_| "box", None);
    assert_eq!(dot.matches("color = \"red\"").count(), 2, "{dot}");
    let chain = WaitGraph::new(3, 3, vec![(1, 0, ()), (2, 1, ())]);
    let note = |()| EdgeNote { reasons: "because".to_owned(), dashed: false };
    let dot = plain_dot(&chain, &labels, |_| "diamond", Some(&note));
    assert_eq!(dot.matches("rank = same").count(), 3, "{dot}");
    assert!(dot.contains("\"[root] b\" -> \"[root] a\" [label = \"because\"]"), "{dot}");
}
