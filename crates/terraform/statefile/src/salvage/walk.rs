//! Reads a damaged document of format 4 piece by piece, and goes on behind what cannot be read.

use std::ops::Range;

use super::anchors::{self, Anchor, Reached};
use super::pieces::Pieces;
use super::resource::DOUBTFUL;
use super::{Gap, why};
use crate::json::{Cursor, Kind, Stop, SyntaxError};

/// A string that lost its end swallows the few bytes up to the next quote, and with them the brace of what follows.
const NEAR: usize = 16;

/// The longest line that has a bracket behind its indentation, in bytes.
const MAX_LINE: usize = 1 << 16;

/// Where the walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Among the members of the document.
    Top,
    Outputs,
    Resources,
    Checks,
    /// Behind everything.
    End,
}

/// A piece that cannot be read.
struct Damage {
    /// Where the piece begins.
    start: usize,
    stop: Stop,
    what: Option<String>,
}

/// A walk over a damaged document.
pub(super) struct Walk<'t> {
    pub(super) text: &'t [u8],
    cursor: Cursor<'t>,
    at: At,
    /// No comma stands in front of the next item.
    first: bool,
    pub(super) reached: Reached,
    pub(super) indented: bool,
    /// The text is not JSON. Otherwise its brackets are right, and nothing has to be doubted.
    pub(super) broken: bool,
    pub(super) pieces: Pieces,
}

