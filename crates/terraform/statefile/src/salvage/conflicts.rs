//! Files with merge conflicts, as version control leaves them: two sides, and perhaps their common ancestor.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use groundstate_states::addr::AbsResource;

use super::assemble::{assemble, identity, members};
use super::entries::fill;
use super::pieces::{Pieces, ResourcePiece, name, value};
use super::walk::Walk;
use super::{Gap, SalvageError, old};
use crate::file::File;
use crate::json::compact_as_written;

/// Part of a file with conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Marker,
    Ours,
    Base,
    Theirs,
}

/// The conflicts of a text: lines that belong to one side only, to the ancestor, or to neither.
#[derive(Debug)]
pub(super) struct Conflicts {
    parts: Vec<(Part, Range<usize>)>,
    pub(super) count: usize,
}

const REMOVED: &str = "one side of the merge conflict has removed it, and the other one has not changed it";
const DIFFERS: &str = "the sides of the merge conflict differ in it";
const ANCESTOR: &str = "this section of a merge conflict is the common ancestor, and on neither side";

impl Conflicts {
    /// Finds the conflicts; nothing if the markers do not stand as version control writes them.
    pub(super) fn find(text: &[u8]) -> Option<Self> {
        memchr::memmem::find(text, b"<<<<<<<")?;
        let mut conflicts = Self { parts: Vec::new(), count: 0 };
        let mut side = None;
        let mut start = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let range = start..start + line.len();
            start = range.end;
            let next = match (marker(line), side) {
                (Some(b'<'), None) => {
                    conflicts.count += 1;
                    Some(Part::Ours)
                }
                (Some(b'|'), Some(Part::Ours)) => Some(Part::Base),
                (Some(b'='), Some(Part::Ours | Part::Base)) => Some(Part::Theirs),
                (Some(b'>'), Some(Part::Theirs)) => None,
                (Some(_), Some(_)) => return None,
                (_, None) => continue,
                (None, Some(part)) => {
                    conflicts.parts.push((part, range));
                    continue;
                }
            };
            conflicts.parts.push((Part::Marker, range));
            side = next;
        }
        (conflicts.count > 0).then_some(conflicts)
    }

    fn has_base(&self) -> bool {
        self.parts.iter().any(|(part, _)| *part == Part::Base)
    }

    /// One side with blanks in place of the other, so that everything stands where it stood.
    fn side(&self, text: &[u8], kept: Part) -> Vec<u8> {
        let mut side = text.to_vec();
        for (part, range) in &self.parts {
            if *part != kept {
                fill(&mut side, range.clone());
            }
        }
        side
    }

    /// The losses that every file with conflicts has.
    fn gaps(&self, text: &[u8]) -> Vec<Gap> {
        let first = self.parts.first().map_or(0..0, |(_, range)| range.clone());
        let what = match self.count {
            1 => "a merge conflict begins here".to_owned(),
            count => format!("the first of {count} merge conflicts begins here"),
        };
        let reason = format!("{what}; both sides were read, and what only one of them has is kept");
        let mut gaps = vec![Gap { range: first, what: None, reason }];
        let mut last: Option<Range<usize>> = None;
        let base = self.parts.iter().filter(|(part, _)| *part == Part::Base);
        for (_, range) in base {
            match &mut last {
                Some(section) if section.end == range.start => section.end = range.end,
                _ => {
                    gaps.extend(last.take().map(ancestor));
                    last = Some(range.clone());
                }
            }
        }
        gaps.extend(last.map(ancestor));
        gaps.retain(|gap| gap.range.end <= text.len());
        gaps
    }

    /// Reads both sides.
    pub(super) fn salvage(&self, text: &[u8]) -> Result<(File, Vec<Gap>), SalvageError> {
        let [ours, theirs] = [Part::Ours, Part::Theirs].map(|part| self.side(text, part));
        let both = [ours.as_slice(), theirs.as_slice()].concat();
        let (mine, mut other) = (Walk::new(&ours).run(), Walk::new(&theirs).run());
        if let Some(1..=3) = mine.version(&ours).or_else(|| other.version(&theirs)) {
            return self.salvage_old(text, [&ours, &theirs]);
        }
        if !mine.is_recognized() && !other.is_recognized() {
            return Err(SalvageError::Nothing);
        }
        let base = self.has_base().then(|| self.side(text, Part::Base));
        let base_pieces = base.as_ref().map(|base| Walk::new(base).run());
        other.shift(text.len());
        let ancestor = base.as_deref().zip(base_pieces.as_ref());
        let united = Union { text: &both, ancestor }.unite(mine, other);
        let (file, mut gaps) = assemble(&both, united)?;
        gaps.iter_mut().for_each(|gap| unshift(gap, text.len()));
        // What both sides share is damaged on both.
        gaps.sort_by(|a, b| {
            (a.range.start, a.range.end, &a.reason).cmp(&(b.range.start, b.range.end, &b.reason))
        });
        gaps.dedup_by(|a, b| a.range == b.range && a.reason == b.reason);
        gaps.extend(self.gaps(text));
        Ok((file, gaps))
    }

    /// Reads the side with the higher serial; the lines of the other one are lost.
    fn salvage_old(&self, text: &[u8], sides: [&[u8]; 2]) -> Result<(File, Vec<Gap>), SalvageError> {
        let [ours, theirs] = sides.map(old::salvage);
        let (lost, (file, mut gaps)) = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) if ours.0.serial < theirs.0.serial => (Part::Ours, theirs),
            (Ok(ours), _) => (Part::Theirs, ours),
            (Err(_), Ok(theirs)) => (Part::Ours, theirs),
            (Err(error), Err(_)) => return Err(error),
        };
        let reason = "it is on the other side of a merge conflict, whose serial is lower or unreadable";
        let lines = self.parts.iter().filter(|(part, _)| *part == lost);
        gaps.extend(lines.map(|(_, range)| Gap {
            range: range.clone(),
            what: None,
            reason: reason.to_owned(),
        }));
        gaps.extend(self.gaps(text).into_iter().filter(|gap| gap.reason == ANCESTOR));
        Ok((file, gaps))
    }
}

