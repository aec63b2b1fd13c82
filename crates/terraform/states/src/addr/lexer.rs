//! Splits an address into names and bracketed keys, skipping what may stand between them.

use std::borrow::Cow;

use super::AddrErrorKind::{Empty, Index as IndexKind};
use super::InstanceKey;
use super::error::Fault;
use super::ident::identifier_len;
use super::number::{NotAnIndex, number_len, whole_number};
use super::quote::read_quoted;

/// A name or a bracketed key, and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Step<'a> {
    pub(super) at: usize,
    pub(super) kind: StepKind<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum StepKind<'a> {
    Name(&'a str),
    Int(u64),
    Text(Cow<'a, str>),
}

impl Step<'_> {
    /// The key that a bracket holds; nothing for a name.
    pub(super) fn to_key(&self) -> Option<InstanceKey> {
        match &self.kind {
            StepKind::Name(_) => None,
            StepKind::Int(n) => Some(InstanceKey::Int(*n)),
            StepKind::Text(text) => Some(InstanceKey::String(text.as_ref().into())),
        }
    }
}

/// The steps of an address, read one at a time with one step of lookahead.
#[derive(Clone, Debug)]
pub(super) struct Steps<'a> {
    text: &'a str,
    at: usize,
    peeked: Option<Step<'a>>,
}

impl<'a> Steps<'a> {
    /// Begins at the first name, which every address has.
    pub(super) fn new(text: &'a str) -> Result<Self, Fault> {
        let mut steps = Self { text, at: 0, peeked: None };
        if text.starts_with('\u{feff}') {
            steps.at = '\u{feff}'.len_utf8();
        }
        steps.skip_blank()?;
        if steps.byte().is_none() {
            return Err(Fault::new(Empty, steps.at, "it is empty", "begin with a name"));
        }
        steps.peeked = Some(steps.read_name("an address begins with a name")?);
        Ok(steps)
    }

    /// The next step without taking it; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<&Step<'a>>, Fault> {
        if self.peeked.is_none() {
            self.peeked = self.read()?;
        }
        Ok(self.peeked.as_ref())
    }

    /// Takes the next step; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Step<'a>>, Fault> {
        self.peek()?;
        Ok(self.peeked.take())
    }

    /// Takes the next step if it is this name.
    pub(super) fn take_keyword(&mut self, keyword: &str) -> Result<bool, Fault> {
        let found = matches!(self.peek()?, Some(Step { kind: StepKind::Name(name), .. }) if *name == keyword);
        if found {
            self.peeked = None;
        }
        Ok(found)
    }

    /// Takes the next step if it is a name.
    pub(super) fn take_name(&mut self) -> Result<Option<&'a str>, Fault> {
        let name = match self.peek()? {
            Some(Step { kind: StepKind::Name(name), .. }) => Some(*name),
            _ => None,
        };
        if name.is_some() {
            self.peeked = None;
        }
        Ok(name)
    }

    /// Takes the next step if it is a key in brackets.
    pub(super) fn take_key(&mut self) -> Result<Option<(InstanceKey, usize)>, Fault> {
        let key = self.peek()?.and_then(|step| Some((step.to_key()?, step.at)));
        if key.is_some() {
            self.peeked = None;
        }
        Ok(key)
    }

    /// Where the next step begins, or the end of the text.
    pub(super) fn position(&self) -> usize {
        self.peeked.as_ref().map_or(self.at, |step| step.at)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn read(&mut self) -> Result<Option<Step<'a>>, Fault> {
        self.skip_blank()?;
        match self.byte() {
            None => Ok(None),
            Some(b'.') => {
                self.at += 1;
                self.skip_blank()?;
                self.read_name("a dot must be followed by a name").map(Some)
            }
            Some(b'[') => self.read_index().map(Some),
            Some(_) => Err(Fault::syntax(
                self.at,
                "only a dot or an opening bracket can follow here",
                "remove it, or put a dot between names",
            )),
        }
    }

    fn read_name(&mut self, reason: &'static str) -> Result<Step<'a>, Fault> {
        let at = self.at;
        let len = identifier_len(&self.text[at..]);
        if len == 0 {
            return Err(match self.byte() {
                Some(b'0'..=b'9') => Fault::syntax(at, reason, "write an index in brackets, such as `[0]`"),
                _ => Fault::syntax(at, reason, "names begin with a letter or `_`"),
            });
        }
        self.at += len;
        Ok(Step { at, kind: StepKind::Name(&self.text[at..at + len]) })
    }

    fn read_index(&mut self) -> Result<Step<'a>, Fault> {
        let at = self.at;
        self.at += 1;
        self.skip_blank()?;
        let kind = match self.byte() {
            Some(b'"') => {
                let (text, end) = read_quoted(self.text, self.at)?;
                self.at = end;
                StepKind::Text(text)
            }
            Some(b'0'..=b'9') => self.read_number()?,
            Some(b'-') => {
                return Err(Fault::new(
                    IndexKind,
                    self.at,
                    "an index cannot be negative",
                    "use an index from 0",
                ));
            }
            _ => {
                let reason = "brackets hold a whole number or a quoted key";
                return Err(Fault::syntax(self.at, reason, "write `[0]` or `[\"key\"]`"));
            }
        };
        self.skip_blank()?;
        if self.byte() != Some(b']') {
            return Err(Fault::syntax(self.at, "the bracket is not closed behind the key", "put `]` here"));
        }
        self.at += 1;
        Ok(Step { at, kind })
    }

    fn read_number(&mut self) -> Result<StepKind<'a>, Fault> {
        let at = self.at;
        self.at += number_len(&self.text.as_bytes()[at..]);
        match whole_number(&self.text[at..self.at]) {
            Ok(n) => Ok(StepKind::Int(n)),
            Err(NotAnIndex::Fraction) => {
                Err(Fault::new(IndexKind, at, "an index must be a whole number", "quote it if it is a key"))
            }
            Err(NotAnIndex::TooLarge) => {
                Err(Fault::new(IndexKind, at, "the index is too large", "use at most 9223372036854775807"))
            }
        }
    }

    /// Skips spaces, tabs, line ends and comments.
    fn skip_blank(&mut self) -> Result<(), Fault> {
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += match rest {
                [b' ' | b'\t' | b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                [b'#', ..] | [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => match self.text[self.at + 2..].find("*/") {
                    Some(len) => len + 4,
                    None => {
                        return Err(Fault::syntax(self.at, "the comment is not closed", "end it with `*/`"));
                    }
                },
                _ => return Ok(()),
            };
        }
    }
}
