//! Providers as nodes, and edges between them.

use groundstate_ordering::{CrossProvider, OperationGraph, PlanMode, Profile};

use crate::case::{Case, listing};

fn dropped(graph: &OperationGraph) -> Vec<String> {
    let text =
        |edge: &groundstate_ordering::DroppedEdge| format!("{}>{} {}", edge.from, edge.to, edge.reasons);
    graph.dropped().iter().map(|edge| text(edge).replace("t.", "")).collect()
}

const PROVIDERS: &str = "P0 P:{A}";

#[test]
fn a_provider_is_configured_after_what_it_reads() {
    Case::new("A@P0 B@P", "", "A=C B=C").providers(PROVIDERS).precede("@P0 < A < @P < B").holds();
}

#[test]
fn a_provider_outlives_its_resources_in_a_destroy() {
    let graph = Case::new("A@P0 B@P", "B~{A}", "A=D B=D")
        .providers(PROVIDERS)
        .options(|options| options.mode = PlanMode::Destroy)
        .precede("@P < -B < -A")
        .precede("@P0 < -A")
        .concurrent("@P|@P0")
        .holds();
    assert_eq!(dropped(&graph), [""; 0]);
}

fn both_replaced() -> Case {
    Case::new("A@P0 B@P", "", "A=RD B=RD").providers(PROVIDERS)
}

#[test]
fn a_provider_dependency_and_its_resources_are_replaced_in_order() {
    for policy in [CrossProvider::GreedyKeep, CrossProvider::DropInScc] {
        let graph = both_replaced()
            .options(|options| options.cross_provider = policy)
            .precede("-A < A < @P < -B < B")
            .holds();
        assert_eq!(
            dropped(&graph),
            ["A>B (destroy) config-update", "A (destroy)>B (destroy) config-destroy"]
        );
    }
}

#[test]
fn keeping_all_provider_edges_leaves_a_cycle() {
    let errors = both_replaced().options(|options| options.cross_provider = CrossProvider::KeepAll).errors();
    assert_eq!(errors.len(), 1);
    let members = r#"Cycle: provider["registry.terraform.io/acme/p"], A, A (destroy), B (destroy)"#;
    assert!(errors[0].starts_with(&format!("{members}\n")), "{}", errors[0]);
}

#[test]
fn create_before_destroy_keeps_the_old_provider_dependency() {
    let case = Case::new("A@P0 !B@P", "", "A=R B=R").providers(PROVIDERS);
    let graph = case.clone().precede("A < @P < B < -B < -A").holds();
    assert_eq!(dropped(&graph), [""; 0]);
    let classic = case.options(|options| options.profile = Profile::Classic);
    let graph = classic.concurrent("-A|-B").holds();
    assert_eq!(graph.dropped().len(), 2, "{}", listing(&graph));
}

#[test]
fn providers_that_share_nothing_are_independent() {
    let graph =
        Case::new("A@P0 B@P:{A}", "", "A=RD B=RD").providers("P0 P").precede("-B < -A < A < B").holds();
    assert_eq!(dropped(&graph), [""; 0]);
}

#[test]
fn unused_providers_are_pruned() {
    let graph = Case::new("", "A %X", "A=F %X=D").providers("x").holds();
    assert!(graph.nodes().iter().all(|node| node.key.addr().is_some()), "{}", listing(&graph));
}

#[test]
fn a_provider_is_closed_after_its_last_resource() {
    Case::new("A@P0 B@P0", "", "A=U B=D").providers("P0").precede("@P0 < {A,-B} < @P0!").holds();
}

#[test]
fn a_missing_provider_is_reported() {
    let case = Case::new("A@P0", "A B", "A=U B=D").providers("P0").recorded_provider("B", "Q");
    assert_eq!(
        case.errors(),
        [
            "B needs provider[\"registry.terraform.io/acme/q\"], which is not among the provider configurations: \
          add it, or forget what it manages"
        ]
    );
}

#[test]
fn dropped_edges_of_providers_are_deterministic() {
    let (mut config, mut providers, mut actions) = (String::new(), String::from("P0 "), String::new());
    for n in 0..20 {
        config.push_str(&format!("A{n:02}@P0 B{n:02}@P{n:02} "));
        providers.push_str(&format!("P{n:02}:{{A{n:02}}} "));
        actions.push_str(&format!("A{n:02}=RD B{n:02}=RD "));
    }
    let mut case = Case::new(&config, "", &actions).providers(&providers);
    let first = dropped(&case.holds());
    assert_eq!(first.len(), 40);
    for turn in 0..100 {
        case.input.resources.rotate_left(turn % 7);
        case.input.changes.rotate_left(turn % 11);
        case.input.instances.reverse();
        assert_eq!(dropped(&case.build().unwrap()), first);
    }
}
