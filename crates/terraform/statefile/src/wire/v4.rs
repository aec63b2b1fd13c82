//! Members of format 4, as slices of the document.

use std::borrow::Cow;

use groundstate_states::addr::AbsResource;

use crate::json::{Cursor, Kind, Stop, Str};
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sink::Sink;

/// Known members of an instance object, in the order of the numbers that `InstanceWire::read_member` gives.
pub const INSTANCE_MEMBERS: [&str; 15] = [
    "index_key",
    "status",
    "deposed",
    "provider",
    "schema_version",
    "attributes",
    "attributes_flat",
    "sensitive_attributes",
    "private",
    "dependencies",
    "depends_on",
    "create_before_destroy",
    "skip_destroy",
    "identity",
    "identity_schema_version",
];

/// One instance object.
///
/// Lists and maps have been checked for their types and are kept as text; see [`strings`] and [`string_map`].
#[derive(Clone, Debug, Default)]
pub struct InstanceWire<'a> {
    /// Where the object begins.
    pub offset: usize,
    /// `index_key` as JSON: its kind, text and offset.
    pub index_key: Option<(Kind, &'a [u8], usize)>,
    /// `status`.
    pub status: Option<Str<'a>>,
    /// `deposed`, the key of a deposed object.
    pub deposed: Option<Str<'a>>,
    /// `provider`, which only OpenTofu writes for instances.
    pub provider: Option<Str<'a>>,
    /// `schema_version`; 0 if it is missing.
    pub schema_version: u64,
    /// `attributes` as JSON.
    pub attributes: Option<&'a [u8]>,
    /// `attributes_flat`, a map of strings.
    pub attributes_flat: Option<Slice<'a>>,
    /// `sensitive_attributes`, a list of paths; see [`sensitive_paths`](crate::walk::sensitive_paths).
    pub sensitive: Option<Slice<'a>>,
    /// `private`, data of the provider in base64.
    pub private: Option<Str<'a>>,
    /// `dependencies`, a list of addresses.
    pub dependencies: Option<Slice<'a>>,
    /// Every dependency is an address in its usual form, so it need not be parsed to know that it is one.
    pub plain_dependencies: bool,
    /// `depends_on`, a list of addresses.
    pub depends_on: Option<Slice<'a>>,
    /// `create_before_destroy`.
    pub create_before_destroy: bool,
    /// `skip_destroy`, which only OpenTofu writes.
    pub skip_destroy: bool,
    /// `identity` as JSON.
    pub identity: Option<&'a [u8]>,
    /// `identity_schema_version`.
    pub identity_schema_version: Option<u64>,
    /// `identity_schema_version` stands in front of `identity`.
    pub identity_version_first: bool,
    /// Names and JSON values of members that are not known.
    pub extra: Vec<(Cow<'a, str>, &'a [u8])>,
    /// One bit for each known member that was read.
    seen: u16,
}

/// A piece of the document and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// The bytes.
    pub text: &'a [u8],
    /// Where they begin.
    pub offset: usize,
}

impl<'a> InstanceWire<'a> {
    /// Reads the object at the cursor; nothing if it is none, which is then a problem.
    pub(crate) fn read(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        if !enter_item(cursor, sink, "an instance object")? {
            return Ok(None);
        }
        let mut wire = Self { offset: cursor.offset() - 1, ..Self::default() };
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let start = cursor.offset();
            match wire.read_member(&name.bytes(), cursor, sink)? {
                Some(index) => {
                    let bit = 1 << index;
                    if wire.seen & bit != 0 {
                        wire.note_second(&name, cursor, start, sink);
                    }
                    wire.seen |= bit;
                }
                None => {
                    let raw = cursor.raw()?;
                    wire.extra.push((name.decode(), raw));
                }
            }
        }
        Ok(Some(wire))
    }

    /// Reads a known member's value and gives its number.
    fn read_member(
        &mut self,
        name: &[u8],
        cursor: &mut Cursor<'a>,
        sink: &mut Sink,
    ) -> Result<Option<usize>, Stop> {
        Ok(Some(match name {
            b"index_key" => {
                let kind = cursor.kind()?;
                let offset = cursor.offset();
                self.index_key = Some((kind, cursor.raw()?, offset));
                0
            }
            b"status" => {
                self.status = sink.string(cursor)?;
                1
            }
            b"deposed" => {
                self.deposed = sink.string(cursor)?;
                2
            }
            b"provider" => {
                self.provider = sink.string(cursor)?;
                3
            }
            b"schema_version" => {
                self.schema_version = sink.unsigned(cursor)?.unwrap_or(0);
                4
            }
            b"attributes" => {
                self.attributes = Some(cursor.raw()?);
                5
            }
            b"attributes_flat" => {
                self.attributes_flat = read_string_map(cursor, sink)?;
                6
            }
            b"sensitive_attributes" => {
                let kind = cursor.kind()?;
                let offset = cursor.offset();
                let text = cursor.raw()?;
                self.sensitive = (kind != Kind::Null).then_some(Slice { text, offset });
                7
            }
            b"private" => {
                self.private = sink.string(cursor)?;
                8
            }
            b"dependencies" => {
                let mut plain = true;
                self.dependencies = read_strings(cursor, sink, |text| {
                    plain = plain && !text.escaped && AbsResource::is_plain(text.raw);
                })?;
                self.plain_dependencies = plain;
                9
            }
            b"depends_on" => {
                self.depends_on = read_strings(cursor, sink, |_| {})?;
                10
            }
            b"create_before_destroy" => {
                self.create_before_destroy = sink.bool(cursor)?.unwrap_or(false);
                11
            }
            b"skip_destroy" => {
                self.skip_destroy = sink.bool(cursor)?.unwrap_or(false);
                12
            }
            b"identity" => {
                self.identity = Some(cursor.raw()?);
                13
            }
            b"identity_schema_version" => {
                self.identity_version_first = self.identity.is_none();
                self.identity_schema_version = sink.unsigned(cursor)?;
                14
            }
            _ => return Ok(None),
        }))
    }

    /// Notes a member that appears twice; the last one counts, as in Go's decoder.
    #[cold]
    fn note_second(&self, name: &Str<'a>, cursor: &Cursor<'a>, start: usize, sink: &mut Sink) {
        // The value before this one is looked up again: it happens too seldom to remember every value.
        let mut before: &[u8] = b"";
        let mut again = cursor.restart(self.offset);
        let mut first = true;
        if again.open(b'{').is_ok() {
            while let Ok(Some(known)) = again.member(&mut first)
                && known.offset < name.offset
                && let Ok(raw) = again.raw()
            {
                if known.bytes() == name.bytes() {
                    before = raw;
                }
            }
        }
        note_duplicate(sink, name, before == cursor.since(start));
    }
}

