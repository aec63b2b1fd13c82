//! Eleven worked examples: exact edges, exact reductions, one order.

use groundstate_ordering::{BuildError, CbdPropagation, OperationGraph, ReplaceOrder};
use groundstate_states::addr::AbsResourceInstance;

use crate::case::{Case, addr, listing};

/// All edges as `B>A`, with `!` behind those that were turned round, in the notation of cases.
fn edges(graph: &OperationGraph) -> Vec<String> {
    let short = |text: &str| {
        let text = text.replace("t.", "");
        match text.split_once(" (destroy") {
            Some((addr, _)) => format!("-{addr}"),
            None => text,
        }
    };
    let edge = |edge: groundstate_ordering::Edge<'_>| {
        let turned = if edge.inverted { "!" } else { "" };
        format!("{}>{}{turned}", short(&edge.from.to_string()), short(&edge.to.to_string()))
    };
    let mut edges: Vec<String> = graph.edges().map(edge).collect();
    edges.sort();
    edges
}

fn sorted(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words.sort();
    words
}

/// Asserts the edges, the reduced edges, and that the one order is the only possible one.
#[track_caller]
fn example(case: &Case, all: &str, reduced: &str, order: &str) -> OperationGraph {
    let case = case.clone().total(&order.split_whitespace().collect::<Vec<_>>().join("<"));
    let graph = case.holds();
    assert_eq!(edges(&graph), sorted(all), "\n{}", listing(&graph));
    let smaller = case.options(|options| options.reduce = true).holds();
    assert_eq!(edges(&smaller), sorted(reduced), "\n{}", listing(&smaller));
    graph
}

const CHAIN: &str = "A B:{A} C:{B}";

#[test]
fn a_chain_is_created_in_order() {
    let case = Case::new(CHAIN, "", "A=C B=C C=C");
    example(&case, "B>A C>B C>A", "B>A C>B", "A B C");
}

#[test]
fn a_chain_is_updated_in_order() {
    let case = Case::new(CHAIN, "", "A=C B=U C=U");
    example(&case, "B>A C>B C>A", "B>A C>B", "A B C");
}

#[test]
fn a_chain_is_destroyed_in_reverse() {
    let case = Case::new(CHAIN, "", "A=D B=D C=D");
    example(&case, "-A>-B -A>-C -B>-C", "-A>-B -B>-C", "-C -B -A");
}

#[test]
fn a_chain_is_replaced_by_delete_then_create() {
    let case = Case::new("A B:{A}", "", "A=R B=R");
    example(&case, "B>A A>-A B>-B B>-A -A>-B A>-B", "B>A A>-A -A>-B", "-B -A A B");
}

#[test]
fn a_dependency_is_replaced_by_delete_then_create() {
    let case = Case::new("A B:{A}", "", "A=R B=U");
    example(&case, "B>A A>-A B>-A", "B>A A>-A", "-A A B");
}

#[test]
fn a_dependent_is_updated_before_its_dependency_is_destroyed() {
    let case = Case::new("A", "B~{A}", "A=U B=D");
    example(&case, "A>-B", "A>-B", "-B A");
}

#[test]
fn a_chain_is_replaced_with_a_create_before_destroy_dependency() {
    let case = Case::new("!A B:{A}", "", "A=R B=R");
    example(
        &case,
        "B>A -A>A! B>-B -A>B! -A>-B A>-B",
        "-A>B B>A A>-B".replace("-A>B", "-A>B!").as_str(),
        "-B A B -A",
    );
}

#[test]
fn a_dependent_is_updated_between_create_and_destroy() {
    let case = Case::new("!A B:{A}", "", "A=R B=U");
    example(&case, "B>A -A>A! -A>B!", "-A>B! B>A", "A B -A");
}

#[test]
fn a_removed_create_before_destroy_dependency_is_destroyed_last() {
    let case = Case::new("B", "A~cbd B~{A}", "A=D B=U");
    example(&case, "-A>B!", "-A>B!", "B -A");
    let without = Case::new("B", "A B~{A}", "A=D B=U");
    example(&without, "B>-A", "B>-A", "-A B");
}

#[test]
fn create_before_destroy_of_a_dependent_alone() {
    let case = Case::new("A !B:{A}", "", "A=R B=R");
    let off = case.clone().options(|options| options.cbd_propagation = CbdPropagation::Off);
    let errors = off.build().expect_err("it is a cycle");
    let [BuildError::Cycle(report)] = errors.errors.as_slice() else { panic!("{errors}") };
    assert_eq!(report.members.len(), 4);
    let drawn = errors.cyclic.as_deref().expect("a graph with cycles can be drawn");
    assert_eq!(edges(drawn), sorted("B>A A>-A B>-A -A>-B -B>B! -B>A!"));

    // With the flag passed on it is the next example; ordered otherwise it is a conflict.
    case.holds();
    let explicit = Case::new("A !B:{A}", "", "A=RD B=R");
    assert_eq!(
        explicit.errors(),
        [
            "A is planned delete-then-create but must be create-then-delete: A ← B (own flag); plan it create-then-delete"
        ]
    );
}

#[test]
fn create_before_destroy_is_forced_on_dependencies() {
    let case = Case::new("A !B:{A}", "", "A=R B=R");
    let graph = example(&case, "B>A -A>A! -B>B! -A>B! -A>-B -B>A!", "-A>-B -B>B! B>A", "A B -B -A");
    let a: AbsResourceInstance = addr("A");
    assert!(graph.persist(&a).is_some_and(|meta| meta.create_before_destroy));
    assert_eq!(graph.orders()[&a], ReplaceOrder::CreateThenDelete);
}
