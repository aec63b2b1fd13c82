//! Questions to the graph.

use std::collections::HashSet;

use groundstate_pulumi_snapshot::{DependencyGraph, GraphError, Snapshot, dependency_dag};

use crate::support::{names, snapshot, urn};

fn graph(snapshot: &Snapshot) -> DependencyGraph<'_> {
    DependencyGraph::new(&snapshot.resources).expect("every parent stands before its children")
}

#[track_caller]
fn only_depends(resources: &[&str], index: usize, expected: &[&str]) {
    let snapshot = snapshot(resources);
    assert_eq!(names(&snapshot, &graph(&snapshot).only_depends_on(index)), expected);
}

#[test]
fn every_kind_of_edge_takes_its_resource_along() {
    for edge in ["a", "^a", "k:a", "w:a", "r:a"] {
        only_depends(&["a", &format!("b({edge})"), "c(b)", "d"], 0, &["b", "c"]);
    }
    only_depends(&["P(#1)", "b(@P=1)", "c(@P=2)"], 0, &["b"]);
    only_depends(&["P", "b(@P)"], 0, &["b"]);
}

#[test]
fn what_has_another_copy_to_stay_with_stays() {
    only_depends(&["a(!)", "a", "b(a)"], 0, &[]);
    only_depends(&["a", "a(!)", "b(a)"], 1, &[]);
    only_depends(&["a(#1)", "b(a)", "a(#2 !)"], 0, &["b"]);
    // The second copy goes as well, so nothing is left to stay with.
    only_depends(&["x", "a(x)", "a(x !)", "b(a)"], 0, &["a", "a'1", "b"]);
}

#[test]
fn copies_of_a_provider_are_told_apart_by_their_identifiers() {
    let resources = ["P(#0)", "P(#1 !)", "b(@P=0)", "b(@P=1 !)", "c(b)"];
    only_depends(&resources, 0, &["b"]);
    only_depends(&resources, 1, &["b'1"]);
}

#[test]
fn two_dependents_of_one_name_do_not_hide_their_own_dependents() {
    only_depends(&["P(#0)", "b(@P=0)", "b(@P=0 !)", "c(b)"], 0, &["b", "b'1", "c"]);
}

#[test]
fn depending_on_goes_by_names() {
    let snapshot = snapshot(&["a", "a(!)", "b(a)", "c(^b)", "d(k:c)", "P(a)", "e(@P=1)", "f"]);
    let graph = graph(&snapshot);
    let found = |ignore: &[&str], children| {
        let ignore: HashSet<_> = ignore.iter().map(|name| urn(name)).collect();
        names(&snapshot, &graph.depending_on(0, &ignore, children))
    };
    assert_eq!(found(&[], true), ["b", "c", "d", "P", "e"]);
    assert_eq!(found(&[], false), ["b", "P", "e"]);
    assert_eq!(found(&["b"], true), ["P", "e"]);
    assert_eq!(graph.depending_on(99, &HashSet::new(), true), [0; 0]);
}

#[test]
fn direct_needs_bring_the_children_of_components() {
    let snapshot = snapshot(&[
        "P(#1)",
        "comp(~)",
        "kid(^comp)",
        "grandkid(^kid)",
        "dad(~)",
        "sibling(^dad)",
        "x(comp ^dad @P=1)",
        "late(^comp)",
    ]);
    let found = names(&snapshot, &graph(&snapshot).dependencies_of(6));
    assert_eq!(found, ["P", "comp", "kid", "grandkid", "dad"]);
    assert_eq!(names(&snapshot, &graph(&snapshot).dependencies_of(5)), ["dad"]);
    assert_eq!(graph(&snapshot).dependencies_of(99), [0; 0]);
}

