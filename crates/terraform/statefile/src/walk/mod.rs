//! Walks a document of format 4 once, front to back, and hands its parts to a visitor.
//!
//! This is the layer below the model: [`walk`] gives the members of a document as slices of its text, with offsets, so
//! that rules can be checked without building the objects. What a slice means, [`decode`](crate::decode) says.
//!
//! The text may arrive in windows: a part that the window cuts off is read again when more of it is there, so a
//! visitor sees every part whole and exactly once, and no more than the largest part has to be in memory.
//!
//! ```
//! use groundstate_statefile::walk::{Flow, Head, Sink, Visitor, walk};
//!
//! #[derive(Default)]
//! struct Types(Vec<String>);
//!
//! impl Visitor for Types {
//!     fn resource(&mut self, head: &Head, _: usize, _: &mut Sink) -> Flow {
//!         self.0.push(head.type_name.value.clone());
//!         Flow::On
//!     }
//! }
//!
//! let text = br#"{"version": 4, "resources": [{"mode": "managed", "type": "null_resource", "name": "a"}]}"#;
//! let mut types = Types::default();
//! assert!(walk(text, &mut types, &mut Sink::default()));
//! assert_eq!(types.0, ["null_resource"]);
//! ```

mod feed;
mod parts;
mod visitor;

use std::ops::Range;

use crate::json::SyntaxError;
use crate::note::NoteKind;
use crate::wire::v4::{enter_item, note_duplicate};

pub use groundstate_json::{Cursor, Kind, Stop, Str};

pub use crate::decode::{READ_WITH, module_address, provider_address, resource_address};
pub use crate::instance::{ObjectKey, object_key};
pub use crate::sensitive::sensitive_paths;
pub use crate::sink::Sink;
pub use crate::wire::v4::{INSTANCE_MEMBERS, InstanceWire, Slice, string_map, strings};
pub(crate) use feed::{Feed, Whole};
pub use parts::{Head, OutputWire, Text};
pub use visitor::{Flow, HeaderText, Section, Visitor};

/// Why a walk ended early.
#[derive(Debug)]
pub(crate) enum Halt<E> {
    /// Not JSON, at this offset in the document.
    Syntax(Stop),
    /// The document is not of format 4 after all: `version` appears twice.
    Version,
    /// No more text.
    Feed(E),
    /// The visitor has seen enough.
    Enough,
    /// A resource begins at or behind the place where this part was to end.
    Reached(usize),
}

/// Walks the document with the visitor, and tells whether it saw all that it wanted: the whole document, or as much as it
/// took to have enough. Otherwise the visitor saw what stands before the end of the JSON, or before a second `version`.
pub fn walk<V: Visitor>(text: &[u8], visitor: &mut V, sink: &mut Sink) -> bool {
    matches!(walk_feed(Whole::new(text), visitor, sink), Ok(()) | Err(Halt::Enough))
}

/// Walks a document that may arrive in windows.
pub(crate) fn walk_feed<F: Feed, V: Visitor>(
    feed: F,
    visitor: &mut V,
    sink: &mut Sink,
) -> Result<(), Halt<F::Error>> {
    walk_part(feed, visitor, sink, Start::Document, None)
}

/// Where a part of a document begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At its first byte.
    Document,
    /// At the first byte of a resource. That one begins there is a guess until the part before arrives there.
    Resource,
}

/// Walks a part of a document: from `start` to the first resource at or behind `stop`, or to the end.
pub(crate) fn walk_part<F: Feed, V: Visitor>(
    feed: F,
    visitor: &mut V,
    sink: &mut Sink,
    start: Start,
    stop: Option<usize>,
) -> Result<(), Halt<F::Error>> {
    let mut walker = Walker { feed, pos: 0, depth: 0, stop, sink };
    match start {
        Start::Document => {
            walker.open_document()?;
            walker.members(visitor, true)?;
        }
        Start::Resource => {
            walker.depth = 2;
            walker.resources(visitor)?;
            walker.members(visitor, false)?;
        }
    }
    loop {
        walker.step(|cursor, _| cursor.end())?;
        if walker.feed.is_last() {
            return Ok(());
        }
        // What the window does not show yet must not be more than white space either.
        walker.feed.more(walker.pos).map_err(Halt::Feed)?;
        walker.pos = 0;
    }
}

