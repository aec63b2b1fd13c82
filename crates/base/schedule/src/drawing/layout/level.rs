//! One level of a drawing: items in rows, and the lines between them.
//!
//! Items are ranked so that lines lead down, rows that become too wide are wrapped, the order in each row is improved until
//! few lines cross, and places follow from the order. Lines of one bundle share the way through rows they only pass.

use std::collections::{BTreeMap, VecDeque};

use super::coordinates::{Wish, settle};
use super::order;

/// Between items of a row, and between lines that pass it.
const GAP: f64 = 26.0;
const LINE_GAP: f64 = 9.0;
/// Between rows: at least, and at most where lines go far aside.
const ROW_GAP: (f64, f64) = (34.0, 76.0);
/// Ways through rows are not looked for beyond so many, so that memory stays bounded; lines then take the direct way.
const MOST_PASSES: usize = 60_000;
/// So many lines that lead back up have their own place beside the rows.
const MOST_LANES: usize = 24;
/// How often rows are put in order and moved to their places.
const SWEEPS: usize = 14;

/// What is placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) pin: Pin,
}

/// Whether an item has its place at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    None,
    Top,
    Bottom,
}

/// A line to be drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Where on the items it begins and ends, from their centres.
    pub(super) from_dx: f64,
    pub(super) to_dx: f64,
    /// Links of one bundle begin or end at one item, and share what way they can.
    pub(super) bundle: usize,
}

/// A part of a line between two rows, or through one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    /// A link that runs here; those of the same bundle may as well.
    pub(super) link: usize,
    /// The item it ends at.
    pub(super) ends: Option<usize>,
    /// How far right it goes on its way back up, if that is where it leads.
    pub(super) aside: Option<f64>,
}

/// Where everything is.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// Centre and top of each item.
    pub(super) places: Vec<(f64, f64)>,
    pub(super) pieces: Vec<Piece>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A place in a row: an item, or a line that passes.
#[derive(Clone, Copy, Debug)]
struct Spot {
    item: Option<usize>,
    row: usize,
    width: f64,
}

/// The nodes of the rows, with lines between neighbouring rows only, as far as lines have ways.
struct Rows {
    spots: Vec<Spot>,
    /// Upper spot, lower spot, link; the upper one may be more than one row above where no way was looked for.
    lines: Vec<(usize, usize, usize)>,
    rows: Vec<Vec<usize>>,
}

/// Places what hangs together. Rows are not made wider than the limit where more than one item is in them.
pub(super) fn lay_out(items: &[Item], links: &[Link], limit: f64) -> Level {
    let back = against(items.len(), links);
    let down: Vec<(usize, Link)> =
        links.iter().copied().enumerate().filter(|(number, _)| !back[*number]).collect();
    let row_of = rank(items, &down, limit);
    let mut rows = route(items, &down, &row_of);
    let joined = neighbours(&rows);
    order::sweep(&mut rows.rows, &joined, SWEEPS);
    let mut level = place(items, links, &rows);
    let width = level.width;
    for (lane, (number, link)) in links.iter().enumerate().filter(|(number, _)| back[*number]).enumerate() {
        let end = |item: usize, dx: f64, height: f64| {
            let (x, y) = level.places[item];
            (x + dx, y + height)
        };
        let aside = width + LINE_GAP * (lane % MOST_LANES + 1) as f64;
        level.width = level.width.max(aside);
        level.pieces.push(Piece {
            from: end(link.from, link.from_dx, items[link.from].height),
            to: end(link.to, link.to_dx, 0.0),
            link: number,
            ends: Some(link.to),
            aside: Some(aside),
        });
    }
    level
}

