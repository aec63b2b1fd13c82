//! A cursor over JSON text: typed reading without copies, and exact places of syntax errors.

use std::borrow::Cow;
use std::fmt;

/// How deep arrays and objects may nest; Go's decoder, and with it every other reader of state, has the same limit.
pub const MAX_DEPTH: usize = 10_000;

/// What kind of value stands at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Names a value's kind for a message: numbers with their text, everything else without its content.
pub fn describe(kind: Kind, raw: &[u8]) -> String {
    match kind {
        Kind::Null => "null".into(),
        Kind::Bool => "bool".into(),
        Kind::String => "string".into(),
        Kind::Array => "array".into(),
        Kind::Object => "object".into(),
        Kind::Number if raw.len() <= 40 => format!("number {}", String::from_utf8_lossy(raw)),
        Kind::Number => format!("number of {} digits", raw.len()),
    }
}

/// Why the text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyntaxError {
    /// The text ends inside a value.
    End,
    /// A byte that cannot stand here.
    Unexpected,
    /// A raw control character inside a string.
    ControlInString,
    /// An escape that JSON does not know.
    Escape,
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
    /// Bytes in a string that are not UTF-8.
    Utf8,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::End => "the file ends too early",
            Self::Unexpected => "this character is not allowed here",
            Self::ControlInString => "a control character must be escaped in a string",
            Self::Escape => "JSON has no such escape sequence",
            Self::TooDeep => "arrays and objects nest deeper than 10000 levels",
            Self::Utf8 => "this is not UTF-8",
        })
    }
}

/// Reading stopped at `offset`, the index of the offending byte (or the length of the text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Index of the byte.
    pub offset: usize,
    /// What is wrong there.
    pub why: SyntaxError,
}

impl Stop {
    /// What usually lies behind such an end of reading `text`, to be put behind the message; often nothing.
    pub fn advice(&self, text: &[u8]) -> &'static str {
        match text {
            [0xef, 0xbb, 0xbf, ..] if self.offset == 0 => {
                "; the file begins with a byte-order mark: save it as UTF-8 without one"
            }
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, b'{', ..] | [b'{', 0, ..] => {
                "; the file looks like UTF-16: convert it to UTF-8 without a byte-order mark"
            }
            _ if text.get(self.offset) == Some(&0) => {
                "; NUL bytes are what a crash leaves of a file: restore a backup or an older version"
            }
            _ if self.why == SyntaxError::End => {
                "; it was probably cut off while it was written: restore a backup or an older version"
            }
            _ => "",
        }
    }
}

/// The inside of a string literal, still with its escapes.
#[derive(Clone, Copy)]
pub struct Str<'a> {
    /// Text between the quotes; valid UTF-8.
    pub raw: &'a [u8],
    /// Whether any backslash stands in it.
    pub escaped: bool,
    /// Index of the opening quote.
    pub offset: usize,
}

/// Reads one JSON document from the front, without copies.
///
/// ```
/// use groundstate_json::Cursor;
///
/// let mut cursor = Cursor::new(br#"{ "id": "i-1", "size": 1.50 }"#);
/// cursor.kind()?;
/// cursor.open(b'{')?;
/// let mut first = true;
/// let mut members = Vec::new();
/// while let Some(name) = cursor.member(&mut first)? {
///     members.push((name.decode().into_owned(), cursor.raw()?));
/// }
/// cursor.end()?;
/// assert_eq!(members, [("id".to_owned(), &br#""i-1""#[..]), ("size".to_owned(), b"1.50")]);
/// # Ok::<(), groundstate_json::Stop>(())
/// ```
#[derive(Clone)]
pub struct Cursor<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) pos: usize,
    /// Levels that are open around `pos`.
    pub(crate) depth: usize,
    /// Bytes of white space that have been skipped.
    pub(crate) space: usize,
    /// What the values that were skipped have of the unusual.
    pub(crate) extremes: Extremes,
}

