//! One JSON value as a flat list of its tokens, so that nothing recurses however deep it nests.

use crate::cursor::{Cursor, Kind};
use crate::write::string_end;

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
    /// The first token behind this value.
    next: usize,
}

/// The tokens of a compact JSON text, each known by its index. In objects, each name stands as a string before its value.
///
/// ```
/// use groundstate_json::{Kind, Tape};
///
/// let tape = Tape::new(r#"{"id":"i-1","tags":{"a":1}}"#);
/// let root = tape.root().unwrap();
/// let found: Vec<_> = tape.members(root).map(|(name, value)| (tape.string(name), tape.kind(value))).collect();
/// assert_eq!(found, [("id".to_owned(), Kind::String), ("tags".to_owned(), Kind::Object)]);
/// ```
#[derive(Debug)]
pub struct Tape<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Tape<'t> {
    /// Reads the compact text of one valid value; of anything else, as much as can be made out.
    pub fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut tokens: Vec<Token> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let kind = match byte {
                b'{' => Kind::Object,
                b'[' => Kind::Array,
                b'"' => Kind::String,
                b'n' => Kind::Null,
                b't' | b'f' => Kind::Bool,
                b'}' | b']' => {
                    at += 1;
                    let next = tokens.len();
                    if let Some(token) = open.pop().and_then(|index| tokens.get_mut(index)) {
                        (token.end, token.next) = (at, next);
                    }
                    continue;
                }
                b'-' | b'0'..=b'9' => Kind::Number,
                _ => {
                    at += 1;
                    continue;
                }
            };
            let container = matches!(kind, Kind::Array | Kind::Object);
            let end = if container { at + 1 } else { scalar_end(bytes, at) };
            let index = tokens.len();
            if container {
                open.push(index);
            }
            tokens.push(Token { kind, start: at, end, next: index + 1 });
            at = end;
        }
        Self { text, tokens }
    }

    /// The token of the whole value; nothing for an empty text.
    pub fn root(&self) -> Option<usize> {
        (!self.tokens.is_empty()).then_some(0)
    }

    /// What the value at a token is; null, if there is no such token.
    pub fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::Null, |token| token.kind)
    }

    /// The text of the value at a token.
    pub fn text(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("null")
    }

    /// The token behind the value at a token.
    pub fn next(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(at, |token| token.next)
    }

    /// The values in an array.
    pub fn elements(&self, at: usize) -> impl Iterator<Item = usize> {
        let end = self.next(at);
        let mut inner = at + 1;
        std::iter::from_fn(move || {
            let element = inner;
            inner = self.next(element);
            (element < end).then_some(element)
        })
    }

    /// The names and values in an object.
    pub fn members(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut inner = self.elements(at);
        std::iter::from_fn(move || Some((inner.next()?, inner.next()?)))
    }

    /// The content of a string, without escapes.
    ///
    /// One with half of a surrogate pair, which stands for no character, keeps its escapes.
    pub fn string(&self, at: usize) -> String {
        let quoted = self.text(at);
        match Cursor::new(quoted.as_bytes()).string() {
            Ok(string) if !string.has_lone_surrogate() => string.decode().into_owned(),
            _ => lossy(quoted),
        }
    }
}

/// A string with escapes that stand for no character, such as half of a pair.
fn lossy(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    inner.strip_suffix('"').unwrap_or(inner).to_owned()
}

/// Where the scalar ends that begins at `at`.
fn scalar_end(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at) == Some(&b'"') {
        return string_end(bytes, at + 1);
    }
    let rest = bytes.get(at + 1..).unwrap_or_default();
    at + 1 + rest.iter().take_while(|byte| !b",]}:".contains(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Tape};

    #[test]
    fn values_in_containers_are_found_by_their_tokens() {
        let tape = Tape::new(r#"{"a":[1,"x\"]",{"b":null}],"c":true,"d":[]}"#);
        let root = tape.root().unwrap();
        let members: Vec<(&str, &str)> =
            tape.members(root).map(|(name, value)| (tape.text(name), tape.text(value))).collect();
        let expected = [("\"a\"", r#"[1,"x\"]",{"b":null}]"#), ("\"c\"", "true"), ("\"d\"", "[]")];
        assert_eq!(members, expected);
        let list = tape.members(root).next().unwrap().1;
        let kinds: Vec<Kind> = tape.elements(list).map(|at| tape.kind(at)).collect();
        assert_eq!(kinds, [Kind::Number, Kind::String, Kind::Object]);
        assert_eq!(tape.string(tape.elements(list).nth(1).unwrap()), "x\"]");
    }

    #[test]
    fn a_string_that_stands_for_no_text_keeps_its_escapes() {
        for (text, expected) in [(r#""\u00e9""#, "é"), (r#""\ud800""#, r"\ud800"), (r#""open"#, "open")] {
            assert_eq!(Tape::new(text).string(0), expected, "{text}");
        }
        assert_eq!(Tape::new("").root(), None);
        assert_eq!((Tape::new("").kind(7), Tape::new("").text(7)), (Kind::Null, "null"));
    }
}