/// Links that lead up, because they lie on a cycle: they are drawn beside the rows.
fn against(count: usize, links: &[Link]) -> Vec<bool> {
    let mut out: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (number, link) in links.iter().enumerate() {
        out[link.from].push((link.to, number));
    }
    let mut turned = vec![false; links.len()];
    // 0: not met, 1: on the way to here, 2: done.
    let mut state = vec![0_u8; count];
    for start in 0..count {
        let mut stack = vec![(start, 0)];
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        while let Some((node, next)) = stack.last_mut() {
            match out[*node].get(*next) {
                Some(&(to, number)) => {
                    *next += 1;
                    match state[to] {
                        0 => {
                            state[to] = 1;
                            stack.push((to, 0));
                        }
                        1 => turned[number] = true,
                        _ => {}
                    }
                }
                None => {
                    state[*node] = 2;
                    stack.pop();
                }
            }
        }
    }
    turned
}

/// The row of each item: below all it comes after, in rows that are not too wide.
fn rank(items: &[Item], links: &[(usize, Link)], limit: f64) -> Vec<usize> {
    let count = items.len();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for (_, link) in links {
        below[link.from].push(link.to);
        waiting[link.to] += 1;
    }
    let has_top = items.iter().any(|item| item.pin == Pin::Top);
    let mut row = vec![0_usize; count];
    let mut used: Vec<f64> = Vec::new();
    // From here on rows may have room; those before are full for all items of one width and more.
    let mut ready: VecDeque<usize> = (0..count).filter(|&item| waiting[item] == 0).collect();
    while let Some(item) = ready.pop_front() {
        let Item { width, pin, .. } = items[item];
        if pin == Pin::None {
            let first = row[item].max(usize::from(has_top));
            let room =
                |at: &usize| used.get(*at).is_none_or(|used| *used == 0.0 || used + width + GAP <= limit);
            let at = (first..).find(room).unwrap_or(first);
            if used.len() <= at {
                used.resize(at + 1, 0.0);
            }
            used[at] += width + GAP;
            row[item] = at;
        }
        for &lower in &below[item] {
            row[lower] = row[lower].max(row[item] + 1);
            waiting[lower] -= 1;
            if waiting[lower] == 0 {
                ready.push_back(lower);
            }
        }
    }
    let inner = items.iter().zip(&row).filter(|(item, _)| item.pin == Pin::None);
    let last = inner.map(|(_, row)| row + 1).max().unwrap_or(1);
    for (item, row) in items.iter().zip(&mut row) {
        match item.pin {
            Pin::Top => *row = 0,
            Pin::Bottom => *row = last,
            Pin::None => {}
        }
    }
    row
}

/// Adds the ways through rows. All links of a bundle share one, beside the items of the rows that they pass.
fn route(items: &[Item], links: &[(usize, Link)], row_of: &[usize]) -> Rows {
    let spot = |(item, (it, &row)): (usize, (&Item, &usize))| Spot { item: Some(item), row, width: it.width };
    let mut spots: Vec<Spot> = items.iter().zip(row_of).enumerate().map(spot).collect();
    let mut lines: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
    let mut bundles: BTreeMap<usize, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for (number, link) in links {
        bundles.entry(link.bundle).or_default().push((*number, link.from, link.to));
    }
    let mut passes = 0;
    for (&bundle, members) in &bundles {
        // All begin at one item or all end at one: the ways part, or they meet.
        let mut ways: BTreeMap<usize, usize> = BTreeMap::new();
        for &(number, upper, lower) in members {
            let (first, last) = (row_of[upper], row_of[lower]);
            let mut at = upper;
            if passes + last.saturating_sub(first) <= MOST_PASSES {
                for row in first + 1..last {
                    let next = *ways.entry(row).or_insert_with(|| {
                        passes += 1;
                        spots.push(Spot { item: None, row, width: 2.0 });
                        spots.len() - 1
                    });
                    lines.entry((at, next, bundle)).or_insert(number);
                    at = next;
                }
            }
            lines.entry((at, lower, bundle)).or_insert(number);
        }
    }
    let mut rows = vec![Vec::new(); row_of.iter().max().map_or(0, |last| last + 1)];
    for (spot, it) in spots.iter().enumerate() {
        // Ways begin in the middle, so that what they are for lies at both sides.
        let row: &mut Vec<usize> = &mut rows[it.row];
        let at = if it.item.is_some() { row.len() } else { row.len() / 2 };
        row.insert(at, spot);
    }
    let lines = lines.into_iter().map(|((upper, lower, _), link)| (upper, lower, link)).collect();
    Rows { spots, lines, rows }
}