fn ancestor(range: Range<usize>) -> Gap {
    Gap { range, what: None, reason: ANCESTOR.to_owned() }
}

/// The sign of a marker that stands alone on a line or in front of a label.
fn marker(line: &[u8]) -> Option<u8> {
    let sign = *line.first().filter(|sign| b"<|=>".contains(sign))?;
    let (signs, rest) = line.split_at_checked(7)?;
    let ends = matches!(rest.first(), None | Some(b' ' | b'\r' | b'\n'));
    (ends && signs.iter().all(|byte| *byte == sign)).then_some(sign)
}

/// Moves a loss from the second side to where it stands in the file.
fn unshift(gap: &mut Gap, length: usize) {
    if gap.range.start >= length {
        gap.range = gap.range.start - length..gap.range.end.saturating_sub(length);
    }
}

type Ranges = Vec<Range<usize>>;

/// Fate of what has a name that both sides may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    /// The other side has the same, or has changed it.
    Superseded,
    Lost(&'static str),
}

/// Unites the pieces of both sides.
struct Union<'t> {
    /// Both sides, one behind the other.
    text: &'t [u8],
    /// The ancestor and its pieces.
    ancestor: Option<(&'t [u8], &'t Pieces)>,
}

impl<'t> Union<'t> {
    fn unite(&self, mut ours: Pieces, mut theirs: Pieces) -> Pieces {
        let mut gaps = std::mem::take(&mut ours.gaps);
        // What a damaged side lacks, it may have lost.
        let is_whole = gaps.is_empty() && theirs.gaps.is_empty();
        gaps.append(&mut theirs.gaps);
        self.header(&mut ours, &mut theirs, &mut gaps);
        let base = self.ancestor.map(|(_, pieces)| pieces);
        let outputs = (&mut ours.outputs, &mut theirs.outputs, base.map(|base| &base.outputs));
        self.named(outputs, is_whole, &mut gaps);
        let checks = (&mut ours.checks, &mut theirs.checks, base.map(|base| &base.checks));
        self.named(checks, is_whole, &mut gaps);
        self.resources(&mut ours, &mut theirs, is_whole, &mut gaps);
        let mut united = ours;
        united.header.append(&mut theirs.header);
        united.outputs.append(&mut theirs.outputs);
        united.resources.append(&mut theirs.resources);
        united.checks.append(&mut theirs.checks);
        united.has_all |= theirs.has_all;
        united.gaps = gaps;
        united
    }

