//! Long lists are planned, walked and ordered without recursion and without quadratic work.

use std::sync::Arc;

use groundstate_pulumi_ordering::{Deletes, DotStyle, Goal, StackOptions, plan_stack};
use groundstate_pulumi_snapshot::Resource;

use crate::destruction::destruction_of;
use crate::notation::{Script, custom, urn};
use crate::options;

const ENTRIES: usize = 20_000;

fn stored(goal: &Goal, id: usize) -> Arc<Resource> {
    Arc::new(Resource { id: Some(id.to_string().into()), ..goal.resource.clone() })
}

fn list(refers_to: impl Fn(usize) -> usize) -> Vec<Arc<Resource>> {
    let entry = |at: usize| {
        let mut goal = custom(&format!("r{at}"));
        if at > 0 {
            goal.resource.dependencies.push(urn(&format!("r{}", refers_to(at))));
        }
        stored(&goal, at)
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
    for entry in base.iter_mut().skip(1).map(Arc::make_mut) {
        let on = std::mem::take(&mut entry.dependencies);
        entry.property_dependencies.insert("p", Some(on));
    }
    let goals: Vec<Goal> = (0..ENTRIES)
        .map(|at| {
            let goal = custom(&format!("r{at}"));
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
fn what_is_deleted_with_others_costs_no_more_edges_than_references() {
    // Each of the deletions takes one along that depends on the component, and so waits for none of its children one by one.
    const HALF: usize = 3_000;
    let mut base = vec![Arc::new(Goal::component(urn("all"), "t").resource)];
    for at in 0..HALF {
        let mut child = custom(&format!("c{at}"));
        child.resource.parent = Some(urn("all"));
        base.push(stored(&child, at));
    }
    for at in 0..HALF {
        base.push(stored(&custom(&format!("t{at}")), at));
        let mut dependent = custom(&format!("d{at}"));
        dependent.resource.deleted_with = Some(urn(&format!("t{at}")));
        dependent.resource.dependencies.push(urn("all"));
        base.push(stored(&dependent, at));
    }
    let graph = plan_stack(&base, &[], &mut Script::default(), &StackOptions::default()).unwrap();
    assert_eq!(graph.finals().len(), 2 * HALF + 1, "one deletion takes the other along");
    assert!(graph.edges().len() < 12 * HALF, "{} edges", graph.edges().len());

    let destruction = destruction_of(&base, &StackOptions::default()).unwrap();
    assert!(destruction.edge_bound() >= (HALF * HALF) as u64);
    assert!(destruction.written_size().1 < 5 * HALF, "{:?}", destruction.written_size());
    let dot = destruction.to_dot(DotStyle::Picture);
    assert!(dot.contains("[shape=point") && dot.len() < 1_000 * HALF, "{} bytes", dot.len());
}

#[test]
fn a_component_costs_no_more_edges_than_references() {
    // All that belongs to it waits for all that depends on it: a product, for which barriers stand.
    const HALF: usize = 3_000;
    let mut base = vec![Arc::new(Goal::component(urn("all"), "t").resource)];
    for at in 0..HALF {
        let mut child = custom(&format!("c{at}"));
        child.resource.parent = Some(urn("all"));
        base.push(stored(&child, at));
    }
    for at in 0..HALF {
        let mut dependent = custom(&format!("d{at}"));
        dependent.resource.dependencies.push(urn("all"));
        base.push(stored(&dependent, at));
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
    let destruction = destruction_of(&base, &StackOptions::default()).unwrap();
    let json = destruction.to_json();
    assert!(json.len() < 2_000 * HALF, "{} bytes", json.len());
    assert!(json.contains(r#"{"id":"group 1","kind":"group"}"#), "groups stand for the pairs");
    assert_eq!(destruction.waves().count, 3);
    assert_eq!(destruction.dependencies(HALF).len(), HALF, "the pairs are still there");
}
