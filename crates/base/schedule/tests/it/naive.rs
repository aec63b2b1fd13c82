//! Small graphs, with barriers and cycles, against answers that are worked out by trying everything.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_schedule::{Direction, Explanation, Label, Scratch, WaitEdge, WaitGraph};
use proptest::prelude::*;

const OPERATIONS: u32 = 7;
const BARRIERS: u32 = 3;

/// A set of reasons, one for each bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reasons(u8);

impl Label for Reasons {
    fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Between operations, into barriers and out of them, and from barriers to later ones; no operation waits for itself.
fn graphs() -> impl Strategy<Value = Naive> {
    let reason = (0..3_u8).prop_map(|bit| Reasons(1 << bit));
    let operation = 0..OPERATIONS;
    let barrier = OPERATIONS..OPERATIONS + BARRIERS;
    let plain = (operation.clone(), operation.clone(), reason.clone());
    let into = (operation.clone(), barrier.clone(), reason.clone());
    let out = (barrier.clone(), operation, reason.clone());
    let onwards =
        (barrier.clone(), barrier, reason).prop_filter("barriers form no cycle", |(from, to, _)| from < to);
    let edges = (
        prop::collection::vec(plain, 0..10),
        prop::collection::vec(into, 0..5),
        prop::collection::vec(out, 0..5),
        prop::collection::vec(onwards, 0..3),
    );
    let edges = edges.prop_map(|(mut all, into, out, onwards)| {
        all.extend(into.into_iter().chain(out).chain(onwards));
        Naive::new(all)
    });
    edges
        .prop_filter("no operation waits for itself", |naive| naive.pairs.keys().all(|(from, to)| from != to))
}

/// The same with edges to smaller numbers alone, so that there is no cycle.
fn acyclic() -> impl Strategy<Value = Naive> {
    graphs().prop_map(|naive| {
        let stays = |(from, to, _): &&WaitEdge<Reasons>| from > to && *from < OPERATIONS;
        Naive::new(naive.edges.iter().filter(stays).copied().chain(barriers_down(&naive)).collect())
    })
}

/// Of the edges around barriers those that lead from operations of the upper half to those of the lower.
fn barriers_down(naive: &Naive) -> Vec<WaitEdge<Reasons>> {
    let half = OPERATIONS / 2;
    let leads_down = |(from, to, _): &&WaitEdge<Reasons>| match (*from < OPERATIONS, *to < OPERATIONS) {
        (true, true) => false,
        (true, false) => *from >= half,
        (false, true) => *to < half,
        (false, false) => true,
    };
    naive.edges.iter().filter(leads_down).copied().collect()
}

/// Edges as they were given, and what they say of pairs of operations.
#[derive(Clone, Debug)]
struct Naive {
    edges: Vec<WaitEdge<Reasons>>,
    pairs: BTreeMap<(u32, u32), u8>,
    /// For each operation all that it waits for, directly or not.
    reached: Vec<BTreeSet<u32>>,
}

impl Naive {
    fn new(edges: Vec<WaitEdge<Reasons>>) -> Self {
        let mut pairs = BTreeMap::new();
        for &(from, to, Reasons(why)) in edges.iter().filter(|(from, _, _)| *from < OPERATIONS) {
            // Every way through barriers, one after the other.
            let mut ways = vec![to];
            while let Some(at) = ways.pop() {
                if at < OPERATIONS {
                    *pairs.entry((from, at)).or_default() |= why;
                } else {
                    ways.extend(edges.iter().filter(|edge| edge.0 == at).map(|edge| edge.1));
                }
            }
        }
        let mut reached = vec![BTreeSet::new(); OPERATIONS as usize];
        // As often as a chain can be long.
        for _ in 0..OPERATIONS {
            for &(from, to) in pairs.keys() {
                let beyond = reached[to as usize].clone();
                reached[from as usize].extend(beyond.into_iter().chain([to]));
            }
        }
        Self { edges, pairs, reached }
    }

    fn graph(&self) -> WaitGraph<Reasons> {
        WaitGraph::new(OPERATIONS as usize, (OPERATIONS + BARRIERS) as usize, self.edges.clone())
    }

    fn has(&self, from: u32, to: u32) -> bool {
        self.pairs.contains_key(&(from, to))
    }

