//! Collects problems and notes while a document is read.

use groundstate_states::addr::InstanceKey;

use crate::json::{Cursor, Kind, Stop, Str, places};
use crate::note::{Note, NoteKind};
use crate::problem::{Code, Problem, Problems, ReadError};

pub(crate) use crate::json::describe;

/// Problems beyond this many are counted, not described: a file can hold one on every line.
const MAX_PROBLEMS: usize = 100;

/// A problem before its place is worked out.
#[derive(Debug)]
struct PendingProblem {
    code: Code,
    detail: String,
    address: Option<String>,
    /// The instance in its resource, as it stands behind the address.
    key: String,
    offset: usize,
}

/// Where readers put what they find: problems and notes, with offsets.
#[derive(Debug, Default)]
pub struct Sink {
    found: Vec<PendingProblem>,
    more: usize,
    /// What was changed or could not be kept so far.
    pub notes: Vec<Note>,
    /// Added to offsets: where the text at hand begins in the document.
    pub base: usize,
}

impl Sink {
    /// A problem at an offset in the text at hand.
    pub(crate) fn problem(&mut self, code: Code, offset: usize, detail: impl Into<String>) {
        self.problem_at(code, self.base + offset, detail);
    }

    /// A problem at an offset in the document.
    pub(crate) fn problem_at(&mut self, code: Code, offset: usize, detail: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            let (address, key) = (None, String::new());
            self.found.push(PendingProblem { code, detail: detail.into(), address, key, offset });
        } else {
            self.more += 1;
        }
    }

    /// A note on an offset in the text at hand.
    pub(crate) fn note(&mut self, kind: NoteKind, offset: usize, message: impl Into<String>) {
        self.note_at(kind, self.base + offset, message);
    }

    /// A note on an offset in the document.
    pub(crate) fn note_at(&mut self, kind: NoteKind, offset: usize, message: impl Into<String>) {
        self.notes.push(Note { kind, message: message.into(), offset });
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// What there is so far, for [`Sink::roll_back`].
    pub(crate) fn mark(&self) -> (usize, usize, usize) {
        (self.found.len(), self.notes.len(), self.more)
    }

    /// Forgets what came after the mark.
    pub(crate) fn roll_back(&mut self, (found, notes, more): (usize, usize, usize)) {
        self.found.truncate(found);
        self.notes.truncate(notes);
        self.more = more;
    }

    /// How many problems there are; a mark for [`Sink::name_since`].
    pub(crate) fn len(&self) -> usize {
        self.found.len() + self.more
    }

    /// Says which object the problems found since `mark` belong to, where that is not said yet.
    pub(crate) fn name_since(&mut self, mark: usize, address: impl Fn() -> String) {
        for found in self.found.iter_mut().skip(mark) {
            found.address.get_or_insert_with(&address);
        }
    }

    /// Says which object the last problems belong to, those at or behind `offset` in the document.
    pub(crate) fn name_from(&mut self, offset: usize, address: impl Fn() -> String) {
        for found in self.found.iter_mut().rev().take_while(|found| found.offset >= offset) {
            let key = std::mem::take(&mut found.key);
            found.address.get_or_insert_with(|| address() + &key);
        }
    }

    /// Says which instance the last problems belong to; [`Sink::name_from`] puts the address in front.
    pub(crate) fn key_from(&mut self, offset: usize, key: &InstanceKey) {
        for found in self.found.iter_mut().rev().take_while(|found| found.offset >= offset) {
            found.key = key.to_string();
        }
    }

    /// The problems with their places, if there are any.
    pub fn into_problems(self, text: &[u8]) -> Option<Problems> {
        let offsets: Vec<usize> = self.found.iter().map(|found| found.offset).collect();
        let mut out: Vec<Problem> = self
            .found
            .into_iter()
            .zip(places(text, &offsets))
            .map(|(f, place)| {
                let bytes_read = (f.code == Code::Syntax).then(|| (place.offset + 1).min(text.len()));
                Problem { code: f.code, detail: f.detail, bytes_read, address: f.address, place }
            })
            .collect();
        if let (Some(last), more @ 1..) = (out.last_mut(), self.more) {
            last.detail.push_str(&format!(" (and {more} more problems after this one)"));
        }
        Problems::new(out)
    }

    /// Reads a string member; `null` counts as absent, another type is a problem.
    pub(crate) fn string<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Stop> {
        match cursor.kind()? {
            Kind::String => cursor.string().map(Some),
            _ => self.wrong_type(cursor, "a string"),
        }
    }

    /// Reads a bool member.
    pub(crate) fn bool(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<bool>, Stop> {
        match cursor.kind()? {
            Kind::Bool => cursor.bool().map(Some),
            _ => self.wrong_type(cursor, "true or false"),
        }
    }

    /// Reads a whole number from 0 to 2^64-1.
    pub(crate) fn unsigned(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<u64>, Stop> {
        if cursor.kind()? == Kind::Number {
            let mut ahead = cursor.clone();
            let text = ahead.number()?;
            // Go's decoder takes the literal's text, so `1.0` and `1e3` are refused although they are whole.
            if let Some(value) = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit())) {
                *cursor = ahead;
                return Ok(Some(value));
            }
        }
        self.wrong_type(cursor, "a whole number from 0 to 18446744073709551615")
    }

    /// Enters an object; `null` counts as absent, another type is a problem.
    pub(crate) fn object(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
        if cursor.kind()? == Kind::Object {
            return cursor.open(b'{').map(|()| true);
        }
        self.wrong_type::<()>(cursor, "an object").map(|_| false)
    }

    /// Enters an array; `null` counts as absent, another type is a problem.
    pub(crate) fn array(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
        if cursor.kind()? == Kind::Array {
            return cursor.open(b'[').map(|()| true);
        }
        self.wrong_type::<()>(cursor, "an array").map(|_| false)
    }

    /// Skips a value that is not what it should be, and says so unless it is `null`.
    pub(crate) fn wrong_type<T>(&mut self, cursor: &mut Cursor<'_>, wanted: &str) -> Result<Option<T>, Stop> {
        let kind = cursor.kind()?;
        let offset = cursor.offset();
        let raw = cursor.raw()?;
        if kind != Kind::Null {
            let found = describe(kind, raw);
            self.problem(Code::WrongType, offset, format!("expected {wanted}, found {found}"));
        }
        Ok(None)
    }
}

/// The two problems of a document that is not JSON.
pub(crate) fn syntax_error(text: &[u8], stop: Stop) -> ReadError {
    let mut sink = Sink::default();
    sink.problem(Code::Syntax, stop.offset, format!("{}{}", stop.why, stop.advice(text)));
    let why = "without valid JSON there is no version to find, so the format is unknown";
    sink.problem(Code::VersionUnreadable, stop.offset, why);
    match sink.into_problems(text) {
        Some(problems) => ReadError::NotState(problems),
        None => ReadError::NoState,
    }
}
