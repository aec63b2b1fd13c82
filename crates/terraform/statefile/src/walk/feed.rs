//! Where the text of a walk comes from.

/// Text that may arrive in pieces.
pub(crate) trait Feed {
    /// Why no more text comes; never for text in memory.
    type Error;
    /// What is there.
    fn text(&self) -> &[u8];
    /// Where the text at hand begins in the document.
    fn base(&self) -> usize;
    /// Whether the text at hand reaches the document's end.
    fn is_last(&self) -> bool;
    /// A part of the document that was read before, if it is still there.
    fn earlier(&self, part: std::ops::Range<usize>) -> Option<&[u8]>;
    /// Forgets the first `done` bytes and gets more.
    fn more(&mut self, done: usize) -> Result<(), Self::Error>;
}

/// A document that is in memory as a whole.
#[derive(Debug)]
pub(crate) struct Whole<'a>(pub(crate) &'a [u8]);

impl Feed for Whole<'_> {
    type Error = std::convert::Infallible;

    fn text(&self) -> &[u8] {
        self.0
    }

    fn base(&self) -> usize {
        0
    }

    fn is_last(&self) -> bool {
        true
    }

    fn earlier(&self, part: std::ops::Range<usize>) -> Option<&[u8]> {
        self.0.get(part)
    }

    fn more(&mut self, _: usize) -> Result<(), Self::Error> {
        Ok(())
    }
}
