//! The order of resources: each after everything it needs, and otherwise where it stood.

use std::sync::Arc;

use groundstate_dag::Graph;
use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};

use crate::targets::Targets;

/// Why resources cannot be sorted. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SortError {
    /// Resources need each other in a circle.
    #[error("snapshot has cyclic dependencies")]
    Cycle {
        /// The names of the resources of one circle, each before the one it needs.
        urns: Vec<Urn>,
    },
}

/// A resource that sorting moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where it stood.
    pub from: usize,
    /// Where it stands now.
    pub to: usize,
}

/// Brings the resources into an order in which each comes after everything it needs.
///
/// What is in order stays as it is; otherwise a resource that is needed moves up to the first that needs it, and nothing else
/// changes. References to unknown resources do not matter. Gives the fewest resources whose move explains the new order.
///
/// # Errors
///
/// There is a cycle; the order is left as it was.
pub fn sort(snapshot: &mut Snapshot) -> Result<Vec<Moved>, SortError> {
    let order = order(&snapshot.resources)?;
    let moved = moves(&order);
    if !moved.is_empty() {
        let sorted = order.iter().filter_map(|at| snapshot.resources.get(*at).map(Arc::clone)).collect();
        snapshot.resources = sorted;
    }
    Ok(moved)
}

/// The indexes of the resources in the order that [`sort`] brings them into.
pub(crate) fn order(resources: &[Arc<Resource>]) -> Result<Vec<usize>, SortError> {
    /// What is open on the path: a resource, and what it still has to wait for.
    struct Open {
        at: usize,
        waiting_for: Vec<usize>,
    }
    let targets = Targets::new(resources);
    let open = |at: usize| {
        let mut waiting_for: Vec<usize> = targets.successors(at).collect();
        waiting_for.reverse();
        Open { at, waiting_for }
    };
    let mut order = Vec::with_capacity(resources.len());
    let mut state = vec![State::New; resources.len()];
    for start in 0..resources.len() {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        let mut path = vec![open(start)];
        while let Some(top) = path.last_mut() {
            let Some(next) = top.waiting_for.pop() else {
                state[top.at] = State::Done;
                order.push(top.at);
                path.pop();
                continue;
            };
            match state[next] {
                State::Done => {}
                State::New => {
                    state[next] = State::Open;
                    path.push(open(next));
                }
                State::Open => {
                    let circle = path.iter().map(|open| open.at).skip_while(|at| *at != next);
                    let urns = circle.map(|at| resources[at].urn.clone()).collect();
                    return Err(SortError::Cycle { urns });
                }
            }
        }
    }
    Ok(order)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// The smallest set of elements whose move makes `order` out of the ascending one: all but a longest ascending run.
pub(crate) fn moves(order: &[usize]) -> Vec<Moved> {
    // `tails[n]` is where the ascending run of n + 1 elements ends that has the smallest end.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(order.len());
    for (to, from) in order.iter().enumerate() {
        let length = tails.partition_point(|tail| order[*tail] < *from);
        before.push(length.checked_sub(1).map(|shorter| tails[shorter]));
        match tails.get_mut(length) {
            Some(tail) => *tail = to,
            None => tails.push(to),
        }
    }
    let mut stays = vec![false; order.len()];
    let mut at = tails.last().copied();
    while let Some(to) = at {
        stays[to] = true;
        at = before[to];
    }
    let moved = order.iter().enumerate().filter(|(to, _)| !stays[*to]);
    moved.map(|(to, from)| Moved { from: *from, to }).collect()
}

/// One circle of each set of resources that need each other, as indexes, each before the one it needs.
pub(crate) fn cycles(snapshot: &Snapshot) -> Vec<Vec<usize>> {
    let targets = Targets::new(&snapshot.resources);
    let mut graph = Graph::with_capacity(snapshot.resources.len());
    let nodes: Vec<_> = (0..targets.resources().len()).map(|at| graph.add_node(at)).collect();
    for (at, &from) in nodes.iter().enumerate() {
        for to in targets.successors(at).filter_map(|to| nodes.get(to)) {
            graph.add_edge(from, *to);
        }
    }
    graph.cycles().map(|cycle| cycle.nodes().iter().map(|node| node.index()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_as_possible_are_said_to_move() {
        for (order, expected) in [
            (&[0, 1, 2][..], &[][..]),
            (&[2, 0, 1], &[(2, 0)]),
            (&[1, 2, 0], &[(0, 2)]),
            (&[3, 0, 1, 4, 2], &[(3, 0), (4, 3)]),
            (&[2, 1, 0], &[(2, 0), (1, 1)]),
        ] {
            let moved: Vec<_> = moves(order).iter().map(|moved| (moved.from, moved.to)).collect();
            assert_eq!(moved, expected, "{order:?}");
        }
    }
}
