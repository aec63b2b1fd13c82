//! Places of many bytes at once, in one pass over the source.

use crate::cursor::{Cursor, Kind, Stop};
use crate::source_pos::{MAX_STEPS, SourcePos, push_name};

/// Works out what [`SourcePos::of`] gives for each offset, in their order.
///
/// Reads the text once and the values around each place a few times more, so that a report of many thousand places
/// takes no longer than one of a few.
pub fn places(text: &[u8], offsets: &[usize]) -> Vec<SourcePos> {
    let mut sorted = offsets.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let paths = Paths::find(text, &sorted);
    let mut lines = Lines::new(text);
    let known: Vec<SourcePos> =
        sorted.iter().zip(paths).map(|(&offset, path)| lines.place(offset, path)).collect();
    let place_of = |offset| sorted.binary_search(offset).ok().and_then(|at| known.get(at)).cloned();
    offsets.iter().filter_map(place_of).collect()
}

/// Counts lines and columns of ascending offsets.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    fn place(&mut self, offset: usize, path: String) -> SourcePos {
        let end = offset.min(self.text.len());
        let between = self.text.get(self.at..end).unwrap_or_default();
        let same_line = match memchr::memrchr(b'\n', between) {
            None => between,
            Some(last) => {
                self.line += memchr::memchr_iter(b'\n', between).count();
                self.column = 1;
                between.get(last + 1..).unwrap_or_default()
            }
        };
        self.column += String::from_utf8_lossy(same_line).chars().count();
        self.at = end.max(self.at);
        SourcePos { offset, line: self.line, column: self.column, path }
    }
}

/// A container on the way to the next target.
struct Frame {
    object: bool,
    first: bool,
    index: usize,
    /// Length of the path to the container itself.
    path: usize,
}

/// Finds the paths of ascending offsets.
struct Paths<'a> {
    cursor: Cursor<'a>,
    targets: &'a [usize],
    path: String,
    frames: Vec<Frame>,
    out: Vec<String>,
}

/// Levels that are entered without a look at where they end: they hold nearly all of the document, so that looking
/// would read it twice.
const LARGE_LEVELS: usize = 2;

impl<'a> Paths<'a> {
    fn find(text: &'a [u8], targets: &'a [usize]) -> Vec<String> {
        let cursor = Cursor::new(text);
        let out = Vec::with_capacity(targets.len());
        let mut paths = Paths { cursor, targets, path: String::new(), frames: Vec::new(), out };
        // Where the syntax ends, so do the paths: what is left belongs to the innermost value that was reached.
        let _ = paths.document();
        paths.settle(usize::MAX);
        paths.out.resize_with(targets.len(), String::new);
        paths.out
    }

    fn next_target(&self) -> Option<usize> {
        self.targets.get(self.out.len()).copied()
    }

    /// Gives the present path to all targets before `end`.
    fn settle(&mut self, end: usize) {
        while self.next_target().is_some_and(|target| target < end) {
            self.out.push(self.path.clone());
        }
    }

    fn document(&mut self) -> Result<(), Stop> {
        if !self.value()? {
            return Ok(());
        }
        while let Some(frame) = self.frames.last_mut() {
            let length = frame.path;
            let name = if frame.object {
                self.cursor.member(&mut frame.first)?
            } else {
                let more = self.cursor.element(&mut frame.first)?;
                frame.index += usize::from(more);
                if !more {
                    self.leave();
                    continue;
                }
                None
            };
            match (frame.object, name) {
                (true, None) => {
                    self.leave();
                    continue;
                }
                (true, Some(name)) => {
                    self.settle(name.offset);
                    push_name(&mut self.path, &name.decode());
                }
                (false, _) => {
                    let index = frame.index - 1;
                    self.settle(self.cursor.offset());
                    self.path.push_str(&format!("[{index}]"));
                }
            }
            if self.next_target().is_none() {
                return Ok(());
            }
            if !self.value()? {
                self.settle(self.cursor.offset());
                self.path.truncate(length);
            }
        }
        Ok(())
    }

    /// Leaves the innermost container, whose end has just been read.
    fn leave(&mut self) {
        self.settle(self.cursor.offset());
        self.frames.pop();
        self.path.truncate(self.frames.last().map_or(0, |outer| outer.path));
    }

    /// Reads the next value, or enters it if a target may lie inside and tells so.
    fn value(&mut self) -> Result<bool, Stop> {
        let kind = self.cursor.kind()?;
        if !matches!(kind, Kind::Array | Kind::Object) || self.frames.len() >= MAX_STEPS {
            return self.cursor.skip().map(|()| false);
        }
        self.settle(self.cursor.offset() + 1);
        if self.frames.len() >= LARGE_LEVELS {
            let mut ahead = self.cursor.clone();
            let ends = ahead.skip().map(|()| ahead.offset());
            if ends.is_ok_and(|end| self.next_target().is_none_or(|target| target >= end)) {
                self.cursor = ahead;
                return Ok(false);
            }
        }
        let object = kind == Kind::Object;
        self.cursor.open(if object { b'{' } else { b'[' })?;
        self.frames.push(Frame { object, first: true, index: 0, path: self.path.len() });
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTS: [&str; 8] = [
        r#"{"version": 4, "outputs": {"a b": {"value": [1, {"x": "é"}]}}, "resources": [{"instances": [{}, {"a": []}]}]}"#,
        "{\n  \"a\": [\n    1,\n    [2, [3, {\"k\": null}]]\n  ],\n  \"é\": \"ü\"\n}\n",
        r#"[[[[1, 2], [3]], 4], {"a": {"b": {"c": {}}}}] "#,
        r#"{"a": [1, {"b": tru"#,
        r#"{"a": {"b": {"c": {"d": [1, 2, "#,
        r#"{"a" 1}"#,
        "",
        "  7 8",
    ];

    #[test]
    fn agrees_with_single_places_on_every_byte() {
        for text in DOCUMENTS {
            let offsets: Vec<usize> = (0..=text.len() + 1).filter(|at| text.is_char_boundary(*at)).collect();
            let found = places(text.as_bytes(), &offsets);
            for (offset, place) in offsets.iter().zip(&found) {
                assert_eq!(*place, SourcePos::of(text.as_bytes(), *offset), "byte {offset} of {text}");
            }
            assert_eq!(found.len(), offsets.len());
        }
    }

    #[test]
    fn keeps_the_order_of_the_question_and_its_repetitions() {
        let text = br#"{"a": 1, "b": 2}"#;
        let paths: Vec<String> = places(text, &[14, 6, 14]).into_iter().map(|place| place.path).collect();
        assert_eq!(paths, ["b", "a", "b"]);
    }

    #[test]
    fn survives_nesting_beyond_the_steps_of_a_path() {
        let text = "[".repeat(500) + &"]".repeat(500);
        assert_eq!(places(text.as_bytes(), &[400]), [SourcePos::of(text.as_bytes(), 400)]);
    }
}
