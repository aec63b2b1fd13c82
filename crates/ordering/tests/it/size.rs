//! The shapes of Q01 to Q04 grow with their input, not with the pairs that they order (Q13).

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
fn q13_doubling() {
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
