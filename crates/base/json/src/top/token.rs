//! Numbers and words, byte by byte.

use crate::cursor::Kind;

/// How far a number has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

/// What a byte does to a number.
pub(super) enum Step {
    /// It is part of it.
    On(Digits),
    /// The number ends before it.
    End,
    /// It cannot stand there.
    Wrong,
}

impl Digits {
    /// A number that begins with this byte, if one does.
    pub(super) fn first(byte: u8) -> Option<Self> {
        match byte {
            b'-' => Some(Self::Minus),
            b'0' => Some(Self::Zero),
            b'1'..=b'9' => Some(Self::Whole),
            _ => None,
        }
    }

    pub(super) fn next(self, byte: u8) -> Step {
        let next = match (self, byte) {
            (Self::Minus, b'0') => Self::Zero,
            (Self::Minus, b'1'..=b'9') | (Self::Whole, b'0'..=b'9') => Self::Whole,
            (Self::Zero | Self::Whole, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Whole | Self::Fraction, b'e' | b'E') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::Sign,
            (Self::Exponent | Self::Sign | Self::Power, b'0'..=b'9') => Self::Power,
            _ if self.may_end() => return Step::End,
            _ => return Step::Wrong,
        };
        Step::On(next)
    }

    /// Whether it is a number so far.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Power)
    }
}

/// `true`, `false` or `null`, and how much of it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    word: &'static str,
    read: usize,
}

impl Word {
    pub(super) const TRUE: Self = Self { word: "true", read: 1 };
    pub(super) const FALSE: Self = Self { word: "false", read: 1 };
    pub(super) const NULL: Self = Self { word: "null", read: 1 };

    /// The word behind its next byte, or nothing if it is complete; nothing at all if another byte belongs there.
    pub(super) fn next(self, byte: u8) -> Option<Option<Self>> {
        if self.word.as_bytes().get(self.read) != Some(&byte) {
            return None;
        }
        let read = self.read + 1;
        Some((read < self.word.len()).then_some(Self { read, ..self }))
    }

    pub(super) fn kind(self) -> Kind {
        if self.word == "null" { Kind::Null } else { Kind::Bool }
    }
}
