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

/// A document that is in memory as a whole, from a place in it on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole<'a> {
    document: &'a [u8],
    start: usize,
}

impl<'a> Whole<'a> {
    /// The document from its first byte on.
    pub(crate) fn new(document: &'a [u8]) -> Self {
        Self { document, start: 0 }
    }

    /// The document from another byte on.
    pub(crate) fn from(self, start: usize) -> Self {
        Self { start, ..self }
    }
}

impl Feed for Whole<'_> {
    type Error = std::convert::Infallible;

    fn text(&self) -> &[u8] {
        self.document.get(self.start..).unwrap_or_default()
    }

    fn base(&self) -> usize {
        self.start
    }

    fn is_last(&self) -> bool {
        true
    }

    fn earlier(&self, part: std::ops::Range<usize>) -> Option<&[u8]> {
        self.document.get(part)
    }

    fn more(&mut self, _: usize) -> Result<(), Self::Error> {
        Ok(())
    }
}
