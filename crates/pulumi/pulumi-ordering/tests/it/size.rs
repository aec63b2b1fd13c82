//! Q12, in small: long lists are planned, walked and ordered without recursion and without quadratic work.

use groundstate_pulumi_ordering::{Deletes, Destruction, Goal, StackEntry, StackOptions, plan_stack};

use crate::notation::{Script, urn};
use crate::options;

const ENTRIES: usize = 20_000;

fn list(refers_to: impl Fn(usize) -> usize) -> Vec<StackEntry> {
    let entry = |at: usize| {
        let mut goal = Goal::custom(urn(&format!("r{at}")), "t");
        if at > 0 {
            goal.dependencies.push(urn(&format!("r{}", refers_to(at))));
        }
        goal.entry(Some(at.to_string()))
    };
    (0..ENTRIES).map(entry).collect()
}

#[test]
fn deleting_a_large_stack_is_linear() {
    for (base, batches) in [(list(|at| at - 1), ENTRIES), (list(|_| 0), 2)] {
        for deletes in [Deletes::Precise, Deletes::Batches] {
            let options = options(|options| options.deletes = deletes);
            let graph = plan_stack(&base, &[], &mut Script::default(), &options).unwrap();
            assert_eq!(graph.finals().len(), ENTRIES);
            assert!(graph.edges().len() < 6 * ENTRIES, "{} edges", graph.edges().len());
            let order: Vec<usize> = graph.order().unwrap().into_iter().map(|step| step.index()).collect();
            assert_eq!(order, (0..ENTRIES).collect::<Vec<_>>(), "from the last entry to the first");
            if deletes == Deletes::Batches {
                assert_eq!(graph.batches().unwrap().len(), batches);
            }
        }
    }
}

#[test]
fn long_cascades_of_replacements_are_planned() {
    let mut base = list(|at| at - 1);
    for entry in base.iter_mut().skip(1) {
        let on = std::mem::take(&mut entry.dependencies);
        entry.property_dependencies.insert("p".to_owned(), on);
    }
    let goals: Vec<Goal> = (0..ENTRIES)
        .map(|at| {
            let goal = Goal::custom(urn(&format!("r{at}")), "t");
            if at == 0 { goal } else { goal.property("p", urn(&format!("r{}", at - 1))) }
        })
        .collect();
    let words: Vec<String> = (1..ENTRIES).map(|at| format!("r{at}.p")).collect();
    let mut script = Script::parse(&format!("r0=RD {}", words.join(" ")));
    let graph = plan_stack(&base, &goals, &mut script, &options(|_| ())).unwrap();
    assert_eq!(graph.steps().len(), 3 * ENTRIES);
    assert!(graph.walk_graph().is_ok());
}

#[test]
fn a_component_costs_no_more_edges_than_references() {
    // All that belongs to it waits for all that depends on it: a product, for which barriers stand.
    const HALF: usize = 3_000;
    let mut base = vec![Goal::component(urn("all"), "t").entry(None)];
    for at in 0..HALF {
        let mut child = Goal::custom(urn(&format!("c{at}")), "t");
        child.parent = Some(urn("all"));
        base.push(child.entry(Some(at.to_string())));
    }
    for at in 0..HALF {
        let mut dependent = Goal::custom(urn(&format!("d{at}")), "t");
        dependent.dependencies.push(urn("all"));
        base.push(dependent.entry(Some(at.to_string())));
    }
    for deletes in [Deletes::Precise, Deletes::Batches] {
        let options = options(|options| options.deletes = deletes);
        let graph = plan_stack(&base, &[], &mut Script::default(), &options).unwrap();
        assert!(graph.edges().len() < 12 * HALF, "{} edges", graph.edges().len());
        let order: Vec<usize> = graph.order().unwrap().into_iter().map(|step| step.index()).collect();
        assert_eq!(order, (0..base.len()).collect::<Vec<_>>(), "from the last entry to the first");
        if deletes == Deletes::Batches {
            let sizes: Vec<usize> = graph.batches().unwrap().iter().map(Vec::len).collect();
            assert_eq!(sizes, [HALF, HALF, 1]);
        }
    }
    let destruction = Destruction::plan(base, &StackOptions::default()).unwrap();
    let json = destruction.to_json();
    assert!(json.len() < 2_000 * HALF, "{} bytes", json.len());
    assert!(json.contains(r#"{"id":"group 1","kind":"group"}"#), "groups stand for the pairs");
    assert_eq!(destruction.waves().count, 3);
    assert_eq!(destruction.dependencies(HALF).len(), HALF, "the pairs are still there");
}
