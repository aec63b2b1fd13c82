//! Places for nodes in groups, and ways for the arrows between them.
//!
//! Each group is laid out by itself, from the inside out, and is one item of the group around it. An arrow that leaves a group
//! goes through a port at its lower edge and enters another by one at its upper edge. Arrows that begin or end at one node share
//! ports and ways. The same input gives the same places; time and memory grow about as nodes and arrows do.

mod coordinates;
mod level;
mod order;

use std::collections::BTreeMap;

use level::{Item, Level, Link, Pin};

/// Room in a group beside and below its content, and above it, where its name stands.
const PAD: f64 = 14.0;
const TITLE: f64 = 30.0;
/// Between parts that nothing joins.
const APART: f64 = 26.0;
/// How much wider than high a drawing is to be.
const ASPECT: f64 = 1.5;
/// No drawing is made narrower for the sake of that.
const NARROW: f64 = 560.0;

/// What is laid out.
#[derive(Debug)]
pub(super) struct Input<'a> {
    /// Width and height of each node.
    pub(super) nodes: &'a [(f64, f64)],
    /// The group that each node lies in.
    pub(super) group_of: &'a [Option<usize>],
    /// For each group the one it lies in, which comes before it, and the width of its name.
    pub(super) groups: &'a [(Option<usize>, f64)],
    /// From, to, and the kind of line: only lines of one kind share a way.
    pub(super) arrows: &'a [(usize, usize, usize)],
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Places {
    /// The upper left corner of each node.
    pub(super) nodes: Vec<(f64, f64)>,
    /// Left, top, width and height of each group.
    pub(super) groups: Vec<(f64, f64, f64, f64)>,
    pub(super) lines: Vec<Line>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A part of the way of an arrow, or of several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    /// How far right it goes on its way back up, if it leads there.
    pub(super) aside: Option<f64>,
    /// An arrow that goes this way.
    pub(super) arrow: usize,
    /// It ends at a node, and has a head.
    pub(super) head: bool,
}

/// Something inside a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Node(usize),
    Group(usize),
    /// Where a bundle of arrows enters the group, and where one leaves it.
    Enter(usize),
    Leave(usize),
}

/// A link inside a group: from, to, bundle.
type Step = (Part, Part, usize);

/// A group whose content has places.
#[derive(Debug, Default)]
struct Inside {
    /// Centre and top of each part.
    parts: BTreeMap<Part, (f64, f64)>,
    lines: Vec<Line>,
    width: f64,
    height: f64,
}

/// Places for everything.
pub(super) fn lay_out(input: &Input<'_>) -> Places {
    let root = input.groups.len();
    let steps = steps(input);
    let mut children: Vec<Vec<Part>> = vec![Vec::new(); root + 1];
    for (node, group) in input.group_of.iter().enumerate() {
        children[group.unwrap_or(root)].push(Part::Node(node));
    }
    for (group, (outer, _)) in input.groups.iter().enumerate() {
        children[outer.unwrap_or(root)].push(Part::Group(group));
    }
    let mut inside: Vec<Inside> = Vec::new();
    inside.resize_with(root + 1, Inside::default);
    // Groups come behind those they lie in, so that the inner ones are done first.
    for group in (0..root).rev().chain([root]) {
        inside[group] = arrange(input, group, &children[group], &steps[group], &inside);
    }
    absolute(input, &inside)
}

/// The bundle of each arrow: it is shared at the end where more arrows meet.
fn bundles(input: &Input<'_>) -> Vec<usize> {
    let count = input.nodes.len();
    let mut degree = [vec![0_usize; count], vec![0_usize; count]];
    for &(from, to, _) in input.arrows {
        degree[0][from] += 1;
        degree[1][to] += 1;
    }
    let bundle = |&(from, to, kind): &(usize, usize, usize)| {
        let parts = degree[0][from] >= degree[1][to];
        (2 * kind + usize::from(!parts)) * count + if parts { from } else { to }
    };
    input.arrows.iter().map(bundle).collect()
}

/// What is to be joined inside of each group, and last outside of all; with an arrow that goes there.
fn steps(input: &Input<'_>) -> Vec<BTreeMap<Step, usize>> {
    let root = input.groups.len();
    let mut steps: Vec<BTreeMap<Step, usize>> = vec![BTreeMap::new(); root + 1];
    let around = |node: usize| {
        let outer = |&group: &usize| input.groups[group].0;
        std::iter::successors(input.group_of[node], outer).collect::<Vec<usize>>()
    };
    for ((arrow, &(from, to, _)), bundle) in input.arrows.iter().enumerate().zip(bundles(input)) {
        let (mut out, mut into) = (around(from), around(to));
        let mut common = root;
        while let (Some(a), Some(b)) = (out.last(), into.last())
            && a == b
        {
            common = *a;
            out.pop();
            into.pop();
        }
        let mut at = Part::Node(from);
        for group in out {
            steps[group].entry((at, Part::Leave(bundle), bundle)).or_insert(arrow);
            at = Part::Group(group);
        }
        let inner = |place: usize| match place.checked_sub(1) {
            Some(group) => Part::Group(into[group]),
            None => Part::Node(to),
        };
        steps[common].entry((at, inner(into.len()), bundle)).or_insert(arrow);
        for place in (0..into.len()).rev() {
            steps[into[place]].entry((Part::Enter(bundle), inner(place), bundle)).or_insert(arrow);
        }
    }
    steps
}