    /// The least number of steps from one operation to another among these pairs.
    fn distance(pairs: &BTreeSet<(u32, u32)>, from: u32, to: u32) -> Option<usize> {
        let mut front = BTreeSet::from([from]);
        for steps in 1..=OPERATIONS as usize {
            front = pairs.iter().filter(|(start, _)| front.contains(start)).map(|(_, end)| *end).collect();
            if front.contains(&to) {
                return Some(steps);
            }
        }
        None
    }

    fn set(&self) -> BTreeSet<(u32, u32)> {
        self.pairs.keys().copied().collect()
    }

    fn reaches(&self, from: u32, to: u32) -> bool {
        self.reached[from as usize].contains(&to)
    }

    fn is_cyclic(pairs: &BTreeSet<(u32, u32)>) -> bool {
        (0..OPERATIONS).any(|operation| Self::distance(pairs, operation, operation).is_some())
    }

    /// The pairs that no operation between the two implies; for graphs without cycles.
    fn direct(&self) -> BTreeSet<(u32, u32)> {
        let implied =
            |from, to| (0..OPERATIONS).any(|middle| self.reaches(from, middle) && self.reaches(middle, to));
        self.set().into_iter().filter(|&(from, to)| !implied(from, to)).collect()
    }

    /// The longest chain of waits that begins with this operation, or that ends with it.
    fn longest(&self, operation: u32, direction: Direction) -> u32 {
        let next = self.pairs.keys().filter_map(|&(from, to)| match direction {
            Direction::Dependencies => (from == operation).then_some(to),
            Direction::Waiters => (to == operation).then_some(from),
        });
        next.map(|next| 1 + self.longest(next, direction)).max().unwrap_or(0)
    }
}

proptest! {
    #[test]
    fn edges_and_reach_are_those_of_all_ways(naive in graphs()) {
        let graph = naive.graph();
        let edges: Vec<_> = graph.edges().map(|(from, to, Reasons(why))| ((from, to), why)).collect();
        prop_assert_eq!(&edges, &naive.pairs.clone().into_iter().collect::<Vec<_>>());
        prop_assert!(graph.edge_bound() >= edges.len() as u64 && graph.is_sparse());
        prop_assert_eq!(graph.written_edges().count(), edges.len());
        let mut scratch = Scratch::default();
        for from in 0..OPERATIONS {
            let waits: Vec<_> = graph.waits(from, &mut scratch).into_iter().map(|(to, _)| to).collect();
            let expected: Vec<_> = (0..OPERATIONS).filter(|&to| naive.has(from, to)).collect();
            prop_assert_eq!(waits, expected);
            let down = graph.reached([from], Direction::Dependencies);
            let up = graph.reached([from], Direction::Waiters);
            for to in 0..OPERATIONS {
                prop_assert_eq!(graph.reaches(from, to), naive.reaches(from, to), "{} {}", from, to);
                prop_assert_eq!(down[to as usize], from == to || naive.reaches(from, to));
                prop_assert_eq!(up[to as usize], from == to || naive.reaches(to, from));
            }
        }
    }

    #[test]
    fn chains_between_operations_are_as_short_as_any(naive in graphs()) {
        let (graph, pairs) = (naive.graph(), naive.set());
        for (from, to) in (0..OPERATIONS).flat_map(|from| (0..OPERATIONS).map(move |to| (from, to))) {
            let path = graph.shortest_path(from, to);
            prop_assert_eq!(path.as_ref().map(Vec::len), Naive::distance(&pairs, from, to), "{} {}", from, to);
            let Some(path) = path else { continue };
            prop_assert_eq!((path[0].0, path[path.len() - 1].1), (from, to));
            prop_assert!(path.windows(2).all(|steps| steps[0].1 == steps[1].0), "{:?}", &path);
            for (from, to, Reasons(why)) in path {
                prop_assert!(why != 0 && naive.pairs[&(from, to)] & why == why, "{} {}", from, to);
            }
        }
    }

    #[test]
    fn cycles_are_the_operations_that_reach_each_other(naive in graphs()) {
        let graph = naive.graph();
        let mut expected: BTreeSet<Vec<u32>> = BTreeSet::new();
        for one in 0..OPERATIONS {
            let with = |other: &u32| naive.reaches(one, *other) && naive.reaches(*other, one);
            let members: Vec<u32> = (0..OPERATIONS).filter(with).collect();
            if !members.is_empty() {
                expected.insert(members);
            }
        }
        let cycles = graph.cycles();
        let found: Vec<_> = cycles.iter().map(|cycle| cycle.members.clone()).collect();
        prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(graph.self_loops(), Vec::<u32>::new());
        prop_assert_eq!(graph.order().is_none(), !cycles.is_empty());
        prop_assert_eq!(graph.waves().is_none(), !cycles.is_empty());
        prop_assert_eq!(graph.reduced().is_none(), !cycles.is_empty());
        for cycle in cycles {
            let start = cycle.members[0];
            prop_assert_eq!(Some(cycle.path.len()), Naive::distance(&naive.set(), start, start));
            prop_assert_eq!((cycle.path[0].0, cycle.path[cycle.path.len() - 1].1), (start, start));
            let inside: Vec<(u32, u32)> =
                naive.set().into_iter().filter(|(from, to)| cycle.members.contains(from) && cycle.members.contains(to)).collect();
            if inside.len() > 6 {
                continue;
            }
            let breaks = |taken: u32| {
                let stays = inside.iter().enumerate().filter(|(at, _)| taken >> at & 1 == 0);
                !Naive::is_cyclic(&stays.map(|(_, pair)| *pair).collect())
            };
            let least = (0..1_u32 << inside.len()).filter(|&taken| breaks(taken)).map(u32::count_ones).min();
            let (cut, is_smallest) = graph.smallest_cut(&cycle, |_| false);
            let taken = cut.iter().filter_map(|(from, to, _)| inside.iter().position(|pair| *pair == (*from, *to)));
            let taken: Vec<_> = taken.collect();
            prop_assert_eq!(taken.len(), cut.len(), "the cut lies on the cycle");
            prop_assert!(breaks(taken.iter().map(|at| 1 << at).sum()));
            prop_assert!(is_smallest, "so few edges are all tried");
            prop_assert_eq!(Some(cut.len() as u32), least);
        }
    }

    #[test]
    fn orders_and_waves_are_those_of_the_longest_chains(naive in acyclic()) {
        let graph = naive.graph();
        let mut expected: Vec<u32> = Vec::new();
        while let Some(next) = (0..OPERATIONS).find(|next| {
            !expected.contains(next) && (0..OPERATIONS).all(|to| !naive.has(*next, to) || expected.contains(&to))
        }) {
            expected.push(next);
        }
        prop_assert_eq!(graph.order(), Some(expected));
        let waves = graph.waves().unwrap();
        let earliest: Vec<u32> =
            (0..OPERATIONS).map(|operation| naive.longest(operation, Direction::Dependencies)).collect();
        let last = earliest.iter().copied().max().unwrap_or(0);
        let latest: Vec<u32> =
            (0..OPERATIONS).map(|operation| last - naive.longest(operation, Direction::Waiters)).collect();
        prop_assert_eq!((&waves.earliest, &waves.latest, waves.count), (&earliest, &latest, last as usize + 1));
        for (wave, group) in waves.groups().into_iter().enumerate() {
            let with = |operation: &usize| earliest[*operation] as usize == wave;
            prop_assert_eq!(group, (0..OPERATIONS as usize).filter(with).collect::<Vec<_>>());
        }
        for operation in 0..OPERATIONS as usize {
            prop_assert_eq!(waves.slack(operation), latest[operation] - earliest[operation]);
        }
    }

    #[test]
    fn explanations_run_along_what_nothing_implies(naive in acyclic()) {
        let graph = naive.graph();
        let direct = naive.direct();
        let with_reasons: Vec<_> = direct.iter().map(|pair| (*pair, naive.pairs[pair])).collect();
        let reduced = graph.reduced().unwrap();
        prop_assert_eq!(reduced.edges().map(|(from, to, Reasons(why))| ((from, to), why)).collect::<Vec<_>>(), with_reasons);
        let compact: BTreeSet<_> = graph.reduced_compactly().unwrap().edges().map(|(from, to, _)| (from, to)).collect();
        prop_assert!(direct.is_subset(&compact) && compact.is_subset(&naive.set()));
        let beside: BTreeSet<_> = graph.reduced_beside_cycles().edges().map(|(from, to, _)| (from, to)).collect();
        prop_assert_eq!(&beside, &direct);
        for (a, b) in (0..OPERATIONS).flat_map(|a| (0..OPERATIONS).map(move |b| (a, b))) {
            let steps = |from, to| Naive::distance(&direct, from, to);
            let explained = graph.explain(&[a as usize], &[b as usize], |(from, to, _)| (from, to));
            let (relation, chain) = explained.parts();
            let expected = match (steps(a, b), steps(b, a)) {
                (Some(length), _) => ("waits", length),
                (None, Some(length)) => ("is_waited_for", length),
                (None, None) => ("concurrent", 0),
            };
            prop_assert_eq!((relation, chain.len()), expected, "{} {}", a, b);
            prop_assert!(chain.iter().all(|pair| direct.contains(pair)));
        }
        for start in 0..OPERATIONS {
            let found: BTreeMap<u32, usize> =
                graph.nearest(&[start as usize], |_| true).into_iter().map(|(at, (_, to, _))| (to, at)).collect();
            let expected: BTreeMap<u32, usize> =
                (0..OPERATIONS).filter_map(|to| Some((to, Naive::distance(&direct, start, to)?))).collect();
            prop_assert_eq!(found, expected, "from {}", start);
        }
    }

    #[test]
    fn what_is_left_out_beside_cycles_follows_from_the_rest(naive in graphs()) {
        let kept: BTreeSet<_> =
            naive.graph().reduced_beside_cycles().edges().map(|(from, to, _)| (from, to)).collect();
        for (from, to) in (0..OPERATIONS).flat_map(|from| (0..OPERATIONS).map(move |to| (from, to))) {
            prop_assert_eq!(Naive::distance(&kept, from, to).is_some(), naive.reaches(from, to), "{} {}", from, to);
            let on_cycle = naive.has(from, to) && naive.reaches(to, from);
            prop_assert!(!on_cycle || kept.contains(&(from, to)), "edges of cycles stay");
        }
    }
}

#[test]
fn sets_are_explained_by_the_shortest_chain_between_any_of_them() {
    // 4 waits for 3, 3 for 2, 2 for 0; and 5 for 1.
    let graph = WaitGraph::new(6, 6, vec![(4, 3, ()), (3, 2, ()), (2, 0, ()), (5, 1, ())]);
    let why = |a: &[usize], b: &[usize]| graph.explain(a, b, |(from, to, ())| (from, to));
    assert_eq!(why(&[5, 4, 4], &[1, 0]), Explanation::Waits(vec![(5, 1)]));
    assert_eq!(why(&[0, 1], &[4]), Explanation::IsWaitedFor(vec![(4, 3), (3, 2), (2, 0)]));
    assert_eq!(why(&[0], &[1, 5]), Explanation::Concurrent);
    assert_eq!((why(&[], &[1]), why(&[1], &[])), (Explanation::Absent, Explanation::Absent));
    assert_eq!(Explanation::<()>::Absent.parts(), ("absent", &[][..]));
    assert_eq!(Explanation::IsWaitedFor(vec![1]).parts(), ("is_waited_for", &[1][..]));
}

#[test]
fn where_whole_groups_wait_for_whole_groups_barriers_are_written() {
    // 160 times 160 are 25,600 edges: more than 20,000, and four for each of the 641 nodes and edges.
    for (half, is_sparse) in [(50_u32, true), (160, false)] {
        let barrier = 2 * half;
        let above = (half..barrier).map(|from| (from, barrier, ()));
        let edges: Vec<_> = above.chain((0..half).map(|to| (barrier, to, ()))).collect();
        let graph = WaitGraph::new(barrier as usize, barrier as usize + 1, edges);
        assert_eq!(graph.edge_bound(), u64::from(half) * u64::from(half));
        assert_eq!(graph.is_sparse(), is_sparse);
        let (edges, barriers) = if is_sparse { (half * half, 0) } else { (2 * half, 1) };
        assert_eq!((graph.written_edges().count() as u32, graph.written_barriers()), (edges, barriers));
        let reduced = graph.reduced().unwrap();
        assert_eq!((reduced.written_edges().count() as u32, reduced.written_barriers()), (edges, barriers));
        assert_eq!(graph.reduced_beside_cycles().written_barriers(), barriers);
    }
}

#[test]
fn edges_that_are_costly_to_give_up_are_kept_if_others_do() {
    let graph = WaitGraph::new(2, 2, vec![(0, 1, Reasons(1)), (1, 0, Reasons(2))]);
    let cycle = &graph.cycles()[0];
    assert_eq!(graph.smallest_cut(cycle, |why| why == Reasons(1)).0, [(1, 0, Reasons(2))]);
    assert_eq!(graph.smallest_cut(cycle, |why| why == Reasons(2)).0, [(0, 1, Reasons(1))]);
}
