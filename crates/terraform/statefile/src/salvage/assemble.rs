//! A new document from the pieces, without those that no reader would take.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;

use groundstate_states::addr::AbsResource;

use super::pieces::{Pieces, ResourcePiece, name};
use super::{Gap, SalvageError, anchors};
use crate::decode::{DecodeOptions, decode};
use crate::file::File;
use crate::json::Cursor;
use crate::note::NoteKind;
use crate::problem::{Code, Problem, ReadError};

/// A reader describes so many problems at a time.
const MANY: usize = 100;

/// After so many passes the rest is given up. Each takes all that the one before found, so few are ever needed.
const PASSES: usize = 50;

/// Whose text stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Header(usize),
    Output(usize),
    Check(usize),
    Resource(usize),
    Object(usize, usize),
}

/// A document made of pieces.
#[derive(Default)]
struct Draft {
    text: Vec<u8>,
    /// Where the text of each piece begins.
    owners: Vec<(usize, Owner)>,
}

impl fmt::Debug for Draft {
    /// Shows the size of the text only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("text", &self.text.len()).field("owners", &self.owners).finish()
    }
}

/// Builds the state, and adds to the gaps what has to be left out of it.
pub(super) fn assemble(text: &[u8], mut pieces: Pieces) -> Result<(File, Vec<Gap>), SalvageError> {
    let mut gaps = std::mem::take(&mut pieces.gaps);
    let repeated = repeated(text, &pieces);
    remove(text, &mut pieces, repeated, &mut gaps);
    let (mut pass, mut tested) = (0, false);
    loop {
        let draft = Draft::of(text, &pieces);
        let error = match decode(&draft.text, &DecodeOptions::default()) {
            Ok(file) => return Ok((settle(text, file, &draft, &pieces, &mut gaps), gaps)),
            Err(error) => error,
        };
        pass += 1;
        let mut bad = faults(&draft, error.problems());
        bad.extend(doubles(text, &pieces, &draft, error.problems()));
        if error.problems().len() >= MANY && !tested {
            // What is sound alone stays so.
            tested = true;
            bad.extend(each_alone(text, &pieces));
        }
        if bad.is_empty() || pass > PASSES {
            return Err(error.into());
        }
        remove(text, &mut pieces, bad, &mut gaps);
    }
}

/// Why pieces cannot stay.
type Faults = BTreeMap<Owner, (Option<String>, String)>;

fn faults(draft: &Draft, problems: &[Problem]) -> Faults {
    let mut bad = Faults::new();
    for problem in problems {
        if let Some(owner) = draft.owner(problem.place.offset) {
            bad.entry(owner).or_insert_with(|| (problem.address.clone(), problem.detail.clone()));
        }
    }
    bad
}

/// A resource, with what tells its objects apart as it is written.
type Instance<'t> = (AbsResource, [Option<&'t [u8]>; 2]);

/// Objects of instances that stand more than once, as far as it shows in the text: of equal ones the first stays, of others
/// it is unknown which one is true.
fn repeated(text: &[u8], pieces: &Pieces) -> Faults {
    let mut by_instance: HashMap<Instance<'_>, Vec<(Owner, &[u8])>> = HashMap::new();
    for (at, piece) in pieces.resources.iter().enumerate() {
        let Some(address) = piece.address(text) else { continue };
        for (number, range) in piece.objects.iter().enumerate() {
            let raw = text.get(range.clone()).unwrap_or_default();
            let Some(identity) = identity(raw) else { continue };
            by_instance
                .entry((address.clone(), identity))
                .or_default()
                .push((Owner::Object(at, number), raw));
        }
    }
    let mut bad = Faults::new();
    let all_equal =
        |objects: &[(Owner, &[u8])]| objects.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.1));
    for ((address, _), mut objects) in by_instance.into_iter().filter(|(_, objects)| objects.len() > 1) {
        if !all_equal(&objects) {
            // What is wrong by itself goes for that, and does not speak against the others.
            let (sound, damaged): (Vec<_>, Vec<_>) =
                objects.into_iter().partition(|(owner, _)| is_sound(text, pieces, *owner));
            let reason = "it cannot be read, and another object of the same instance can";
            if !sound.is_empty() {
                bad.extend(
                    damaged
                        .into_iter()
                        .map(|(owner, _)| (owner, (Some(address.to_string()), reason.to_owned()))),
                );
            }
            objects = sound;
        }
        let equal = all_equal(&objects);
        let (kept, reason) = match equal {
            true => (1, "it repeats an object of the same instance, which is kept"),
            false => {
                (0, "it differs from another object of the same instance, which has to be wrong or this")
            }
        };
        for (owner, _) in objects.into_iter().skip(kept) {
            bad.insert(owner, (Some(address.to_string()), reason.to_owned()));
        }
    }
    bad
}

/// Whether a reader takes an object with its resource alone.
fn is_sound(text: &[u8], pieces: &Pieces, owner: Owner) -> bool {
    let Owner::Object(at, number) = owner else { return true };
    let Some(piece) = pieces.resources.get(at) else { return true };
    let objects = piece.objects.get(number).cloned().into_iter().collect();
    let alone = Pieces { resources: vec![ResourcePiece { objects, ..piece.head() }], ..Pieces::default() };
    decode(&Draft::of(text, &alone).text, &DecodeOptions::default()).is_ok()
}

