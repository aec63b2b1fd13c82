//! Validates JSON and compacts it in the same pass, without recursion.

use std::borrow::Cow;

use crate::{Escapes, RawJsonError};

/// The compact form of `text`; borrowed when it already is compact.
pub(crate) fn compact(text: &str, max_depth: usize, escapes: Escapes) -> Result<Cow<'_, str>, RawJsonError> {
    let bytes = text.as_bytes();
    let mut scan =
        Scan { text, bytes, html: escapes == Escapes::Html, pos: 0, kept_from: 0, out: String::new() };
    scan.document(max_depth)?;
    Ok(scan.finish())
}

/// What a byte inside a string calls for.
const PLAIN: u8 = 0;
const QUOTE: u8 = 1;
const BACKSLASH: u8 = 2;
const CONTROL: u8 = 3;
const ESCAPED_ON_WRITE: u8 = 4;
const MAYBE_SEPARATOR: u8 = 5;

const IN_STRING: [u8; 256] = {
    let mut table = [PLAIN; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = CONTROL;
        byte += 1;
    }
    table[b'"' as usize] = QUOTE;
    table[b'\\' as usize] = BACKSLASH;
    table[b'<' as usize] = ESCAPED_ON_WRITE;
    table[b'>' as usize] = ESCAPED_ON_WRITE;
    table[b'&' as usize] = ESCAPED_ON_WRITE;
    table[0xe2] = MAYBE_SEPARATOR;
    table
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Array,
    Object,
}

/// Everything before `kept_from` stands in `out` already; the rest up to `pos` is to be kept as it is.
struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Whether characters are escaped that JSON allows as they are.
    html: bool,
    pos: usize,
    kept_from: usize,
    out: String,
}

impl<'a> Scan<'a> {
    fn document(&mut self, max_depth: usize) -> Result<(), RawJsonError> {
        // The stack stands in for recursion, so nesting costs a byte and not a stack frame.
        let mut open: Vec<Container> = Vec::new();
        self.skip_space();
        loop {
            let entered = self.value()?;
            if let Some(container) = entered {
                if open.len() == max_depth {
                    return Err(RawJsonError::new(self.pos - 1, "containers nest too deep"));
                }
                if self.first_element(container)? {
                    open.push(container);
                    continue;
                }
            }
            // A value is complete: close every container that ends here, or go on to the next element.
            while let Some(&container) = open.last() {
                if self.next_element(container)? {
                    break;
                }
                open.pop();
            }
            if open.is_empty() {
                break;
            }
        }
        self.skip_space();
        if self.pos == self.bytes.len() {
            Ok(())
        } else {
            Err(RawJsonError::new(self.pos, "more text after the value"))
        }
    }

