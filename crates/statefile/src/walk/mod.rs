//! Walks a document of format 4 once, front to back, and hands its parts to a visitor.
//!
//! The text may arrive in windows: a part that the window cuts off is read again when more of it is there, so a
//! visitor sees every part whole and exactly once, and no more than the largest part has to be in memory.

mod feed;
mod parts;
mod visitor;

use crate::json::{Cursor, Kind, Stop, SyntaxError};
use crate::sink::Sink;
use crate::wire::v4::{InstanceWire, enter_item, note_duplicate};

pub(crate) use feed::{Feed, Whole};
pub(crate) use parts::{Head, OutputWire, Text};
pub(crate) use visitor::{Flow, HeaderText, Section, Visitor};

/// Why a walk ended early.
#[derive(Debug)]
pub(crate) enum Halt<E> {
    /// Not JSON, at this offset in the document.
    Syntax(Stop),
    /// The document is not of format 4 after all: `version` stands twice.
    Version,
    /// No more text.
    Feed(E),
    /// The visitor has seen enough.
    Enough,
    /// A resource begins at or behind the place where this part was to end.
    Reached(usize),
}

/// Walks the document with the visitor.
pub(crate) fn walk<F: Feed, V: Visitor>(
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

    /// One bit each, to see members that stand twice.
    fn bit(self) -> u8 {
        match self {
            Self::Version => 1,
            Self::Serial => 2,
            Self::Text(HeaderText::TerraformVersion) => 4,
            Self::Text(HeaderText::Lineage) => 8,
            Self::Section(Section::Outputs) => 16,
            Self::Section(Section::Resources) => 32,
            Self::Section(_) => 64,
            Self::Unknown => 0,
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
        let mut seen = 0;
        loop {
            let next = self.step(|cursor, sink| {
                let mut begin = first;
                let Some(name) = cursor.member(&mut begin)? else { return Ok(None) };
                // The value's first byte decides what comes next, so it has to be there too.
                cursor.kind()?;
                let top = Top::of(&name.decode());
                if seen & top.bit() != 0 {
                    note_duplicate(sink, &name, false);
                }
                Ok(Some((top, name.decode().into_owned(), sink.base + name.offset)))
            })?;
            let Some((top, name, start)) = next else { return Ok(()) };
            first = false;
            if let Top::Section(section) = top
                && seen & top.bit() != 0
            {
                visitor.restart(section);
            }
            seen |= top.bit();
            match top {
                Top::Section(Section::Outputs) => self.outputs(visitor)?,
                Top::Section(Section::Resources) => {
                    if self.step(|cursor, sink| sink.array(cursor))? {
                        self.resources(visitor)?;
                    }
                }
                Top::Section(_) => self.checks(visitor)?,
                scalar => self.scalar(scalar, &name, visitor)?,
            }
            if top != Top::Unknown
                && visitor.member(&name, (start, self.feed.base() + self.pos)) == Flow::Enough
            {
                return Err(Halt::Enough);
            }
        }
    }

    fn scalar<V: Visitor>(&mut self, top: Top, name: &str, visitor: &mut V) -> Result<(), Halt<F::Error>> {
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
                    visitor.unknown(name, raw);
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
