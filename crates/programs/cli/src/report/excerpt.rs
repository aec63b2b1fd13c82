//! The source line a diagnostic points at, without anything that may be secret.
//!
//! A file is read as a run of tokens from its start, once for all its excerpts, so that it is known of each of them
//! which members it lies in. Values that may be secrets are replaced by `…`.

use std::ops::Range;

use crate::report::tokens::{Token, TokenKind, walk};
use groundstate_common::is_hidden;

/// Characters that are shown to the left and to the right of the place, at most.
const REACH: usize = 60;

/// Indentation that is shown whole, at most.
const INDENTATION: usize = 4096;

/// More bytes in front of a place do not change what is shown of it.
pub(crate) const BEFORE: usize = INDENTATION + REACH + 1;

/// More bytes behind a place do not change it either.
pub(crate) const AFTER: usize = REACH + 1;

/// A line of a state file, cut and masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// What is shown of the line.
    pub(crate) text: String,
    /// The bytes of `text` that the diagnostic is about.
    pub(crate) mark: Range<usize>,
}

impl Excerpt {
    /// The mark, of whole characters.
    pub(crate) fn mark(&self) -> Range<usize> {
        let boundary = |at: usize| (0..=at.min(self.text.len())).rfind(|at| self.text.is_char_boundary(*at));
        let start = boundary(self.mark.start).unwrap_or_default();
        start..boundary(self.mark.end).unwrap_or_default().max(start)
    }
}

/// The parts of lines around these bytes; nothing if there is no text.
pub(crate) fn excerpts(text: &[u8], offsets: &[usize]) -> Vec<Option<Excerpt>> {
    let mut builders: Vec<Builder<'_>> = offsets.iter().map(|offset| Builder::new(text, *offset)).collect();
    let mut order: Vec<&mut Builder<'_>> = builders.iter_mut().collect();
    order.sort_by_key(|builder| builder.window.start);
    let end = order.iter().map(|builder| builder.window.end).max().unwrap_or(0);
    let mut first = 0;
    walk(text, end, |token, open| {
        // Windows have nearly the same length, so those that end here are those that began first.
        while order.get(first).is_some_and(|builder| builder.window.end <= token.span.start) {
            first += 1;
        }
        for builder in order.iter_mut().skip(first) {
            if builder.window.start >= token.span.end {
                break;
            }
            builder.token(&token, open);
        }
        order.get(first).map_or(end, |builder| builder.window.start)
    });
    builders.into_iter().map(|builder| (!text.is_empty()).then(|| builder.finish())).collect()
}

/// The bytes of the line around `offset`, as far as they are shown.
fn window(text: &[u8], offset: usize) -> Range<usize> {
    let near = offset.saturating_sub(REACH);
    let far = offset.saturating_sub(INDENTATION);
    let before = text.get(far..offset).unwrap_or_default();
    let after = text.get(offset..(offset + REACH).min(text.len())).unwrap_or_default();
    let line_end = memchr::memchr(b'\n', after).map_or(offset + after.len(), |at| offset + at);
    let line_start = match memchr::memrchr(b'\n', before) {
        Some(at) => far + at + 1,
        None => far,
    };
    // Indentation says nothing, so it does not count as text that is cut.
    let blank = text.get(line_start..near).unwrap_or_default().iter().all(|byte| *byte == b' ');
    if blank || line_start > near { line_start..line_end } else { near..line_end }
}

