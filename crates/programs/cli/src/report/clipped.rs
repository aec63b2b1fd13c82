//! Texts of which only what is shown is held.

use std::borrow::Cow;

use groundstate_json::Mark;
use groundstate_statefile::SourcePos;

/// A text, or pieces of one that stand in it as they did, with as little as possible between them.
#[derive(Clone, Debug)]
pub(crate) struct Clipped<'t> {
    /// What is held.
    pub(crate) text: Cow<'t, [u8]>,
    /// Where each piece begins, first to last; the first begins with the text.
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its beginning in what is held.
    at: Mark,
    /// Its beginning in the original.
    from: Mark,
}

impl<'t> Clipped<'t> {
    /// A text of which nothing is missing.
    pub(crate) fn whole(text: impl Into<Cow<'t, [u8]>>) -> Self {
        Self { text: text.into(), pieces: vec![Piece { at: Mark::START, from: Mark::START }] }
    }

    /// A text whose pieces begin at these offsets, in the original at these places. The first begins at 0 in both.
    pub(crate) fn of_pieces(text: Vec<u8>, pieces: impl IntoIterator<Item = (usize, Mark)>) -> Self {
        let mut at = Mark::START;
        let piece = |(offset, from)| {
            at = at.after(text.get(at.offset..offset).unwrap_or_default());
            Piece { at, from }
        };
        let pieces = pieces.into_iter().map(piece).collect();
        Self { text: Cow::Owned(text), pieces }
    }

    /// The same, free of what it was made from.
    pub(crate) fn into_owned(self) -> Clipped<'static> {
        Clipped { text: Cow::Owned(self.text.into_owned()), pieces: self.pieces }
    }

    /// The place in the original of one in what is held.
    pub(crate) fn original(&self, place: SourcePos) -> SourcePos {
        let (mut original, mut mark) = (place, Mark::START);
        (mark.offset, mark.line, mark.column) = (original.offset, original.line, original.column);
        if let Some(piece) = last(&self.pieces, |piece| piece.at.offset <= mark.offset) {
            mark = mark.since(piece.at).behind(piece.from);
        }
        (original.offset, original.line, original.column) = (mark.offset, mark.line, mark.column);
        original
    }

    /// Where a byte of the original stands in what is held, if it does.
    pub(crate) fn offset_of(&self, original: usize) -> usize {
        let piece = last(&self.pieces, |piece| piece.from.offset <= original);
        piece.map_or(original, |piece| piece.at.offset + (original - piece.from.offset))
    }
}

fn last(pieces: &[Piece], is_before: impl Fn(&Piece) -> bool) -> Option<&Piece> {
    pieces.partition_point(is_before).checked_sub(1).and_then(|index| pieces.get(index))
}
