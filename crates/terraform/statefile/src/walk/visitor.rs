//! Who receives the parts of a document.

use super::parts::{Head, OutputWire};
use crate::json::{Cursor, Stop};
use crate::sink::Sink;
use crate::wire::v4::InstanceWire;

/// Whether a visitor wants more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It wants what follows.
    On,
    /// It has seen what it came for.
    Enough,
}

/// Sections that can appear twice in a document; the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// `outputs` of the document.
    Outputs,
    /// `resources` of the document.
    Resources,
    /// `instances` of the resource at hand.
    Instances,
    /// `check_results` of the document.
    Checks,
}

/// A string at the top of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderText {
    /// `terraform_version`.
    TerraformVersion,
    /// `lineage`.
    Lineage,
}

/// Receives the parts of a document in their order. Offsets inside wires are relative to the text at hand, which
/// [`walk`](super::walk) is given whole; in a window `sink.base` makes them absolute.
pub trait Visitor {
    /// The serial; comes again if the member appears twice.
    fn serial(&mut self, _serial: u64) {}
    /// A string at the top, with the offset of its value.
    fn text(&mut self, _which: HeaderText, _text: &str, _offset: usize, _sink: &mut Sink) {}
    /// Forget what this section gave so far: it begins again.
    fn restart(&mut self, _section: Section) {}
    /// An output.
    fn output(&mut self, _wire: &OutputWire<'_>, _sink: &mut Sink) -> Flow {
        Flow::On
    }
    /// An instance of the resource whose other members may follow later; `span` is relative.
    fn instance(&mut self, _wire: &InstanceWire<'_>, _span: (usize, usize), _sink: &mut Sink) {}
    /// A resource has ended behind `end`; its instances came before.
    fn resource(&mut self, _head: &Head, _end: usize, _sink: &mut Sink) -> Flow {
        Flow::On
    }
    /// One element of `check_results`; must read exactly that value.
    ///
    /// # Errors
    ///
    /// That of the cursor, where the text is no JSON.
    fn check(&mut self, cursor: &mut Cursor<'_>, _sink: &mut Sink) -> Result<(), Stop> {
        cursor.skip()
    }
    /// `check_results` is a list.
    fn checks_present(&mut self) {}
    /// An unknown member of the document.
    fn unknown(&mut self, _name: &str, _raw: &[u8]) {}
    /// A known top-level member's place: its name begins at the first offset and its value ends at the second.
    fn member(&mut self, _name: &str, _span: (usize, usize)) -> Flow {
        Flow::On
    }
}
