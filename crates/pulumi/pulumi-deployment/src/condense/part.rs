//! Parts of a list of resources, so that threads can share one text.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use groundstate_json::{Cursor, Kind, Mark, Stop, SyntaxError};
use groundstate_pulumi_snapshot::Resource;
use memchr::memmem::Finder;

use super::{Condenser, Element};
use crate::reader::Reader;
use crate::sink::Sink;
use crate::wire::resource::resource;

/// How much of the text is held at a time, unless a resource is larger.
pub(super) const BLOCK: usize = 1 << 18;

/// How deep the elements of the list lie at most: in a checkpoint.
const DEEPEST: usize = 4;

/// Some of the resources of a text; see [`condense_part`].
pub struct CondensedPart {
    start: usize,
    pub(super) resources: Vec<Arc<Resource>>,
    /// Where they stand, from the start of the part on.
    pub(super) elements: Vec<Element>,
    /// Where the next part begins, or the bracket behind the list.
    pub(super) next: Element,
    /// What the part holds of the text around the list, the brackets included.
    pub(super) frame: Vec<u8>,
    /// Whether the list ended in it.
    pub(super) is_last: bool,
}

impl CondensedPart {
    /// Where it begins in the text.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Where the next part begins; nothing if this one went to the end of the text.
    pub fn reached(&self) -> Option<usize> {
        (!self.is_last).then(|| self.start + self.next.start.offset)
    }
}

impl fmt::Debug for CondensedPart {
    /// Shows places only: the text may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources = self.resources.len();
        let mut shown = f.debug_struct("CondensedPart");
        shown.field("start", &self.start).field("resources", &resources).field("reached", &self.reached());
        shown.finish()
    }
}

/// Reads a part of a deployment as [`condense`](super::condense) does, so that several threads can share one.
///
/// The first part begins at 0. The others begin where a resource is expected, a place that [`Beginning`] finds; `input` gives the
/// bytes from there. A part ends at the first resource at or behind `stop`, or with the text. That a resource really begins there
/// is proven by the part before: [`Condensed::join`](super::Condensed::join) takes parts only where each arrived exactly at the start
/// of the next.
///
/// # Errors
///
/// Those of the input.
pub fn condense_part(
    input: impl Read,
    start: usize,
    stop: Option<usize>,
) -> io::Result<Option<CondensedPart>> {
    part_by(input, start, stop, BLOCK)
}

/// The same by blocks of this size.
pub(super) fn part_by(
    input: impl Read,
    start: usize,
    stop: Option<usize>,
    block: usize,
) -> io::Result<Option<CondensedPart>> {
    let mut window = Window { input, block, base: 0, text: Vec::new(), is_whole: false };
    let (mut pos, depth) = match start {
        0 => match window.list()? {
            Some(found) => found,
            None => return Ok(None),
        },
        _ => (0, DEEPEST),
    };
    let mut frame = window.text.get(..pos).unwrap_or_default().to_vec();
    let mut at = Mark::START.after(&frame);
    let mut reader = Reader::condensing(Condenser::new());
    let (mut first, mut resources, mut elements) = (true, Vec::new(), Vec::new());
    let (next, is_last) = loop {
        let mut cursor = Cursor::at(&window.text, pos, depth);
        let mut still_first = first;
        let stop = stop.map(|stop| stop.saturating_sub(start + window.base));
        match next_of(&mut reader, &mut cursor, &mut still_first, stop) {
            Ok(Next::Resource(..)) if !reader.sink.is_clean() => return Ok(None),
            Ok(Next::Resource(begin, resource)) => {
                let element = window.element(at, pos, begin);
                resources.push(resource);
                elements.push(element);
                at = element.start.after(cursor.since(begin));
                (pos, first) = (cursor.offset(), still_first);
            }
            Ok(Next::Reached(begin)) => break (window.element(at, pos, begin), false),
            Ok(Next::End(begin)) => {
                let next = window.element(at, pos, begin);
                frame.extend_from_slice(window.text.get(begin..).unwrap_or_default());
                window.input.read_to_end(&mut frame)?;
                break (next, true);
            }
            // What is cut off is read again when the rest is there.
            Err(stop) if stop.why == SyntaxError::End && !window.is_whole => {
                reader.sink = Sink::default();
                window.more(pos)?;
                pos = 0;
            }
            Ok(Next::Unknown) | Err(_) => return Ok(None),
        }
    };
    Ok(Some(CondensedPart { start, resources, elements, next, frame, is_last }))
}

/// The part of a text that is held.
struct Window<R> {
    input: R,
    block: usize,
    /// Where it begins, from the start of the input on.
    base: usize,
    text: Vec<u8>,
    is_whole: bool,
}

