//! What reading a value changed, said once for each kind of change.

use crate::note::NoteKind;
use crate::sink::Sink;

/// A change that reading makes to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    LoneSurrogate,
    DuplicateKey,
    RepeatedKey,
    DuplicateElement,
    Composed,
    Converted,
    Respelled,
    Completed,
    Sorted,
}

impl Remark {
    const COUNT: usize = Self::Sorted as usize + 1;

    const ALL: [Self; Self::COUNT] = [
        Self::LoneSurrogate,
        Self::DuplicateKey,
        Self::RepeatedKey,
        Self::DuplicateElement,
        Self::Composed,
        Self::Converted,
        Self::Respelled,
        Self::Completed,
        Self::Sorted,
    ];

    fn kind(self) -> NoteKind {
        match self {
            Self::LoneSurrogate | Self::DuplicateKey => NoteKind::Lost,
            _ => NoteKind::Normalized,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::LoneSurrogate => {
                "a string holds half a surrogate pair, which no text can hold; U+FFFD takes its place"
            }
            Self::DuplicateKey => {
                "a key appears twice with different values; the last one counts, as in Terraform"
            }
            Self::RepeatedKey => "a key appears twice with the same value",
            Self::DuplicateElement => "an element of a set appears twice; one is kept",
            Self::Composed => "a string is not in normalization form C; it is brought into that form",
            Self::Converted => "a value has another JSON type than its own and is converted",
            Self::Respelled => "a number is not in plain decimal; it is written so",
            Self::Completed => "an object lacks an attribute of its type; it becomes null",
            Self::Sorted => "elements of a set are out of order; they are sorted",
        }
    }
}

/// The first place of each kind of change: a value can hold millions of them.
#[derive(Debug, Default)]
pub(super) struct Remarks([Option<usize>; Remark::COUNT]);

impl Remarks {
    pub(super) fn add(&mut self, remark: Remark, offset: usize) {
        if let Some(first) = self.0.get_mut(remark as usize) {
            first.get_or_insert(offset);
        }
    }

    /// Turns the remarks into notes.
    pub(super) fn tell(&self, sink: &mut Sink) {
        for (remark, offset) in Remark::ALL.into_iter().zip(self.0) {
            if let Some(offset) = offset {
                sink.note(remark.kind(), offset, remark.message());
            }
        }
    }
}