struct Walker<'s, F> {
    feed: F,
    pos: usize,
    depth: usize,
    stop: Option<usize>,
    sink: &'s mut Sink,
}

/// Members of the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Top {
    Version,
    Serial,
    Text(HeaderText),
    Section(Section),
    Unknown,
}

impl Top {
    fn of(name: &str) -> Self {
        match name {
            "version" => Self::Version,
            "serial" => Self::Serial,
            "terraform_version" => Self::Text(HeaderText::TerraformVersion),
            "lineage" => Self::Text(HeaderText::Lineage),
            "outputs" => Self::Section(Section::Outputs),
            "resources" => Self::Section(Section::Resources),
            "check_results" => Self::Section(Section::Checks),
            _ => Self::Unknown,
        }
    }

    /// A number for each, to see members that appear twice.
    fn slot(self) -> Option<usize> {
        match self {
            Self::Version => Some(0),
            Self::Serial => Some(1),
            Self::Text(HeaderText::TerraformVersion) => Some(2),
            Self::Text(HeaderText::Lineage) => Some(3),
            Self::Section(Section::Outputs) => Some(4),
            Self::Section(Section::Resources) => Some(5),
            Self::Section(_) => Some(6),
            Self::Unknown => None,
        }
    }
}

/// A member at the top, before its value is read.
struct Member {
    top: Top,
    name: String,
    /// Where the name begins in the document.
    start: usize,
    /// Where the value begins.
    value: usize,
    kind: Kind,
}

/// The members at the top that were read, and where their values stand.
#[derive(Default)]
struct Seen([Option<Range<usize>>; 7]);

impl Seen {
    fn before(&self, top: Top) -> Option<Range<usize>> {
        self.0.get(top.slot()?)?.clone()
    }

    fn add(&mut self, top: Top, value: Range<usize>) {
        if let Some(slot) = top.slot().and_then(|slot| self.0.get_mut(slot)) {
            *slot = Some(value);
        }
    }
}

/// What there is to say of a member at the top that appears twice.
fn second_member(member: &Member, same: bool) -> (NoteKind, String) {
    let name = &member.name;
    if same {
        return (NoteKind::Normalized, format!("member {name:?} appears twice with the same value"));
    }
    match (member.top, member.kind) {
        (Top::Section(Section::Outputs), Kind::Object) => (
            NoteKind::Normalized,
            format!("member {name:?} appears twice; Terraform adds the outputs of both"),
        ),
        (Top::Serial | Top::Text(_), Kind::Null) => (
            NoteKind::Normalized,
            format!("member {name:?} appears twice; the second is null and changes nothing"),
        ),
        _ => {
            let message = format!(
                "member {name:?} appears twice with different values; the last one counts, as in Terraform"
            );
            (NoteKind::Lost, message)
        }
    }
}