/// The elements of a list of strings of an [`InstanceWire`], with their offsets in the document.
pub fn strings<'a>(list: Option<Slice<'a>>) -> impl Iterator<Item = Str<'a>> {
    let Slice { text, offset } = list.unwrap_or(Slice { text: b"[]", offset: 0 });
    let mut cursor = Cursor::new(text);
    let mut open = cursor.open(b'[').is_ok();
    let mut first = true;
    std::iter::from_fn(move || {
        while open {
            open = cursor.element(&mut first).unwrap_or(false);
            if !open {
                break;
            }
            // A `null` element is an empty string, as in Go.
            if cursor.kind() == Ok(Kind::Null) {
                let at = cursor.offset();
                open = cursor.skip().is_ok();
                return Some(Str { raw: b"", escaped: false, offset: offset + at });
            }
            if let Ok(text) = cursor.string() {
                return Some(Str { offset: offset + text.offset, ..text });
            }
            open = false;
        }
        None
    })
}

/// Members of a map of strings of an [`InstanceWire`].
pub fn string_map<'a>(map: Slice<'a>) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
    let mut cursor = Cursor::new(map.text);
    let mut open = cursor.open(b'{').is_ok();
    let mut first = true;
    std::iter::from_fn(move || {
        if !open {
            return None;
        }
        let Ok(Some(name)) = cursor.member(&mut first) else {
            open = false;
            return None;
        };
        let value = match cursor.string() {
            Ok(text) => text.decode(),
            Err(_) => {
                open = cursor.skip().is_ok();
                Cow::Borrowed("")
            }
        };
        Some((name.decode(), value))
    })
}

fn read_strings<'a>(
    cursor: &mut Cursor<'a>,
    sink: &mut Sink,
    mut look: impl FnMut(Str<'a>),
) -> Result<Option<Slice<'a>>, Stop> {
    cursor.space();
    let offset = cursor.offset();
    if !sink.array(cursor)? {
        return Ok(None);
    }
    let mut first = true;
    while cursor.element(&mut first)? {
        if cursor.kind()? == Kind::String {
            look(cursor.string()?);
        } else {
            look(Str { raw: b"", escaped: false, offset: cursor.offset() });
            sink.wrong_type::<()>(cursor, "a string")?;
        }
    }
    Ok(Some(Slice { text: cursor.since(offset), offset }))
}

fn read_string_map<'a>(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Slice<'a>>, Stop> {
    cursor.space();
    let offset = cursor.offset();
    if !sink.object(cursor)? {
        return Ok(None);
    }
    let mut first = true;
    while cursor.member(&mut first)?.is_some() {
        if cursor.kind()? == Kind::String {
            cursor.string()?;
        } else {
            sink.wrong_type::<()>(cursor, "a string")?;
        }
    }
    Ok(Some(Slice { text: cursor.since(offset), offset }))
}

/// Enters an element that must be an object; even `null` is a problem, since a list has no absent elements.
pub(crate) fn enter_item(cursor: &mut Cursor<'_>, sink: &mut Sink, wanted: &str) -> Result<bool, Stop> {
    if cursor.kind()? == Kind::Null {
        sink.problem(Code::WrongType, cursor.offset(), format!("expected {wanted}, found null"));
        cursor.null()?;
        return Ok(false);
    }
    if cursor.kind()? == Kind::Object {
        return cursor.open(b'{').map(|()| true);
    }
    sink.wrong_type::<()>(cursor, wanted).map(|_| false)
}

/// Notes that a member appears twice in its object.
pub(crate) fn note_duplicate(sink: &mut Sink, name: &Str<'_>, same: bool) {
    let text = name.decode();
    if same {
        let message = format!("member {text:?} appears twice with the same value");
        sink.note(NoteKind::Normalized, name.offset, message);
    } else {
        let message = format!(
            "member {text:?} appears twice with different values; the last one counts, as in Terraform"
        );
        sink.note(NoteKind::Lost, name.offset, message);
    }
}