/// For each spot what it is joined with above and below.
fn neighbours(rows: &Rows) -> [Vec<Vec<usize>>; 2] {
    let mut joined = [vec![Vec::new(); rows.spots.len()], vec![Vec::new(); rows.spots.len()]];
    for &(upper, lower, _) in &rows.lines {
        joined[0][lower].push(upper);
        joined[1][upper].push(lower);
    }
    joined
}

fn place(items: &[Item], links: &[Link], rows: &Rows) -> Level {
    let xs = across(links, rows);
    let ends_of = |&(upper, lower, link): &(usize, usize, usize)| {
        let (up, low) = offsets(&links[link], rows, upper, lower);
        (xs[upper] + up, xs[lower] + low)
    };
    // Rows that lines leave far aside have more room below.
    let mut aside = vec![0.0_f64; rows.rows.len()];
    for line in &rows.lines {
        let (from, to) = ends_of(line);
        let row = rows.spots[line.0].row;
        aside[row] = aside[row].max((to - from).abs());
    }
    let height = |row: &Vec<usize>| {
        let heights = row.iter().filter_map(|&spot| rows.spots[spot].item).map(|item| items[item].height);
        heights.fold(0.0, f64::max)
    };
    let heights: Vec<f64> = rows.rows.iter().map(height).collect();
    let mut tops = Vec::with_capacity(heights.len());
    let mut y = 0.0;
    let mut bottom: f64 = 0.0;
    for (height, aside) in heights.iter().zip(&aside) {
        tops.push(y);
        bottom = y + height;
        y = bottom + (ROW_GAP.0 + aside * 0.09).min(ROW_GAP.1);
    }
    let mut level = Level { places: vec![(0.0, 0.0); items.len()], height: bottom, ..Level::default() };
    for (spot, x) in rows.spots.iter().zip(&xs) {
        if let Some(item) = spot.item {
            let centred = tops[spot.row] + (heights[spot.row] - items[item].height) / 2.0;
            level.places[item] = (*x, centred);
            level.width = level.width.max(x + items[item].width / 2.0);
        }
        level.width = level.width.max(x + spot.width / 2.0);
    }
    for line in &rows.lines {
        let (upper, lower) = (rows.spots[line.0], rows.spots[line.1]);
        let (from_x, to_x) = ends_of(line);
        // Between rows a line goes aside; beside higher items of its row it goes straight.
        let (bottom, top) = (tops[upper.row] + heights[upper.row], tops[lower.row]);
        let straight = |from: f64, to: f64, x: f64, ends| Piece {
            from: (x, from),
            to: (x, to),
            link: line.2,
            ends,
            aside: None,
        };
        if let Some(item) = upper.item {
            let from = level.places[item].1 + items[item].height;
            level.pieces.extend((bottom - from > 0.5).then(|| straight(from, bottom, from_x, None)));
        }
        let end = lower.item.map_or(top, |item| level.places[item].1);
        let is_lower = end - top > 0.5;
        level.pieces.extend(is_lower.then(|| straight(top, end, to_x, lower.item)));
        level.pieces.push(Piece {
            from: (from_x, bottom),
            to: (to_x, if is_lower { top } else { end }),
            link: line.2,
            ends: lower.item.filter(|_| !is_lower),
            aside: None,
        });
    }
    passes(rows, &xs, &tops, &heights, &mut level.pieces);
    level
}

