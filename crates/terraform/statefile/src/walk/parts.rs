//! The parts that hold more than one member but no list: a resource without its instances, and an output.

use std::borrow::Cow;

use crate::json::{Cursor, Kind, Stop, Str};
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sink::Sink;
use crate::wire::v4::note_duplicate;

/// The members of a resource except its instances.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Where the resource begins in the document.
    pub offset: usize,
    /// `module`, the address of the module instance.
    pub module: Text,
    /// `mode`, `managed` or `data`.
    pub mode: Text,
    /// `type`.
    pub type_name: Text,
    /// `name`.
    pub name: Text,
    /// `provider`, the address of the provider configuration.
    pub provider: Text,
    /// `each`, which releases before 1.0 wrote.
    pub each: Text,
    /// Names and JSON values of members that are not known.
    pub extra: Vec<(String, String)>,
    pub(super) seen_instances: bool,
}

/// A string member and its place in the document; empty and absent mean the same.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The decoded text.
    pub value: String,
    /// Where its literal begins in the document.
    pub offset: usize,
    seen: bool,
    /// The literal that `value` was decoded from: many resources have the same provider or module.
    literal: Vec<u8>,
}

impl Text {
    fn clear(&mut self) {
        self.value.clear();
        self.literal.clear();
        self.seen = false;
    }

    fn set(&mut self, text: Option<Str<'_>>, offset: usize) {
        let literal = text.map_or(&b""[..], |text| text.raw);
        if self.literal != literal {
            self.literal.clear();
            self.literal.extend_from_slice(literal);
            self.value.clear();
            self.value.push_str(&text.map(|text| text.decode()).unwrap_or_default());
        }
        self.offset = offset;
        self.seen = true;
    }
}

/// An output as it stands in the document.
#[derive(Clone, Debug)]
pub struct OutputWire<'a> {
    /// The literal of its name.
    pub name: Str<'a>,
    /// `value` as JSON, and its offset.
    pub value: Option<(&'a [u8], usize)>,
    /// `type` as JSON, and its offset.
    pub value_type: Option<(&'a [u8], usize)>,
    /// `sensitive`.
    pub sensitive: bool,
    /// `deprecated`, a message that only OpenTofu writes.
    pub deprecated: Option<Str<'a>>,
    /// Names and JSON values of members that are not known.
    pub extra: Vec<(Cow<'a, str>, &'a [u8])>,
    /// First byte of the name and end of the value, relative to the text at hand.
    pub span: (usize, usize),
}

impl Head {
    pub(super) fn clear(&mut self, offset: usize) {
        for text in self.texts() {
            // The text stays until another one replaces it, or nothing does.
            text.seen = false;
        }
        self.extra.clear();
        self.seen_instances = false;
        self.offset = offset;
    }

    pub(super) fn read_member(
        &mut self,
        name: &Str<'_>,
        cursor: &mut Cursor<'_>,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        let text = match &*name.bytes() {
            b"module" => &mut self.module,
            b"mode" => &mut self.mode,
            b"type" => &mut self.type_name,
            b"name" => &mut self.name,
            b"provider" => &mut self.provider,
            b"each" => &mut self.each,
            _ => {
                let raw = cursor.raw()?;
                self.extra.push((name.decode().into_owned(), String::from_utf8_lossy(raw).into_owned()));
                return Ok(());
            }
        };
        let offset = cursor.offset();
        let found = sink.string(cursor)?;
        if text.seen {
            note_duplicate(sink, name, found.is_some_and(|found| text.literal == found.raw));
        }
        if found.is_some_and(|found| found.raw != text.literal && found.has_lone_surrogate()) {
            sink.note(NoteKind::Lost, offset, "half a surrogate pair has become U+FFFD");
        }
        text.set(found, sink.base + offset);
        Ok(())
    }

    /// Empties the members that this resource does not have.
    pub(super) fn settle(&mut self) {
        for text in self.texts().into_iter().filter(|text| !text.seen) {
            text.clear();
        }
    }

    fn texts(&mut self) -> [&mut Text; 6] {
        [
            &mut self.module,
            &mut self.mode,
            &mut self.type_name,
            &mut self.name,
            &mut self.provider,
            &mut self.each,
        ]
    }
}

impl<'a> OutputWire<'a> {
    /// Reads the output whose name has just been read.
    pub(super) fn read(
        name: Str<'a>,
        cursor: &mut Cursor<'a>,
        sink: &mut Sink,
    ) -> Result<Option<Self>, Stop> {
        if cursor.kind()? != Kind::Object {
            let mark = sink.len();
            let wrong = sink.wrong_type::<()>(cursor, "an output object")?;
            if sink.len() == mark && wrong.is_none() {
                sink.problem(Code::OutputType, name.offset, "expected an output object, found null");
            }
            return Ok(None);
        }
        cursor.open(b'{')?;
        let mut wire = Self {
            name,
            value: None,
            value_type: None,
            sensitive: false,
            deprecated: None,
            extra: Vec::new(),
            span: (name.offset, 0),
        };
        let mut seen = Vec::new();
        let mut first = true;
        while let Some(member) = cursor.member(&mut first)? {
            let start = cursor.offset();
            match &*member.decode() {
                "value" => wire.value = Some((cursor.raw()?, start)),
                "type" => wire.value_type = Some((cursor.raw()?, start)),
                "sensitive" => wire.sensitive = sink.bool(cursor)?.unwrap_or(false),
                "deprecated" => wire.deprecated = sink.string(cursor)?,
                _ => {
                    wire.extra.push((member.decode(), cursor.raw()?));
                    continue;
                }
            }
            let raw = cursor.since(start);
            if let Some(at) = seen.iter().position(|(name, _)| *name == member.raw) {
                let (_, before): (&[u8], &[u8]) = seen.swap_remove(at);
                note_duplicate(sink, &member, before == raw);
            }
            seen.push((member.raw, raw));
        }
        wire.span.1 = cursor.offset();
        Ok(Some(wire))
    }
}
