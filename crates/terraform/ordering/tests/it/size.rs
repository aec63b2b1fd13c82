//! Graphs grow with their input, not with the pairs that they order, and so does what is asked of them.

use std::fmt::Write as _;

use crate::case::Case;

fn chain(count: usize, action: &str) -> Case {
    let (mut config, mut state, mut actions) = (String::new(), String::new(), String::new());
    for at in 0..count {
        let below = at.checked_sub(1).map(|at| format!("A{at}")).unwrap_or_default();
        match action {
            "C" => drop(write!(config, "A{at}:{{{below}}} ")),
            _ => drop(write!(state, "A{at}~{{{below}}} ")),
        }
        let _written = write!(actions, "A{at}={action} ");
    }
    Case::new(&config, &state, &actions)
}

fn create_chain(count: usize) -> Case {
    chain(count, "C")
}

fn destroy_chain(count: usize) -> Case {
    chain(count, "D")
}

fn independent_replace(count: usize) -> Case {
    let list = |action: &str| (0..count).map(|at| format!("A{at}{action} ")).collect::<String>();
    Case::new(&list(""), "", &list("=RD"))
}

fn counted_pair(count: usize) -> Case {
    let list = |action: &str, letter: &str| {
        (0..count / 2).map(|at| format!("{letter}[{at}]={action} ")).collect::<String>()
    };
    Case::new("!A B:{A}", "", &format!("{} {}", list("R", "A"), list("U", "B")))
}

#[test]
fn time_doubles_with_the_size() {
    type Shape = fn(usize) -> Case;
    let shapes: [(&str, Shape); 4] = [
        ("create_chain", create_chain),
        ("destroy_chain", destroy_chain),
        ("independent_replace", independent_replace),
        ("counted_pair", counted_pair),
    ];
    for (name, shape) in shapes {
        let edges = |count: usize| shape(count).build().unwrap().edge_count_encoded();
        let (once, twice) = (edges(400), edges(800));
        assert!(once <= 10 * 400, "{name}: {once} edges are stored for 400 resources");
        assert!(twice * 10 <= once * 21, "{name}: {once} edges become {twice}");
    }
}

#[test]
fn whole_groups_that_wait_for_whole_groups_stay_groups() {
    let case = counted_pair(8_000).options(|options| options.reduce = true);
    let graph = case.build().unwrap();
    // Each of 4,000 is updated after 4,000 are created and before 4,000 are destroyed.
    assert!(graph.edge_bound() >= 32_000_000, "{}", graph.edge_bound());
    assert!(graph.edge_count_encoded() < 80_000, "{}", graph.edge_count_encoded());
    assert_eq!(graph.waves().unwrap().count, 3);
}

#[test]
fn the_bound_of_edges_is_kept_and_reached() {
    for (count, reduce) in [(2, false), (60, false), (60, true)] {
        let graph = counted_pair(count).options(|options| options.reduce = reduce).build().unwrap();
        let listed: Vec<usize> = (0..graph.nodes().len()).flat_map(graph.dependency_finder()).collect();
        assert_eq!(graph.edges().count(), listed.len());
        assert!(listed.len() as u64 <= graph.edge_bound());
        assert!(graph.edge_bound() <= 2 * listed.len() as u64, "{count}: {}", graph.edge_bound());
    }
    for count in [1, 2, 50] {
        let graph = chain(count, "D").options(|options| options.reduce = true).build().unwrap();
        assert_eq!(graph.edge_bound(), count as u64 - 1);
    }
}
