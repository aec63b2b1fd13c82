//! Reading members by their types, with problems and notes instead of errors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use groundstate_json::{Cursor, Kind, Stop, Str, compact_as_written, describe};
use groundstate_pulumi_snapshot::{Extra, Number, Properties, RawJson, Time};

use crate::condense::Condenser;
use crate::intern::Interner;
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sink::Sink;

/// Reads parts of a document. `null` counts as absent everywhere, as in Go.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(crate) sink: Sink,
    names: Interner,
    /// Leaves out properties that surely can be loaded, if there is one.
    condenser: Option<Condenser>,
}

/// The members of an object that were read, and how often.
#[derive(Debug, Default)]
struct Seen<'a>(Vec<(Cow<'a, [u8]>, usize)>);

impl<'a> Seen<'a> {
    /// Counts a member.
    fn add(&mut self, name: Cow<'a, [u8]>) -> usize {
        if let Some((_, count)) = self.0.iter_mut().find(|(known, _)| *known == name) {
            *count += 1;
            return *count;
        }
        if self.0.is_empty() {
            self.0.reserve(16);
        }
        self.0.push((name, 1));
        1
    }
}

impl Reader {
    /// A reader that leaves out properties that surely can be loaded.
    pub(crate) fn condensing(condenser: Condenser) -> Self {
        Self { condenser: Some(condenser), ..Self::default() }
    }

