//! Which parts of a document may mention an address: a search of bytes, which reads no JSON.

use std::collections::BTreeSet;
use std::ops::Range;

use groundstate_states::addr::{ConfigResource, is_identifier};
use memchr::memmem;

/// Characters that may stand between two names of an address, besides what is inside a comment.
const BETWEEN: &str = ". \t\r\n#/*";

/// Two names that follow each other in an address: type and name of a resource, or `module` and the name of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Words<'a> {
    first: &'a str,
    second: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn of_resource(config: &'a ConfigResource) -> Self {
        Self { first: &config.resource.type_name, second: &config.resource.name }
    }

    pub(super) fn of_call(name: &'a str) -> Self {
        Self { first: "module", second: name }
    }

    fn are_identifiers(&self) -> bool {
        is_identifier(self.first) && is_identifier(self.second)
    }

    /// Whether the second word may belong to an address in which the first one comes before it. True for every address
    /// that spells both words without escapes.
    fn may_stand_between(&self, before: &[u8], after: &[u8]) -> bool {
        if after.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            return false;
        }
        let (rest, blanks) = split_blanks(before);
        match rest.strip_suffix(b".") {
            Some(front) => {
                let is_spaced = front.ends_with(b"/") || !split_blanks(front).1.is_empty();
                is_spaced || front.ends_with(self.first.as_bytes())
            }
            // The dot is in front of a comment, which ends in a slash or a line break.
            None => rest.ends_with(b"/") || blanks.iter().any(|byte| *byte != b' '),
        }
    }
}

/// Splits off the blanks at the end of a JSON string.
fn split_blanks(text: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = text;
    while let [front @ .., b' '] | [front @ .., b'\\', b't' | b'r' | b'n'] = rest {
        rest = front;
    }
    text.split_at(rest.len())
}

/// The positions of the spans in which an address may have one of these pairs of words. Misses none, however the address
/// is spelled: with blanks, comments or escapes. The spans of `text` are sorted and do not overlap.
pub(super) fn search(text: &[u8], spans: &[Range<usize>], words: &BTreeSet<Words<'_>>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    // Addresses have identifiers only.
    let words: Vec<_> = words.iter().filter(|words| words.are_identifiers()).collect();
    for words in &words {
        let is_hit = |before: &[u8], after: &[u8]| words.may_stand_between(before, after);
        mark(text, spans, words.second, is_hit, &mut found);
    }
    // A word can be spelled otherwise only if one of these characters is escaped.
    let names = words.iter().flat_map(|words| words.first.encode_utf16().chain(words.second.encode_utf16()));
    let spelling: BTreeSet<u16> = names.chain(BETWEEN.encode_utf16()).collect();
    if !words.is_empty() {
        let is_hit =
            |_: &[u8], after: &[u8]| escaped_unit(after).is_some_and(|unit| spelling.contains(&unit));
        mark(text, spans, "\\u", is_hit, &mut found);
    }
    found
}

/// Adds the spans that have `needle` where the texts in front of it and behind it make a hit.
fn mark(
    text: &[u8],
    spans: &[Range<usize>],
    needle: &str,
    is_hit: impl Fn(&[u8], &[u8]) -> bool,
    found: &mut BTreeSet<usize>,
) {
    let finder = memmem::Finder::new(needle);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)).map(|at| from + at) {
        // Occurrences may overlap: the first letter of `nn` may belong to an escaped line break.
        from = at + 1;
        let (Some(before), Some(after)) = (text.get(..at), text.get(at + needle.len()..)) else { return };
        if !is_hit(before, after) {
            continue;
        }
        let position = spans.partition_point(|span| span.end <= at);
        if let Some(span) = spans.get(position).filter(|span| span.start <= at) {
            found.insert(position);
            from = span.end;
        }
    }
}

/// The code unit whose four digits a text begins with.
fn escaped_unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..4)?.iter().map(|digit| char::from(*digit).to_digit(16));
    digits.into_iter().try_fold(0, |unit, digit| Some(unit << 4 | u16::try_from(digit?).ok()?))
}
