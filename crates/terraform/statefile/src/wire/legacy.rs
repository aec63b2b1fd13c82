//! Reading of formats 1 to 3: what their structures have in common.

use std::borrow::Cow;

use crate::json::{Cursor, Kind, Stop, Str};
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sink::Sink;

/// An unknown member: its name and its text.
pub(crate) type Member<'a> = (Str<'a>, &'a [u8]);

/// One attribute of a flat map.
pub(crate) type Entry<'a> = (Cow<'a, str>, Cow<'a, str>);

/// An object of strings, such as flat attributes.
#[derive(Clone, Debug)]
pub(crate) enum StringMap<'a> {
    /// As it stands in the document, checked; most maps are read once, so nothing is built before that.
    Text { text: &'a [u8], offset: usize },
    /// Changed by an upgrade; sorted and distinct.
    Entries(Vec<Entry<'a>>),
}

impl<'a> StringMap<'a> {
    /// Reads the object at the cursor; `None` for `null` and, with a problem, for anything else.
    pub(crate) fn read(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Self>, Stop> {
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
        Ok(Some(Self::Text { text: cursor.since(offset), offset }))
    }

    /// The entries sorted by name. Of entries with the same name the last one counts, which is noted.
    pub(crate) fn into_entries(self, sink: &mut Sink) -> Vec<Entry<'a>> {
        let (text, offset) = match self {
            Self::Entries(entries) => return entries,
            Self::Text { text, offset } => (text, offset),
        };
        let mut entries = Vec::new();
        // The text was accepted before, so the reader does not stop.
        if let Ok(true) = read_entries(&mut Cursor::new(text), &mut entries) {
            sink.note(NoteKind::Lost, offset, HALF_PAIR);
        }
        if let Some(name) = sort_keeping_last(&mut entries, |entry| &entry.0) {
            let message = format!("attribute {name:?} appears twice in one object; the last one counts");
            sink.note(NoteKind::Lost, offset, message);
        }
        entries
    }
}

/// What becomes of an escape that no text can hold.
pub(crate) const HALF_PAIR: &str = "half a surrogate pair has become U+FFFD";

/// Tells whether half a surrogate pair stands in a text.
fn read_entries<'a>(cursor: &mut Cursor<'a>, entries: &mut Vec<Entry<'a>>) -> Result<bool, Stop> {
    cursor.open(b'{')?;
    let mut first = true;
    let mut half_pair = false;
    while let Some(name) = cursor.member(&mut first)? {
        half_pair |= name.has_lone_surrogate();
        let value = match cursor.kind()? {
            Kind::String => {
                let text = cursor.string()?;
                half_pair |= text.has_lone_surrogate();
                text.decode()
            }
            // `null` is an empty string, as in Go.
            _ => cursor.skip().map(|()| Cow::Borrowed(""))?,
        };
        entries.push((name.decode(), value));
    }
    Ok(half_pair)
}

/// Sorts by name and drops all but the last of equal names; gives one name that stood twice.
pub(crate) fn sort_keeping_last<T>(items: &mut Vec<T>, name: impl Fn(&T) -> &str) -> Option<String> {
    items.sort_by(|a, b| name(a).cmp(name(b)));
    let mut twice = None;
    items.dedup_by(|later, earlier| {
        let same = name(later) == name(earlier);
        if same {
            twice.get_or_insert_with(|| name(later).to_owned());
            // The element that is dropped is `later`, so it takes the other's place first.
            std::mem::swap(later, earlier);
        }
        same
    });
    twice
}

/// Reads the members of an object that has been entered. `read` must read the value of the member it is given the
/// name of, one of `known`; all others are returned.
pub(crate) fn members<'a, const N: usize>(
    cursor: &mut Cursor<'a>,
    sink: &mut Sink,
    known: [&'static str; N],
    mut read: impl FnMut(&'static str, &mut Cursor<'a>, &mut Sink) -> Result<(), Stop>,
) -> Result<Vec<Member<'a>>, Stop> {
    let mut seen: [&[u8]; N] = [b""; N];
    let mut unknown = Vec::new();
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        let text = name.decode();
        let Some((known, seen)) = known.iter().zip(&mut seen).find(|(known, _)| **known == text) else {
            unknown.push((name, cursor.raw()?));
            continue;
        };
        cursor.space();
        let start = cursor.offset();
        read(known, cursor, sink)?;
        let before = std::mem::replace(seen, cursor.since(start));
        if !before.is_empty() && before != *seen {
            let message =
                format!("member {known:?} appears twice with different values; the last one counts");
            sink.note(NoteKind::Lost, name.offset, message);
        }
    }
    Ok(unknown)
}

