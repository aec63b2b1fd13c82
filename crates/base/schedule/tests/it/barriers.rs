//! Barriers say the same as the pairs that they stand for.

use groundstate_schedule::{Explanation, Label, Scratch, WaitEdge, WaitGraph};
use proptest::prelude::*;

/// A set of reasons, one for each bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reasons(u8);

impl Label for Reasons {
    fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Operations, and groups of them: all of the first list wait for all of the second, which have smaller numbers.
type Groups = Vec<(Vec<u32>, Vec<u32>, u8)>;

const OPERATIONS: u32 = 12;

fn groups() -> impl Strategy<Value = Groups> {
    let group = (1..OPERATIONS).prop_flat_map(|middle| {
        let above = prop::collection::vec(middle..OPERATIONS, 1..4);
        let below = prop::collection::vec(0..middle, 1..4);
        (above, below, 0_u8..3)
    });
    prop::collection::vec(group, 0..6)
}

/// The same waits twice: with a barrier for each group, and pair by pair.
fn both(groups: &Groups) -> [WaitGraph<Reasons>; 2] {
    let (mut grouped, mut pairs): (Vec<WaitEdge<Reasons>>, Vec<WaitEdge<Reasons>>) = Default::default();
    for (barrier, (above, below, reason)) in (OPERATIONS..).zip(groups) {
        let label = Reasons(1 << reason);
        grouped.extend(above.iter().map(|&from| (from, barrier, label)));
        grouped.extend(below.iter().map(|&to| (barrier, to, Reasons::default())));
        pairs.extend(above.iter().flat_map(|&from| below.iter().map(move |&to| (from, to, label))));
    }
    let operations = OPERATIONS as usize;
    [
        WaitGraph::new(operations, operations + groups.len(), grouped),
        WaitGraph::new(operations, operations, pairs),
    ]
}

proptest! {
    #[test]
    fn a_graph_with_barriers_answers_as_its_pairs_do(groups in groups()) {
        let [grouped, pairs] = both(&groups);
        prop_assert_eq!(grouped.edges().collect::<Vec<_>>(), pairs.edges().collect::<Vec<_>>());
        prop_assert_eq!(grouped.order(), pairs.order());
        prop_assert_eq!(grouped.waves(), pairs.waves());
        prop_assert!(grouped.edge_bound() >= pairs.edge_bound());
        let mut scratch = Scratch::default();
        for node in 0..OPERATIONS {
            prop_assert_eq!(grouped.waits(node, &mut scratch), pairs.waits(node, &mut Scratch::default()));
            prop_assert_eq!(grouped.nearest(&[node as usize], |_| true), pairs.nearest(&[node as usize], |_| true));
        }
        let edges = |graph: &WaitGraph<Reasons>| graph.reduced().map(|graph| graph.edges().collect::<Vec<_>>());
        prop_assert_eq!(edges(&grouped), edges(&pairs));
    }
}

#[test]
fn an_explanation_is_a_shortest_chain_and_skips_barriers() {
    // 3 waits for 2 by way of a barrier, 2 for 1, 1 for 0; and 3 for 0 directly.
    let edges = vec![(3, 4, ()), (4, 2, ()), (2, 1, ()), (1, 0, ()), (3, 0, ())];
    let graph = WaitGraph::new(4, 5, edges);
    // 3 waits for 0 by way of 1 or 2, so that the edge between them says nothing.
    let implied = WaitGraph::new(4, 4, vec![(1, 0, ()), (2, 1, ()), (3, 2, ()), (3, 0, ()), (3, 1, ())]);
    let chain = implied.explain(&[3], &[0], |(from, to, ())| (from, to));
    assert_eq!(chain, Explanation::Waits(vec![(3, 2), (2, 1), (1, 0)]));
    let distances: Vec<_> =
        implied.nearest(&[3], |_| true).into_iter().map(|(at, (_, to, ()))| (to, at)).collect();
    assert_eq!(distances, [(2, 1), (1, 2), (0, 3)]);
    let around: Vec<_> =
        implied.nearest(&[3], |node| node != 2).into_iter().map(|(at, (_, to, ()))| (to, at)).collect();
    assert_eq!(around, [(1, 1), (0, 2)], "what is not admitted implies nothing");

    // 1 and 2 wait for each other: their edges stay, and what follows beside them goes.
    let cyclic = vec![(1, 0, ()), (1, 2, ()), (2, 1, ()), (3, 1, ()), (3, 0, ()), (4, 3, ()), (4, 2, ())];
    let cyclic = WaitGraph::new(5, 5, cyclic).reduced_beside_cycles();
    let edges: Vec<_> = cyclic.edges().map(|(from, to, ())| (from, to)).collect();
    assert_eq!(edges, [(1, 0), (1, 2), (2, 1), (3, 1), (4, 3)]);
    assert!(matches!(cyclic.explain(&[4], &[0], |_| ()), Explanation::Waits(steps) if steps.len() == 3));

    let why = |a: usize, b: usize| graph.explain(&[a], &[b], |(from, to, ())| (from, to));
    assert_eq!(why(3, 0), Explanation::Waits(vec![(3, 2), (2, 1), (1, 0)]), "3 waits for 0 anyway");
    assert_eq!(why(1, 3), Explanation::IsWaitedFor(vec![(3, 2), (2, 1)]));
    assert_eq!(graph.explain(&[], &[1], |_| ()), Explanation::Absent);
}

#[test]
fn cycles_come_with_a_walk_and_a_cut() {
    let graph = WaitGraph::new(4, 5, vec![(0, 4, ()), (4, 1, ()), (1, 2, ()), (2, 0, ()), (3, 0, ())]);
    assert_eq!((graph.order(), graph.waves(), graph.reduced().is_none()), (None, None, true));
    let cycles = graph.cycles();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].members, [0, 1, 2]);
    assert_eq!(cycles[0].path, [(0, 1, ()), (1, 2, ()), (2, 0, ())]);
    let (cut, is_smallest) = graph.smallest_cut(&cycles[0], |()| false);
    assert_eq!((cut.len(), is_smallest), (1, true));
    let rest: Vec<WaitEdge<()>> = graph.edges().filter(|edge| !cut.contains(edge)).collect();
    assert!(WaitGraph::new(4, 4, rest).order().is_some());
}