    /// Outputs or check results of both sides, and of the ancestor.
    fn named(
        &self,
        (ours, theirs, base): (&mut Ranges, &mut Ranges, Option<&Ranges>),
        is_whole: bool,
        gaps: &mut Vec<Gap>,
    ) {
        let base = self.ancestor.zip(base).map(|((text, _), list)| by_name(text, list));
        let (mine, other) = (by_name(self.text, ours), by_name(self.text, theirs));
        let fates = Fates { base: base.as_ref(), is_whole, keep_both: false };
        self.retain(ours, &fates.all(&mine, &other, true), gaps);
        self.retain(theirs, &fates.all(&other, &mine, false), gaps);
    }

    fn retain(&self, list: &mut Ranges, fates: &HashMap<String, Fate>, gaps: &mut Vec<Gap>) {
        list.retain(|range| {
            let fate = fates.get(&key(self.text, range)).copied().unwrap_or(Fate::Kept);
            if let Fate::Lost(reason) = fate {
                let output = name(self.text, range).map(|name| format!("output.{name}"));
                let what = output.unwrap_or_else(|| "check_results".to_owned());
                gaps.push(Gap { range: range.clone(), what: Some(what), reason: reason.to_owned() });
            }
            fate == Fate::Kept
        });
    }

    /// Leaves one of each member: that of the side with the higher serial.
    fn header(&self, ours: &mut Pieces, theirs: &mut Pieces, gaps: &mut Vec<Gap>) {
        let serial = |pieces: &Pieces| {
            let serial = pieces.header.iter().find(|range| name(self.text, range) == Some("serial"))?;
            str::from_utf8(value(self.text, serial)?).ok()?.trim().parse::<u64>().ok()
        };
        let (winner, loser) = if serial(ours) >= serial(theirs) { (ours, theirs) } else { (theirs, ours) };
        loser.header.retain(|range| {
            let member = name(self.text, range);
            let Some(kept) = winner.header.iter().find(|kept| name(self.text, kept) == member) else {
                return true;
            };
            if !same(value(self.text, kept), value(self.text, range)) {
                let reason = "the sides of the merge conflict differ in it; that of the side with the higher serial is kept";
                let what = member.map(str::to_owned);
                gaps.push(Gap { range: range.clone(), what, reason: reason.to_owned() });
            }
            false
        });
    }