/// What a value has that few values have, and readers with limits have to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extremes {
    /// How many arrays and objects are nested in each other, the value itself included.
    pub levels: usize,
    /// Whether a number in it has an exponent, or more than 300 bytes; all others are within the range of a double.
    pub large_number: bool,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`.
    #[inline]
    pub fn new(text: &'a [u8]) -> Self {
        Self::at(text, 0, 0)
    }

    /// Continues at `pos`, which lies `depth` levels deep.
    #[inline]
    pub fn at(text: &'a [u8], pos: usize, depth: usize) -> Self {
        Self { text, pos, depth, space: 0, extremes: Extremes::default() }
    }

    /// A cursor over the same text that begins at `pos`.
    #[inline]
    pub fn restart(&self, pos: usize) -> Self {
        Self { pos, ..self.clone() }
    }

    /// Index of the next byte.
    #[inline]
    pub fn offset(&self) -> usize {
        self.pos
    }

    /// How many arrays and objects are open around the cursor.
    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the cursor stands at the end of the text behind what may be the first digits of a number.
    pub fn ends_in_number(&self) -> bool {
        self.pos >= self.text.len() && self.text.last().is_some_and(u8::is_ascii_digit)
    }

    /// The text from `start` to here.
    #[inline]
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.pos).unwrap_or_default()
    }

    pub(crate) fn byte(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    pub(crate) fn stop<T>(&self, why: SyntaxError) -> Result<T, Stop> {
        let why = if self.pos >= self.text.len() { SyntaxError::End } else { why };
        Err(Stop { offset: self.pos.min(self.text.len()), why })
    }

    /// The next byte that is not white space.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        self.space();
        self.byte()
    }

    /// Skips white space.
    #[inline]
    pub fn space(&mut self) {
        let bytes = self.text;
        let mut pos = self.pos;
        // Most values in a state file are followed by a line break and a run of blanks.
        while let Some(&b) = bytes.get(pos) {
            match b {
                b' ' => pos = blanks(bytes, pos),
                b'\n' | b'\r' | b'\t' => pos += 1,
                _ => break,
            }
        }
        self.space += pos - self.pos;
        self.pos = pos;
    }

    /// How many bytes of white space this cursor has skipped so far. A value that leaves the number as it was is compact.
    #[inline]
    pub fn space_skipped(&self) -> usize {
        self.space
    }

    /// The kind of the next value, after white space.
    ///
    /// # Errors
    ///
    /// Anything that begins no value.
    #[inline]
    pub fn kind(&mut self) -> Result<Kind, Stop> {
        self.space();
        match self.byte() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'0'..=b'9' | b'-') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => self.stop(SyntaxError::Unexpected),
        }
    }

    /// Reads a string literal; the cursor stands on its opening quote.
    ///
    /// # Errors
    ///
    /// What is not a string literal.
    #[inline]
    pub fn string(&mut self) -> Result<Str<'a>, Stop> {
        let offset = self.pos;
        if self.byte() != Some(b'"') {
            return self.stop(SyntaxError::Unexpected);
        }
        self.pos += 1;
        let escaped = self.string_body()?;
        let raw = self.text.get(offset + 1..self.pos - 1).unwrap_or_default();
        Ok(Str { raw, escaped, offset })
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// Another word.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Stop> {
        let value = self.byte() == Some(b't');
        self.literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Reads `null`.
    ///
    /// # Errors
    ///
    /// Another word.
    #[inline]
    pub fn null(&mut self) -> Result<(), Stop> {
        self.literal("null")
    }

    /// Reads a number's text.
    ///
    /// # Errors
    ///
    /// What is not a number.
    #[inline]
    pub fn number(&mut self) -> Result<&'a str, Stop> {
        let start = self.pos;
        self.skip_number()?;
        // A number that was accepted is ASCII.
        Ok(str::from_utf8(self.since(start)).unwrap_or_default())
    }

    /// Reads any value and gives its text.
    ///
    /// # Errors
    ///
    /// Anything that is not JSON.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8], Stop> {
        self.space();
        let start = self.pos;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Enters an object; the cursor stands on its brace.
    ///
    /// # Errors
    ///
    /// Another byte, or too many levels.
    #[inline]
    pub fn open(&mut self, brace: u8) -> Result<(), Stop> {
        if self.byte() != Some(brace) {
            return self.stop(SyntaxError::Unexpected);
        }
        if self.depth >= MAX_DEPTH {
            return self.stop(SyntaxError::TooDeep);
        }
        self.depth += 1;
        self.pos += 1;
        Ok(())
    }

    /// Gives the next member's name and stands before its value, or leaves the object.
    ///
    /// # Errors
    ///
    /// Anything that is not JSON, up to the member's value.
    #[inline]
    pub fn member(&mut self, first: &mut bool) -> Result<Option<Str<'a>>, Stop> {
        if !self.next_item(first, b'}')? {
            return Ok(None);
        }
        let name = self.string()?;
        if self.byte() != Some(b':') {
            self.space();
        }
        if self.byte() != Some(b':') {
            return self.stop(SyntaxError::Unexpected);
        }
        self.pos += 1;
        self.space();
        Ok(Some(name))
    }

    /// Stands before the next element, or leaves the array.
    ///
    /// # Errors
    ///
    /// Anything that is not JSON, up to the element.
    #[inline]
    pub fn element(&mut self, first: &mut bool) -> Result<bool, Stop> {
        self.next_item(first, b']')
    }

    #[inline]
    fn next_item(&mut self, first: &mut bool, close: u8) -> Result<bool, Stop> {
        self.space();
        let b = self.byte();
        if b == Some(close) {
            self.pos += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if std::mem::take(first) {
            return Ok(true);
        }
        if b != Some(b',') {
            return self.stop(SyntaxError::Unexpected);
        }
        self.pos += 1;
        self.space();
        // A comma promises another item: `[1,]` is an error at the bracket.
        if self.byte() == Some(close) {
            return self.stop(SyntaxError::Unexpected);
        }
        Ok(true)
    }

    /// Requires that nothing but white space follows.
    ///
    /// # Errors
    ///
    /// More text.
    pub fn end(&mut self) -> Result<(), Stop> {
        self.space();
        if self.pos < self.text.len() { self.stop(SyntaxError::Unexpected) } else { Ok(()) }
    }
}

impl<'a> Str<'a> {
    /// The string's value. A lone surrogate becomes U+FFFD, as in Go.
    #[inline]
    pub fn decode(&self) -> Cow<'a, str> {
        // The cursor accepts valid UTF-8 only, so nothing is left out here.
        let text = str::from_utf8(self.raw).unwrap_or_default();
        if self.escaped { Cow::Owned(unescape(text)) } else { Cow::Borrowed(text) }
    }

    /// The string's value as bytes: what names are compared by, without another look at their encoding.
    #[inline]
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        if self.escaped {
            Cow::Owned(self.decode().into_owned().into_bytes())
        } else {
            Cow::Borrowed(self.raw)
        }
    }

    /// Whether an escape names half a surrogate pair, which no text can hold.
    pub fn has_lone_surrogate(&self) -> bool {
        self.escaped && Units(&String::from_utf8_lossy(self.raw)).any(|unit| matches!(unit, Unit::Lone))
    }
}

impl fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor(byte {} of {}, depth {})", self.pos, self.text.len(), self.depth)
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Str({} bytes at {})", self.raw.len(), self.offset)
    }
}

/// One decoded piece of a string literal.
enum Unit<'a> {
    Text(&'a str),
    Char(char),
    Lone,
}

/// Splits a valid string body into plain runs and escapes.
struct Units<'a>(&'a str);

impl<'a> Iterator for Units<'a> {
    type Item = Unit<'a>;

    fn next(&mut self) -> Option<Unit<'a>> {
        let text = self.0;
        let plain = text.find('\\').unwrap_or(text.len());
        if plain > 0 {
            let (head, tail) = text.split_at(plain);
            self.0 = tail;
            return Some(Unit::Text(head));
        }
        let mut chars = text.chars();
        chars.next()?;
        let escape = chars.next()?;
        self.0 = chars.as_str();
        Some(Unit::Char(match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return Some(self.unicode()),
            other => other,
        }))
    }
}

impl<'a> Units<'a> {
    /// Decodes the digits after `\u`, and the second half of a pair.
    fn unicode(&mut self) -> Unit<'a> {
        let Some(unit) = self.hex() else { return Unit::Lone };
        if let Some(c) = char::from_u32(unit) {
            return Unit::Char(c);
        }
        if unit < 0xdc00
            && let Some(rest) = self.0.strip_prefix("\\u")
        {
            let mut ahead = Units(rest);
            if let Some(low @ 0xdc00..=0xdfff) = ahead.hex() {
                self.0 = ahead.0;
                let c = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(c).map_or(Unit::Lone, Unit::Char);
            }
        }
        Unit::Lone
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.0.get(..4)?;
        self.0 = self.0.get(4..)?;
        u32::from_str_radix(digits, 16).ok()
    }
}

fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for unit in Units(raw) {
        match unit {
            Unit::Text(text) => out.push_str(text),
            Unit::Char(c) => out.push(c),
            Unit::Lone => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out
}

/// Index of the first byte at or after `pos` that is not a blank.
#[inline]
fn blanks(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(eight) = bytes.get(pos..pos + 8).and_then(|b| b.first_chunk::<8>()) {
        let differs = u64::from_le_bytes(*eight) ^ 0x2020_2020_2020_2020;
        if differs != 0 {
            return pos + differs.trailing_zeros() as usize / 8;
        }
        pos += 8;
    }
    while bytes.get(pos) == Some(&b' ') {
        pos += 1;
    }
    pos
}
