//! Drawings as pictures: instances of one resource as one box, and what follows from that.

use std::collections::BTreeMap;

use groundstate_dag::CompactGraph;

use super::fold::Frames;
use super::svg::{Figure, Picture};
use super::{Arrow, Drawing, Node, Shape};
use crate::graph::Label;

/// Members of a box that its title names.
const NAMED: usize = 30;

/// How an arrow is drawn; where several become one, it is solid if one of them is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    solid: bool,
    red: bool,
}

impl Label for Look {
    fn merge(&mut self, other: Self) {
        self.solid |= other.solid;
        self.red |= other.red;
    }
}

impl Drawing {
    /// The drawing as SVG: layers from what is done first to what waits for it, groups as frames, and instances of one
    /// resource that are treated alike as one box.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.picture().to_svg()
    }

    fn picture(&self) -> Picture {
        let plain = self.frames();
        let folded = self.folded(&plain);
        // Where boxes for several things wait for each other although the things do not, less is put together.
        let tried = [&folded, &plain].into_iter().find_map(|frames| {
            let sets = self.alike(frames);
            let arrows = self.between(&sets)?;
            Some((frames, sets, arrows))
        });
        let (frames, sets, arrows) = tried.unwrap_or_else(|| {
            let sets: Vec<Vec<usize>> = (0..self.nodes.len()).map(|node| vec![node]).collect();
            let arrows = self.between(&sets).unwrap_or_else(|| self.arrows.clone());
            (&plain, sets, arrows)
        });
        let figure = |set: &Vec<usize>| self.figure(set, frames);
        let mut notes = vec!["arrows lead from what is done first to what waits for it".to_owned()];
        notes.extend(self.caption().map(str::to_owned));
        if arrows.iter().any(|arrow| arrow.on_cycle) {
            notes.push("red: these wait for each other".to_owned());
        }
        if !self.hubs.is_empty() {
            notes.push("points: all above one is done before all below it".to_owned());
        }
        let figures = sets.iter().map(figure).collect();
        Picture { figures, groups: frames.frames.clone(), arrows, points: self.hubs.len(), notes }
    }

    fn figure(&self, set: &[usize], frames: &Frames) -> Figure {
        let first: &Node = &self.nodes[set[0]];
        // Groups of one frame hold the same, so each has its share.
        let count = set.len() / frames.groups_of(set[0]);
        let is_one = count == 1 && set.iter().all(|&node| self.nodes[node].key == first.key);
        let mut title: Vec<String> = set
            .iter()
            .take(NAMED)
            .map(|&node| format!("{}: {}", self.nodes[node].title, self.nodes[node].action))
            .collect();
        if set.len() > NAMED {
            title.push(format!("and {} more", set.len() - NAMED));
        }
        let name = if is_one { format!("{}{}", first.short, first.key) } else { first.short.clone() };
        Figure {
            title,
            kind: first.kind.clone(),
            name,
            count,
            remark: None,
            action: first.action.clone(),
            style: first.style,
            shape: first.shape,
            group: frames.of_node[set[0]],
        }
    }

    /// Nodes that differ in nothing but their keys and those of their groups, together.
    fn alike(&self, frames: &Frames) -> Vec<Vec<usize>> {
        let mut known: BTreeMap<(Option<usize>, &str, &str, &str), usize> = BTreeMap::new();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let stands_alone = node.key.is_empty() || node.shape == Shape::Hexagon;
            if stands_alone && frames.groups_of(number) == 1 {
                sets.push(vec![number]);
                continue;
            }
            let name = (frames.of_node[number], node.kind.as_str(), node.short.as_str(), node.style.class);
            let set = *known.entry(name).or_insert_with(|| {
                sets.push(Vec::new());
                sets.len() - 1
            });
            sets[set].push(number);
        }
        sets
    }

    /// The arrows between sets of nodes, without those that others imply; none if sets wait for each other although nodes do
    /// not.
    fn between(&self, sets: &[Vec<usize>]) -> Option<Vec<Arrow>> {
        let mut set_of = vec![0_u32; self.nodes.len() + self.hubs.len()];
        for (set, members) in sets.iter().enumerate() {
            members.iter().for_each(|&node| set_of[node] = set as u32);
        }
        for hub in 0..self.hubs.len() {
            set_of[self.nodes.len() + hub] = (sets.len() + hub) as u32;
        }
        let at = |node: u32| set_of[node as usize];
        let look = |arrow: &Arrow| Look { solid: !arrow.dashed, red: arrow.on_cycle };
        let edges = self.arrows.iter().map(|arrow| (at(arrow.first), at(arrow.then), look(arrow)));
        let mut edges: Vec<(u32, u32, Look)> = edges.collect();
        let is_cyclic = self.arrows.iter().any(|arrow| arrow.on_cycle);
        if !is_cyclic {
            edges.retain(|(first, then, _)| first != then);
        }
        let graph = CompactGraph::from_edges(sets.len() + self.hubs.len(), edges, Look::merge);
        let graph = match graph.reduce_transitively() {
            Some(reduced) => reduced,
            None if is_cyclic => graph,
            None => return None,
        };
        let arrow = |(first, then, look): (u32, u32, &Look)| Arrow {
            first,
            then,
            dashed: !look.solid,
            on_cycle: look.red,
        };
        Some(graph.edges().map(arrow).collect())
    }
}
