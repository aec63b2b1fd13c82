//! Text to entries: one after the other, a list, or what is sent to a service.

use groundstate_json::{Cursor, Kind, Stop, describe};
use groundstate_pulumi_deployment::NoteKind;

use super::member::EntryReader;
use super::problem::{Code, DecodeError, Found, placed};
use crate::entry::Entry;

/// How the entries of a text stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Framing {
    /// One after the other, by custom on a line each.
    #[default]
    Lines,
    /// In a list.
    List,
    /// In a list that is the member `entries` of an object, as services take them.
    Batch,
}

/// Options of the reader.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Reads entries although something of them cannot be kept.
    pub allow_loss: bool,
    /// Leaves out an entry at the end of lines that is cut off, as a crash leaves it. One that others follow is a problem.
    pub allow_torn: bool,
}

impl DecodeOptions {
    /// Sets whether losses are allowed.
    #[must_use]
    pub fn allow_loss(mut self, yes: bool) -> Self {
        self.allow_loss = yes;
        self
    }

    /// Sets whether the last of several lines may be cut off.
    #[must_use]
    pub fn allow_torn(mut self, yes: bool) -> Self {
        self.allow_torn = yes;
        self
    }
}

/// The entries of a text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Decoded {
    /// The entries in the order of the text, which need not be theirs.
    pub entries: Vec<Entry>,
    /// How they stand together.
    pub framing: Framing,
    /// Where the entry begins that is cut off, if there is one; [`DecodeOptions::allow_torn`] lets it pass.
    pub torn: Option<usize>,
}

/// Reads all entries of a text, in whichever framing they stand.
///
/// ```
/// use groundstate_pulumi_journal::{DecodeOptions, decode};
///
/// let lines = br#"{"version":1,"kind":0,"sequenceID":2,"operationID":1,"removeOld":null,"removeNew":null}
/// {"version":1,"kind":1,"sequenceID":3,"operationID":1,"removeOld":0,"removeNew":null}
/// "#;
/// let entries = decode(lines, &DecodeOptions::default())?.entries;
/// assert_eq!(entries[1].to_string(), "(3, 1): success, removeOld:0");
///
/// let error = decode(br#"[{"version":1,"kind":1,"sequenceID":3,"removeOld":-1}]"#, &DecodeOptions::default()).unwrap_err();
/// assert_eq!(error.problems()[0].place.to_string(), "line 1, column 51 ([0].removeOld)");
/// # Ok::<(), groundstate_pulumi_journal::DecodeError>(())
/// ```
///
/// # Errors
///
/// All problems of the text, with their places. A text without any entry is an empty journal, not an error.
pub fn decode(text: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let mut out = Decoded::default();
    let mut starts = Vec::new();
    let mut reader = EntryReader::default();
    let mut cursor = Cursor::new(text);
    let read = read(&mut cursor, &mut reader, &mut out, &mut starts);
    if let Err(stop) = read {
        let torn = options.allow_torn
            && out.framing == Framing::Lines
            && stop.offset >= text.trim_ascii_end().len()
            && starts.len() > out.entries.len();
        match starts.last() {
            Some(start) if torn && !goes_on_behind(text, *start) => out.torn = Some(*start),
            _ => reader.found.push(syntax(text, stop)),
        }
    }
    let prefix = if out.framing == Framing::Batch { "entries" } else { "" };
    match placed(text, &starts, prefix, problems(reader, options, out.torn)) {
        Some(error) => Err(error),
        None => Ok(out),
    }
}

/// Reads a text that is one entry.
///
/// # Errors
///
/// All problems of the text, with their places.
pub fn decode_entry(text: &[u8], options: &DecodeOptions) -> Result<Entry, DecodeError> {
    let mut reader = EntryReader::default();
    let mut cursor = Cursor::new(text);
    let read = reader.entry(&mut cursor).and_then(|entry| cursor.end().map(|()| entry));
    let entry = read.unwrap_or_else(|stop| {
        reader.found.push(syntax(text, stop));
        Entry::default()
    });
    match placed(text, &[], "", problems(reader, options, None)) {
        Some(error) => Err(error),
        None => Ok(entry),
    }
}

