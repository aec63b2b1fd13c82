//! Members of a small object: the known ones in place, the others kept.

use groundstate_states::{Extra, RawJson};

use crate::json::{Cursor, Kind, Stop, Str, push_json_string};
use crate::note::NoteKind;
use crate::sink::Sink;
use crate::wire::v4::note_duplicate;

/// The members of one object, with known names in a given order.
#[derive(Debug)]
pub(crate) struct Members<'a, const N: usize> {
    /// Where the object begins.
    pub(crate) offset: usize,
    /// The value of each known member that is there.
    pub(crate) known: [Option<Member<'a>>; N],
    /// The other members.
    pub(crate) extra: Extra,
}

/// A member's value.
#[derive(Clone, Debug)]
pub(crate) struct Member<'a> {
    /// Stands on the value, which is known to be JSON.
    pub(crate) at: Cursor<'a>,
    pub(crate) kind: Kind,
    /// Where it begins.
    pub(crate) offset: usize,
    raw: &'a [u8],
}

impl<'a, const N: usize> Members<'a, N> {
    /// Reads the object at the cursor, which stands on its brace. Of equal names the last counts.
    pub(crate) fn read(cursor: &mut Cursor<'a>, names: [&str; N], sink: &mut Sink) -> Result<Self, Stop> {
        let offset = cursor.offset();
        cursor.open(b'{')?;
        let mut members = Self { offset, known: [const { None }; N], extra: Extra::new() };
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let kind = cursor.kind()?;
            let (at, offset) = (cursor.clone(), cursor.offset());
            let raw = cursor.raw()?;
            let text = name.decode();
            match members.known.iter_mut().zip(names).find(|(_, known)| *known == text) {
                Some((slot, _)) => {
                    if let Some(before) = slot.replace(Member { at, kind, offset, raw }) {
                        note_duplicate(sink, &name, before.raw == raw);
                    }
                }
                None => members.extra.push(&*text, raw_json(raw)),
            }
        }
        Ok(members)
    }
}

/// Text of a value that a cursor has accepted, in the form the model keeps it.
pub(crate) fn raw_json(raw: &[u8]) -> RawJson {
    let text = String::from_utf8_lossy(raw);
    // Both scanners accept the same language; should they ever differ, the text is kept unchanged.
    RawJson::parse(&text).unwrap_or_else(|_| RawJson::from_validated(&text))
}

/// A string's value; half a surrogate pair in it is noted, because no text can hold it.
pub(crate) fn text_of<'a>(text: &Str<'a>, sink: &mut Sink) -> std::borrow::Cow<'a, str> {
    if text.has_lone_surrogate() {
        let message = "a string holds half a surrogate pair, which no text can hold; U+FFFD takes its place";
        sink.note(NoteKind::Lost, text.offset, message);
    }
    text.decode()
}

/// Writes members behind others of the same object.
pub(crate) fn push_extra(out: &mut String, extra: &Extra) {
    for (name, value) in extra.iter() {
        out.push(',');
        push_json_string(out, name);
        out.push(':');
        out.push_str(value.as_str());
    }
}
