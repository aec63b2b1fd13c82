//! The outer form of patterns and destinations: names with brackets behind them, between dots.

use groundstate_states::addr::{AbsResourceInstance, InstanceKey};

use super::error::ScriptFault;
use super::words::{Misplaced, Word};

/// A name and what stands in brackets behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'s> {
    pub(super) name: &'s str,
    /// Where the name begins in the word, in bytes.
    pub(super) at: usize,
    pub(super) index: Option<Index<'s>>,
}

/// What stands in brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index<'s> {
    pub(super) text: &'s str,
    /// Where the text begins in the word, in bytes.
    pub(super) at: usize,
    /// It was in quotes, which are left out.
    pub(super) quoted: bool,
}

/// A fault of the form, at a byte of the word.
pub(super) fn fault(word: &Word<'_>, at: usize, why: &'static str) -> Misplaced {
    (word.column_of(at), ScriptFault::Pattern { why })
}

/// Splits a word into steps.
pub(super) fn steps<'s>(word: &Word<'s>) -> Result<Vec<Step<'s>>, Misplaced> {
    let text = word.text;
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let len = rest.find(['.', '[', ']', '"']).unwrap_or(rest.len());
        if len == 0 {
            return Err(fault(word, at, "a name is missing here"));
        }
        let mut step = Step { name: rest.get(..len).unwrap_or_default(), at, index: None };
        at += len;
        if text.as_bytes().get(at) == Some(&b'[') {
            let (index, end) = index(word, at)?;
            step.index = Some(index);
            at = end;
        }
        out.push(step);
        match text.as_bytes().get(at) {
            None => return Ok(out),
            Some(b'.') => at += 1,
            Some(_) => return Err(fault(word, at, "expected a dot, or the end")),
        }
    }
}

/// Reads the brackets that begin at `open`; also says what follows.
fn index<'s>(word: &Word<'s>, open: usize) -> Result<(Index<'s>, usize), Misplaced> {
    let unclosed = || fault(word, open, "this bracket is not closed; end it with `]`");
    let rest = word.text.get(open + 1..).unwrap_or_default();
    let (quoted, begin, end) = match rest.strip_prefix('"') {
        Some(inside) => (true, open + 2, open + 2 + quote_end(inside).ok_or_else(unclosed)?),
        None => (false, open + 1, open + 1 + rest.find(']').ok_or_else(unclosed)?),
    };
    let close = if quoted { end + 1 } else { end };
    if word.text.as_bytes().get(close) != Some(&b']') {
        return Err(unclosed());
    }
    let text = word.text.get(begin..end).unwrap_or_default();
    Ok((Index { text, at: begin, quoted }, close + 1))
}

fn quote_end(inside: &str) -> Option<usize> {
    let mut escaped = false;
    inside.bytes().position(|b| match b {
        _ if std::mem::take(&mut escaped) => false,
        b'\\' => {
            escaped = true;
            false
        }
        b => b == b'"',
    })
}

/// Reads a part of a quoted key as addresses have it.
pub(super) fn unquote(word: &Word<'_>, at: usize, text: &str) -> Result<String, Misplaced> {
    let prefix = "a.b[\"";
    let address = format!("{prefix}{text}\"]");
    match AbsResourceInstance::parse(&address) {
        Ok(AbsResourceInstance { key: InstanceKey::String(key), .. }) => Ok(key.as_ref().to_owned()),
        Ok(_) => Ok(String::new()),
        Err(error) => {
            let inside = error.position().saturating_sub(prefix.len()).min(text.len());
            Err((word.column_of(at + inside), ScriptFault::Address(error)))
        }
    }
}

/// Where each of these characters stands without a backslash in front of it, with the next one that a backslash
/// protects left alone.
pub(super) fn unescaped(text: &str, wanted: char) -> Vec<usize> {
    let mut escaped = false;
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            c if c == wanted => found.push(at),
            _ => {}
        }
    }
    found
}

/// The text with `\c` as `c`; every other escape stays.
pub(super) fn without_escape(text: &str, c: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        match (next, next == '\\') {
            (_, true) => match chars.next() {
                Some(protected) if protected == c => out.push(c),
                protected => out.extend([Some('\\'), protected].into_iter().flatten()),
            },
            _ => out.push(next),
        }
    }
    out
}
