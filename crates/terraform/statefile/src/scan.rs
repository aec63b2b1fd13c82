//! Reading a document in pieces: lists and single outputs without the whole file in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};

use groundstate_states::OutputValue;
use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey};

use crate::index::{Index, Indexer, Order};
use crate::json::{Cursor, SyntaxError};
use crate::output_value;
use crate::sink::Sink;
use crate::sniff;
use crate::walk::{Feed, Flow, Halt, OutputWire, Section, Start, Visitor, walk_part};

/// Why a document could not be read in pieces.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The document is not of format 4, or something is wrong with it: [`crate::decode`] reads it or says what.
    #[error("the state file has to be read as a whole")]
    Whole,
    /// The input failed.
    #[error("cannot read the state")]
    Io(#[from] io::Error),
}

/// The instances of a document.
#[derive(Debug)]
pub struct Listing {
    index: Index,
    order: Order,
}

/// An instance of a list; prints as its address.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed<'l> {
    /// Its resource.
    pub resource: &'l AbsResource,
    /// Its key.
    pub key: &'l InstanceKey,
    /// The `id` of its current object, if ids were asked for and there is one.
    pub id: Option<&'l str>,
}

impl Listing {
    /// Puts the parts of one document together, first to last.
    ///
    /// # Errors
    ///
    /// [`ScanError::Whole`] if the parts do not meet, or something is wrong with the document as a whole.
    pub fn join(parts: impl IntoIterator<Item = ListingPart>) -> Result<Self, ScanError> {
        let mut whole: Option<ListingPart> = None;
        for part in parts {
            whole = Some(match whole {
                None if part.start == 0 => part,
                Some(before) if before.reached == Some(part.start) => {
                    let shift = before.order.len();
                    let index = before.index.append(part.index).ok_or(ScanError::Whole)?;
                    let mut order = before.order;
                    order.extend(part.order.into_iter().map(|position| position + shift));
                    ListingPart { index, order, start: 0, reached: part.reached }
                }
                _ => return Err(ScanError::Whole),
            });
        }
        let whole = whole.filter(|part| part.reached.is_none()).ok_or(ScanError::Whole)?;
        let index = whole.index;
        let order = index.order(whole.order);
        let mut sink = Sink::default();
        index.check_entries(&order, &mut sink);
        if sink.is_clean() { Ok(Self { index, order }) } else { Err(ScanError::Whole) }
    }

    /// The instances in the order of `terraform state list`, each once.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Listed<'_>> {
        self.index.instances(&self.order).into_iter().map(|(resource, key, id)| Listed { resource, key, id })
    }
}

impl Listed<'_> {
    /// The address as a value of its own.
    pub fn address(&self) -> AbsResourceInstance {
        self.resource.instance(self.key.clone())
    }
}

impl fmt::Debug for Listed<'_> {
    /// Shows the address only: ids are attributes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listed").field(&self.to_string()).finish()
    }
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.key)
    }
}

/// Lists the instances of a document.
///
/// Reads every byte and checks all that [`crate::decode`] checks, in a buffer of the size of the largest object.
///
/// # Errors
///
/// [`ScanError::Whole`] for everything but a flawless document of format 4.
///
/// ```
/// let text = br#"{"version": 4, "resources": [{"mode": "managed", "type": "null_resource", "name": "a",
///     "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [{"index_key": 0}]}]}"#;
/// let listing = groundstate_statefile::list(&text[..], false)?;
/// let addresses: Vec<String> = listing.iter().map(|listed| listed.to_string()).collect();
/// assert_eq!(addresses, ["null_resource.a[0]"]);
/// # Ok::<(), groundstate_statefile::ScanError>(())
/// ```
pub fn list<B: Blocks>(input: B, with_ids: bool) -> Result<Listing, ScanError> {
    Listing::join([list_part(input, 0, None, with_ids)?])
}

/// The instances of a part of a document; see [`list_part`].
#[derive(Debug)]
pub struct ListingPart {
    index: Index,
    /// Positions of its resources in the order of lists; with those of the other parts they need but be merged.
    order: Vec<usize>,
    start: usize,
    /// Where the next part begins; nothing if this one went to the end.
    reached: Option<usize>,
}

