//! The members at the top of a document that arrives in pieces, in memory that does not grow with it.

mod token;
mod utf8;

use crate::cursor::{Cursor, Kind, MAX_DEPTH, Stop, SyntaxError};
use crate::skip::{Open, plain_end};
use token::{Digits, Step, Word};
use utf8::Utf8;

/// How much of a name or scalar is collected. A longer name is none that is asked for.
const LONGEST: usize = 4096;

/// Checks a document piece by piece, and finds what members at its top say.
///
/// Every byte is checked as [`Cursor`] does it, and each piece is forgotten: a document of any size costs a few
/// kilobytes and a bit for each level. Of two members with one name the later counts.
///
/// ```
/// use groundstate_json::{TopScan, TopValue};
///
/// let mut scan = TopScan::of(&["serial", "resources"]);
/// for piece in [&br#"{"serial": 4"#[..], br#"1, "resources": [{"id"#, br#"": 1}, {}]}"#] {
///     scan.push(piece)?;
/// }
/// let top = scan.finish()?;
/// assert_eq!(top.get("serial"), Some(&TopValue::Number("41".to_owned())));
/// assert_eq!(top.get("resources"), Some(&TopValue::Array(2)));
/// # Ok::<(), groundstate_json::Stop>(())
/// ```
#[derive(Debug)]
pub struct TopScan {
    top: Top,
    state: State,
    open: Open,
    utf8: Utf8,
    /// Bytes of earlier pieces.
    before: usize,
    literal: Literal,
    /// The wanted member whose value is read, by its position.
    member: Option<usize>,
    /// Items of that value so far.
    items: u64,
}

/// What a document has at its top.
#[derive(Debug)]
pub struct Top {
    wanted: &'static [&'static str],
    found: Vec<Option<TopValue>>,
    kind: Kind,
}

/// A member's value. `Debug` shows it: ask for members that are no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    /// A text, decoded.
    String(String),
    /// A number or text of more than 4 KiB.
    Long(Kind),
    /// An array of so many items.
    Array(u64),
    /// An object of so many members.
    Object(u64),
}

impl Top {
    /// What kind of document it is. Only objects have members.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The value of a member that was asked for, if the document has it.
    pub fn get(&self, name: &str) -> Option<&TopValue> {
        let position = self.wanted.iter().position(|wanted| *wanted == name)?;
        self.found.get(position)?.as_ref()
    }
}

/// What may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    /// Behind `[`.
    FirstItem,
    /// Behind `{`.
    FirstName,
    /// Behind a comma in an object.
    Name,
    /// Behind a name.
    Colon,
    /// Behind a value.
    After,
    Text,
    /// Behind a backslash.
    Escape,
    /// In `\uXXXX`, with so many digits left.
    Hex(u8),
    Number(Digits),
    Word(Word),
    /// Behind the document.
    End,
}

/// The name or scalar at hand.
#[derive(Debug, Default)]
struct Literal {
    /// What stands between the quotes, or the digits. Kept only while it may be asked for.
    text: Vec<u8>,
    is_kept: bool,
    is_long: bool,
    is_name: bool,
}