#[test]
fn transitive_needs_are_found_once_each_and_dangling_ones_are_passed_over() {
    let snapshot =
        snapshot(&["P(#1)", "comp(~)", "kid(^comp base)", "base(missing)", "y(comp)", "x(y @P=1 gone)", "z"]);
    // The child stands before the resource, its need may stand anywhere.
    assert_eq!(
        names(&snapshot, &graph(&snapshot).transitive_dependencies_of(5)),
        ["P", "comp", "kid", "base", "y"]
    );
    assert_eq!(graph(&snapshot).transitive_dependencies_of(6), [0; 0]);
    assert_eq!(graph(&snapshot).transitive_dependencies_of(99), [0; 0]);
}

#[test]
fn a_component_that_is_parent_and_need_at_once_brings_its_children() {
    for (resources, expected) in [
        // The parent alone brings nothing.
        (&["comp(~)", "kid(^comp)", "x(^comp)"][..], &["comp"][..]),
        (&["comp(~)", "kid(^comp)", "x(^comp comp)"], &["comp", "kid"]),
        // Another one that is needed needs it.
        (&["comp(~)", "kid(^comp)", "y(comp)", "x(^comp y)"], &["comp", "kid", "y"]),
        // A child that was found by itself still brings what lies below it.
        (&["comp(~)", "kid(~ ^comp)", "grandkid(^kid)", "x(^kid comp)"], &["comp", "kid", "grandkid"]),
    ] {
        let snapshot = snapshot(resources);
        let found = graph(&snapshot).transitive_dependencies_of(resources.len() - 1);
        assert_eq!(names(&snapshot, &found), expected, "{resources:?}");
    }
}

#[test]
fn a_diamond_of_many_layers_takes_no_time() {
    let mut texts = vec!["a0".to_owned(), "b0".to_owned()];
    for layer in 1..2000 {
        let below = layer - 1;
        texts.push(format!("a{layer}(a{below} b{below})"));
        texts.push(format!("b{layer}(a{below} b{below})"));
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let snapshot = snapshot(&texts);
    let graph = graph(&snapshot);
    assert_eq!(graph.transitive_dependencies_of(texts.len() - 1).len(), texts.len() - 2);
    assert_eq!(graph.only_depends_on(0).len(), texts.len() - 2);
}

#[test]
fn children_and_parents_are_found_through_all_generations() {
    let snapshot = snapshot(&["a", "b(^a)", "c(^b)", "d", "a(!)", "e(^a)"]);
    let graph = graph(&snapshot);
    assert_eq!(names(&snapshot, &graph.children_of(&urn("a"))), ["b", "c", "e"]);
    assert_eq!(names(&snapshot, &graph.children_of(&urn("b"))), ["c"]);
    assert_eq!(names(&snapshot, &graph.parents_of(2)), ["b", "a"]);
    // The latest copy before the child is its parent.
    assert_eq!(names(&snapshot, &graph.parents_of(5)), ["a'1"]);
    assert_eq!(graph.parents_of(99), [0; 0]);
    assert_eq!(graph.children_of(&urn("none")), [0; 0]);
}

#[test]
fn a_parent_that_does_not_stand_before_its_child_is_refused() {
    for resources in [&["b(^a)", "a"][..], &["b(^gone)"], &["a(^a)"], &["a(^b)", "b(^a)"]] {
        let snapshot = snapshot(resources);
        let error = DependencyGraph::new(&snapshot.resources).unwrap_err();
        let GraphError::ParentNotBefore { child, parent } = &error else {
            unreachable!("there is no other error")
        };
        assert_eq!((child, Some(parent)), (&snapshot.resources[0].urn, snapshot.resources[0].parent()));
        assert!(error.to_string().contains("does not come before it"), "{error}");
    }
}

#[test]
fn the_graph_of_edges_has_a_node_for_each_resource() {
    let broken = snapshot(&["a(b)", "b(a)", "c(gone)"]);
    let dag = dependency_dag(&broken.urn_index());
    assert_eq!((dag.node_count(), dag.edge_count()), (3, 2));
    assert!(dag.find_cycle().is_some());
    let fine = snapshot(&["a", "b(a)"]);
    assert_eq!(graph(&fine).to_dag().topo_order().unwrap().len(), 2);
}