impl<'t> Walk<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            cursor: Cursor::new(text),
            at: At::Top,
            first: true,
            reached: Reached::Header,
            indented: anchors::is_indented(text),
            broken: !is_json(text),
            pieces: Pieces::default(),
        }
    }

    /// Reads all there is.
    pub(super) fn run(mut self) -> Pieces {
        if self.text.starts_with(b"\xef\xbb\xbf") {
            self.cursor = self.cursor.restart(3);
        }
        self.cursor.space();
        if let Err(stop) = self.cursor.open(b'{') {
            self.resume(Damage { start: 0, stop, what: None });
        }
        while self.at != At::End {
            let step = match self.at {
                At::Top => self.member(),
                At::Resources => self.resource(),
                At::Outputs | At::Checks => self.item(),
                At::End => Ok(()),
            };
            if let Err(damage) = step {
                self.resume(damage);
            }
        }
        self.behind();
        self.pieces
    }

    fn damage(&self, start: usize, stop: Stop) -> Damage {
        let what = match self.at {
            At::Outputs => Some("outputs".to_owned()),
            At::Checks => Some("check_results".to_owned()),
            At::Top | At::Resources | At::End => None,
        };
        Damage { start, stop, what }
    }

    /// Notes the damage and goes on at the next place where that is possible.
    fn resume(&mut self, damage: Damage) {
        let Damage { start, stop, what } = damage;
        if self.reached == Reached::Header {
            self.pieces.doubt_lineage(self.text);
        }
        let anchor = match self.indented {
            true => {
                anchors::by_layout(self.text, start, self.reached).filter(|anchor| anchor.offset() > start)
            }
            false => {
                let from = stop.offset.saturating_sub(NEAR).max(start + 1);
                anchors::by_shape(self.text, from, self.reached)
            }
        };
        let end = anchor.map_or(self.text.len(), Anchor::offset);
        let reason = match start < self.text.len() {
            true => why(self.text, stop.offset, stop.why),
            false => "the file ends here, before the document does",
        };
        self.pieces.gaps.push(Gap { range: start.min(end)..end, what, reason: reason.to_owned() });
        let depth = if matches!(anchor, Some(Anchor::Member(_))) { 1 } else { 2 };
        self.cursor = Cursor::at(self.text, end, depth);
        self.first = true;
        self.at = match anchor {
            None => At::End,
            Some(Anchor::Member(_)) => At::Top,
            Some(Anchor::Output(_)) => At::Outputs,
            Some(Anchor::Resource(_)) => At::Resources,
            Some(Anchor::Check(_)) => At::Checks,
        };
        self.reach();
    }

    fn reach(&mut self) {
        let section = match self.at {
            At::Outputs => Reached::Outputs,
            At::Resources => Reached::Resources,
            At::Checks => Reached::Checks,
            At::Top | At::End => return,
        };
        self.reached = section;
    }

    /// Reports what stands behind the document.
    fn behind(&mut self) {
        self.cursor.space();
        let range = self.cursor.offset()..self.text.len();
        if !range.is_empty() {
            let reason = "the document has ended before this".to_owned();
            self.pieces.gaps.push(Gap { range, what: None, reason });
        }
    }

    fn member(&mut self) -> Result<(), Damage> {
        self.cursor.space();
        let start = self.cursor.offset();
        let mut cursor = self.cursor.clone();
        let read = self.read_member(&mut cursor);
        let read = match read {
            // No program writes a document without resources and something behind it.
            Ok(None) if !self.pieces.has_all && cursor.peek().is_some() => {
                Err(Stop { offset: start, why: SyntaxError::Unexpected })
            }
            Ok(None) => self.closes(&cursor, 0).map(|()| None),
            read => read,
        };
        let read = match read {
            Ok(read) => read,
            Err(stop) => {
                // Nothing follows the last value as it should, so it may be the end of another one.
                let mut ahead = self.cursor.restart(start + usize::from(!self.first));
                if ahead.peek().is_some_and(|next| next != b'"') {
                    self.pieces.header.pop();
                }
                return Err(self.damage(start, stop));
            }
        };
        self.cursor = cursor;
        match read {
            Some((range, At::Top)) => {
                self.first = false;
                self.pieces.header.push(range);
            }
            // A section was entered, or the document has ended.
            Some((_, at)) => {
                self.first = true;
                self.at = at;
                self.reach();
            }
            None => self.at = At::End,
        }
        Ok(())
    }

    /// Requires that the bracket in front of the cursor stands as far in as its kind does in this layout: brackets
    /// that are lost make others close the wrong thing.
    pub(super) fn closes(&self, cursor: &Cursor<'_>, blanks: usize) -> Result<(), Stop> {
        if !self.broken || !self.indented {
            return Ok(());
        }
        let offset = cursor.offset().saturating_sub(1);
        // A line that is longer is no line of this layout, and looking for its beginning takes too long.
        let before = self.text.get(offset.saturating_sub(MAX_LINE)..offset).unwrap_or_default();
        let line = match memchr::memrchr(b'\n', before) {
            Some(at) => before.get(at + 1..),
            None => (offset < MAX_LINE).then_some(before),
        };
        let indent = line.map(|line| line.iter().take_while(|byte| **byte == b' ').count());
        if indent == Some(blanks) { Ok(()) } else { Err(Stop { offset, why: SyntaxError::Unexpected }) }
    }

    /// Reads a member at the top, or its name and bracket if it is a section.
    fn read_member(&self, cursor: &mut Cursor<'t>) -> Result<Option<(Range<usize>, At)>, Stop> {
        let mut first = self.first;
        let Some(name) = cursor.member(&mut first)? else { return Ok(None) };
        let start = name.offset;
        let (at, bracket) = match (&*name.bytes(), cursor.kind()?) {
            (b"outputs", Kind::Object) => (At::Outputs, b'{'),
            (b"resources", Kind::Array) => (At::Resources, b'['),
            (b"check_results", Kind::Array) => (At::Checks, b'['),
            _ => {
                cursor.skip()?;
                let end = cursor.offset();
                settled(self.text, cursor)?;
                return Ok(Some((start..end, At::Top)));
            }
        };
        cursor.open(bracket)?;
        Ok(Some((start..cursor.offset(), at)))
    }

    /// Leaves a section.
    fn leave(&mut self) {
        self.at = At::Top;
        self.first = false;
    }

    /// Reads an output or a check result.
    fn item(&mut self) -> Result<(), Damage> {
        self.cursor.space();
        let start = self.cursor.offset();
        let Some((range, value)) = self.read_item().map_err(|stop| self.damage(start, stop))? else {
            self.leave();
            return Ok(());
        };
        self.first = false;
        self.cursor = self.cursor.restart(range.end);
        let (what, names) = match self.at {
            At::Outputs => ("outputs", &anchors::OUTPUT),
            _ => ("check_results", &anchors::CHECK),
        };
        if self.is_doubtful(value, names) {
            let gap = Gap { range, what: Some(what.to_owned()), reason: DOUBTFUL.to_owned() };
            self.pieces.gaps.push(gap);
        } else if self.at == At::Outputs {
            self.pieces.outputs.push(range);
        } else {
            self.pieces.checks.push(range);
        }
        Ok(())
    }

    /// Where the item stands and where its value begins; nothing at the end of the section, which is left behind.
    fn read_item(&mut self) -> Result<Option<(Range<usize>, usize)>, Stop> {
        let mut cursor = self.cursor.clone();
        let mut first = self.first;
        let begin = match self.at {
            At::Outputs => cursor.member(&mut first)?.map(|name| name.offset),
            _ => cursor.element(&mut first)?.then(|| cursor.offset()),
        };
        let Some(begin) = begin else {
            self.closes(&cursor, 2)?;
            self.cursor = cursor;
            return Ok(None);
        };
        let value = cursor.offset();
        let text = self.limited(begin);
        let mut cursor = Cursor::at(text, value, cursor.depth());
        cursor.skip()?;
        settled(text, &cursor)?;
        self.closes(&cursor, 4)?;
        Ok(Some((begin..cursor.offset(), value)))
    }

    fn resource(&mut self) -> Result<(), Damage> {
        self.cursor.space();
        let before = self.cursor.offset();
        let mut cursor = self.cursor.clone();
        let mut first = self.first;
        let more = cursor.element(&mut first).map_err(|stop| self.damage(before, stop))?;
        self.first = false;
        if !more {
            self.closes(&cursor, 2).map_err(|stop| self.damage(before, stop))?;
            self.pieces.has_all = true;
            self.leave();
            self.cursor = cursor;
            return Ok(());
        }
        if let Some(end) = self.other_value(&cursor) {
            let range = cursor.offset()..end;
            self.cursor = self.cursor.restart(end);
            self.pieces.gaps.push(Gap { range, what: None, reason: "this is not a resource".to_owned() });
            return Ok(());
        }
        let (mut piece, read) = self.read_resource(&cursor);
        let stop = match read {
            Ok(end) => {
                piece.range.end = end;
                self.cursor = self.cursor.restart(end);
                if self.broken && piece.is_nameless(self.text) {
                    let reason = "its type or name is lost".to_owned();
                    self.pieces.gaps.push(Gap { range: piece.range, what: None, reason });
                    return Ok(());
                }
                // Without the objects that it had, it would become one that has none.
                if !(piece.lost_objects && piece.objects.is_empty()) {
                    self.pieces.resources.push(piece);
                }
                return Ok(());
            }
            Err(stop) => stop,
        };
        let address = piece.address(self.text).filter(|_| piece.is_in_order(self.text));
        let what = address.as_ref().map(ToString::to_string);
        match piece.objects.last().map(|object| object.end) {
            Some(kept) if address.is_some() => {
                piece.range.end = kept;
                self.pieces.resources.push(piece);
                Err(Damage { start: kept, stop, what })
            }
            _ => Err(Damage { start: piece.range.start, stop, what }),
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.skip().and_then(|()| cursor.end()).is_ok()
}

/// Requires that a value is followed by what can follow one. Otherwise a part of it may be lost, such as the last
/// digits of a number or what stood behind a stray quote.
pub(super) fn settled(text: &[u8], cursor: &Cursor<'_>) -> Result<(), Stop> {
    let last = cursor.offset().checked_sub(1).and_then(|at| text.get(at));
    let mut ahead = cursor.clone();
    match ahead.peek() {
        Some(b',' | b'}' | b']') => Ok(()),
        None if !last.is_some_and(u8::is_ascii_digit) => Ok(()),
        None => Err(Stop { offset: ahead.offset(), why: SyntaxError::End }),
        Some(_) => Err(Stop { offset: ahead.offset(), why: SyntaxError::Unexpected }),
    }
}