impl TopScan {
    /// A scan for members of these names.
    pub fn of(wanted: &'static [&'static str]) -> Self {
        Self {
            top: Top { wanted, found: vec![None; wanted.len()], kind: Kind::Null },
            state: State::Value,
            open: Open::default(),
            utf8: Utf8::default(),
            before: 0,
            literal: Literal::default(),
            member: None,
            items: 0,
        }
    }

    /// Reads the next piece. After an error the scan is of no more use.
    ///
    /// # Errors
    ///
    /// What is not JSON, with its offset in the document.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Stop> {
        let mut at = 0;
        while let Some(&byte) = piece.get(at) {
            let next = match self.state {
                State::Text => self.text(piece, at),
                _ => match self.byte(byte) {
                    Ok(taken) => Ok(at + usize::from(taken)),
                    Err(why) => Err((why, at)),
                },
            };
            at = next.map_err(|(why, at)| Stop { offset: self.before.saturating_add(at), why })?;
        }
        self.before = self.before.saturating_add(piece.len());
        Ok(())
    }

    /// Ends the document.
    ///
    /// # Errors
    ///
    /// A document that is cut off.
    pub fn finish(mut self) -> Result<Top, Stop> {
        if let State::Number(digits) = self.state
            && digits.may_end()
        {
            self.end_scalar(Kind::Number);
        }
        match self.state {
            State::End => Ok(self.top),
            _ => Err(Stop { offset: self.before, why: SyntaxError::End }),
        }
    }

    /// Reads a byte outside of the plain part of a string; `false` if it belongs to what follows.
    fn byte(&mut self, byte: u8) -> Result<bool, SyntaxError> {
        match self.state {
            State::Number(digits) => match digits.next(byte) {
                Step::On(digits) => {
                    self.literal.push(&[byte]);
                    self.state = State::Number(digits);
                }
                Step::End => {
                    self.end_scalar(Kind::Number);
                    return Ok(false);
                }
                Step::Wrong => return Err(SyntaxError::Unexpected),
            },
            State::Word(word) => match word.next(byte).ok_or(SyntaxError::Unexpected)? {
                Some(word) => self.state = State::Word(word),
                None => self.end_scalar(word.kind()),
            },
            State::Escape => {
                self.literal.push(&[byte]);
                self.state = match byte {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => State::Text,
                    b'u' => State::Hex(4),
                    _ => return Err(SyntaxError::Escape),
                };
            }
            State::Hex(left) => {
                if !byte.is_ascii_hexdigit() {
                    return Err(SyntaxError::Escape);
                }
                self.literal.push(&[byte]);
                self.state = if left > 1 { State::Hex(left - 1) } else { State::Text };
            }
            _ if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') => {}
            _ => self.structure(byte)?,
        }
        Ok(true)
    }

    /// Reads a byte between names and scalars.
    fn structure(&mut self, byte: u8) -> Result<(), SyntaxError> {
        match (self.state, byte) {
            (State::FirstItem, b']') | (State::FirstName, b'}') => self.close(),
            (State::Value | State::FirstItem, _) => return self.value(byte),
            (State::FirstName | State::Name, b'"') => {
                self.literal.begin(self.open.depth() == 1, true);
                self.state = State::Text;
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::After, b',') if self.open.in_object() => self.state = State::Name,
            (State::After, b',') => self.state = State::Value,
            (State::After, b'}') if self.open.in_object() => self.close(),
            (State::After, b']') if !self.open.in_object() => self.close(),
            _ => return Err(SyntaxError::Unexpected),
        }
        Ok(())
    }

    /// Reads the first byte of a value.
    fn value(&mut self, byte: u8) -> Result<(), SyntaxError> {
        if self.member.is_some() && self.open.depth() == 2 {
            self.items += 1;
        }
        let is_kept = self.member.is_some() && self.open.depth() == 1;
        let (kind, state) = match byte {
            b'{' => (Kind::Object, State::FirstName),
            b'[' => (Kind::Array, State::FirstItem),
            b'"' => (Kind::String, State::Text),
            b't' => (Kind::Bool, State::Word(Word::TRUE)),
            b'f' => (Kind::Bool, State::Word(Word::FALSE)),
            b'n' => (Kind::Null, State::Word(Word::NULL)),
            _ => (Kind::Number, State::Number(Digits::first(byte).ok_or(SyntaxError::Unexpected)?)),
        };
        self.state = state;
        if self.open.depth() == 0 {
            self.top.kind = kind;
        }
        match kind {
            Kind::Object | Kind::Array => {
                if self.open.depth() >= MAX_DEPTH {
                    return Err(SyntaxError::TooDeep);
                }
                if is_kept {
                    self.items = 0;
                }
                self.open.push(kind == Kind::Object);
            }
            _ => {
                self.literal.begin(is_kept, false);
                if kind == Kind::Number || kind == Kind::Bool {
                    self.literal.push(&[byte]);
                }
            }
        }
        Ok(())
    }

    /// Reads the inside of a string from `at`, and gives where reading goes on.
    fn text(&mut self, piece: &[u8], at: usize) -> Result<usize, (SyntaxError, usize)> {
        let end = plain_end(piece, at, &mut 0);
        let run = piece.get(at..end).unwrap_or_default();
        self.utf8.push(run).map_err(|valid| (SyntaxError::Utf8, at + valid))?;
        self.literal.push(run);
        let Some(&byte) = piece.get(end) else { return Ok(end) };
        if !self.utf8.is_whole() {
            return Err((SyntaxError::Utf8, end));
        }
        match byte {
            b'"' if self.literal.is_name => {
                self.end_name();
                self.state = State::Colon;
            }
            b'"' => self.end_scalar(Kind::String),
            b'\\' => {
                self.literal.push(b"\\");
                self.state = State::Escape;
            }
            _ => return Err((SyntaxError::ControlInString, end)),
        }
        Ok(end + 1)
    }

    fn end_name(&mut self) {
        if self.open.depth() != 1 {
            return;
        }
        self.member = match self.literal.is_long {
            true => None,
            false => {
                let name = self.literal.decoded();
                self.top.wanted.iter().position(|wanted| *wanted == name)
            }
        };
    }

    fn end_scalar(&mut self, kind: Kind) {
        if self.open.depth() == 1 {
            let value = match kind {
                Kind::Null => TopValue::Null,
                Kind::Bool => TopValue::Bool(self.literal.text == b"t"),
                _ if self.literal.is_long => TopValue::Long(kind),
                Kind::String => TopValue::String(self.literal.decoded()),
                _ => TopValue::Number(String::from_utf8_lossy(&self.literal.text).into_owned()),
            };
            self.found(value);
        }
        self.end_value();
    }

    fn close(&mut self) {
        let is_object = self.open.in_object();
        self.open.pop();
        if self.open.depth() == 1 {
            let items = self.items;
            self.found(if is_object { TopValue::Object(items) } else { TopValue::Array(items) });
        }
        self.end_value();
    }

    fn found(&mut self, value: TopValue) {
        if let Some(slot) = self.member.take().and_then(|member| self.top.found.get_mut(member)) {
            *slot = Some(value);
        }
    }

    fn end_value(&mut self) {
        self.state = if self.open.depth() == 0 { State::End } else { State::After };
    }
}

impl Literal {
    fn begin(&mut self, is_kept: bool, is_name: bool) {
        self.text.clear();
        *self = Self { text: std::mem::take(&mut self.text), is_kept, is_long: false, is_name };
    }

    fn push(&mut self, bytes: &[u8]) {
        if !self.is_kept || self.is_long {
            return;
        }
        match self.text.len() + bytes.len() > LONGEST {
            true => self.is_long = true,
            false => self.text.extend_from_slice(bytes),
        }
    }

    /// The text without its escapes.
    fn decoded(&self) -> String {
        let quoted = [b"\"", self.text.as_slice(), b"\""].concat();
        let text = Cursor::new(&quoted).string().map(|text| text.decode().into_owned());
        // Every byte of it was checked when it came.
        text.unwrap_or_default()
    }
}
