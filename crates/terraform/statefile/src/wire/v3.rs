//! Format 3 (Terraform 0.9 to 0.11).

use super::v2;
use crate::json::Stop;
use crate::sink::Sink;

/// The whole document.
///
/// Its structure is that of format 2. Only the content of attributes differs: the count of a map stands at `%` and
/// no longer at `#`, and empty collections have no count.
#[derive(Debug)]
pub(crate) struct Document<'a>(pub(crate) v2::Document<'a>);

impl<'a> Document<'a> {
    /// Reads a document whose version is known to be 3.
    pub(crate) fn read(text: &'a [u8], sink: &mut Sink) -> Result<Self, Stop> {
        v2::Document::read(text, 3, sink).map(Self)
    }
}