/// The other objects of instances that appear twice: if they differ, which one is true is unknown.
fn doubles(text: &[u8], pieces: &Pieces, draft: &Draft, problems: &[Problem]) -> Faults {
    let mut bad = Faults::new();
    let twice = [Code::DuplicateCurrent, Code::DuplicateDeposed];
    for problem in problems.iter().filter(|problem| twice.contains(&problem.code)) {
        let Some(Owner::Object(at, number)) = draft.owner(problem.place.offset) else { continue };
        let Some(resource) = pieces.resources.get(at) else { continue };
        let object =
            resource.objects.get(number).and_then(|range| text.get(range.clone())).unwrap_or_default();
        let same_resource = |other: &ResourcePiece| other.address(text) == resource.address(text);
        for (at, other) in pieces.resources.iter().enumerate().filter(|(_, other)| same_resource(other)) {
            for (number, range) in other.objects.iter().enumerate() {
                let raw = text.get(range.clone()).unwrap_or_default();
                if raw != object && identity(raw) == identity(object) {
                    let reason =
                        "it differs from another object of the same instance, which has to be wrong or this";
                    bad.insert(Owner::Object(at, number), (problem.address.clone(), reason.to_owned()));
                }
            }
        }
    }
    bad
}

/// What tells an object from the others of its resource, as it is written.
pub(super) fn identity(object: &[u8]) -> Option<[Option<&[u8]>; 2]> {
    members(object, ["index_key", "deposed"])
}

/// The values of these members of an object, as they are written.
pub(super) fn members<'t, const N: usize>(
    object: &'t [u8],
    names: [&str; N],
) -> Option<[Option<&'t [u8]>; N]> {
    let mut cursor = Cursor::new(object);
    let mut found = [None; N];
    cursor.open(b'{').ok()?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first).ok()? {
        let raw = cursor.raw().ok()?;
        let slot = names.iter().zip(&mut found).find(|(wanted, _)| wanted.as_bytes() == name.raw);
        if let Some((_, slot)) = slot {
            *slot = Some(raw);
        }
    }
    Some(found)
}

/// What is wrong with each piece by itself.
fn each_alone(text: &[u8], pieces: &Pieces) -> Faults {
    let mut bad = Faults::new();
    let mut test = |alone: &Pieces, rename: &dyn Fn(Owner) -> Owner| {
        let draft = Draft::of(text, alone);
        let error = decode(&draft.text, &DecodeOptions::default()).err();
        let found = error.as_ref().map(ReadError::problems).unwrap_or_default();
        bad.extend(faults(&draft, found).into_iter().map(|(owner, fault)| (rename(owner), fault)));
    };
    for (at, range) in pieces.outputs.iter().enumerate() {
        let alone = Pieces { outputs: vec![range.clone()], ..Pieces::default() };
        test(&alone, &|_| Owner::Output(at));
    }
    for (at, range) in pieces.checks.iter().enumerate() {
        let alone = Pieces { checks: vec![range.clone()], ..Pieces::default() };
        test(&alone, &|_| Owner::Check(at));
    }
    for (at, piece) in pieces.resources.iter().enumerate() {
        for (number, object) in piece.objects.iter().enumerate() {
            let one = ResourcePiece { objects: vec![object.clone()], ..piece.head() };
            let alone = Pieces { resources: vec![one], ..Pieces::default() };
            test(&alone, &|owner| match owner {
                Owner::Object(..) => Owner::Object(at, number),
                _ => Owner::Resource(at),
            });
        }
    }
    bad
}

/// Takes pieces out; a resource of which no object is left goes as well.
fn remove(text: &[u8], pieces: &mut Pieces, bad: Faults, gaps: &mut Vec<Gap>) {
    let gone: BTreeSet<Owner> = bad.keys().copied().collect();
    for (owner, (address, reason)) in bad {
        let part_of_gone = matches!(owner, Owner::Object(at, _) if gone.contains(&Owner::Resource(at)));
        if let Some(range) = pieces.range(owner).filter(|_| !part_of_gone) {
            let what = address.or_else(|| pieces.what(text, owner));
            gaps.push(Gap { range, what, reason });
        }
    }
    retain(&mut pieces.header, |at| !gone.contains(&Owner::Header(at)));
    retain(&mut pieces.outputs, |at| !gone.contains(&Owner::Output(at)));
    retain(&mut pieces.checks, |at| !gone.contains(&Owner::Check(at)));
    let mut emptied = BTreeSet::new();
    for (at, piece) in pieces.resources.iter_mut().enumerate() {
        let had = !piece.objects.is_empty();
        retain(&mut piece.objects, |number| !gone.contains(&Owner::Object(at, number)));
        if had && piece.objects.is_empty() {
            emptied.insert(at);
        }
    }
    retain(&mut pieces.resources, |at| !gone.contains(&Owner::Resource(at)) && !emptied.contains(&at));
}

