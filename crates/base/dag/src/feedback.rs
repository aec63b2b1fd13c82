//! Sets of edges without which a graph has no cycle.

use std::collections::VecDeque;

use crate::CompactGraph;

/// Edges without which a graph has no cycle; made by [`CompactGraph::feedback_edges`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedbackEdges {
    /// The edges, each as its two nodes, in order. None of them is superfluous.
    pub edges: Vec<(u32, u32)>,
    /// Whether it is proven that no smaller set would do.
    pub is_smallest: bool,
}

impl<W> CompactGraph<W> {
    /// A set of edges whose removal leaves no cycle: a smallest one, if `steps` suffice to find one and prove it.
    ///
    /// Finding a smallest set takes exponential time in the worst case; each of the steps takes time proportional to the
    /// graph. Where they do not suffice, the set has no superfluous edge and may still not be a smallest. Of sets of
    /// one size, one is preferred whose edges have a small `rank`.
    ///
    /// ```
    /// use groundstate_dag::CompactGraph;
    ///
    /// // Two cycles that share the edge from 0 to 1.
    /// let edges = vec![(0, 1, ()), (1, 2, ()), (2, 0, ()), (1, 3, ()), (3, 0, ())];
    /// let graph = CompactGraph::from_edges(4, edges, |_, _| {});
    /// let cut = graph.feedback_edges(100, |_| 0);
    /// assert_eq!((cut.edges, cut.is_smallest), (vec![(0, 1)], true));
    /// ```
    pub fn feedback_edges<R: Ord>(&self, steps: usize, rank: impl Fn(&W) -> R) -> FeedbackEdges {
        let list: Vec<(u32, u32)> = self.edges().map(|(from, to, _)| (from, to)).collect();
        let ranks: Vec<R> = self.edges().map(|(_, _, value)| rank(value)).collect();
        let mut search = Search { graph: self, list, gone: vec![false; self.edge_count()], steps };
        let Some(bound) = search.disjoint_cycles() else { return search.superfluous_removed() };
        // With one edge more at each round, so that the first set found is a smallest.
        for size in bound.. {
            match search.cut(size, &ranks) {
                Some(true) => return search.result(true),
                Some(false) => {}
                None => break,
            }
        }
        search.superfluous_removed()
    }
}

struct Search<'a, W> {
    graph: &'a CompactGraph<W>,
    list: Vec<(u32, u32)>,
    gone: Vec<bool>,
    steps: usize,
}