/// Lists the instances of a part of a document, so that several threads can share one.
///
/// The first part begins at 0. The others begin where a resource is expected, a place that [`expect_resource`] finds;
/// `input` gives the bytes from there. A part ends at the first resource at or behind `stop`, or with the document.
/// That a resource really begins there is proven by the part before: [`Listing::join`] takes parts only where each
/// arrived exactly at the start of the next.
///
/// # Errors
///
/// As [`list()`].
pub fn list_part<B: Blocks>(
    input: B,
    start: usize,
    stop: Option<usize>,
    with_ids: bool,
) -> Result<ListingPart, ScanError> {
    let mut sink = Sink::default();
    let mut indexer = Indexer::new(with_ids);
    let reached = scan(input, &mut indexer, &mut sink, start, stop)?;
    if !sink.is_clean() {
        return Err(ScanError::Whole);
    }
    let order = indexer.index.in_list_order().positions;
    Ok(ListingPart { index: indexer.index, order, start, reached })
}

/// Finds a place in a piece of a document where a resource begins, if the document is laid out as usual.
pub fn expect_resource(piece: &[u8]) -> Option<usize> {
    memchr::memmem::find(piece, b"\n    {\n      \"").map(|at| at + 5)
}

/// Reads the outputs, or the one with this name.
///
/// # Errors
///
/// [`ScanError::Whole`] if what was read is not flawless, or is not of format 4.
pub fn outputs<B: Blocks>(input: B, name: Option<&str>) -> Result<Vec<(String, OutputValue)>, ScanError> {
    scan_outputs(input, false, name, &|_| true)
}

/// The same, each output being shown to `admit` as its JSON before it is decoded: memory is bounded by what it lets pass.
///
/// # Errors
///
/// As [`outputs()`], and [`ScanError::Io`] of kind `OutOfMemory` if `admit` refuses one.
pub fn outputs_within<B: Blocks>(
    input: B,
    name: Option<&str>,
    admit: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<(String, OutputValue)>, ScanError> {
    scan_outputs(input, false, name, admit)
}

/// Reads the outputs, or the one with this name, and stops behind them, if the document is laid out as both products lay
/// it out: then the time does not depend on the document's size. What follows the outputs is neither read nor checked.
///
/// `end` is the end of the same document, [`END`] bytes or all of it. Terraform adds the outputs of a second member
/// `outputs`, which no product writes: the document is read on where `resources` does not follow the first one, and to
/// its end where `end` does not show how the resources end. Two such members with resources in front of the second and
/// behind it are not noticed.
///
/// # Errors
///
/// As [`outputs()`].
pub fn leading_outputs<B: Blocks>(
    input: B,
    end: &[u8],
    name: Option<&str>,
) -> Result<Vec<(String, OutputValue)>, ScanError> {
    scan_outputs(input, ends_with_resources(end), name, &|_| true)
}

/// How much of a document's end [`leading_outputs`] looks at.
pub const END: usize = 1 << 14;

fn scan_outputs<B: Blocks>(
    input: B,
    early: bool,
    name: Option<&str>,
    admit: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<(String, OutputValue)>, ScanError> {
    let mut sink = Sink::default();
    let mut outputs = Outputs { name, early, admit, refused: false, found: BTreeMap::new() };
    scan(input, &mut outputs, &mut sink, 0, None)?;
    if outputs.refused {
        return Err(io::Error::from(io::ErrorKind::OutOfMemory).into());
    }
    if !sink.is_clean() {
        return Err(ScanError::Whole);
    }
    Ok(outputs.found.into_iter().collect())
}

/// Whether a document ends with a list and at most `check_results` behind it: then no second member `outputs` is last.
fn ends_with_resources(end: &[u8]) -> bool {
    const CHECKS: &[u8] = b"\"check_results\"";
    let end = end.get(end.len().saturating_sub(END)..).unwrap_or_default();
    // Inside of a string the quotes would be escaped.
    let begins = |at: &usize| at.checked_sub(1).and_then(|before| end.get(before)) != Some(&b'\\');
    let before = match memchr::memmem::rfind(end, CHECKS).filter(begins) {
        Some(at) if ends_document(end.get(at..).unwrap_or_default()) => {
            let before = end.get(..at).unwrap_or_default().trim_ascii_end();
            before.strip_suffix(b",")
        }
        _ => end.trim_ascii_end().strip_suffix(b"}"),
    };
    before.is_some_and(|before| before.trim_ascii_end().ends_with(b"]"))
}

/// Whether this is one member, and then the end of the document.
fn ends_document(text: &[u8]) -> bool {
    let mut cursor = Cursor::at(text, 0, 1);
    let read = cursor.member(&mut true).and_then(|_| cursor.skip()).and_then(|()| cursor.member(&mut false));
    matches!(read, Ok(None)) && cursor.end().is_ok()
}

/// Walks the part and gives the place of the resource that ended it, if one did.
fn scan<B: Blocks, V: Visitor>(
    input: B,
    visitor: &mut V,
    sink: &mut Sink,
    start: usize,
    stop: Option<usize>,
) -> Result<Option<usize>, ScanError> {
    let mut window = Window::new(input, start)?;
    let from = if start == 0 { Start::Document } else { Start::Resource };
    // The first member says the version; another one first is for the readers of whole documents.
    if from == Start::Document && !window.begins_current()? {
        return Err(ScanError::Whole);
    }
    match walk_part(window, visitor, sink, from, stop) {
        Ok(()) | Err(Halt::Enough) => Ok(None),
        Err(Halt::Reached(at)) => Ok(Some(at)),
        Err(Halt::Feed(error)) => Err(error.into()),
        Err(Halt::Syntax(_) | Halt::Version) => Err(ScanError::Whole),
    }
}

struct Outputs<'n> {
    name: Option<&'n str>,
    /// Stops behind the outputs.
    early: bool,
    /// Asks whether there is memory for an output.
    admit: &'n dyn Fn(&[u8]) -> bool,
    refused: bool,
    /// Of two with one name the later counts.
    found: BTreeMap<String, OutputValue>,
}

impl Visitor for Outputs<'_> {
    fn restart(&mut self, section: Section) {
        if section == Section::Outputs {
            self.found.clear();
        }
    }

    fn output(&mut self, wire: &OutputWire<'_>, sink: &mut Sink) -> Flow {
        let name = wire.name.decode();
        if self.name.is_some_and(|wanted| wanted != name) {
            return Flow::On;
        }
        let texts = [wire.value, wire.value_type].into_iter().flatten().map(|(text, _)| text);
        let extra = wire.extra.iter().map(|(_, text)| *text);
        if !texts.chain(extra).all(self.admit) {
            self.refused = true;
            return Flow::Enough;
        }
        let Some(output) = output_value::decode(wire, sink) else { return Flow::On };
        self.found.insert(name.into_owned(), output);
        Flow::On
    }

    fn member(&mut self, name: &str, _: (usize, usize)) -> Flow {
        if self.early && name == "outputs" { Flow::Enough } else { Flow::On }
    }
}

