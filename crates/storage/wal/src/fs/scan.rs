//! Reading an epoch across its segments.

use std::path::Path;

use crate::frame::{Frame, FrameKind};
use crate::{Cursor, Epoch, Page, Position, Torn};

use super::names::{self, Listing};
use super::segment::{Next, ReadFailure, Segment};

/// Where an epoch ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The last segment, if there is one.
    pub(crate) segment: Option<u32>,
    /// How many of its bytes count.
    pub(crate) end: u64,
    /// The position behind the last record.
    pub(crate) next: Position,
}

/// What was read.
pub(crate) enum Outcome {
    Page(Page),
    /// There are only so many records.
    Behind(Position),
}

/// Walks through the records of an epoch.
struct Walk<'a> {
    folder: &'a Path,
    epoch: u64,
    segments: Vec<u32>,
    /// Which segment is at hand, and the one after it.
    at: usize,
    segment: Segment,
    following: Option<Segment>,
    offset: usize,
    position: Position,
    torn: Option<Torn>,
}

impl<'a> Walk<'a> {
    /// Begins at a batch that is not behind the position; `None` where nothing was appended.
    fn start(folder: &'a Path, listing: &Listing, from: &Cursor) -> Result<Option<Self>, ReadFailure> {
        let epoch = from.epoch().get();
        let segments = listing.segments(epoch);
        if let Some(missing) = (0..).zip(&segments).find_map(|(at, found)| (at != *found).then_some(at)) {
            return Err(ReadFailure::Damaged(names::segment(epoch, missing), "a segment is missing"));
        }
        let (hinted, offset) = from.hint();
        let hinted = usize::try_from(hinted).ok().filter(|at| offset > 0 && *at < segments.len());
        let Some(mut at) = hinted.or(segments.len().checked_sub(1)) else { return Ok(None) };
        let read =
            |at: usize| segments.get(at).map(|number| Segment::read(folder, epoch, *number)).transpose();
        let mut following = read(at + 1)?;
        let segment = loop {
            let segment = read(at)?.ok_or(ReadFailure::Gone)?;
            if segment.opening.first <= from.position() || at == 0 {
                break segment;
            }
            (at, following) = (at - 1, Some(segment));
        };
        let offset = usize::try_from(offset).unwrap_or(0);
        let (offset, position) = if hinted == Some(at) && offset >= segment.body() {
            (offset, from.position())
        } else {
            (segment.body(), segment.opening.first)
        };
        Ok(Some(Self { folder, epoch, at, segment, following, offset, position, torn: None, segments }))
    }

    /// The next batch, if there is one.
    fn next(&mut self) -> Result<Option<Frame>, ReadFailure> {
        loop {
            let limit = self.following.as_ref().map(|following| following.opening.previous_end);
            match self.segment.next(self.offset, self.position, limit)? {
                Next::Frame(frame) => {
                    self.offset = frame.end;
                    if frame.kind == FrameKind::Batch {
                        self.position = self.position.plus(frame.records.len() as u64);
                        return Ok(Some(frame));
                    }
                }
                Next::Torn(torn) => {
                    self.torn = Some(torn);
                    return Ok(None);
                }
                Next::End => match self.following.take() {
                    Some(following) => self.enter(following)?,
                    None => return Ok(None),
                },
            }
        }
    }

    fn enter(&mut self, segment: Segment) -> Result<(), ReadFailure> {
        if segment.opening.first != self.position {
            let place = format!("byte 0 of {}", segment.name);
            return Err(ReadFailure::Damaged(place, "records are missing before it"));
        }
        self.at += 1;
        self.offset = segment.body();
        self.segment = segment;
        let next = self.segments.get(self.at + 1);
        self.following = next.map(|number| Segment::read(self.folder, self.epoch, *number)).transpose()?;
        Ok(())
    }

    fn cursor(&self) -> Cursor {
        let hint = (self.at as u64, self.offset as u64);
        Cursor::new(Epoch::new(self.epoch), self.position).with_hint(hint)
    }
}

/// Reads a page of about so many bytes.
pub(crate) fn page(
    folder: &Path,
    listing: &Listing,
    from: &Cursor,
    bytes: usize,
) -> Result<Outcome, ReadFailure> {
    let (mut records, mut size) = (Vec::new(), 0_usize);
    let Some(mut walk) = Walk::start(folder, listing, from)? else {
        let is_start = from.position() == Position::START;
        return Ok(if is_start {
            Outcome::Page(Page::new(records, None))
        } else {
            Outcome::Behind(Position::START)
        });
    };
    while size < bytes {
        let before = walk.position;
        let Some(frame) = walk.next()? else {
            return Ok(if walk.position < from.position() {
                Outcome::Behind(walk.position)
            } else {
                Outcome::Page(Page::new(records, None).with_torn(walk.torn))
            });
        };
        let skip = from.position().get().saturating_sub(before.get());
        for record in frame.records.into_iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)) {
            // A record costs something even if it is empty.
            size = size.saturating_add(record.as_bytes().len() + 16);
            records.push(record);
        }
    }
    let next = walk.cursor();
    Ok(Outcome::Page(Page::new(records, Some(next))))
}

/// Finds the end of an epoch, for a writer that goes on there.
///
/// Only the last segment is read: those before it were found whole when the next was begun.
pub(crate) fn tail(folder: &Path, listing: &Listing, epoch: u64) -> Result<Tail, ReadFailure> {
    let last = Cursor::new(Epoch::new(epoch), Position::new(u64::MAX));
    let Some(mut walk) = Walk::start(folder, listing, &last)? else {
        return Ok(Tail { segment: None, end: 0, next: Position::START });
    };
    while walk.next()?.is_some() {}
    let segment = walk.segments.get(walk.at).copied();
    Ok(Tail { segment, end: walk.offset as u64, next: walk.position })
}