/// Places what is in a group, or outside of all.
fn arrange(
    input: &Input<'_>,
    group: usize,
    children: &[Part],
    steps: &BTreeMap<Step, usize>,
    inside: &[Inside],
) -> Inside {
    let ports = steps.keys().flat_map(|&(from, to, _)| [from, to]);
    let mut parts: Vec<Part> = ports.filter(|part| matches!(part, Part::Enter(_) | Part::Leave(_))).collect();
    parts.sort_unstable();
    parts.dedup();
    parts.extend(children);
    let number: BTreeMap<Part, usize> = parts.iter().enumerate().map(|(at, part)| (*part, at)).collect();
    let item = |part: &Part| match *part {
        Part::Node(node) => Item { width: input.nodes[node].0, height: input.nodes[node].1, pin: Pin::None },
        Part::Group(group) => {
            Item { width: inside[group].width, height: inside[group].height, pin: Pin::None }
        }
        Part::Enter(_) => Item { width: 2.0, height: 0.0, pin: Pin::Top },
        Part::Leave(_) => Item { width: 2.0, height: 0.0, pin: Pin::Bottom },
    };
    let items: Vec<Item> = parts.iter().map(item).collect();
    // Where a line leaves or enters an inner group.
    let port = |part: Part, port: Part| match part {
        Part::Group(group) => {
            inside[group].parts.get(&port).map_or(0.0, |(x, _)| x - inside[group].width / 2.0)
        }
        _ => 0.0,
    };
    let link = |&(from, to, bundle): &Step| Link {
        from: number[&from],
        to: number[&to],
        from_dx: port(from, Part::Leave(bundle)),
        to_dx: port(to, Part::Enter(bundle)),
        bundle,
    };
    let links: Vec<Link> = steps.keys().map(link).collect();
    let arrows: Vec<usize> = steps.values().copied().collect();
    let level = pack(&items, &links);
    let is_root = group == input.groups.len();
    let (left, top) = if is_root { (0.0, 0.0) } else { (PAD, TITLE) };
    let name = input.groups.get(group).map_or(0.0, |(_, name)| *name);
    let width = if is_root { level.width } else { level.width.max(name) + 2.0 * PAD };
    let mut done = Inside { width, height: level.height, ..Inside::default() };
    if !is_root {
        done.height += TITLE + PAD;
    }
    for (part, (x, y)) in parts.iter().zip(&level.places) {
        done.parts.insert(*part, (x + left, y + top));
    }
    done.lines = level
        .pieces
        .iter()
        .map(|piece| Line {
            from: (piece.from.0 + left, piece.from.1 + top),
            to: (piece.to.0 + left, piece.to.1 + top),
            aside: piece.aside.map(|x| x + left),
            arrow: arrows[piece.link],
            head: piece.ends.is_some_and(|end| matches!(parts[end], Part::Node(_))),
        })
        .collect();
    through_edges(&mut done, steps);
    done
}

/// The lines between the ports of a group and its edges.
fn through_edges(done: &mut Inside, steps: &BTreeMap<Step, usize>) {
    let mut arrow_of: BTreeMap<Part, usize> = BTreeMap::new();
    for (&(from, to, _), &arrow) in steps {
        arrow_of.entry(from).or_insert(arrow);
        arrow_of.entry(to).or_insert(arrow);
    }
    for (part, arrow) in arrow_of {
        let Some(&(x, y)) = done.parts.get(&part) else { continue };
        let (from, to) = match part {
            Part::Enter(_) => ((x, 0.0), (x, y)),
            Part::Leave(_) => ((x, y), (x, done.height)),
            Part::Node(_) | Part::Group(_) => continue,
        };
        done.lines.push(Line { from, to, aside: None, arrow, head: false });
    }
}