    /// Consumes a scalar, or the opening bracket of a container.
    fn value(&mut self) -> Result<Option<Container>, RawJsonError> {
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{') => {
                self.pos += 1;
                return Ok(Some(Container::Object));
            }
            Some(b'[') => {
                self.pos += 1;
                return Ok(Some(Container::Array));
            }
            Some(b't') => self.literal(b"true")?,
            Some(b'f') => self.literal(b"false")?,
            Some(b'n') => self.literal(b"null")?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.expected("expected a value")),
        }
        Ok(None)
    }

    /// After an opening bracket: true in front of the first element's value, false behind the closing bracket.
    fn first_element(&mut self, container: Container) -> Result<bool, RawJsonError> {
        self.skip_space();
        match (container, self.peek()) {
            (Container::Array, Some(b']')) | (Container::Object, Some(b'}')) => {
                self.pos += 1;
                Ok(false)
            }
            (Container::Array, _) => Ok(true),
            (Container::Object, _) => self.member_name().map(|()| true),
        }
    }

    /// After an element: true in front of the next element's value, false behind the closing bracket.
    fn next_element(&mut self, container: Container) -> Result<bool, RawJsonError> {
        self.skip_space();
        match (container, self.peek()) {
            (_, Some(b',')) => {
                self.pos += 1;
                self.skip_space();
                if container == Container::Object {
                    self.member_name()?;
                }
                Ok(true)
            }
            (Container::Array, Some(b']')) | (Container::Object, Some(b'}')) => {
                self.pos += 1;
                Ok(false)
            }
            (Container::Array, _) => Err(self.expected("expected `,` or `]`")),
            (Container::Object, _) => Err(self.expected("expected `,` or `}`")),
        }
    }

    fn member_name(&mut self) -> Result<(), RawJsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("expected a member name in quotes"));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.expected("expected `:`"));
        }
        self.pos += 1;
        self.skip_space();
        Ok(())
    }

    fn string(&mut self) -> Result<(), RawJsonError> {
        self.pos += 1;
        loop {
            let rest = &self.bytes[self.pos..];
            let Some(plain) = rest.iter().position(|&byte| IN_STRING[byte as usize] != PLAIN) else {
                self.pos = self.bytes.len();
                return Err(self.expected("expected the end of the string"));
            };
            self.pos += plain;
            let byte = self.bytes[self.pos];
            match IN_STRING[byte as usize] {
                QUOTE => {
                    self.pos += 1;
                    return Ok(());
                }
                BACKSLASH => self.escape()?,
                CONTROL => return Err(RawJsonError::new(self.pos, "a control character must be escaped")),
                _ if !self.html => self.pos += 1,
                ESCAPED_ON_WRITE => self.replace(1, escaped(byte)),
                // The first byte of U+2028 and U+2029, which many other characters share.
                _ => match self.bytes.get(self.pos + 1..self.pos + 3) {
                    Some([0x80, 0xa8]) => self.replace(3, "\\u2028"),
                    Some([0x80, 0xa9]) => self.replace(3, "\\u2029"),
                    _ => self.pos += 1,
                },
            }
        }
    }

    fn escape(&mut self) -> Result<(), RawJsonError> {
        self.pos += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 1,
            Some(b'u') => {
                self.pos += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.expected("expected four hexadecimal digits"));
                    }
                    self.pos += 1;
                }
            }
            _ => return Err(self.expected("expected an escape character")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), RawJsonError> {
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        if self.peek() == Some(b'0') {
            self.pos += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.pos += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), RawJsonError> {
        let count = self.bytes[self.pos..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.expected("expected a digit"));
        }
        self.pos += count;
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), RawJsonError> {
        for &wanted in word {
            if self.peek() != Some(wanted) {
                return Err(self.expected("expected `true`, `false` or `null`"));
            }
            self.pos += 1;
        }
        Ok(())
    }

    /// Leaves white space out of the result.
    fn skip_space(&mut self) {
        let rest = &self.bytes[self.pos..];
        let count = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        if count > 0 {
            self.replace(count, "");
        }
    }

    /// Puts `with` in place of the next `count` bytes.
    fn replace(&mut self, count: usize, with: &str) {
        self.out.push_str(&self.text[self.kept_from..self.pos]);
        self.out.push_str(with);
        self.pos += count;
        self.kept_from = self.pos;
    }

    fn finish(mut self) -> Cow<'a, str> {
        let rest = &self.text[self.kept_from..];
        // Leading white space alone moves the start, and still leaves one piece to borrow.
        if self.out.is_empty() {
            return Cow::Borrowed(rest);
        }
        self.out.push_str(rest);
        Cow::Owned(self.out)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn expected(&self, problem: &'static str) -> RawJsonError {
        let problem = if self.pos == self.bytes.len() { "the text ends too early" } else { problem };
        RawJsonError::new(self.pos, problem)
    }
}

const fn escaped(byte: u8) -> &'static str {
    match byte {
        b'<' => "\\u003c",
        b'>' => "\\u003e",
        _ => "\\u0026",
    }
}