    fn resources(&self, ours: &mut Pieces, theirs: &mut Pieces, is_whole: bool, gaps: &mut Vec<Gap>) {
        let base = self.ancestor.map(|(text, pieces)| objects(text, &pieces.resources));
        let (mine, other) = (objects(self.text, &ours.resources), objects(self.text, &theirs.resources));
        let fates = Fates { base: base.as_ref(), is_whole, keep_both: true };
        let (of_ours, of_theirs) = (fates.all(&mine, &other, true), fates.all(&other, &mine, false));
        let known: Vec<_> = ours.resources.iter().map(|piece| piece.address(self.text)).collect();
        for (pieces, fates) in [(&mut *ours, of_ours), (&mut *theirs, of_theirs)] {
            pieces.resources.retain_mut(|piece| {
                let Some(address) = piece.address(self.text) else { return true };
                let had = !piece.objects.is_empty();
                piece.objects.retain(|range| {
                    let raw = self.text.get(range.clone()).unwrap_or_default();
                    let fate = identity(raw).and_then(|id| fates.get(&(address.clone(), id)).copied());
                    if let Some(Fate::Lost(reason)) = fate {
                        let what = Some(address.to_string());
                        gaps.push(Gap { range: range.clone(), what, reason: reason.to_owned() });
                    }
                    fate.is_none_or(|fate| fate == Fate::Kept)
                });
                !(had && piece.objects.is_empty())
            });
        }
        // A resource without objects is the same on both sides.
        let is_known = |piece: &ResourcePiece| known.contains(&piece.address(self.text));
        theirs.resources.retain(|piece| !(piece.objects.is_empty() && is_known(piece)));
    }
}

/// Decides about what both sides may have.
struct Fates<'b, 't, K> {
    base: Option<&'b HashMap<K, &'t [u8]>>,
    /// The sides have no other damage.
    is_whole: bool,
    /// Differences are judged later.
    keep_both: bool,
}

impl<K: Clone + Eq + Hash> Fates<'_, '_, K> {
    fn all(&self, own: &HashMap<K, &[u8]>, other: &HashMap<K, &[u8]>, first: bool) -> HashMap<K, Fate> {
        own.iter()
            .map(|(key, raw)| (key.clone(), self.fate(key, raw, other.get(key).copied(), first)))
            .collect()
    }

    fn fate(&self, key: &K, own: &[u8], other: Option<&[u8]>, first: bool) -> Fate {
        let base = self.base.and_then(|base| base.get(key).copied());
        let is_unchanged = base.is_some_and(|base| same(Some(base), Some(own)));
        match other {
            None if is_unchanged && self.is_whole => Fate::Lost(REMOVED),
            None => Fate::Kept,
            Some(other) if same(Some(own), Some(other)) => {
                if first {
                    Fate::Kept
                } else {
                    Fate::Superseded
                }
            }
            // The other side alone has changed it.
            Some(_) if is_unchanged => Fate::Superseded,
            Some(other) if base.is_some_and(|base| same(Some(base), Some(other))) => Fate::Kept,
            Some(_) if self.keep_both => Fate::Kept,
            Some(_) => Fate::Lost(DIFFERS),
        }
    }
}

/// Returns `true` if both mean the same, whatever white space is in them.
fn same(a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    a == b || matches!((compact_as_written(a), compact_as_written(b)), (Some(a), Some(b)) if a == b)
}

/// The name of an output, or what a check result is about.
fn key(text: &[u8], range: &Range<usize>) -> String {
    if let Some(name) = name(text, range) {
        return name.to_owned();
    }
    let raw = text.get(range.clone()).unwrap_or_default();
    let about = members(raw, ["object_kind", "config_addr"]).unwrap_or_default();
    about.iter().flatten().map(|raw| String::from_utf8_lossy(raw)).collect()
}

fn by_name<'t>(text: &'t [u8], list: &Ranges) -> HashMap<String, &'t [u8]> {
    let raw = |range: &Range<usize>| value(text, range).or_else(|| text.get(range.clone()));
    list.iter().filter_map(|range| Some((key(text, range), raw(range)?))).collect()
}

/// A resource, with what tells its objects apart as it is written.
type Instance<'t> = (AbsResource, [Option<&'t [u8]>; 2]);

fn objects<'t>(text: &'t [u8], resources: &[ResourcePiece]) -> HashMap<Instance<'t>, &'t [u8]> {
    let mut found = HashMap::new();
    for piece in resources {
        let Some(address) = piece.address(text) else { continue };
        for raw in piece.objects.iter().filter_map(|range| text.get(range.clone())) {
            if let Some(identity) = identity(raw) {
                found.entry((address.clone(), identity)).or_insert(raw);
            }
        }
    }
    found
}