/// Lays out what hangs together, each by itself, and puts the results side by side in shelves.
fn pack(items: &[Item], links: &[Link]) -> Level {
    let area: f64 = items.iter().map(|item| (item.width + APART) * (item.height + 2.0 * APART)).sum();
    let limit = (area * ASPECT).sqrt().max(NARROW);
    let of = together(items, links);
    let mut members: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (item, first) in of.iter().enumerate() {
        members.entry(*first).or_default().0.push(item);
    }
    for (number, link) in links.iter().enumerate() {
        members.entry(of[link.from]).or_default().1.push(number);
    }
    let mut local = vec![0; items.len()];
    let mut blocks: Vec<(Level, Vec<usize>, Vec<usize>, bool)> = Vec::with_capacity(members.len());
    for (own, own_links) in members.into_values() {
        for (at, &item) in own.iter().enumerate() {
            local[item] = at;
        }
        let here: Vec<Item> = own.iter().map(|&item| items[item]).collect();
        let inner = |&number: &usize| {
            let link = links[number];
            Link { from: local[link.from], to: local[link.to], ..link }
        };
        let inner: Vec<Link> = own_links.iter().map(inner).collect();
        let pinned = here.iter().any(|item| item.pin != Pin::None);
        blocks.push((level::lay_out(&here, &inner, limit), own, own_links, pinned));
    }
    // What is joined with the outside comes first, the rest from the highest to the lowest.
    blocks.sort_by(|a, b| b.3.cmp(&a.3).then(b.0.height.total_cmp(&a.0.height)));
    shelve(items.len(), blocks, limit)
}

fn shelve(count: usize, blocks: Vec<(Level, Vec<usize>, Vec<usize>, bool)>, limit: f64) -> Level {
    let mut all = Level { places: vec![(0.0, 0.0); count], ..Level::default() };
    // Beside what is joined with the outside, whose lines go on above and below.
    let mut start = 0.0;
    let (mut x, mut y, mut high) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (block, own, own_links, pinned) in blocks {
        if x > start && x + block.width > limit.max(start + block.width) {
            (x, y, high) = (start, y + high + APART, 0.0);
        }
        for (item, place) in own.iter().zip(&block.places) {
            all.places[*item] = (place.0 + x, place.1 + y);
        }
        all.pieces.extend(block.pieces.iter().map(|piece| level::Piece {
            from: (piece.from.0 + x, piece.from.1 + y),
            to: (piece.to.0 + x, piece.to.1 + y),
            link: own_links[piece.link],
            ends: piece.ends.map(|end| own[end]),
            aside: piece.aside.map(|aside| aside + x),
        }));
        all.width = all.width.max(x + block.width);
        all.height = all.height.max(y + block.height);
        high = high.max(block.height);
        x += block.width + APART;
        if pinned {
            (start, high) = (x, 0.0);
        }
    }
    all
}

/// For each item the first of those it hangs together with. All at the edges count as joined.
fn together(items: &[Item], links: &[Link]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..items.len()).collect();
    let find = |first: &mut Vec<usize>, mut item: usize| {
        while first[item] != item {
            first[item] = first[first[item]];
            item = first[item];
        }
        item
    };
    let mut pinned = None;
    for item in (0..items.len()).filter(|&item| items[item].pin != Pin::None) {
        let known = *pinned.get_or_insert(item);
        let (a, b) = (find(&mut first, known), find(&mut first, item));
        first[a.max(b)] = a.min(b);
    }
    for link in links {
        let (a, b) = (find(&mut first, link.from), find(&mut first, link.to));
        first[a.max(b)] = a.min(b);
    }
    (0..items.len()).map(|item| find(&mut first, item)).collect()
}

/// From places inside of groups to places in the whole.
fn absolute(input: &Input<'_>, inside: &[Inside]) -> Places {
    let root = input.groups.len();
    let mut origin = vec![(0.0, 0.0); root + 1];
    let mut places = Places {
        nodes: vec![(0.0, 0.0); input.nodes.len()],
        groups: vec![(0.0, 0.0, 0.0, 0.0); root],
        lines: Vec::new(),
        width: inside[root].width,
        height: inside[root].height,
    };
    for group in std::iter::once(root).chain(0..root) {
        let (left, top) = origin[group];
        for (part, (x, y)) in &inside[group].parts {
            match *part {
                Part::Node(node) => places.nodes[node] = (left + x - input.nodes[node].0 / 2.0, top + y),
                Part::Group(inner) => {
                    let (width, height) = (inside[inner].width, inside[inner].height);
                    origin[inner] = (left + x - width / 2.0, top + y);
                    places.groups[inner] = (origin[inner].0, origin[inner].1, width, height);
                }
                Part::Enter(_) | Part::Leave(_) => {}
            }
        }
        places.lines.extend(inside[group].lines.iter().map(|line| Line {
            from: (line.from.0 + left, line.from.1 + top),
            to: (line.to.0 + left, line.to.1 + top),
            aside: line.aside.map(|x| x + left),
            ..*line
        }));
    }
    places
}