impl<F: Feed> Walker<'_, F> {
    /// Runs `read` on the text at hand, and again with more text while it ends too early.
    ///
    /// `read` must have no effect that outlives a failure, except on the sink, which is rolled back.
    fn step<T>(
        &mut self,
        mut read: impl FnMut(&mut Cursor<'_>, &mut Sink) -> Result<T, Stop>,
    ) -> Result<T, Halt<F::Error>> {
        loop {
            let text = self.feed.text();
            let mut cursor = Cursor::at(text, self.pos, self.depth);
            self.sink.base = self.feed.base();
            let mark = self.sink.mark();
            match read(&mut cursor, self.sink) {
                // A number that reaches the window's end may go on behind it.
                Ok(_) if !self.feed.is_last() && cursor.ends_in_number() => {}
                Ok(value) => {
                    self.pos = cursor.offset();
                    self.depth = cursor.depth();
                    return Ok(value);
                }
                Err(stop) if stop.why == SyntaxError::End && !self.feed.is_last() => {}
                Err(stop) => {
                    let offset = self.feed.base() + stop.offset;
                    return Err(Halt::Syntax(Stop { offset, ..stop }));
                }
            }
            self.sink.roll_back(mark);
            self.feed.more(self.pos).map_err(Halt::Feed)?;
            self.pos = 0;
        }
    }

    fn open_document(&mut self) -> Result<(), Halt<F::Error>> {
        let object =
            self.step(|cursor, _| Ok(cursor.kind()? == Kind::Object && cursor.open(b'{').is_ok()))?;
        if object { Ok(()) } else { Err(Halt::Version) }
    }

    /// Reads the members of the document, all of them or those that are left.
    fn members<V: Visitor>(&mut self, visitor: &mut V, mut first: bool) -> Result<(), Halt<F::Error>> {
        let mut seen = Seen::default();
        loop {
            let next = self.step(|cursor, sink| {
                let mut begin = first;
                let Some(name) = cursor.member(&mut begin)? else { return Ok(None) };
                // The value's first byte decides what comes next, so it has to be there too.
                let kind = cursor.kind()?;
                let (value, start) = (sink.base + cursor.offset(), sink.base + name.offset);
                let top = Top::of(&name.decode());
                Ok(Some(Member { top, name: name.decode().into_owned(), start, value, kind }))
            })?;
            let Some(member) = next else { return Ok(()) };
            first = false;
            let before = seen.before(member.top);
            if before.is_some() {
                self.begin_again(&member, visitor);
            }
            match member.top {
                Top::Section(Section::Outputs) => self.outputs(visitor)?,
                Top::Section(Section::Resources) => {
                    if self.step(|cursor, sink| sink.array(cursor))? {
                        self.resources(visitor)?;
                    }
                }
                Top::Section(_) => self.checks(visitor)?,
                scalar => self.scalar(scalar, &member, before.is_some(), visitor)?,
            }
            let end = self.feed.base() + self.pos;
            if let Some(before) = before {
                self.note_second(&member, before, member.value..end);
            }
            seen.add(member.top, member.value..end);
            if member.top != Top::Unknown
                && visitor.member(&member.name, (member.start, end)) == Flow::Enough
                && self.resources_follow()?
            {
                return Err(Halt::Enough);
            }
        }
    }

    /// Whether resources are the next member, or there is no other one.
    fn resources_follow(&mut self) -> Result<bool, Halt<F::Error>> {
        self.step(|cursor, _| {
            Ok(cursor.clone().member(&mut false)?.is_none_or(|name| name.raw == b"resources"))
        })
    }

    /// A section that appears twice: Terraform adds the outputs of both, unless the second is null, and takes the later
    /// one of the others.
    fn begin_again<V: Visitor>(&mut self, member: &Member, visitor: &mut V) {
        if let Top::Section(section) = member.top
            && (section != Section::Outputs || member.kind == Kind::Null)
        {
            visitor.restart(section);
        }
    }

    /// Notes a member at the top that appears twice.
    fn note_second(&mut self, member: &Member, before: Range<usize>, now: Range<usize>) {
        let same = self.feed.earlier(before).is_some_and(|before| self.feed.earlier(now) == Some(before));
        let (kind, message) = second_member(member, same);
        self.sink.note_at(kind, member.start, message);
    }

    fn scalar<V: Visitor>(
        &mut self,
        top: Top,
        member: &Member,
        again: bool,
        visitor: &mut V,
    ) -> Result<(), Halt<F::Error>> {
        // Null leaves what an earlier member of the name has said.
        if again && member.kind == Kind::Null && top != Top::Version {
            return self.step(|cursor, _| cursor.skip());
        }
        match top {
            Top::Version => {
                if self.step(|cursor, sink| sink.unsigned(cursor))? != Some(4) {
                    return Err(Halt::Version);
                }
            }
            Top::Serial => {
                let serial = self.step(|cursor, sink| sink.unsigned(cursor))?;
                visitor.serial(serial.unwrap_or(0));
            }
            Top::Text(which) => {
                let (text, offset) = self.step(|cursor, sink| {
                    cursor.space();
                    let offset = cursor.offset();
                    let text = sink.string(cursor)?;
                    Ok((text.map(|text| text.decode().into_owned()), offset))
                })?;
                visitor.text(which, &text.unwrap_or_default(), offset, self.sink);
            }
            _ => {
                self.step(|cursor, _| {
                    let raw = cursor.raw()?;
                    visitor.unknown(&member.name, raw);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn outputs<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Halt<F::Error>> {
        if !self.step(|cursor, sink| sink.object(cursor))? {
            return Ok(());
        }
        let mut first = true;
        loop {
            let flow = self.step(|cursor, sink| {
                let mut begin = first;
                let Some(name) = cursor.member(&mut begin)? else { return Ok(None) };
                let Some(wire) = OutputWire::read(name, cursor, sink)? else { return Ok(Some(Flow::On)) };
                Ok(Some(visitor.output(&wire, sink)))
            })?;
            first = false;
            match flow {
                None => return Ok(()),
                Some(Flow::On) => {}
                Some(Flow::Enough) => return Err(Halt::Enough),
            }
        }
    }

    fn checks<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Halt<F::Error>> {
        if !self.step(|cursor, sink| sink.array(cursor))? {
            return Ok(());
        }
        visitor.checks_present();
        let mut first = true;
        loop {
            // The element is found whole before the visitor reads it, so that it reads it once.
            let more = self.step(|cursor, sink| {
                let mut begin = first;
                if !cursor.element(&mut begin)? {
                    return Ok(false);
                }
                let mut ahead = cursor.clone();
                ahead.skip()?;
                visitor.check(cursor, sink)?;
                *cursor = ahead;
                Ok(true)
            })?;
            first = false;
            if !more {
                return Ok(());
            }
        }
    }

    /// Reads the resources up to the end of their list, which has been entered.
    fn resources<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Halt<F::Error>> {
        let stop = self.stop.unwrap_or(usize::MAX);
        let mut head = Head::default();
        let mut first = true;
        loop {
            // No object where one is needed has been reported and skipped.
            let next = self.step(|cursor, sink| {
                let mut begin = first;
                if !cursor.element(&mut begin)? {
                    return Ok(None);
                }
                let offset = sink.base + cursor.offset();
                let is_object = offset < stop && enter_item(cursor, sink, "a resource")?;
                Ok(Some((is_object, offset)))
            })?;
            first = false;
            let Some((is_object, offset)) = next else { return Ok(()) };
            if offset >= stop {
                return Err(Halt::Reached(offset));
            }
            if is_object {
                head.clear(offset);
                self.resource(&mut head, visitor)?;
                head.settle();
                self.sink.base = self.feed.base();
                if visitor.resource(&head, self.feed.base() + self.pos, self.sink) == Flow::Enough {
                    return Err(Halt::Enough);
                }
            }
        }
    }

    fn resource<V: Visitor>(&mut self, head: &mut Head, visitor: &mut V) -> Result<(), Halt<F::Error>> {
        let mut first = true;
        loop {
            let next = self.step(|cursor, sink| {
                let mut begin = first;
                let Some(name) = cursor.member(&mut begin)? else { return Ok(Next::End) };
                if &*name.bytes() == b"instances" {
                    if head.seen_instances {
                        note_duplicate(sink, &name, false);
                    }
                    // The bracket has to be there, or the step would end on the name alone.
                    return Ok(Next::Instances(sink.array(cursor)?));
                }
                head.read_member(&name, cursor, sink)?;
                Ok(Next::Member)
            })?;
            first = false;
            match next {
                Next::End => return Ok(()),
                Next::Member => {}
                Next::Instances(is_list) => {
                    if std::mem::replace(&mut head.seen_instances, true) {
                        visitor.restart(Section::Instances);
                    }
                    if is_list {
                        self.instances(visitor)?;
                    }
                }
            }
        }
    }

    fn instances<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Halt<F::Error>> {
        let mut first = true;
        loop {
            let more = self.step(|cursor, sink| {
                let mut begin = first;
                if !cursor.element(&mut begin)? {
                    return Ok(false);
                }
                let start = cursor.offset();
                if let Some(wire) = InstanceWire::read(cursor, sink)? {
                    visitor.instance(&wire, (start, cursor.offset()), sink);
                }
                Ok(true)
            })?;
            first = false;
            if !more {
                return Ok(());
            }
        }
    }
}

/// What stands next in a resource.
enum Next {
    Member,
    /// Instances, and whether they are a list that has been entered.
    Instances(bool),
    End,
}
