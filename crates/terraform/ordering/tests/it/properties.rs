//! What holds of every graph, on random inputs.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_ordering::{
    BuildError, BuildErrors, CrossProvider, Input, OperationGraph, Options, Profile, Scope, build,
};
use groundstate_schedule::walk::{Outcome, Settled, WalkOptions, walk};
use proptest::prelude::*;

use crate::case::listing;
use crate::generate::{Kind, input, shuffled};
use crate::oracle;

const PLAIN: Kind = Kind { resources: 10, odd: false, modules: false, providers: false, explicit: false };
const ODD: Kind = Kind { odd: true, modules: true, ..PLAIN };

fn options() -> impl Strategy<Value = Options> {
    let scope = prop_oneof![Just(Scope::SameModule), Just(Scope::CommonPrefix), Just(Scope::None)];
    (scope, any::<bool>()).prop_map(|(scope, recorded_only)| {
        let mut options = Options::default();
        options.scope = scope;
        options.recorded_only = recorded_only;
        options
    })
}

/// Pairs of numbers between which there is a way.
fn reachable(graph: &OperationGraph) -> BTreeSet<(usize, usize)> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for edge in graph.edges() {
        let [from, to] = [edge.from, edge.to].map(|key| graph.find(key).unwrap());
        next.entry(from).or_default().push(to);
    }
    let mut pairs = BTreeSet::new();
    for start in 0..graph.nodes().len() {
        let mut stack = vec![start];
        while let Some(at) = stack.pop() {
            for &to in next.get(&at).into_iter().flatten() {
                if pairs.insert((start, to)) {
                    stack.push(to);
                }
            }
        }
    }
    pairs
}

fn built(input: &Input, options: &Options) -> OperationGraph {
    build(input, options).unwrap_or_else(|errors| panic!("{errors}\n{input:#?}"))
}

