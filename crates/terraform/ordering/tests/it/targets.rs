//! Targets and excludes.

use groundstate_ordering::{OperationGraph, PlanMode, ReplaceOrder};
use groundstate_states::addr::Target;

use crate::case::{Case, addr, node};

const CHAIN: &str = "A B:{A} C:{B}";

fn parsed(list: &[&str]) -> Vec<Target> {
    list.iter().map(|text| Target::parse(text).unwrap()).collect()
}

fn target(case: Case, list: &[&str]) -> Case {
    case.options(|options| options.targets = parsed(list))
}

fn exclude(case: Case, list: &[&str]) -> Case {
    case.options(|options| options.excludes = parsed(list))
}

fn destroy_chain() -> Case {
    Case::new(CHAIN, "", "A=D B=D C=D").options(|options| options.mode = PlanMode::Destroy)
}

fn create_chain() -> Case {
    Case::new(CHAIN, "", "A=C B=C C=C")
}

fn labels(graph: &OperationGraph) -> Vec<String> {
    graph.nodes().iter().map(|node| node.key.to_string().replace("t.", "")).collect()
}

#[test]
fn a_target_brings_its_dependencies() {
    target(create_chain(), &["t.B"]).total("A < B").holds();
}

#[test]
fn a_destroy_target_brings_its_dependents() {
    target(destroy_chain(), &["t.A"]).total("-C < -B < -A").holds();
}

#[test]
fn a_destroy_target_without_dependents_goes_alone() {
    target(destroy_chain(), &["t.C"]).total("-C").holds();
}

#[test]
fn an_exclusion_brings_its_dependents() {
    exclude(create_chain(), &["t.B"]).total("A").holds();
}

#[test]
fn a_destroy_exclusion_of_a_root_goes_alone() {
    exclude(destroy_chain(), &["t.A"]).total("-C < -B").holds();
}

#[test]
fn a_destroy_exclusion_brings_its_dependencies() {
    assert_eq!(labels(&exclude(destroy_chain(), &["t.C"]).holds()), [""; 0]);
}

fn counted() -> Case {
    Case::new("A B:{A}", "", "A[0]=C A[1]=C A[2]=C B=C")
}

#[test]
fn one_instance_can_be_a_target() {
    target(counted(), &["t.A[1]"]).total("A[1]").holds();
}

#[test]
fn one_instance_can_be_excluded() {
    let graph = exclude(counted(), &["t.A[1]"]).concurrent("A[0]|A[2]").holds();
    assert_eq!(labels(&graph), ["A[0]", "A[2]"]);
}

fn module_and_root() -> Case {
    Case::new("m.X m.Y:{m.X} Z W:{m.Y}", "", "m.X=C m.Y=C Z=C W=C")
}

#[test]
fn a_module_can_be_a_target() {
    target(module_and_root(), &["module.m"]).total("m.X < m.Y").holds();
}

#[test]
fn dependents_of_an_excluded_module_are_excluded() {
    assert_eq!(labels(&exclude(module_and_root(), &["module.m"]).holds()), ["Z"]);
}

#[test]
fn create_before_destroy_outside_the_selection_counts() {
    let case = target(Case::new("A !B:{A}", "", "A=R"), &["t.A"]);
    let graph = case.total("A < -A").holds();
    assert_eq!(graph.orders()[&addr("A")], ReplaceOrder::CreateThenDelete);
    assert!(graph.persist(&addr("A")).unwrap().create_before_destroy);
}

#[test]
fn both_halves_of_a_replacement_are_selected() {
    let case = Case::new("A B:{A}", "", "A=RD B=RD");
    target(case.clone(), &["t.A"]).total("-B < -A < A < B").holds();
    // Excluding one half excludes the other: B would be destroyed and not made again.
    assert_eq!(labels(&exclude(case, &["t.A"]).holds()), [""; 0]);
}

#[test]
fn targets_and_exclusions_do_not_mix() {
    let case = exclude(target(create_chain(), &["t.A"]), &["t.B"]);
    assert_eq!(case.errors(), ["targets and excludes are both given, use one of them"]);
}

#[test]
fn a_keyed_module_can_be_a_target() {
    let case = Case::new("m.X", "", "m[0].X=C m[1].X=C");
    assert_eq!(labels(&target(case.clone(), &["module.m[1]"]).holds()), ["module.m[1].X"]);
    assert_eq!(labels(&target(case.clone(), &["module.m"]).holds()).len(), 2);
    assert_eq!(labels(&target(case, &["module.m.t.X"]).holds()).len(), 2);
}

#[test]
fn deposed_objects_follow_their_address() {
    target(Case::new("A", "A#k", "A=N A#k=D"), &["t.A"]).total("A#k").holds();
}

#[test]
fn providers_come_along_and_are_shut_down() {
    let case = Case::new("A@P B@Q", "", "A=C B=C").providers("P Q");
    target(case, &["t.A"]).total("@P < A < @P!").holds();
}

#[test]
fn a_graph_can_be_asked_what_a_selection_would_be() {
    let graph = create_chain().holds();
    assert_eq!(graph.select(&parsed(&["t.B"]), &[]), [node(&graph, "A"), node(&graph, "B")]);
    assert_eq!(graph.select(&[], &parsed(&["t.B"])), [node(&graph, "A")]);
}