/// A piece of the input: bytes from `start` on, with room in front of them.
pub struct Block {
    /// The room, then the bytes.
    pub bytes: Vec<u8>,
    /// Where the bytes begin.
    pub start: usize,
}

impl Block {
    /// Room in front of the bytes for what the block before left over; larger leftovers are moved.
    pub const ROOM: usize = 1 << 16;
    /// How many bytes a block should hold: few enough for the caches of a core.
    pub const SIZE: usize = 1 << 18;

    /// Fills the block with the next bytes of `input`; an empty block is the end.
    ///
    /// # Errors
    ///
    /// Those of `input`, except interruptions.
    pub fn fill<R: Read>(&mut self, input: &mut R) -> io::Result<()> {
        if self.bytes.len() < Self::ROOM + Self::SIZE {
            // Fresh zeroed pages cost less than writing zeros into those at hand.
            self.bytes = vec![0; Self::ROOM + Self::SIZE];
        }
        self.start = Self::ROOM;
        loop {
            match input.read(self.bytes.get_mut(Self::ROOM..).unwrap_or_default()) {
                Ok(read) => {
                    self.bytes.truncate(Self::ROOM + read);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Debug for Block {
    /// Shows sizes only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, start } = self;
        f.debug_struct("Block").field("bytes", &bytes.len()).field("start", start).finish()
    }
}

impl Default for Block {
    fn default() -> Self {
        Self { bytes: Vec::new(), start: Self::ROOM }
    }
}

/// Where the blocks of a document come from; a program may read ahead in another thread.
pub trait Blocks {
    /// Gives the next block and returns one that is no longer needed; an empty block is the end. If none is returned, what is at hand grows: the
    /// `start` of the empty block that is given then is its size.
    ///
    /// # Errors
    ///
    /// Those of the input.
    fn next(&mut self, spent: Block) -> io::Result<Block>;
}

impl<R: Read> Blocks for R {
    fn next(&mut self, mut spent: Block) -> io::Result<Block> {
        spent.fill(self)?;
        Ok(spent)
    }
}

/// The block that is being read, with what the one before left over in front of it.
#[derive(Debug)]
struct Window<B> {
    input: B,
    block: Block,
    /// Offset of the block's bytes in the document.
    base: usize,
    last: bool,
}

impl<B: Blocks> Window<B> {
    fn new(mut input: B, base: usize) -> Result<Self, io::Error> {
        let block = input.next(Block::default())?;
        let last = block.bytes.len() <= block.start;
        Ok(Self { input, block, base, last })
    }

    /// Whether the document begins with the current version, however few bytes come at a time.
    fn begins_current(&mut self) -> io::Result<bool> {
        loop {
            let mut cursor = Cursor::new(self.text());
            let read = sniff::begins_current(&mut cursor);
            let open = match &read {
                Ok(_) => cursor.ends_in_number(),
                Err(stop) => stop.why == SyntaxError::End,
            };
            if self.last || !open {
                return Ok(read.is_ok_and(|current| current));
            }
            self.more(0)?;
        }
    }

    /// Gets one more block behind what is left.
    fn append(&mut self) -> io::Result<()> {
        let next = self.input.next(Block { bytes: Vec::new(), start: self.block.bytes.len() })?;
        let fresh = next.bytes.get(next.start..).unwrap_or_default();
        self.last = fresh.is_empty();
        self.block.bytes.extend_from_slice(fresh);
        Ok(())
    }
}

impl<B: Blocks> Feed for Window<B> {
    type Error = io::Error;

    fn text(&self) -> &[u8] {
        self.block.bytes.get(self.block.start..).unwrap_or_default()
    }

    fn base(&self) -> usize {
        self.base
    }

    fn is_last(&self) -> bool {
        self.last
    }

    fn earlier(&self, _: std::ops::Range<usize>) -> Option<&[u8]> {
        None
    }

    fn more(&mut self, done: usize) -> io::Result<()> {
        let done = done.min(self.text().len());
        self.block.start += done;
        self.base += done;
        let left = self.text().len();
        if left > Block::ROOM {
            // A part larger than a block: what is there is doubled each time, so that it is read again but a few times.
            let until = left * 2;
            self.block.bytes.drain(..self.block.start);
            self.block.start = 0;
            while !self.last && self.block.bytes.len() < until {
                self.append()?;
            }
            return Ok(());
        }
        let mut room = [0; Block::ROOM];
        let (head, _) = room.split_at_mut(left);
        head.copy_from_slice(self.text());
        let spent = Block { bytes: std::mem::take(&mut self.block.bytes), start: 0 };
        self.block = self.input.next(spent)?;
        let Block { bytes, start } = &mut self.block;
        self.last = bytes.len() <= *start;
        // The leftover goes into the room; a source that leaves none gets its bytes moved.
        match start.checked_sub(left) {
            Some(at) => {
                if let Some(free) = bytes.get_mut(at..*start) {
                    free.copy_from_slice(head);
                }
                *start = at;
            }
            None => {
                bytes.splice(..*start, head.iter().copied());
                *start = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, END, ends_with_resources, list};

    #[test]
    fn the_end_of_a_document_shows_whether_resources_come_last() {
        for (end, plain) in [
            (r#"{"version":4,"outputs":{},"resources":[],"check_results":null}"#, true),
            ("…}\n  ],\n  \"check_results\": [\n {\"a\": {}} ]\n}\n\n", true),
            (r#"…],"check_results":null}"#, true),
            ("…}]}\n", true),
            (r#"…],"check_results":null,"outputs":{}}"#, false),
            (r#"…],"\u006futputs":{"a":{"value":1,"type":"number"}}}"#, false),
            (r#"…},"check_results":null}"#, false),
            (r#"…],"outputs":{"a":{"value":"],\"check_results\":null}","type":"string"}}}"#, false),
            (r#"…],"check_results":null}}"#, false),
            (r#"…],"check_results":null"#, false),
            ("", false),
        ] {
            assert_eq!(ends_with_resources(end.as_bytes()), plain, "{end}");
        }
        let long = format!("],\"check_results\":[{}]}}", " ".repeat(END));
        assert!(ends_with_resources(long.as_bytes()), "the list that ends it is as good");
    }

    #[test]
    fn debug_texts_show_no_attributes() {
        let text = br#"{"version": 4, "resources": [{"mode": "managed", "type": "t", "name": "a",
            "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
            "instances": [{"attributes": {"id": "s3cret"}}]}]}"#;
        let listing = list(&text[..], true).unwrap();
        let listed = listing.iter().next().unwrap();
        assert_eq!(listed.id, Some("s3cret"));
        let block = Block { bytes: text.to_vec(), start: 0 };
        for shown in [format!("{listing:?}"), format!("{listed:?}"), format!("{block:?}")] {
            // Bytes would be shown by their numbers.
            assert!(!shown.contains("s3cret") && !shown.contains("115, 51, 99"), "{shown}");
        }
    }
}