impl<W> Search<'_, W> {
    fn spend(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    /// How many cycles can be found that share no edge: at least so many edges have to go. None when steps run out.
    fn disjoint_cycles(&mut self) -> Option<usize> {
        let mut count = 0;
        let found = loop {
            if self.spend().is_none() {
                break None;
            }
            let Some(cycle) = self.a_cycle() else { break Some(count) };
            count += 1;
            for edge in cycle {
                self.gone[edge] = true;
            }
        };
        self.gone.fill(false);
        found
    }

    /// Whether taking so many more edges away leaves no cycle; they are taken then. None when steps run out.
    fn cut<R: Ord>(&mut self, size: usize, ranks: &[R]) -> Option<bool> {
        // The edges taken, each with the other edges of the cycle for whose sake it was.
        let mut taken: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut backtrack = false;
        loop {
            if !backtrack {
                if self.spend().is_none() {
                    self.gone.fill(false);
                    return None;
                }
                let Some(mut cycle) = self.a_cycle() else { return Some(true) };
                // Taken from the end.
                cycle.sort_by(|&a, &b| ranks[b].cmp(&ranks[a]).then(b.cmp(&a)));
                if taken.len() < size
                    && let Some(edge) = cycle.pop()
                {
                    self.gone[edge] = true;
                    taken.push((edge, cycle));
                    continue;
                }
            }
            let Some((edge, mut others)) = taken.pop() else { return Some(false) };
            self.gone[edge] = false;
            backtrack = others.is_empty();
            if let Some(next) = others.pop() {
                self.gone[next] = true;
                taken.push((next, others));
            }
        }
    }

    fn result(&self, is_smallest: bool) -> FeedbackEdges {
        let edges = self.list.iter().zip(&self.gone).filter(|(_, gone)| **gone).map(|(edge, _)| *edge);
        FeedbackEdges { edges: edges.collect(), is_smallest }
    }

    /// The edges of one cycle, a shortest through its first node; none when there is no cycle.
    fn a_cycle(&self) -> Option<Vec<usize>> {
        let start = self.on_a_cycle()?;
        let mut came_by: Vec<Option<usize>> = vec![None; self.graph.node_count()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for edge in self.edges_of(node) {
                let to = self.list[edge].1;
                if to == start {
                    let mut cycle = vec![edge];
                    let mut at = node;
                    while at != start {
                        let Some(edge) = came_by[at as usize] else { break };
                        cycle.push(edge);
                        at = self.list[edge].0;
                    }
                    return Some(cycle);
                }
                if came_by[to as usize].is_none() {
                    came_by[to as usize] = Some(edge);
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// The smallest node on a cycle of the edges that are left.
    fn on_a_cycle(&self) -> Option<u32> {
        let edges = self.list.iter().zip(&self.gone).filter(|(_, gone)| !**gone);
        let left: Vec<(u32, u32, ())> = edges.map(|(&(from, to), _)| (from, to, ())).collect();
        let itself = left.iter().filter(|(from, to, ())| from == to).map(|&(from, ..)| from).min();
        let graph = CompactGraph::from_edges(self.graph.node_count(), left, |(), ()| {});
        let (of, count) = graph.components();
        let mut size = vec![0_u32; count];
        for &component in &of {
            size[component as usize] += 1;
        }
        let in_company = (0..of.len() as u32).find(|&node| size[of[node as usize] as usize] > 1);
        itself.into_iter().chain(in_company).min()
    }

    fn edges_of(&self, node: u32) -> impl Iterator<Item = usize> + '_ {
        let first = self.list.partition_point(|&(from, _)| from < node);
        let count = self.graph.successors(node).len();
        (first..first + count).filter(|&edge| !self.gone[edge])
    }

    /// The edges that lead back in a search of the whole graph, without those that can stay after all.
    fn superfluous_removed(&mut self) -> FeedbackEdges {
        const TRIES: usize = 200;
        self.gone.fill(false);
        for edge in self.leading_back() {
            self.gone[edge] = true;
        }
        let back: Vec<usize> = (0..self.gone.len()).filter(|&edge| self.gone[edge]).collect();
        for edge in back.into_iter().take(TRIES) {
            let (from, to) = self.list[edge];
            if from != to && !self.reaches(to, from) {
                self.gone[edge] = false;
            }
        }
        let few = self.gone.iter().filter(|gone| **gone).count() <= 1;
        self.result(few)
    }

    fn reaches(&self, from: u32, goal: u32) -> bool {
        let mut seen = vec![false; self.graph.node_count()];
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            for edge in self.edges_of(node) {
                let to = self.list[edge].1;
                if to == goal {
                    return true;
                }
                if !std::mem::replace(&mut seen[to as usize], true) {
                    stack.push(to);
                }
            }
        }
        false
    }

    /// The edges that a depth-first search finds to lead back to a node on its path.
    fn leading_back(&self) -> Vec<usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Done,
        }
        let mut marks = vec![Mark::New; self.graph.node_count()];
        let mut back = Vec::new();
        let mut path: Vec<(u32, usize)> = Vec::new();
        for first in 0..self.graph.node_count() as u32 {
            if marks[first as usize] == Mark::New {
                marks[first as usize] = Mark::OnPath;
                path.push((first, self.list.partition_point(|&(from, _)| from < first)));
            }
            while let Some((node, edge)) = path.last_mut() {
                let (node, at) = (*node, *edge);
                *edge += 1;
                match self.list.get(at) {
                    Some(&(from, to)) if from == node => match marks[to as usize] {
                        Mark::New => {
                            marks[to as usize] = Mark::OnPath;
                            path.push((to, self.list.partition_point(|&(from, _)| from < to)));
                        }
                        Mark::OnPath => back.push(at),
                        Mark::Done => {}
                    },
                    _ => {
                        marks[node as usize] = Mark::Done;
                        path.pop();
                    }
                }
            }
        }
        back
    }
}
