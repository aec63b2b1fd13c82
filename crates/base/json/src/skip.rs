//! Skipping values: every byte is checked, nothing is built.

use crate::cursor::{Cursor, Extremes, MAX_DEPTH, Stop, SyntaxError};

/// Numbers of so many bytes without an exponent are below 1e300.
const SAFE_NUMBER: usize = 300;

/// Which brackets are open, one bit a level: set for objects.
#[derive(Debug, Default)]
pub(crate) struct Open {
    /// The innermost 64 levels.
    top: u64,
    /// Levels further out, 64 at a time.
    outer: Vec<u64>,
    depth: usize,
}

impl Open {
    pub(crate) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.top);
        }
        self.top = self.top << 1 | u64::from(object);
        self.depth += 1;
    }

    pub(crate) fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.outer.pop().unwrap_or_default();
        }
    }

    pub(crate) fn in_object(&self) -> bool {
        self.top & 1 == 1
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }
}

impl Cursor<'_> {
    /// Skips one value, checking that it is JSON; the cursor may stand on white space before it.
    ///
    /// # Errors
    ///
    /// Anything that is not JSON, and too many levels.
    pub fn skip(&mut self) -> Result<(), Stop> {
        self.space();
        match self.byte() {
            Some(b'{' | b'[') => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    /// Skips one value as [`Cursor::skip`] does, and tells what in it is unusual.
    ///
    /// # Errors
    ///
    /// Those of [`Cursor::skip`].
    pub fn skip_measured(&mut self) -> Result<Extremes, Stop> {
        self.extremes = Extremes::default();
        self.skip()?;
        Ok(self.extremes)
    }

    #[inline]
    fn skip_scalar(&mut self) -> Result<(), Stop> {
        match self.byte() {
            Some(b'"') => {
                self.pos += 1;
                self.string_body().map(drop)
            }
            Some(b'0'..=b'9' | b'-') => self.skip_number(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.stop(SyntaxError::Unexpected),
        }
    }

    /// Skips an object or array with everything inside, without recursion.
    fn skip_nested(&mut self) -> Result<(), Stop> {
        let mut open = Open::default();
        loop {
            // Here a value begins.
            match self.byte() {
                Some(b @ (b'{' | b'[')) => {
                    if self.depth + open.depth >= MAX_DEPTH {
                        return self.stop(SyntaxError::TooDeep);
                    }
                    open.push(b == b'{');
                    self.extremes.levels = self.extremes.levels.max(open.depth);
                    self.pos += 1;
                    self.space();
                    // An empty container closes at once; otherwise its first item follows.
                    let close = if b == b'{' { b'}' } else { b']' };
                    if self.byte() != Some(close) {
                        if b == b'{' {
                            self.skip_name()?;
                        }
                        continue;
                    }
                    self.pos += 1;
                    open.pop();
                }
                _ => self.skip_scalar()?,
            }
            // Here a value has ended: close what ends with it, or go to the next item.
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                let object = open.in_object();
                let mut b = self.byte();
                if b != Some(b',') {
                    self.space();
                    b = self.byte();
                }
                match b {
                    Some(b',') => {
                        self.pos += 1;
                        self.space();
                        if object {
                            self.skip_name()?;
                        }
                        break;
                    }
                    Some(b'}') if object => self.pos += 1,
                    Some(b']') if !object => self.pos += 1,
                    _ => return self.stop(SyntaxError::Unexpected),
                }
                open.pop();
            }
        }
    }

    /// Skips a member's name, the colon and the white space around it.
    #[inline]
    fn skip_name(&mut self) -> Result<(), Stop> {
        if self.byte() != Some(b'"') {
            return self.stop(SyntaxError::Unexpected);
        }
        self.pos += 1;
        self.string_body()?;
        let bytes = self.text;
        // `": ` and then a value, as every known writer has it.
        if bytes.get(self.pos) == Some(&b':') {
            self.pos += 1;
            if bytes.get(self.pos) == Some(&b' ') {
                self.pos += 1;
                self.space += 1;
            }
        } else {
            self.space();
            if self.byte() != Some(b':') {
                return self.stop(SyntaxError::Unexpected);
            }
            self.pos += 1;
        }
        if self.byte().is_some_and(|b| b <= b' ') {
            self.space();
        }
        Ok(())
    }

    /// Skips a string from behind its opening quote to behind the closing one; tells whether it has escapes.
    #[inline]
    pub(crate) fn string_body(&mut self) -> Result<bool, Stop> {
        let start = self.pos;
        let bytes = self.text;
        let mut escaped = false;
        let mut high = 0;
        loop {
            self.pos = plain_end(bytes, self.pos, &mut high);
            match bytes.get(self.pos) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.pos += 1;
                    self.skip_escape()?;
                }
                _ => return self.stop(SyntaxError::ControlInString),
            }
        }
        // Only strings can hold bytes above ASCII, so checking those that do checks the whole text.
        if high & HIGHS != 0 {
            self.check_utf8(start)?;
        }
        self.pos += 1;
        Ok(escaped)
    }

    #[cold]
    fn check_utf8(&mut self, start: usize) -> Result<(), Stop> {
        match str::from_utf8(self.since(start)) {
            Ok(_) => Ok(()),
            Err(error) => Err(Stop { offset: start + error.valid_up_to(), why: SyntaxError::Utf8 }),
        }
    }

    fn skip_escape(&mut self) -> Result<(), Stop> {
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.pos += 1;
                Ok(())
            }
            Some(b'u') => {
                self.pos += 1;
                for _ in 0..4 {
                    if !self.byte().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return self.stop(SyntaxError::Escape);
                    }
                    self.pos += 1;
                }
                Ok(())
            }
            _ => self.stop(SyntaxError::Escape),
        }
    }

    pub(crate) fn skip_number(&mut self) -> Result<(), Stop> {
        let start = self.pos;
        if self.byte() == Some(b'-') {
            self.pos += 1;
        }
        match self.byte() {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.stop(SyntaxError::Unexpected),
        }
        if self.byte() == Some(b'.') {
            self.pos += 1;
            self.some_digits()?;
        }
        self.extremes.large_number |= self.pos - start > SAFE_NUMBER;
        if let Some(b'e' | b'E') = self.byte() {
            self.extremes.large_number = true;
            self.pos += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.pos += 1;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<(), Stop> {
        if !self.byte().is_some_and(|b| b.is_ascii_digit()) {
            return self.stop(SyntaxError::Unexpected);
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.byte().is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
        }
    }

    pub(crate) fn literal(&mut self, word: &str) -> Result<(), Stop> {
        let bytes = self.text;
        if bytes.get(self.pos..self.pos + word.len()) == Some(word.as_bytes()) {
            self.pos += word.len();
            return Ok(());
        }
        for b in word.bytes() {
            if self.byte() != Some(b) {
                return self.stop(SyntaxError::Unexpected);
            }
            self.pos += 1;
        }
        Ok(())
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
pub(crate) const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Index of the first quote, backslash or control character at or after `pos`, or the length.
///
/// Collects the high bits of the bytes it has seen, and perhaps of a few behind them, in `high`.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut pos: usize, high: &mut u64) -> usize {
    while let Some(eight) = bytes.get(pos..pos + 8).and_then(|b| b.first_chunk::<8>()) {
        let x = u64::from_le_bytes(*eight);
        *high |= x;
        // A byte's high bit is set where it equals the quote or the backslash or lies below the blank. A borrow
        // may also mark bytes above the first match, never below it.
        let quote = x ^ (ONES * u64::from(b'"'));
        let slash = x ^ (ONES * u64::from(b'\\'));
        let found = (quote.wrapping_sub(ONES) & !quote
            | slash.wrapping_sub(ONES) & !slash
            | x.wrapping_sub(ONES * u64::from(b' ')) & !x)
            & HIGHS;
        if found != 0 {
            return pos + found.trailing_zeros() as usize / 8;
        }
        pos += 8;
    }
    while let Some(&b) = bytes.get(pos) {
        if b == b'"' || b == b'\\' || b < b' ' {
            break;
        }
        *high |= u64::from(b);
        pos += 1;
    }
    pos
}
