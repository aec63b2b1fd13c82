//! Deployments without the values that surely can be loaded, read by several threads, and what of their text is shown.
//!
//! As with lists of instances, each thread begins where a resource seems to begin. A part that turns out to begin in a wrong place is
//! read again from the right one.

use std::io::{self, Read};

use groundstate_common::in_turn;
use groundstate_json::Mark;
use groundstate_pulumi_deployment::{Beginning, Condensed, CondensedPart, Element, condense_part};

use crate::input::reader::{Input, index};
use crate::report::clipped::Clipped;
use crate::report::excerpt::{AFTER, BEFORE};
use crate::report::progress::{Count, Extent, Progress};

/// How far a beginning of a resource is looked for, in bytes.
const SEARCHED: u64 = 1 << 20;

/// Why no part was given.
enum Ended {
    /// Only the whole will do.
    Whole,
    Failed(io::Error),
}

/// Reads a deployment by so many threads; nothing where only the whole text will do.
pub(crate) fn condensed(input: Input<'_>, threads: usize) -> io::Result<Option<Condensed>> {
    let starts = starts(input, threads)?;
    let stops = starts.iter().skip(1).copied().map(Some).chain([None]);
    let parts: Vec<(usize, Option<usize>)> = starts.iter().copied().zip(stops).collect();
    let count = Count::default();
    let read = |start: usize, stop: Option<usize>| {
        let extent = if start == 0 { Extent::Bytes(input.len()) } else { Extent::ShownElsewhere };
        condense_part(Progress::new(input.from(start as u64), extent, count.clone()), start, stop)
    };
    let (mut next, mut done) = (Some(0), Vec::new());
    let mut remaining = parts.iter();
    let taken = in_turn(
        &parts,
        threads,
        |(start, stop)| read(*start, *stop),
        |part| {
            // Behind the list nothing is left for those who expected resources there.
            let (Some(at), Some((start, stop))) = (next, remaining.next()) else { return Ok(()) };
            let part = if *start == at { part } else { read(at, *stop) };
            let part: CondensedPart = part.map_err(Ended::Failed)?.ok_or(Ended::Whole)?;
            next = part.reached();
            done.push(part);
            Ok(())
        },
    );
    match taken {
        Ok(()) => Ok(Condensed::join(done)),
        Err(Ended::Whole) => Ok(None),
        Err(Ended::Failed(error)) => Err(error),
    }
}

/// Where the threads begin.
fn starts(input: Input<'_>, threads: usize) -> io::Result<Vec<usize>> {
    let mut starts = vec![0];
    if threads < 2 {
        return Ok(starts);
    }
    let mut piece = Vec::new();
    input.from(0).take(SEARCHED).read_to_end(&mut piece)?;
    let Some(beginning) = Beginning::of(&piece) else { return Ok(starts) };
    for thread in 1..threads as u64 {
        let from = input.len() / threads as u64 * thread;
        piece.clear();
        for length in [SEARCHED / 64, SEARCHED] {
            let more = length - piece.len() as u64;
            input.from(from + piece.len() as u64).take(more).read_to_end(&mut piece)?;
            if let Some(found) = beginning.find(&piece) {
                starts.push(index(from)? + found);
                break;
            }
        }
    }
    starts.dedup();
    Ok(starts)
}

/// Reads what is shown of a text when the findings are about these resources, in ascending order, or about what stands around the
/// list.
///
/// Each of the other resources becomes a `0`, so that lists keep their order. What is shown in front of a finding and behind it
/// stays, up to the ends of its line.
pub(crate) fn clip<'t>(
    input: Input<'t>,
    elements: &[Element],
    resources: impl Iterator<Item = usize>,
) -> io::Result<Clipped<'t>> {
    let kept = kept(elements, resources);
    if let ([_], Input::Text(text)) = (kept.as_slice(), input) {
        return Ok(Clipped::whole(text));
    }
    let mut spans = Vec::with_capacity(kept.len());
    for (position, (first, behind)) in kept.iter().enumerate() {
        let begin = elements.get(*first).filter(|_| position > 0).map_or(Mark::START, |element| element.gap);
        let end = elements.get(*behind).map_or(index(input.len())?, |element| element.start.offset);
        let before = position.checked_sub(1).and_then(|before| kept.get(before));
        spans.push((before.map_or(0, |(_, end)| first - end), begin, end));
    }
    let length =
        spans.iter().map(|(left_out, begin, end)| 2 * left_out + end.saturating_sub(begin.offset)).sum();
    let (mut text, mut pieces) = (Vec::new(), Vec::with_capacity(spans.len()));
    text.try_reserve_exact(length)?;
    for (left_out, begin, end) in spans {
        for other in 0..left_out {
            text.extend_from_slice(if other == 0 { b"0" } else { b",0" });
        }
        pieces.push((text.len(), begin));
        let wanted = end.saturating_sub(begin.offset) as u64;
        if input.from(begin.offset as u64).take(wanted).read_to_end(&mut text)? as u64 != wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Clipped::of_pieces(text, pieces))
}

/// Which elements stay, as the first of each run and the one behind it. The first run begins with the text, the last one ends with it,
/// and at least one element is between two runs.
fn kept(elements: &[Element], resources: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let end = elements.len().saturating_sub(1);
    let on_own_line = |index: usize| elements.get(index).is_some_and(|it| it.start.line > it.gap.line);
    let starts = |index: usize| elements.get(index).map_or(0, |it| it.start.offset);
    let ends = |index: usize| elements.get(index).map_or(0, |it| it.gap.offset);
    // The first element that is shown in front of what is in this one.
    let first = |index: usize| {
        let mut first = index;
        while first > 0 && !on_own_line(first) && starts(index) - ends(first) < BEFORE {
            first -= 1;
        }
        first
    };
    // The first one that is not shown behind what is in front of this one.
    let behind = |index: usize| {
        let mut behind = index;
        while behind < end && !on_own_line(behind) && starts(behind) - ends(index) < AFTER {
            behind += 1;
        }
        behind
    };
    let mut runs = vec![(0, behind(0))];
    let found = resources.filter(|index| *index < end).map(|index| (first(index), behind(index + 1)));
    for (first, behind) in found.chain([(first(end), elements.len())]) {
        match runs.last_mut() {
            Some(last) if first <= last.1 => last.1 = last.1.max(behind),
            _ => runs.push((first, behind)),
        }
    }
    runs
}
