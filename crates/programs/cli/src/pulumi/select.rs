//! Which resources a word on the command line stands for: a URN, or a name.

use groundstate_pulumi_integrity::closest;
use groundstate_pulumi_snapshot::{Snapshot, Urn};

use crate::input::remote::command_on;
use crate::report::error::{Failure, Kind, Result};

/// The indexes of the resources that a word stands for; there is at least one.
pub(super) fn find(snapshot: &Snapshot, word: &str, source: &str) -> Result<Vec<usize>> {
    let is_urn = word.starts_with("urn:");
    if is_urn && !Urn::from(word).is_valid() {
        let message = format!("{word:?} is not a valid resource URN");
        return Err(Failure::new(Kind::Usage, message).hint(lists(source)));
    }
    let matches = |urn: &Urn| if is_urn { *urn == word } else { urn.name() == word };
    let found: Vec<usize> =
        snapshot.indexed().filter(|(_, resource)| matches(&resource.urn)).map(|(index, _)| index).collect();
    if found.is_empty() { Err(unknown(snapshot, word, source)) } else { Ok(found) }
}

/// The URN that a word stands for: one, a name that only one URN has.
pub(crate) fn single(snapshot: &Snapshot, word: &str, source: &str) -> Result<Urn> {
    let found = find(snapshot, word, source)?;
    let mut urns: Vec<&Urn> = found.iter().filter_map(|&at| Some(&snapshot.resource(at)?.urn)).collect();
    urns.sort_unstable();
    urns.dedup();
    match urns.as_slice() {
        [urn] => Ok((*urn).clone()),
        [] => Err(unknown(snapshot, word, source)),
        [first, ..] => {
            let message = format!("{} resources are called {word}", urns.len());
            Err(Failure::new(Kind::Usage, message)
                .hint(format!("name one of them by its URN, such as '{first}'")))
        }
    }
}

/// The URNs that a word stands for as a target: as Pulumi has it, `**` is any text and `*` any without a colon. A URN or
/// a name that the stack has means itself, whatever stars are in it.
pub(crate) fn matching(snapshot: &Snapshot, word: &str, source: &str) -> Result<Vec<Urn>> {
    let exact = snapshot.indexed().any(|(_, resource)| resource.urn == *word || resource.urn.name() == word);
    if exact || !word.contains('*') {
        return Ok(vec![single(snapshot, word, source)?]);
    }
    let pattern = Pattern::parse(word);
    let urns = snapshot.indexed().map(|(_, resource)| &resource.urn);
    let found: Vec<Urn> = urns.filter(|urn| pattern.is_match(urn.as_str())).cloned().collect();
    if found.is_empty() { Err(unknown(snapshot, word, source)) } else { Ok(found) }
}

/// A text with wildcards.
struct Pattern<'a>(Vec<Piece<'a>>);

enum Piece<'a> {
    Text(&'a str),
    /// Anything without a colon.
    Part,
    Anything,
}

impl<'a> Pattern<'a> {
    fn parse(word: &'a str) -> Self {
        let mut pieces = Vec::new();
        for (number, between) in word.split("**").enumerate() {
            if number > 0 {
                pieces.push(Piece::Anything);
            }
            for (number, text) in between.split('*').enumerate() {
                if number > 0 {
                    pieces.push(Piece::Part);
                }
                pieces.push(Piece::Text(text));
            }
        }
        Self(pieces)
    }

    fn is_match(&self, text: &str) -> bool {
        let text = text.as_bytes();
        // Where in the text the pieces so far can end.
        let mut ends = vec![false; text.len() + 1];
        ends[0] = true;
        for piece in &self.0 {
            let mut next = vec![false; text.len() + 1];
            for at in 0..=text.len() {
                match piece {
                    Piece::Text(part) if ends[at] && text[at..].starts_with(part.as_bytes()) => {
                        next[at + part.len()] = true;
                    }
                    Piece::Text(_) => {}
                    Piece::Part => next[at] = ends[at] || (at > 0 && next[at - 1] && text[at - 1] != b':'),
                    Piece::Anything => next[at] = ends[at] || (at > 0 && next[at - 1]),
                }
            }
            ends = next;
        }
        ends[text.len()]
    }
}

fn lists(source: &str) -> String {
    format!("`{}` shows what there is", command_on("groundstate list", source))
}

fn unknown(snapshot: &Snapshot, word: &str, source: &str) -> Failure {
    let failure = Failure::new(Kind::NotFound, format!("{source} has no resource {word}"));
    let close: Vec<String> = closest(snapshot, word).iter().map(ToString::to_string).collect();
    if close.is_empty() {
        return failure.hint(lists(source));
    }
    failure.hint(format!("did you mean {}?", close.join(", or "))).hint(lists(source))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn one_star_stops_at_a_colon_and_two_do_not() {
        for (pattern, text, expected) in [
            ("urn:pulumi:dev::shop::a:b:C::web", "urn:pulumi:dev::shop::a:b:C::web", true),
            ("urn:pulumi:dev::shop::a:b:C::*", "urn:pulumi:dev::shop::a:b:C::web", true),
            ("urn:pulumi:*::shop::a:*:C::w*b", "urn:pulumi:dev::shop::a:b:C::web", true),
            ("urn:pulumi:dev::*::web", "urn:pulumi:dev::shop::a:b:C::web", false),
            ("**::web", "urn:pulumi:dev::shop::a:b:C::web", true),
            ("**a:**", "urn:pulumi:dev::shop::a:b:C::web", true),
            ("**::we", "urn:pulumi:dev::shop::a:b:C::web", false),
            ("***", "a:b", true),
            ("*", "a:b", false),
        ] {
            assert_eq!(Pattern::parse(pattern).is_match(text), expected, "{pattern} {text}");
        }
    }
}
