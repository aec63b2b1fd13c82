//! The text that is checked: the input, repaired as far as that is possible without guessing.

use std::borrow::Cow;

/// The text to check, and how its offsets relate to those of the input.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: Cow<'a, [u8]>,
    /// Offsets in the text behind a repair, ascending, and what they are in the input.
    shifts: Vec<(usize, usize)>,
}

impl<'a> Source<'a> {
    /// Leaves out a byte-order mark, and puts U+FFFD in place of what is not UTF-8, as Terraform does.
    pub(super) fn new(input: &'a [u8]) -> Self {
        // UTF-16 is not damaged UTF-8; nothing of it could be read.
        if matches!(input, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
            return Self { text: Cow::Borrowed(input), shifts: Vec::new() };
        }
        let start = if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let body = input.get(start..).unwrap_or_default();
        let mut shifts = Vec::new();
        if start > 0 {
            shifts.push((0, start));
        }
        if str::from_utf8(body).is_ok() {
            return Self { text: Cow::Borrowed(body), shifts };
        }
        let mut text = Vec::with_capacity(body.len());
        let mut read = start;
        for chunk in body.utf8_chunks() {
            text.extend_from_slice(chunk.valid().as_bytes());
            read += chunk.valid().len() + chunk.invalid().len();
            if !chunk.invalid().is_empty() {
                text.extend_from_slice("\u{fffd}".as_bytes());
                shifts.push((text.len(), read));
            }
        }
        Self { text: Cow::Owned(text), shifts }
    }

    /// The text that is read: the input, repaired where it had to be.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Whether the text differs from the input.
    pub(super) fn is_repaired(&self) -> bool {
        !self.shifts.is_empty()
    }

    /// Where a byte of the text stands in the input.
    pub(super) fn in_input(&self, offset: usize) -> usize {
        let behind = self.shifts.partition_point(|(at, _)| *at <= offset);
        match behind.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((at, original)) => original + (offset - at),
            None => offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_sound_text_alone() {
        let source = Source::new("{\"é\": 1}".as_bytes());
        assert!(!source.is_repaired());
        assert_eq!(source.in_input(5), 5);
    }

    #[test]
    fn leaves_utf_16_alone() {
        assert!(!Source::new(b"\xff\xfe{\0").is_repaired());
    }

    #[test]
    fn finds_every_character_of_the_repaired_text_in_the_input() {
        let input = b"\xef\xbb\xbfab\xffcd\xe2\x82e\x80\x80f";
        let source = Source::new(input);
        assert!(source.is_repaired());
        let text = str::from_utf8(source.text()).unwrap();
        assert_eq!(text, "ab\u{fffd}cd\u{fffd}e\u{fffd}\u{fffd}f");
        for (offset, c) in text.char_indices().filter(|(_, c)| c.is_ascii()) {
            assert_eq!(char::from(input[source.in_input(offset)]), c, "offset {offset}");
        }
    }
}