/// Reads an array; `item` must read one element.
pub(crate) fn list<'a, T>(
    cursor: &mut Cursor<'a>,
    sink: &mut Sink,
    mut item: impl FnMut(&mut Cursor<'a>, &mut Sink) -> Result<Option<T>, Stop>,
) -> Result<Vec<T>, Stop> {
    let mut items = Vec::new();
    if sink.array(cursor)? {
        let mut first = true;
        while cursor.element(&mut first)? {
            items.extend(item(cursor, sink)?);
        }
    }
    Ok(items)
}

/// Reads an object with names of the user's choice; `item` must read one value.
pub(crate) fn map<'a, T>(
    cursor: &mut Cursor<'a>,
    sink: &mut Sink,
    mut item: impl FnMut(&mut Cursor<'a>, &mut Sink) -> Result<Option<T>, Stop>,
) -> Result<Vec<(Str<'a>, T)>, Stop> {
    let mut items = Vec::new();
    if sink.object(cursor)? {
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            items.extend(item(cursor, sink)?.map(|item| (name, item)));
        }
    }
    Ok(items)
}

/// Reads an array of strings; a `null` element is an empty string, as in Go.
pub(crate) fn strings<'a>(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Vec<Str<'a>>, Stop> {
    list(cursor, sink, |cursor, sink| {
        cursor.space();
        let empty = Str { raw: b"", escaped: false, offset: cursor.offset() };
        Ok(Some(sink.string(cursor)?.unwrap_or(empty)))
    })
}

/// Reads any value and gives its text.
pub(crate) fn any<'a>(cursor: &mut Cursor<'a>, _: &mut Sink) -> Result<Option<&'a [u8]>, Stop> {
    cursor.raw().map(Some)
}

/// Reads a string and gives its literal; a `null` is an empty string, as in Go.
pub(crate) fn literal<'a>(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<&'a [u8]>, Stop> {
    cursor.space();
    let start = cursor.offset();
    Ok(Some(sink.string(cursor)?.map_or(b"\"\"", |_| cursor.since(start))))
}

/// Enters an element that must be an object.
///
/// The originals crash on `null` here, which for a reader of files means that the upgrade fails.
pub(crate) fn enter(
    cursor: &mut Cursor<'_>,
    sink: &mut Sink,
    version: u64,
    what: &str,
) -> Result<bool, Stop> {
    if cursor.kind()? == Kind::Null {
        let why = format!("{what} is null; remove it or restore it from a backup");
        upgrade_problem(sink, version, cursor.offset(), why);
        return cursor.null().map(|()| false);
    }
    sink.object(cursor)
}

/// Says why the step from `version` to the next one fails.
pub(crate) fn upgrade_problem(sink: &mut Sink, version: u64, offset: usize, why: impl std::fmt::Display) {
    sink.problem(Code::UpgradeFailed, offset, format!("from version {version} to {}: {why}", version + 1));
}

/// Reads a whole number of 64 bits with sign.
pub(crate) fn signed(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<i64, Stop> {
    if cursor.kind()? == Kind::Number {
        let mut ahead = cursor.clone();
        if let Ok(value) = ahead.number()?.parse() {
            *cursor = ahead;
            return Ok(value);
        }
    }
    let wanted = "a whole number from -9223372036854775808 to 9223372036854775807";
    sink.wrong_type::<()>(cursor, wanted).map(|_| 0)
}

/// Checks `remote`, which remembered where the state was kept, and gives its place; no later format has it.
pub(crate) fn remote(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<Option<usize>, Stop> {
    location(cursor, sink, |cursor, sink| StringMap::read(cursor, sink).map(drop))
}

/// Checks `backend`, as [`remote`].
pub(crate) fn backend(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<Option<usize>, Stop> {
    location(cursor, sink, |cursor, _| cursor.skip())
}

fn location<'a>(
    cursor: &mut Cursor<'a>,
    sink: &mut Sink,
    mut config: impl FnMut(&mut Cursor<'a>, &mut Sink) -> Result<(), Stop>,
) -> Result<Option<usize>, Stop> {
    cursor.space();
    let offset = cursor.offset();
    if !sink.object(cursor)? {
        return Ok(None);
    }
    members(cursor, sink, ["type", "config", "hash"], |name, cursor, sink| match name {
        "type" => sink.string(cursor).map(drop),
        "config" => config(cursor, sink),
        _ => sink.unsigned(cursor).map(drop),
    })?;
    Ok(Some(offset))
}
