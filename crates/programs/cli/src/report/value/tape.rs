//! One JSON value as a flat list of its tokens, so that nothing recurses however deep it nests.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
    /// The first token behind this value.
    next: usize,
}

/// The tokens of a compact JSON text. In objects, each name stands as a string before its value.
#[derive(Debug)]
pub(crate) struct Tape<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Tape<'t> {
    /// Reads the compact text of one valid value; of anything else, as much as can be made out.
    pub(crate) fn new(text: &'t str) -> Self {
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
    pub(crate) fn root(&self) -> Option<usize> {
        (!self.tokens.is_empty()).then_some(0)
    }

    pub(crate) fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::Null, |token| token.kind)
    }

    /// The text of the value at a token.
    pub(crate) fn text(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("null")
    }

    /// The token behind the value at a token.
    pub(crate) fn next(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(at, |token| token.next)
    }

    /// The values in an array.
    pub(crate) fn elements(&self, at: usize) -> impl Iterator<Item = usize> {
        let end = self.next(at);
        let mut inner = at + 1;
        std::iter::from_fn(move || {
            let element = inner;
            inner = self.next(element);
            (element < end).then_some(element)
        })
    }

    /// The names and values in an object.
    pub(crate) fn members(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut inner = self.elements(at);
        std::iter::from_fn(move || Some((inner.next()?, inner.next()?)))
    }

    /// The content of a string, without escapes.
    pub(crate) fn string(&self, at: usize) -> String {
        let quoted = self.text(at);
        serde_json::from_str(quoted).unwrap_or_else(|_| lossy(quoted))
    }

    /// The value inside the wrapper that keeps the type of a dynamic attribute; the token itself if it is none.
    ///
    /// Writers sort the members of every other object, so only in a wrapper `value` stands before `type`.
    pub(crate) fn unwrapped(&self, mut at: usize) -> usize {
        while let Some(inner) = self.wrapped(at) {
            at = inner;
        }
        at
    }

    fn wrapped(&self, at: usize) -> Option<usize> {
        if self.kind(at) != Kind::Object {
            return None;
        }
        let mut members = self.members(at);
        let ((name, value), (type_name, ty)) = (members.next()?, members.next()?);
        let fits =
            self.text(name) == "\"value\"" && self.text(type_name) == "\"type\"" && members.next().is_none();
        (fits && self.is_type(ty)).then_some(value)
    }

    fn is_type(&self, at: usize) -> bool {
        match self.kind(at) {
            Kind::String => ["\"string\"", "\"number\"", "\"bool\"", "\"dynamic\""].contains(&self.text(at)),
            Kind::Array => {
                let mut elements = self.elements(at);
                let constructor = elements.next().map(|first| self.text(first));
                let known = ["\"list\"", "\"set\"", "\"map\"", "\"tuple\"", "\"object\""];
                constructor.is_some_and(|name| known.contains(&name)) && elements.next().is_some()
            }
            _ => false,
        }
    }
}

/// A string with escapes that stand for no character, such as half of a pair.
fn lossy(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    inner.strip_suffix('"').unwrap_or(inner).to_owned()
}

fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at + 1..).unwrap_or_default();
    if bytes.get(at) != Some(&b'"') {
        return at + 1 + rest.iter().take_while(|byte| !b",]}:".contains(byte)).count();
    }
    let mut escaped = false;
    for (i, byte) in rest.iter().enumerate() {
        match byte {
            b'"' if !escaped => return at + i + 2,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    bytes.len()
}
