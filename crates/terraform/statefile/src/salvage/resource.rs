//! Resources of a damaged document, as far as they can be read.

use std::ops::Range;

use super::anchors;
use super::pieces::ResourcePiece;
use super::walk::{Walk, settled};
use super::{Gap, lenient, why};
use crate::json::{Cursor, Kind, Stop, SyntaxError};
use crate::wire::v4::INSTANCE_MEMBERS;

/// Members that only show up in an instance when the brackets around it are lost.
const FOREIGN: [&str; 7] =
    ["module", "mode", "instances", "outputs", "resources", "check_results", "terraform_version"];

/// Why such a piece is given up.
pub(super) const DOUBTFUL: &str =
    "it has members that no release writes, so it may have swallowed something else";

impl<'t> Walk<'t> {
    /// The end of a value that is not an object.
    pub(super) fn other_value(&self, start: &Cursor<'t>) -> Option<usize> {
        let mut cursor = start.clone();
        let other = cursor.kind().is_ok_and(|kind| kind != Kind::Object);
        let whole = other && cursor.skip().is_ok() && settled(self.text, &cursor).is_ok();
        whole.then(|| cursor.offset())
    }

    /// Whether a piece has members that no release writes, where no layout shows that it swallowed nothing. Compact
    /// files come from releases that are known.
    pub(super) fn is_doubtful(&self, start: usize, names: &[&str]) -> bool {
        self.broken && !self.indented && !is_known(self.text, start, names)
    }

    /// The text up to what the layout shows to be another piece, which a damaged one may seem to contain.
    pub(super) fn limited(&self, begin: usize) -> &'t [u8] {
        let next = match self.broken && self.indented {
            true => anchors::by_layout(self.text, begin, self.reached),
            false => None,
        };
        next.and_then(|next| self.text.get(..next.offset())).unwrap_or(self.text)
    }

    /// Reads a resource as far as it can be read, and says where it ends.
    pub(super) fn read_resource(&mut self, start: &Cursor<'t>) -> (ResourcePiece, Result<usize, Stop>) {
        let begin = start.offset();
        let text = self.limited(begin);
        let mut piece = ResourcePiece { range: begin..begin, ..ResourcePiece::default() };
        let mut cursor = Cursor::at(text, begin, start.depth());
        let read = self.read_members(text, &mut cursor, &mut piece).map(|()| cursor.offset());
        (piece, read)
    }

    fn read_members(
        &mut self,
        text: &'t [u8],
        cursor: &mut Cursor<'t>,
        piece: &mut ResourcePiece,
    ) -> Result<(), Stop> {
        cursor.open(b'{')?;
        let mut first = true;
        let mut has_list = false;
        while let Some(name) = cursor.member(&mut first)? {
            if &*name.bytes() == b"instances" && cursor.kind()? == Kind::Array {
                has_list = true;
                self.read_instances(text, cursor, piece)?;
                continue;
            }
            // Its list of instances is lost, and an object seems to be the resource.
            let decoded = name.decode();
            let lost_list = INSTANCE_MEMBERS.contains(&&*decoded) && decoded != "provider";
            let strange = !self.indented && !anchors::RESOURCE.contains(&&*decoded);
            if self.broken && (lost_list || strange) {
                return Err(Stop { offset: name.offset, why: SyntaxError::Unexpected });
            }
            cursor.skip()?;
            settled(text, cursor)?;
            piece.members.push(name.offset..cursor.offset());
        }
        // All writers give it a list, if an empty one.
        if self.broken && !has_list {
            return Err(Stop { offset: cursor.offset().saturating_sub(1), why: SyntaxError::Unexpected });
        }
        self.closes(cursor, 4)
    }

    fn read_instances(
        &mut self,
        text: &'t [u8],
        cursor: &mut Cursor<'t>,
        piece: &mut ResourcePiece,
    ) -> Result<(), Stop> {
        // Of two lists the last one counts.
        piece.objects.clear();
        cursor.open(b'[')?;
        let mut first = true;
        loop {
            match cursor.element(&mut first) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(stop) => {
                    // A bracket too many or too few shows behind the object, which may be the wrong one then.
                    if stop.why != SyntaxError::End {
                        piece.objects.pop();
                    }
                    return Err(stop);
                }
            }
            let start = cursor.offset();
            let depth = cursor.depth();
            let stop = match cursor.skip() {
                Ok(()) => {
                    self.closes(cursor, 8)?;
                    let range = start..cursor.offset();
                    if self.broken {
                        looks_right(text, range.clone())?;
                    }
                    if !self.is_doubtful(start, &INSTANCE_MEMBERS) {
                        piece.objects.push(range);
                        continue;
                    }
                    let what = piece.address(text).map(|address| address.to_string());
                    self.pieces.gaps.push(Gap { range, what, reason: DOUBTFUL.to_owned() });
                    piece.lost_objects = true;
                    continue;
                }
                Err(stop) => stop,
            };
            let in_string = matches!(stop.why, SyntaxError::Utf8 | SyntaxError::ControlInString);
            let object = in_string.then(|| lenient::object(text, start)).flatten().ok_or(stop)?;
            let what = piece.address(text).map(|address| address.to_string());
            let reason = why(text, stop.offset, stop.why).to_owned();
            *cursor = Cursor::at(text, object.end, depth);
            self.pieces.gaps.push(Gap { range: object, what, reason });
            piece.lost_objects = true;
        }
    }
}

/// Requires that what stands in a list of instances has the member that all writers give them, and is not a resource. What
/// is not an object at all is left to the reader of the assembled state.
fn looks_right(text: &[u8], range: Range<usize>) -> Result<(), Stop> {
    let mut cursor = Cursor::at(text.get(..range.end).unwrap_or(text), range.start, 4);
    if cursor.kind()? != Kind::Object {
        return Ok(());
    }
    let wrong = Stop { offset: range.start, why: SyntaxError::Unexpected };
    cursor.open(b'{')?;
    let mut first = true;
    let mut known = false;
    while let Some(name) = cursor.member(&mut first)? {
        let name = name.decode();
        if FOREIGN.contains(&&*name) {
            return Err(wrong);
        }
        known |= name == "schema_version";
        cursor.skip()?;
    }
    if known { Ok(()) } else { Err(wrong) }
}

/// Whether the object at `start` has no members but these.
fn is_known(text: &[u8], start: usize, names: &[&str]) -> bool {
    let mut cursor = Cursor::at(text, start, 2);
    let mut read = || {
        if cursor.kind()? != Kind::Object {
            return Ok(true);
        }
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            if !names.contains(&&*name.decode()) {
                return Ok(false);
            }
            cursor.skip()?;
        }
        Ok::<_, Stop>(true)
    };
    read() == Ok(true)
}