fn read(
    cursor: &mut Cursor<'_>,
    reader: &mut EntryReader,
    out: &mut Decoded,
    starts: &mut Vec<usize>,
) -> Result<(), Stop> {
    match cursor.peek() {
        None => return Ok(()),
        Some(b'[') => {
            out.framing = Framing::List;
            list(cursor, reader, out, starts)?;
        }
        Some(b'{') if is_batch(cursor) => {
            out.framing = Framing::Batch;
            batch(cursor, reader, out, starts)?;
        }
        Some(_) => {
            while cursor.peek().is_some() {
                starts.push(cursor.offset());
                out.entries.push(reader.entry(cursor)?);
            }
        }
    }
    cursor.end()
}

/// Whether a whole entry stands on a line behind the one that begins at `start`. What is cut off right before a value takes
/// it for that value, but it is an entry of its own, which must not be left out as well.
fn goes_on_behind(text: &[u8], start: usize) -> bool {
    let rest = text.get(start..).unwrap_or_default();
    let mut behind = rest.split(|byte| *byte == b'\n').skip(1);
    behind.any(|line| decode_entry(line, &DecodeOptions::default().allow_loss(true)).is_ok())
}

/// Whether the object at the cursor holds a list of entries instead of being one: it has that list, or nothing at all.
fn is_batch(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    let mut look = || -> Result<bool, Stop> {
        ahead.open(b'{')?;
        let mut first = true;
        let mut empty = true;
        while let Some(name) = ahead.member(&mut first)? {
            match &*name.bytes() {
                b"entries" => return Ok(true),
                // The first members of an entry: what follows need not be looked through.
                b"kind" | b"sequenceID" | b"version" => return Ok(false),
                _ => ahead.skip()?,
            }
            empty = false;
        }
        Ok(empty)
    };
    look().unwrap_or(false)
}

fn batch(
    cursor: &mut Cursor<'_>,
    reader: &mut EntryReader,
    out: &mut Decoded,
    starts: &mut Vec<usize>,
) -> Result<(), Stop> {
    cursor.open(b'{')?;
    let (mut first, mut seen) = (true, false);
    while let Some(name) = cursor.member(&mut first)? {
        if &*name.bytes() != b"entries" {
            let detail = format!("a batch of entries has no member {:?}", name.decode());
            reader.problem(Code::NotEntries, name.offset, detail);
            cursor.skip()?;
            continue;
        }
        if std::mem::replace(&mut seen, true) {
            reader.problem(Code::Repeated, name.offset, "the member \"entries\" appears more than once");
        }
        list(cursor, reader, out, starts)?;
    }
    Ok(())
}

fn list(
    cursor: &mut Cursor<'_>,
    reader: &mut EntryReader,
    out: &mut Decoded,
    starts: &mut Vec<usize>,
) -> Result<(), Stop> {
    let kind = cursor.kind()?;
    let offset = cursor.offset();
    if kind != Kind::Array {
        let raw = cursor.raw()?;
        if kind != Kind::Null {
            let detail = format!("expected a list of entries, found {}", describe(kind, raw));
            reader.problem(Code::NotEntries, offset, detail);
        }
        return Ok(());
    }
    cursor.open(b'[')?;
    let mut first = true;
    while cursor.element(&mut first)? {
        cursor.space();
        starts.push(cursor.offset());
        out.entries.push(reader.entry(cursor)?);
    }
    Ok(())
}

fn syntax(text: &[u8], stop: Stop) -> Found {
    let detail = format!("syntax error: {}{}", stop.why, stop.advice(text));
    Found { code: Code::Syntax, detail, urn: None, offset: stop.offset }
}

/// All problems: of entries, of their parts, and what could not be kept.
fn problems(reader: EntryReader, options: &DecodeOptions, torn: Option<usize>) -> Vec<Found> {
    let more = reader.more();
    let mut found = reader.found;
    let (parts, notes) = reader.parts.finish();
    found.extend(parts.into_iter().map(|part| Found {
        code: part.code.into(),
        detail: part.detail,
        urn: part.urn,
        offset: part.offset,
    }));
    if !options.allow_loss {
        found.extend(notes.into_iter().filter(|note| note.kind == NoteKind::Lost).map(|note| Found {
            code: Code::Loss,
            detail: note.message,
            urn: None,
            offset: note.offset,
        }));
    }
    // What is cut off is left out, with all that is wrong with it.
    found.retain(|found| torn.is_none_or(|torn| found.offset < torn));
    if let (Some(last), 1..) = (found.last_mut(), more) {
        last.detail.push_str(&format!(" (and {more} more problems after this one)"));
    }
    found
}
