//! Places in a text that is read in pieces.

/// A place between two bytes of a text: how much of the text stands before it.
///
/// It moves on with the text and needs none of it again. A reader that begins in the middle of a text marks places from there, and puts them
/// [behind](Mark::behind) the place where that is, once it is known.
///
/// ```
/// use groundstate_json::Mark;
///
/// let middle = Mark::START.after(b"{\"a\":\n [1,");
/// let end = Mark::START.after(b" 2]}");
/// assert_eq!((middle.offset, middle.line, middle.column), (10, 2, 5));
/// assert_eq!(end.behind(middle), Mark::START.after(b"{\"a\":\n [1, 2]}"));
/// assert_eq!(end.behind(middle).since(middle), end);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Index of the next byte, from 0.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Mark {
    /// The beginning of a text.
    pub const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// The place behind these bytes, which begin here. They are UTF-8.
    #[must_use]
    pub fn after(self, bytes: &[u8]) -> Self {
        let offset = self.offset + bytes.len();
        match memchr::memrchr(b'\n', bytes) {
            None => Self { offset, line: self.line, column: self.column + characters(bytes) },
            Some(last) => {
                let line = self.line + memchr::memchr_iter(b'\n', bytes).count();
                let column = 1 + characters(bytes.get(last + 1..).unwrap_or_default());
                Self { offset, line, column }
            }
        }
    }

    /// The place in the whole text, if this one is counted from `middle`.
    #[must_use]
    pub fn behind(self, middle: Self) -> Self {
        let column = if self.line == 1 { middle.column - 1 + self.column } else { self.column };
        Self { offset: middle.offset + self.offset, line: middle.line - 1 + self.line, column }
    }

    /// The place counted from `middle`, which is not behind it.
    #[must_use]
    pub fn since(self, middle: Self) -> Self {
        let same_line = self.line == middle.line;
        let column = if same_line { self.column.saturating_sub(middle.column) + 1 } else { self.column };
        let offset = self.offset.saturating_sub(middle.offset);
        Self { offset, line: self.line.saturating_sub(middle.line) + 1, column }
    }
}

/// How many characters begin in a piece of UTF-8.
fn characters(piece: &[u8]) -> usize {
    piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::Mark;
    use crate::SourcePos;

    #[test]
    fn every_way_to_a_place_leads_to_what_the_whole_text_gives() {
        let text = "{\n  \"größe\": 1,\n\n  \"b\": [\"日本\", 2]\n}\n";
        let place = |at: usize| Mark::START.after(&text.as_bytes()[..at]);
        for end in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let pos = SourcePos::of(text.as_bytes(), end);
            let mark = place(end);
            assert_eq!((mark.offset, mark.line, mark.column), (end, pos.line, pos.column));
            for middle in (0..=end).filter(|at| text.is_char_boundary(*at)) {
                let from_there = Mark::START.after(&text.as_bytes()[middle..end]);
                assert_eq!(place(middle).after(&text.as_bytes()[middle..end]), mark, "{middle} {end}");
                assert_eq!(from_there.behind(place(middle)), mark, "{middle} {end}");
                assert_eq!(mark.since(place(middle)), from_there, "{middle} {end}");
            }
        }
    }
}