/// The graph, or none when the state records the reverse of what configuration says, which may be a cycle.
fn acyclic(result: Result<OperationGraph, BuildErrors>) -> Option<OperationGraph> {
    match result {
        Ok(graph) => Some(graph),
        Err(errors) => {
            let cycles = errors.errors.iter().all(|error| matches!(error, BuildError::Cycle(_)));
            assert!(cycles, "{errors}");
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Oracles 2, 3 and 5: there is a graph, it has exactly the edges of the rules, the three phases are an order of it.
    #[test]
    fn edges_are_those_of_the_rules(seed in any::<u64>(), odd in any::<bool>(), options in options()) {
        let input = input(seed, Kind { odd, ..ODD });
        let graph = built(&input, &options);
        oracle::check(&input, &options, &graph);
    }

    #[test]
    fn explicit_orders_conflict_or_are_kept(seed in any::<u64>(), options in options()) {
        let input = input(seed, Kind { explicit: true, ..ODD });
        match build(&input, &options) {
            Ok(graph) => oracle::check(&input, &options, &graph),
            Err(errors) => {
                let conflict = |error: &BuildError| matches!(error, BuildError::ReplaceOrderConflict { .. });
                prop_assert!(errors.errors.iter().all(conflict), "{errors}");
            }
        }
    }

    #[test]
    fn edges_between_providers_are_those_of_the_rules_or_dropped(
        seed in any::<u64>(),
        drop_all in any::<bool>(),
    ) {
        let input = input(seed, Kind { providers: true, ..ODD });
        let mut options = Options::default();
        if drop_all {
            options.cross_provider = CrossProvider::DropInScc;
        }
        if let Some(graph) = acyclic(build(&input, &options)) {
            oracle::check(&input, &options, &graph);
            // What was dropped closes a cycle with what was kept, unless all of a component are dropped together.
            let ways = reachable(&graph);
            for dropped in graph.dropped() {
                let [from, to] = [&dropped.from, &dropped.to].map(|key| graph.find(key).unwrap());
                prop_assert!(drop_all || ways.contains(&(to, from)), "{} waits for {}", dropped.from, dropped.to);
            }
        }
    }

    /// Oracle 6, and that reduction keeps every way.
    #[test]
    fn reduction_keeps_every_way_and_no_other_edge(seed in any::<u64>(), odd in any::<bool>()) {
        let input = input(seed, Kind { odd, ..ODD });
        let mut options = Options::default();
        let whole = built(&input, &options);
        options.reduce = true;
        let reduced = built(&input, &options);
        prop_assert_eq!(reachable(&whole), reachable(&reduced));
        let edges: Vec<(usize, usize)> = reduced
            .edges()
            .map(|edge| (reduced.find(edge.from).unwrap(), reduced.find(edge.to).unwrap()))
            .collect();
        let ways = reachable(&reduced);
        for &(from, to) in &edges {
            let implied = edges.iter().any(|&(a, b)| a == from && b != to && ways.contains(&(b, to)));
            prop_assert!(!implied, "{} to {}", reduced.nodes()[from].key, reduced.nodes()[to].key);
        }
        // What stays says why with the same reasons.
        let all: BTreeMap<String, String> =
            whole.edges().map(|edge| (format!("{}>{}", edge.from, edge.to), edge.reasons.to_string())).collect();
        for edge in reduced.edges() {
            prop_assert_eq!(&edge.reasons.to_string(), &all[&format!("{}>{}", edge.from, edge.to)]);
        }
    }

    /// Oracle 7: the wave is the longest way down, the latest wave the longest way up from the last.
    #[test]
    fn waves_are_longest_ways(seed in any::<u64>(), odd in any::<bool>()) {
        let graph = built(&input(seed, Kind { odd, ..ODD }), &Options::default());
        let waves = graph.waves().unwrap();
        let order = graph.order_numbers().unwrap();
        let mut down = vec![0; order.len()];
        let mut up = vec![0; order.len()];
        let below = |node: usize| -> Vec<usize> {
            graph.dependencies(node).iter().map(|edge| graph.find(edge.to).unwrap()).collect()
        };
        for &node in &order {
            down[node] = below(node).into_iter().map(|to| down[to] + 1).max().unwrap_or(0);
        }
        for &node in order.iter().rev() {
            for to in below(node) {
                up[to] = up[to].max(up[node] + 1);
            }
        }
        let last = down.iter().max().copied().unwrap_or(0);
        let latest: Vec<u32> = up.iter().map(|up| last - up).collect();
        prop_assert_eq!(&waves.earliest, &down);
        prop_assert_eq!(&waves.latest, &latest);
        prop_assert_eq!(waves.groups().len(), waves.count);
        // The order is the smallest at each step.
        let mut done = BTreeSet::new();
        for &node in &order {
            let ready = (0..order.len())
                .filter(|other| !done.contains(other))
                .find(|&other| below(other).iter().all(|to| done.contains(to)));
            prop_assert_eq!(ready, Some(node), "\n{}", listing(&graph));
            done.insert(node);
        }
    }

    /// Oracle 8.
    #[test]
    fn the_order_of_the_input_does_not_matter(
        seed in any::<u64>(),
        turn in any::<u64>(),
        classic in any::<bool>(),
        mut options in options(),
    ) {
        let input = input(seed, Kind { providers: true, ..ODD });
        if classic {
            options.profile = Profile::Classic;
        }
        let text = |result: Result<OperationGraph, BuildErrors>| match result {
            Ok(graph) => {
                let warnings: Vec<String> = graph.warnings().iter().map(ToString::to_string).collect();
                format!("{}{}", graph.to_json(), warnings.join("\n"))
            }
            Err(errors) => errors.to_string(),
        };
        prop_assert_eq!(text(build(&input, &options)), text(build(&shuffled(&input, turn), &options)));
    }

    /// Oracle 9, with barriers: a walk keeps to all edges, and skips what waits for what failed.
    #[test]
    fn walks_keep_to_the_graph(seed in any::<u64>(), failing in any::<u64>()) {
        let graph = built(&input(seed, ODD), &Options::default());
        let walked = graph.to_walk().unwrap();
        let count = graph.nodes().len();
        let done = std::sync::Mutex::new(Vec::new());
        let fails = |node: usize| failing >> (node % 64) & 7 == 0;
        let execute = |node: usize, _: &groundstate_schedule::walk::Context| {
            done.lock().unwrap().push(node);
            if fails(node) { Outcome::Failed("it was to fail".to_owned()) } else { Outcome::Succeeded }
        };
        let report = walk(&walked, &WalkOptions::default().parallelism(1), &execute, &mut |_| ());
        let done = done.into_inner().unwrap();
        let ways = reachable(&graph);
        let failed: Vec<usize> = done.iter().copied().filter(|&node| fails(node)).collect();
        for node in 0..count {
            let blocked = failed.iter().any(|&other| ways.contains(&(node, other)));
            prop_assert_eq!(report.settled(node) == Settled::SkippedUpstream, blocked);
        }
        let expected: Vec<usize> = graph
            .order_numbers()
            .unwrap()
            .into_iter()
            .filter(|&node| report.settled(node) != Settled::SkippedUpstream)
            .collect();
        if failed.is_empty() {
            prop_assert_eq!(done, expected);
        } else {
            prop_assert_eq!(done.iter().copied().collect::<BTreeSet<_>>(), expected.into_iter().collect());
        }
    }

    /// Oracle 12: where nothing is odd, both profiles order alike.
    #[test]
    fn profiles_agree_where_nothing_is_odd(seed in any::<u64>()) {
        let mut input = input(seed, Kind { modules: true, ..PLAIN });
        // Recorded flags are the effective ones.
        let graph = built(&input, &Options::default());
        for instance in &mut input.instances {
            if let (Some(current), Some(meta)) = (&mut instance.current, graph.persist(&instance.addr)) {
                current.create_before_destroy = meta.create_before_destroy;
            }
        }
        let mut classic = Options::default();
        classic.profile = Profile::Classic;
        prop_assert_eq!(
            reachable(&built(&input, &Options::default())),
            reachable(&built(&input, &classic))
        );
    }
}