/// The straight parts of lines through rows.
fn passes(rows: &Rows, xs: &[f64], tops: &[f64], heights: &[f64], pieces: &mut Vec<Piece>) {
    let mut link_of = BTreeMap::new();
    for &(_, lower, link) in rows.lines.iter().filter(|line| rows.spots[line.1].item.is_none()) {
        link_of.entry(lower).or_insert(link);
    }
    for (spot, link) in link_of {
        let (top, x) = (tops[rows.spots[spot].row], xs[spot]);
        let bottom = top + heights[rows.spots[spot].row];
        pieces.push(Piece { from: (x, top), to: (x, bottom), link, ends: None, aside: None });
    }
}

/// From the centres, where a link leaves the upper spot and reaches the lower one.
fn offsets(link: &Link, rows: &Rows, upper: usize, lower: usize) -> (f64, f64) {
    let at_item = |spot: usize, dx: f64| if rows.spots[spot].item.is_some() { dx } else { 0.0 };
    (at_item(upper, link.from_dx), at_item(lower, link.to_dx))
}

/// The centres of all spots from left to right, the leftmost edge at 0.
fn across(links: &[Link], rows: &Rows) -> Vec<f64> {
    let gap = |spot: &Spot| if spot.item.is_some() { GAP } else { LINE_GAP };
    let mut xs = vec![0.0; rows.spots.len()];
    let row_wishes = |row: &[usize], wish: &dyn Fn(usize) -> (f64, f64)| -> Vec<f64> {
        let wishes = row.iter().map(|&spot| {
            let (at, weight) = wish(spot);
            Wish { at, weight, width: rows.spots[spot].width, gap: gap(&rows.spots[spot]) }
        });
        settle(&wishes.collect::<Vec<_>>())
    };
    for row in &rows.rows {
        for (&spot, x) in row.iter().zip(row_wishes(row, &|_| (0.0, 1.0))) {
            xs[spot] = x;
        }
    }
    // For each spot: what it is joined with above and below, and how far the one end is aside from the other.
    let mut joined = [vec![Vec::new(); rows.spots.len()], vec![Vec::new(); rows.spots.len()]];
    for &(upper, lower, link) in &rows.lines {
        let (up, low) = offsets(&links[link], rows, upper, lower);
        joined[0][lower].push((upper, up - low));
        joined[1][upper].push((lower, low - up));
    }
    let straight = |a: usize, b: usize| rows.spots[a].item.is_none() && rows.spots[b].item.is_none();
    for sweep in 0..SWEEPS {
        let upwards = sweep % 2 == 1;
        let last = sweep + 2 >= SWEEPS;
        for at in 0..rows.rows.len() {
            let row = &rows.rows[if upwards { rows.rows.len() - 1 - at } else { at }];
            let wish = |spot: usize| {
                let sides = if last { &joined[..] } else { &joined[usize::from(upwards)..][..1] };
                let (mut sum, mut weight) = (0.0, 0.0);
                // A way stays straight; otherwise all that it meets would push it on from row to row.
                let on_way =
                    sides.iter().flat_map(|side| &side[spot]).any(|&(other, _)| straight(spot, other));
                for &(other, dx) in sides.iter().flat_map(|side| &side[spot]) {
                    let pull = match (on_way, straight(spot, other)) {
                        (true, true) => 1_000.0,
                        (true, false) => continue,
                        (false, _) => 1.0,
                    };
                    sum += (xs[other] + dx) * pull;
                    weight += pull;
                }
                if weight == 0.0 { (xs[spot], 0.1) } else { (sum / weight, weight) }
            };
            let settled = row_wishes(row, &wish);
            for (&spot, x) in row.iter().zip(settled) {
                xs[spot] = x;
            }
        }
    }
    let left = rows.spots.iter().zip(&xs).map(|(spot, x)| x - spot.width / 2.0).fold(f64::INFINITY, f64::min);
    xs.iter_mut().for_each(|x| *x -= left);
    xs
}
