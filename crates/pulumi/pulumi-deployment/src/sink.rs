//! Collects problems and notes while a document is read.

use groundstate_json::{SourcePos, Stop, places};

use crate::note::{Note, NoteKind};
use crate::part::PartProblem;
use crate::problem::{Code, Problem, Problems, ReadError};

/// Problems beyond this many are counted, not described: a file can hold one on every line.
const MAX_PROBLEMS: usize = 100;

/// A problem before its place is worked out.
#[derive(Debug)]
struct Found {
    code: Code,
    detail: String,
    urn: Option<String>,
    offset: usize,
}

/// Where readers put what they find.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    found: Vec<Found>,
    more: usize,
    pub(crate) notes: Vec<Note>,
}

impl Sink {
    pub(crate) fn problem(&mut self, code: Code, offset: usize, detail: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push(Found { code, detail: detail.into(), urn: None, offset });
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn note(&mut self, kind: NoteKind, offset: usize, message: impl Into<String>) {
        self.notes.push(Note { kind, message: message.into(), offset });
    }

    /// Whether nothing was found.
    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty() && self.notes.is_empty()
    }

    /// Adds what another one has found.
    pub(crate) fn append(&mut self, mut other: Self) {
        let room = MAX_PROBLEMS - self.found.len().min(MAX_PROBLEMS);
        self.more += other.more + other.found.len().saturating_sub(room);
        self.found.extend(other.found.into_iter().take(room));
        self.notes.append(&mut other.notes);
    }

    /// How many problems are described; a mark for [`Sink::name_since`].
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Says which resource the problems found since the mark belong to.
    pub(crate) fn name_since(&mut self, mark: usize, urn: &str) {
        // A resource without a name is told by its place.
        for found in self.found.iter_mut().skip(mark).filter(|_| !urn.is_empty()) {
            found.urn.get_or_insert_with(|| urn.to_owned());
        }
    }

    /// The problems and the notes, in the order of the text.
    pub(crate) fn into_parts(mut self) -> (Vec<PartProblem>, Vec<Note>) {
        self.found.sort_by_key(|found| found.offset);
        self.notes.sort_by_key(|note| note.offset);
        let problem = |f: Found| PartProblem { code: f.code, detail: f.detail, urn: f.urn, offset: f.offset };
        let mut problems: Vec<PartProblem> = self.found.into_iter().map(problem).collect();
        if let (Some(last), more @ 1..) = (problems.last_mut(), self.more) {
            last.detail.push_str(&format!(" (and {more} more problems after this one)"));
        }
        (problems, self.notes)
    }

    /// The problems with their places, if there are any.
    pub(crate) fn into_problems(mut self, text: &[u8]) -> Option<Problems> {
        self.found.sort_by_key(|found| found.offset);
        let offsets: Vec<usize> = self.found.iter().map(|found| found.offset).collect();
        let mut out: Vec<Problem> = self
            .found
            .into_iter()
            .zip(places(text, &offsets))
            .map(|(f, place)| Problem { code: f.code, detail: f.detail, urn: f.urn, place })
            .collect();
        if let (Some(last), more @ 1..) = (out.last_mut(), self.more) {
            last.detail.push_str(&format!(" (and {more} more problems after this one)"));
        }
        Problems::new(out)
    }
}

/// The error for a document with one problem that decides what it is.
pub(crate) fn not_a_deployment(
    text: &[u8],
    code: Code,
    offset: usize,
    detail: impl Into<String>,
) -> ReadError {
    let place = SourcePos::of(text, offset);
    ReadError::NotDeployment(Problems::one(Problem { code, detail: detail.into(), urn: None, place }))
}

/// The error for a document that is not JSON.
pub(crate) fn syntax_error(text: &[u8], stop: Stop) -> ReadError {
    let detail = format!("syntax error: {}{}", stop.why, stop.advice(text));
    not_a_deployment(text, Code::Syntax, stop.offset, detail)
}
