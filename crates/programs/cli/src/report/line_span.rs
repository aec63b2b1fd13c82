//! Places in a file, with the lines they stand in.

use groundstate_statefile::SourcePos;

use crate::report::excerpt::{Excerpt, excerpts};
use crate::report::tokens::shown_path;

/// A place in a file, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineSpan {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    /// Path of the JSON value there without names that may be secrets; empty if it is not known.
    pub(crate) path: String,
    pub(crate) excerpt: Option<Excerpt>,
}

impl LineSpan {
    /// Adds their lines to places that are known.
    pub(crate) fn of_places<'p>(
        text: &[u8],
        places: impl Iterator<Item = &'p SourcePos> + Clone,
    ) -> Vec<Self> {
        let offsets: Vec<usize> = places.clone().map(|place| place.offset).collect();
        let span = |(place, excerpt): (&SourcePos, Option<Excerpt>)| Self {
            line: place.line,
            column: place.column,
            path: shown_path(&place.path),
            excerpt,
        };
        places.zip(excerpts(text, &offsets)).map(span).collect()
    }

    /// Works out where these bytes stand. The text is read once for all of them.
    pub(crate) fn of_offsets(text: &[u8], offsets: &[usize]) -> Vec<Self> {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.sort_by_key(|index| offsets.get(*index));
        let mut positions = vec![(1, 1); offsets.len()];
        let (mut at, mut line, mut column) = (0, 1, 1);
        for index in order {
            let Some(offset) = offsets.get(index).map(|offset| (*offset).min(text.len())) else { continue };
            let between = text.get(at..offset).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count();
            let rest = match memchr::memrchr(b'\n', between) {
                Some(end) => {
                    column = 1;
                    between.get(end + 1..).unwrap_or_default()
                }
                None => between,
            };
            column += characters(rest);
            at = offset;
            if let Some(position) = positions.get_mut(index) {
                *position = (line, column);
            }
        }
        let span = |((line, column), excerpt)| Self { line, column, path: String::new(), excerpt };
        positions.into_iter().zip(excerpts(text, offsets)).map(span).collect()
    }
}

/// How many characters begin in this piece of UTF-8.
fn characters(piece: &[u8]) -> usize {
    piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use groundstate_statefile::SourcePos;

    use super::LineSpan;

    #[test]
    fn finds_the_same_lines_and_columns_as_the_reader() {
        let text = "{\n  \"größe\": 1,\n\n  \"b\": [\"日本\", 2]\n}\n".as_bytes();
        let whole = |offset: &usize| std::str::from_utf8(&text[..*offset]).is_ok();
        let offsets: Vec<usize> = (0..=text.len()).rev().filter(whole).collect();
        for (offset, span) in offsets.iter().zip(LineSpan::of_offsets(text, &offsets)) {
            let place = SourcePos::of(text, *offset);
            assert_eq!((span.line, span.column), (place.line, place.column), "{offset}");
        }
    }

    #[test]
    fn adds_lines_to_places() {
        let text = b"{\n  \"serial\": 7\n}";
        let place = SourcePos::of(text, 14);
        let spans = LineSpan::of_places(text, [&place].into_iter());
        assert_eq!(spans[0].excerpt.as_ref().unwrap().text, "  \"serial\": 7");
        assert_eq!((spans[0].line, spans[0].column, &*spans[0].path), (2, 13, "serial"));
    }
}