impl<R: Read> Window<R> {
    /// Forgets what is done and reads on, by as much as is held at least, so that a large value is not read too often.
    fn more(&mut self, done: usize) -> io::Result<()> {
        let done = done.min(self.text.len());
        self.text.drain(..done);
        self.base += done;
        let wanted = self.block.max(self.text.len());
        self.text.try_reserve(wanted)?;
        let read = self.input.by_ref().take(wanted as u64).read_to_end(&mut self.text)?;
        self.is_whole = read < wanted;
        Ok(())
    }

    /// Reads to behind the bracket of the resources.
    fn list(&mut self) -> io::Result<Option<(usize, usize)>> {
        loop {
            match list_of_resources(&self.text) {
                Ok(found) => return Ok(found),
                Err(stop) if stop.why == SyntaxError::End && !self.is_whole => self.more(0)?,
                Err(_) => return Ok(None),
            }
        }
    }

    /// The element that begins at `begin`; the one before it ended at `pos`, which is `at`.
    fn element(&self, at: Mark, pos: usize, begin: usize) -> Element {
        Element { gap: at, start: at.after(self.text.get(pos..begin).unwrap_or_default()) }
    }
}

/// Behind the bracket of the resources, and how deep that is; nothing if the list is not where it should be.
fn list_of_resources(text: &[u8]) -> Result<Option<(usize, usize)>, Stop> {
    /// The objects on the way.
    enum Level {
        Document { is_current: bool },
        Checkpoint,
        Deployment,
    }
    let mut cursor = Cursor::new(text);
    if cursor.kind()? != Kind::Object {
        return Ok(None);
    }
    cursor.open(b'{')?;
    let (mut level, mut first) = (Level::Document { is_current: false }, true);
    while let Some(name) = cursor.member(&mut first)? {
        let kind = cursor.kind()?;
        let next = match (&level, &*name.bytes(), kind) {
            (Level::Document { .. }, b"version", _) => {
                let is_current = matches!(cursor.raw()?, b"3" | b"4");
                level = Level::Document { is_current };
                continue;
            }
            (Level::Document { is_current: true }, b"deployment", Kind::Object)
            | (Level::Checkpoint, b"latest", Kind::Object) => Level::Deployment,
            (Level::Document { is_current: true }, b"checkpoint", Kind::Object) => Level::Checkpoint,
            (Level::Deployment, b"resources", Kind::Array) => {
                cursor.open(b'[')?;
                return Ok(Some((cursor.offset(), cursor.depth())));
            }
            _ => {
                cursor.skip()?;
                continue;
            }
        };
        cursor.open(b'{')?;
        (level, first) = (next, true);
    }
    Ok(None)
}

/// What comes next in the list of resources, and where it begins.
enum Next {
    Resource(usize, Arc<Resource>),
    /// The resource with which another part begins.
    Reached(usize),
    /// The bracket.
    End(usize),
    /// Something that is no resource.
    Unknown,
}

fn next_of(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
    first: &mut bool,
    stop: Option<usize>,
) -> Result<Next, Stop> {
    if !cursor.element(first)? {
        return Ok(Next::End(cursor.offset() - 1));
    }
    let kind = cursor.kind()?;
    let begin = cursor.offset();
    match kind {
        Kind::Object if stop.is_some_and(|stop| begin >= stop) => Ok(Next::Reached(begin)),
        Kind::Object => Ok(Next::Resource(begin, Arc::new(resource(reader, cursor)?))),
        _ => Ok(Next::Unknown),
    }
}

/// How resources begin in a text, in order to expect others.
///
/// ```
/// use groundstate_pulumi_deployment::Beginning;
///
/// let text = br#"{"version":3,"deployment":{"resources":[{"urn":"a"},{"urn":"b"}]}}"#;
/// let beginning = Beginning::of(text).unwrap();
/// assert_eq!(beginning.find(text), Some(52));
/// ```
#[derive(Clone, Debug)]
pub struct Beginning {
    /// What stands between two resources, and the first name in the second.
    sample: Finder<'static>,
    /// Where the second begins in it.
    brace: usize,
}

impl Beginning {
    /// How the first resource begins; nothing if the head of the text does not hold so much.
    pub fn of(head: &[u8]) -> Option<Self> {
        let (pos, depth) = list_of_resources(head).ok()??;
        let mut cursor = Cursor::at(head, pos, depth);
        if cursor.kind().ok()? != Kind::Object {
            return None;
        }
        let brace = cursor.offset() - pos + 1;
        cursor.open(b'{').ok()?;
        let name = cursor.member(&mut true).ok()??;
        let end = name.offset + name.raw.len() + 2;
        let sample = [b",", head.get(pos..end)?].concat();
        Some(Self { sample: Finder::new(&sample).into_owned(), brace })
    }

    /// Where in a piece of the text a resource seems to begin that follows another.
    pub fn find(&self, piece: &[u8]) -> Option<usize> {
        self.sample.find(piece).map(|at| at + self.brace)
    }
}