    /// Reads an object. The function reads the value of each member it knows, and tells whether it did; the others are kept.
    ///
    /// Nothing if the value is `null` or, which is a problem, something else.
    pub(crate) fn object<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        mut member: impl FnMut(&mut Self, &[u8], &mut Cursor<'a>) -> Result<bool, Stop>,
    ) -> Result<Option<Extra>, Stop> {
        if cursor.kind()? != Kind::Object {
            return self.wrong_type(cursor, "an object");
        }
        let start = cursor.clone();
        cursor.open(b'{')?;
        let mut extra = Extra::new();
        let mut seen = Seen::default();
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let offset = cursor.offset();
            let decoded = name.bytes();
            if member(self, &decoded, cursor)? {
                if seen.add(decoded) == 2 {
                    self.note_repeated(&start, &name, offset)?;
                }
            } else {
                let text = self.string_value(&name);
                extra.push(text, raw_json(cursor.raw()?));
            }
        }
        Ok(Some(extra))
    }

    /// Notes the second of two members of one name; the last one counts.
    fn note_repeated(&mut self, start: &Cursor<'_>, name: &Str<'_>, offset: usize) -> Result<(), Stop> {
        let mut again = start.clone();
        again.open(b'{')?;
        let (mut first, mut values) = (true, Vec::new());
        while let Some(other) = again.member(&mut first)? {
            let raw = again.raw()?;
            if other.bytes() == name.bytes() {
                values.push(raw);
            }
        }
        let same = values.windows(2).all(|two| two[0] == two[1]);
        self.repeated(name, same, offset);
        Ok(())
    }

    /// Reads an array, each element by the function. `null` has no elements; something else is a problem.
    pub(crate) fn array<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        mut element: impl FnMut(&mut Self, &mut Cursor<'a>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if cursor.kind()? != Kind::Array {
            return self.wrong_type::<()>(cursor, "an array").map(drop);
        }
        cursor.open(b'[')?;
        let mut first = true;
        while cursor.element(&mut first)? {
            element(self, cursor)?;
        }
        Ok(())
    }

    /// Reads an array of objects, in which `null` is a problem too.
    pub(crate) fn objects<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        mut element: impl FnMut(&mut Self, &mut Cursor<'a>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.array(cursor, |reader, cursor| {
            if cursor.kind()? == Kind::Null {
                reader.sink.problem(Code::WrongType, cursor.offset(), "expected an object, found null");
                return cursor.null();
            }
            element(reader, cursor)
        })
    }

    /// Reads an object whose members are all of one kind, by their names.
    pub(crate) fn map<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        mut entry: impl FnMut(&mut Self, Arc<str>, &mut Cursor<'a>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if cursor.kind()? != Kind::Object {
            return self.wrong_type::<()>(cursor, "an object").map(drop);
        }
        let start = cursor.clone();
        cursor.open(b'{')?;
        let mut first = true;
        // Writers sort names, so that equal ones could only stand side by side.
        let (mut sorted, mut before) = (true, None);
        while let Some(name) = cursor.member(&mut first)? {
            let text = self.string_value(&name);
            let name = self.names.get(&text);
            sorted = sorted && before.as_ref().is_none_or(|before| *before < name);
            before = Some(Arc::clone(&name));
            entry(self, name, cursor)?;
        }
        if sorted { Ok(()) } else { self.note_repeated_names(start) }
    }

    /// Notes names that a map has more than once; the last one counts.
    fn note_repeated_names(&mut self, mut cursor: Cursor<'_>) -> Result<(), Stop> {
        let mut known: HashMap<Cow<'_, [u8]>, &[u8]> = HashMap::new();
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let raw = cursor.raw()?;
            if let Some(before) = known.insert(name.bytes(), raw) {
                self.repeated(&name, before == raw, name.offset);
            }
        }
        Ok(())
    }

    fn repeated(&mut self, name: &Str<'_>, same: bool, offset: usize) {
        let kind = if same { NoteKind::Normalized } else { NoteKind::Lost };
        let name = name.decode();
        self.sink.note(
            kind,
            offset,
            format!("the member {name:?} appears more than once; the last one counts"),
        );
    }

    /// A string of its own.
    pub(crate) fn text(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Arc<str>>, Stop> {
        let found = self.string(cursor)?;
        Ok(found.map(|text| self.string_value(&text).into()))
    }

    /// A string that is likely to stand elsewhere too.
    pub(crate) fn shared(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Arc<str>>, Stop> {
        let Some(found) = self.string(cursor)? else { return Ok(None) };
        let text = self.string_value(&found);
        Ok(Some(self.names.get(&text)))
    }

    /// A string that is absent when it is empty.
    pub(crate) fn optional<T: From<Arc<str>>>(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<T>, Stop> {
        Ok(self.shared(cursor)?.filter(|text| !text.is_empty()).map(T::from))
    }

    /// A list of strings. An element that is `null` is empty.
    pub(crate) fn list<T: From<Arc<str>>>(&mut self, cursor: &mut Cursor<'_>) -> Result<Vec<T>, Stop> {
        let mut list = Vec::new();
        self.array(cursor, |reader, cursor| {
            list.push(T::from(reader.shared(cursor)?.unwrap_or_default()));
            Ok(())
        })?;
        Ok(list)
    }

    pub(crate) fn string<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Stop> {
        match cursor.kind()? {
            Kind::String => cursor.string().map(Some),
            _ => self.wrong_type(cursor, "a string"),
        }
    }

    /// A string's value; half a surrogate pair in it is noted, because no text can hold it.
    pub(crate) fn string_value<'a>(&mut self, text: &Str<'a>) -> Cow<'a, str> {
        if text.has_lone_surrogate() {
            let message =
                "a string holds half a surrogate pair, which no text can hold; U+FFFD takes its place";
            self.sink.note(NoteKind::Lost, text.offset, message);
        }
        text.decode()
    }

    pub(crate) fn flag(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
        match cursor.kind()? {
            Kind::Bool => cursor.bool(),
            _ => self.wrong_type(cursor, "true or false").map(Option::unwrap_or_default),
        }
    }

    /// A number; zero counts as absent.
    pub(crate) fn seconds(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Number>, Stop> {
        if cursor.kind()? != Kind::Number {
            return self.wrong_type(cursor, "a number");
        }
        // The cursor accepts what the number's own reader accepts.
        Ok(Number::parse(cursor.number()?).ok().filter(|number| number.value() != 0.0))
    }

    pub(crate) fn time(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Time>, Stop> {
        let Some(found) = self.string(cursor)? else { return Ok(None) };
        let text = found.decode();
        match Time::parse(&text) {
            Ok(time) => {
                if !is_canonical(&text) {
                    let message = format!("the time is written as {time}");
                    self.sink.note(NoteKind::Normalized, found.offset, message);
                }
                Ok(Some(time))
            }
            Err(error) => {
                self.sink.problem(Code::Time, found.offset, error.to_string());
                Ok(None)
            }
        }
    }

    /// An object that stays text.
    pub(crate) fn properties(&mut self, cursor: &mut Cursor<'_>) -> Result<Properties, Stop> {
        if cursor.kind()? != Kind::Object {
            return Ok(self.wrong_type(cursor, "an object")?.unwrap_or_default());
        }
        match &self.condenser {
            Some(condenser) => condenser.properties(cursor),
            None => Ok(Properties::Raw(raw_value(cursor)?)),
        }
    }

    /// Any value that stays text; nothing for `null`.
    pub(crate) fn value(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<RawJson>, Stop> {
        let kind = cursor.kind()?;
        let raw = raw_value(cursor)?;
        Ok((kind != Kind::Null).then_some(raw))
    }

    /// Skips a value that is not what it should be, and says so unless it is `null`.
    pub(crate) fn wrong_type<T>(&mut self, cursor: &mut Cursor<'_>, wanted: &str) -> Result<Option<T>, Stop> {
        let kind = cursor.kind()?;
        let offset = cursor.offset();
        let raw = cursor.raw()?;
        if kind != Kind::Null {
            let found = describe(kind, raw);
            self.sink.problem(Code::WrongType, offset, format!("expected {wanted}, found {found}"));
        }
        Ok(None)
    }
}

/// Whether a text that is a time is the one it would be written as: without zeros at the end of its fraction, without a
/// fraction of zeros, and with a `Z` for no offset.
fn is_canonical(time: &str) -> bool {
    let (zone_length, zero) = match time.as_bytes().last() {
        Some(b'Z') => (1, false),
        _ => (6, time.ends_with("00:00")),
    };
    let plain = time.get(..time.len().saturating_sub(zone_length)).unwrap_or_default();
    let fraction = plain.get(19..).unwrap_or_default();
    let is_short = fraction.is_empty() || (!fraction.ends_with(['0', '.']) && fraction.len() <= 10);
    // No zone but `Z` is one letter, so `z` ends up here with six.
    !zero && is_short && plain.as_bytes().get(10) == Some(&b'T') && !time.ends_with('z')
}

/// Reads any value as text; the cursor stands on its first byte.
fn raw_value(cursor: &mut Cursor<'_>) -> Result<RawJson, Stop> {
    let before = cursor.space_skipped();
    let raw = cursor.raw()?;
    let compact = cursor.space_skipped() == before;
    Ok(match str::from_utf8(raw) {
        Ok(text) if compact => RawJson::from_validated(text),
        _ => raw_json(raw),
    })
}

/// The text of a value that a cursor has accepted, as the model keeps it.
pub(crate) fn raw_json(raw: &[u8]) -> RawJson {
    // The cursor has checked the text, its encoding included.
    compact_as_written(raw).unwrap_or_else(|| RawJson::from_validated(&String::from_utf8_lossy(raw)))
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_snapshot::Time;

    use super::is_canonical;

    #[test]
    fn canonical_times_are_those_that_are_written_as_they_are() {
        for text in [
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00.5Z",
            "2024-01-01T00:00:00.123456789Z",
            "2024-01-01T00:00:00.123456789+01:30",
            "2024-01-01T00:00:00-08:00",
            "2024-01-01T00:00:00+10:00",
            "2024-01-01T00:00:00+00:00",
            "2024-01-01T00:00:00-00:00",
            "2024-01-01T00:00:00.0Z",
            "2024-01-01T00:00:00.50Z",
            "2024-01-01T00:00:00.1234567891Z",
            "2024-01-01T00:00:00.10+01:00",
            "2024-01-01t00:00:00Z",
            "2024-01-01T00:00:00z",
            "2024-01-01T00:00:00.5z",
        ] {
            let written = Time::parse(text).unwrap().to_string();
            assert_eq!(is_canonical(text), written == text, "{text}");
        }
    }
}