/// Collects what is shown.
struct Builder<'t> {
    text: &'t [u8],
    window: Range<usize>,
    offset: usize,
    shown: String,
    mark: Option<Range<usize>>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t [u8], offset: usize) -> Self {
        let offset = offset.min(text.len());
        let window = window(text, offset);
        let cut = window.start > 0 && text.get(window.start - 1) != Some(&b'\n');
        let shown = if cut { "…".to_owned() } else { String::new() };
        Self { text, window, offset, shown, mark: None }
    }

    fn finish(mut self) -> Excerpt {
        let cut = self.text.get(self.window.end).is_some_and(|&byte| byte != b'\n' && byte != b'\r');
        if cut && !self.shown.ends_with('…') {
            self.shown.push('…');
        }
        let end = self.shown.len();
        Excerpt { mark: self.mark.unwrap_or(end..end), text: self.shown }
    }

    fn token(&mut self, token: &Token, open: bool) {
        let start = token.span.start.max(self.window.start);
        let end = token.span.end.min(self.window.end);
        if start >= end {
            return;
        }
        let here = self.shown.len();
        match token.kind {
            TokenKind::Stray => self.stray(start..end),
            TokenKind::Value | TokenKind::Name if !open => self.masked(&token.span),
            _ => {
                if token.kind != TokenKind::Plain && start > token.span.start && !self.shown.ends_with('…')
                {
                    self.shown.push('…');
                }
                self.push(start..end);
            }
        }
        if token.span.contains(&self.offset) && self.mark.is_none() {
            let whole = matches!(token.kind, TokenKind::Name | TokenKind::Value);
            let skipped = if whole { 0 } else { self.width(start..self.offset) };
            let from = (here + skipped).min(self.shown.len());
            let to = if whole { self.shown.len() } else { self.shown.len().min(from + self.char_len(from)) };
            self.mark = Some(from..to);
        }
    }

    fn push(&mut self, span: Range<usize>) {
        let bytes = self.text.get(span).unwrap_or_default();
        for c in String::from_utf8_lossy(bytes).chars() {
            self.shown.push(if is_hidden(c) { ' ' } else { c });
        }
    }

    /// Of text that is no JSON only the first character is shown: it may be anything, a key file for instance.
    fn stray(&mut self, span: Range<usize>) {
        let bytes = self.text.get(span).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        let mut chars = text.chars();
        if let Some(c) = chars.next() {
            self.shown.push(if is_hidden(c) { '\u{fffd}' } else { c });
        }
        if chars.next().is_some() {
            self.shown.push('…');
        }
    }

    fn masked(&mut self, span: &Range<usize>) {
        let quoted = self.text.get(span.start) == Some(&b'"');
        self.shown.push_str(if quoted { "\"…\"" } else { "…" });
    }

    /// How many bytes of `shown` a span of plain text has become.
    fn width(&self, span: Range<usize>) -> usize {
        String::from_utf8_lossy(self.text.get(span).unwrap_or_default()).len()
    }

    fn char_len(&self, at: usize) -> usize {
        self.shown.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, excerpts};

    fn around(text: &[u8], offset: usize) -> Option<Excerpt> {
        excerpts(text, &[offset]).remove(0)
    }

    /// Draws an excerpt with its mark below.
    #[track_caller]
    fn draw(text: &[u8], needle: &str) -> String {
        let at = memchr::memmem::find(text, needle.as_bytes()).unwrap();
        drawn(text, at)
    }

    #[track_caller]
    fn drawn(text: &[u8], offset: usize) -> String {
        let excerpt = around(text, offset).unwrap();
        let before = excerpt.text[..excerpt.mark.start].chars().count();
        let length = excerpt.text[excerpt.mark.clone()].chars().count();
        format!("{}\n{}{}", excerpt.text, " ".repeat(before), "^".repeat(length))
    }

    #[test]
    fn what_is_skipped_in_front_of_a_line_changes_nothing_in_it() {
        let instance =
            r#"{"index_key": 0, "attributes": {"a": ["s3cret", {"b": [1, 2, "]"]}]}, "dependencies": ["x"]}"#;
        let resource =
            format!(r#"{{"mode": "managed", "name": "n", "instances": [{instance}, {instance}]}}"#);
        let text = format!(
            "{{\"version\": 4, \"outputs\": {{\"o\": {{\"value\": [[[{{\"k\": \"v\"}}], []]]}}}},\n\
             \"resources\": [{resource},\n{resource}, 5, \"x\",\n{resource}]}}\n"
        );
        let deep = format!("[{}1{}]", "[".repeat(40), "]".repeat(40));
        // Damage in one element must not hide that the next is shown by other rules.
        for (old, new) in [
            ("", ""),
            ("\"x\"]}", "\"x\"}"),
            ("s3cret\"", "s3cret"),
            ("5, ", "}, "),
            ("5, ", &format!("{deep}, ")),
        ] {
            let text = text.replacen(old, new, 1);
            let offsets: Vec<usize> = (0..text.len()).collect();
            // Their windows meet, so nothing lies between them that could be skipped.
            for (offset, beside) in offsets.iter().zip(excerpts(text.as_bytes(), &offsets)) {
                assert_eq!(around(text.as_bytes(), *offset), beside, "at {offset} in {text}");
            }
        }
    }

    #[test]
    fn shows_the_line_and_marks_the_value() {
        let text = b"{\n  \"version\": 4,\n  \"serial\": \"7\",\n  \"lineage\": \"x\"\n}\n";
        insta::assert_snapshot!(draw(text, "\"7\""), @r#"
          "serial": "7",
                    ^^^
        "#);
        insta::assert_snapshot!(draw(text, "\"lineage\""), @r#"
          "lineage": "x"
          ^^^^^^^^^
        "#);
    }

    #[test]
    fn hides_values_that_damage_has_put_in_the_place_of_names() {
        let damaged: [&[u8]; 5] = [
            br#"{"resources": [{"instances": [{"attributes": {: "hunter2"}}]}]}"#,
            br#"{"resources": [{"instances": [{"attributes": { "hunter2", "x": 1}}]}]}"#,
            br#"{"resources": [{"instances": [{"attributes": {"y": ,"hunter2"}}]}]}"#,
            br#"{"resources": [{"instances": [{"schema_version": 0, : "hunter2"}]}]}"#,
            br#"{"resources": [{"instances": [{"private"{ "hunter2", "x": 1}]}]}"#,
        ];
        for text in damaged {
            for offset in 0..text.len() {
                let shown = around(text, offset).unwrap().text;
                assert!(!shown.contains("hunter"), "{shown}");
            }
        }
    }

    #[test]
    fn hides_every_value_that_may_be_a_secret() {
        let hidden: [&[u8]; 21] = [
            br#"{"deployment": {"pending_operations": [{"resource": {"outputs": {"kept": {"hunter2": 1}}}}]}}"#,
            br#"{"deployment": {"secrets_providers": {"type": "passphrase", "state": {"salt": "hunter2"}}}}"#,
            br#"{"deployment": {"resources": [{"outputs": {"kept": {"hunter2": "x"}}}]}}"#,
            br#"{"outputs": {"o": {"value": {"hunter2": 1}, "type": ["map", "string"]}}}"#,
            br#"{"resources": [{"instances": [{"attributes": {"tags": {"hunter2": "x"}}}]}]}"#,
            br#"{"resources": [{"instances": [{"attributes": {"list": [{"hunter2": "x"}]}}]}]}"#,
            br#"{"resources": [{"instances": [{"attributes_flat": {"tags.hunter2": "x"}}]}]}"#,
            br#"{"deployment": {"resources": [{"inputs": {"tags": {"hunter2": "x"}}}]}}"#,
            br#"{"unknown": {"hunter2": 1}}"#,
            br#"{"outputs": {"o": {"value": "hunter2", "type": "string"}}}"#,
            br#"{"outputs": {"o": "hunter2"}}"#,
            br#"{"outputs": {"serial": "hunter2"}}"#,
            br#"{"resources": [{"instances": [{"attributes": {"name": "hunter2"}}]}]}"#,
            br#"{"resources": [{"instances": [{"attributes_flat": {"version": "hunter2"}}]}]}"#,
            br#"{"resources": [{"instances": [{"private": "hunter2"}]}]}"#,
            br#"{"resources": [{"instances": [{"sensitive_attributes": ["hunter2"]}]}]}"#,
            br#"{"modules": [{"resources": {"a.b": {"primary": {"attributes": {"type": "hunter2"}}}}}]}"#,
            br#"{"modules": [{"resources": {"a.b": {"primary": {"id": "hunter2"}}}}]}"#,
            br#"{"backend": {"type": "s3", "config": {"name": "hunter2"}}}"#,
            br#"{"unknown": ["hunter2"]}"#,
            br#""hunter2""#,
        ];
        for text in hidden {
            let at = memchr::memmem::find(text, b"hunter2").unwrap();
            for offset in 0..=text.len() {
                let shown = drawn(text, offset);
                assert!(!shown.contains("hun") && !shown.contains("ter2"), "{offset}: {shown}");
            }
            assert!(around(text, at - 1).unwrap().text.contains('…'));
        }
    }

    #[test]
    fn shows_names_addresses_and_versions_in_every_format() {
        let shown: [&[u8]; 8] = [
            br#"{"resources": [{"instances": [{"attributes": {"needle": {"a": 1}}}]}]}"#,
            br#"{"deployment": {"resources": [{"inputs": {"needle": 1}}]}}"#,
            br#"{"terraform_version": "needle"}"#,
            br#"{"resources": [{"type": "needle"}]}"#,
            br#"{"resources": [{"instances": [{"attributes": {"a": [1, {}]}, "status": "needle"}]}]}"#,
            br#"{"resources": [{"instances": [{"dependencies": ["a.b", "needle"]}]}]}"#,
            br#"{"modules": [{"path": ["root"], "resources": {"a.b": {"type": "needle"}}}]}"#,
            br#"{"outputs": {"o": {"sensitive": true, "type": "needle"}}}"#,
        ];
        for text in shown {
            assert!(draw(text, "needle").contains("needle"), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn cuts_long_lines_around_the_place() {
        let text =
            format!(r#"{{"a": [{}"x"], "version": "4", "b": [{}]}}"#, "1, ".repeat(100), "2, ".repeat(100));
        insta::assert_snapshot!(draw(text.as_bytes(), "\"4\""), @r#"
        … …, …, …, …, …, …, …, …, …, …, …, …, …, …, "…"], "version": "4", "b": […, …, …, …, …, …, …, …, …, …, …, …, …, …, …, …, …
                                                                     ^^^
        "#);
    }

    #[test]
    fn shows_only_the_first_character_of_what_is_no_json() {
        assert_eq!(drawn(b"hunter2 = secret", 0), "h… = s…\n^");
        assert_eq!(drawn(b"\xff\xfe{\0", 0), "\u{fffd}…{\u{fffd}\n^");
        assert_eq!(drawn(b"{\"version\": 4} hunter2", 15), "{\"version\": 4} h…\n               ^");
    }

    #[test]
    fn gives_the_same_excerpts_together_as_one_by_one() {
        let text = br#"{"a": [1, "x"], "version": 4, "serial": [{"lineage": "long enough to be cut off somewhere, or so"}],
            "outputs": {"o": {"value": [1, 2], "type": "string"}}}"#;
        let offsets: Vec<usize> = (0..=text.len()).rev().collect();
        let together = excerpts(text, &offsets);
        for (offset, excerpt) in offsets.iter().zip(together) {
            assert_eq!(excerpt, around(text, *offset), "{offset}");
        }
    }

    #[test]
    fn marks_the_end_of_a_text_that_is_cut_off() {
        assert_eq!(drawn(b"{\"serial\": ", 11), "{\"serial\": \n           ");
        assert!(around(b"", 0).is_none());
    }

    #[test]
    fn reads_depth_bombs_in_little_memory() {
        let text = "[".repeat(100_000);
        assert_eq!(drawn(text.as_bytes(), 50).chars().filter(|c| *c == '[').count(), 110);
    }

    #[test]
    fn never_fails_wherever_a_text_is_cut_or_changed() {
        let text = br#"{"a": "\"\\", "outputs": {"o": {"value": [1, -2.5e3, true]}}, "lineage": "x"}"#;
        for end in 0..=text.len() {
            for byte in [b'"', b'\\', b'{', b'[', b'}', b',', b'\n', 0, 0xff] {
                let mut changed = text[..end].to_vec();
                changed.push(byte);
                for offset in 0..=changed.len() + 1 {
                    assert!(around(&changed, offset).is_some());
                }
            }
        }
    }
}