fn retain<T>(list: &mut Vec<T>, keep: impl Fn(usize) -> bool) {
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        keep(at - 1)
    });
}

/// The finished model: laid out as the file was, with what no model can hold among the losses.
fn settle(text: &[u8], mut file: File, draft: &Draft, pieces: &Pieces, gaps: &mut Vec<Gap>) -> File {
    file.style.indented = anchors::is_indented(text);
    for note in std::mem::take(&mut file.notes) {
        let owner = draft.owner(note.offset).filter(|_| note.kind == NoteKind::Lost);
        if let Some((owner, range)) = owner.and_then(|owner| Some((owner, pieces.range(owner)?))) {
            gaps.push(Gap { range, what: pieces.what(text, owner), reason: note.message });
        }
    }
    file
}

impl Pieces {
    /// Where a piece stands in the damaged file.
    fn range(&self, owner: Owner) -> Option<Range<usize>> {
        match owner {
            Owner::Header(at) => self.header.get(at).cloned(),
            Owner::Output(at) => self.outputs.get(at).cloned(),
            Owner::Check(at) => self.checks.get(at).cloned(),
            Owner::Resource(at) => self.resources.get(at).map(|piece| piece.range.clone()),
            Owner::Object(at, number) => self.resources.get(at)?.objects.get(number).cloned(),
        }
    }

    /// What a piece is.
    fn what(&self, text: &[u8], owner: Owner) -> Option<String> {
        match owner {
            Owner::Header(at) => Some(name(text, self.header.get(at)?)?.to_owned()),
            Owner::Output(at) => Some(format!("output.{}", name(text, self.outputs.get(at)?)?)),
            Owner::Check(_) => Some("check_results".to_owned()),
            Owner::Resource(at) | Owner::Object(at, _) => {
                Some(self.resources.get(at)?.address(text)?.to_string())
            }
        }
    }
}

impl ResourcePiece {
    /// The same resource without objects.
    fn head(&self) -> Self {
        Self { range: self.range.clone(), members: self.members.clone(), ..Self::default() }
    }
}

impl Draft {
    fn of(text: &[u8], pieces: &Pieces) -> Self {
        let mut draft = Self { text: b"{\"version\":4".to_vec(), owners: Vec::new() };
        for (at, range) in pieces.header.iter().enumerate() {
            if name(text, range) != Some("version") {
                draft.text.push(b',');
                draft.copy(text, range, Owner::Header(at));
            }
        }
        if !pieces.outputs.is_empty() {
            draft.text.extend_from_slice(b",\"outputs\":{");
            draft.list(pieces.outputs.len(), |draft, at| {
                if let Some(range) = pieces.outputs.get(at) {
                    draft.copy(text, range, Owner::Output(at));
                }
            });
            draft.text.push(b'}');
        }
        if !pieces.resources.is_empty() {
            draft.text.extend_from_slice(b",\"resources\":[");
            draft.list(pieces.resources.len(), |draft, at| {
                if let Some(piece) = pieces.resources.get(at) {
                    draft.resource(text, piece, at);
                }
            });
            draft.text.push(b']');
        }
        if !pieces.checks.is_empty() {
            draft.text.extend_from_slice(b",\"check_results\":[");
            draft.list(pieces.checks.len(), |draft, at| {
                if let Some(range) = pieces.checks.get(at) {
                    draft.copy(text, range, Owner::Check(at));
                }
            });
            draft.text.push(b']');
        }
        draft.text.push(b'}');
        draft
    }

    fn resource(&mut self, text: &[u8], piece: &ResourcePiece, at: usize) {
        self.owners.push((self.text.len(), Owner::Resource(at)));
        self.text.push(b'{');
        self.list(piece.members.len(), |draft, member| {
            if let Some(range) = piece.members.get(member) {
                draft.copy(text, range, Owner::Resource(at));
            }
        });
        if !piece.objects.is_empty() {
            let comma: &[u8] = if piece.members.is_empty() { b"" } else { b"," };
            self.text.extend_from_slice(comma);
            self.text.extend_from_slice(b"\"instances\":[");
            self.list(piece.objects.len(), |draft, number| {
                if let Some(range) = piece.objects.get(number) {
                    draft.copy(text, range, Owner::Object(at, number));
                }
            });
            self.text.push(b']');
        }
        self.text.push(b'}');
    }

    fn list(&mut self, len: usize, item: impl Fn(&mut Self, usize)) {
        for at in 0..len {
            if at > 0 {
                self.text.push(b',');
            }
            item(self, at);
        }
    }

    fn copy(&mut self, text: &[u8], range: &Range<usize>, owner: Owner) {
        self.owners.push((self.text.len(), owner));
        self.text.extend_from_slice(text.get(range.clone()).unwrap_or_default());
    }

    /// Whose text stands at this offset.
    fn owner(&self, offset: usize) -> Option<Owner> {
        let behind = self.owners.partition_point(|(start, _)| *start <= offset);
        self.owners.get(behind.checked_sub(1)?).map(|(_, owner)| *owner)
    }
}
