//! Quoted keys: how they are written in addresses, and back.

use std::borrow::Cow;
use std::fmt::{self, Write};

use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::AddrErrorKind::QuotedText;
use super::error::Fault;

const UNCLOSED: &str = "the quoted key is not closed";

/// Reads the quoted string whose opening quote stands at `start`; also says where the text goes on.
///
/// The result is in normalization form C, as the configuration language has all its strings.
pub(super) fn read_quoted(text: &str, start: usize) -> Result<(Cow<'_, str>, usize), Fault> {
    let begin = start + 1;
    let bytes = text.as_bytes();
    let mut at = begin;
    let mut decoded = String::new();
    let mut copied = begin;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let (plain, len) = match rest {
            [] => return Err(Fault::new(QuotedText, start, UNCLOSED, "end it with `\"]`")),
            [b'"', ..] => break,
            [b'\n' | b'\r', ..] => {
                return Err(Fault::new(
                    QuotedText,
                    at,
                    "a quoted key cannot contain a line break",
                    "write it as `\\n` or `\\r`",
                ));
            }
            [b'\\', ..] => {
                let (c, len) = escape(text, at)?;
                (Some(c), len)
            }
            [b'$', b'$', b'{', ..] => (Some('$'), 2),
            [b'%', b'%', b'{', ..] => (Some('%'), 2),
            [b'$' | b'%', b'{', ..] => return Err(template(at, rest[0])),
            _ => (None, 1),
        };
        if let Some(c) = plain {
            decoded.push_str(&text[copied..at]);
            decoded.push(c);
            copied = at + len;
            // The brace that follows a doubled sign is literal; it must not be looked at again with the sign.
            if matches!(rest, [b'$' | b'%', ..]) {
                at = copied + 1;
                continue;
            }
        }
        at += len;
    }
    let value = if copied == begin {
        Cow::Borrowed(&text[begin..at])
    } else {
        decoded.push_str(&text[copied..at]);
        Cow::Owned(decoded)
    };
    Ok((normalized(value), at + 1))
}

/// The same text in normalization form C.
pub(super) fn normalized(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(&text) { text } else { Cow::Owned(text.nfc().collect()) }
}

fn template(at: usize, sign: u8) -> Fault {
    let sign = char::from(sign);
    let next = format!("write `{sign}{sign}{{` for a literal `{sign}{{`");
    Fault::new(QuotedText, at, "a key cannot contain a template", next)
}

/// Decodes the escape sequence whose backslash stands at `at`; also its length.
fn escape(text: &str, at: usize) -> Result<(char, usize), Fault> {
    let fault = |reason| {
        Fault::new(
            QuotedText,
            at,
            reason,
            r#"use only `\n`, `\r`, `\t`, `\"`, `\\`, `\uXXXX` and `\UXXXXXXXX`"#,
        )
    };
    match text.as_bytes().get(at + 1) {
        Some(b'n') => Ok(('\n', 2)),
        Some(b'r') => Ok(('\r', 2)),
        Some(b't') => Ok(('\t', 2)),
        Some(b'"') => Ok(('"', 2)),
        Some(b'\\') => Ok(('\\', 2)),
        Some(kind @ (b'u' | b'U')) => {
            let len = if *kind == b'u' { 4 } else { 8 };
            let digits = text.get(at + 2..at + 2 + len).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
            let digits = digits.ok_or_else(|| fault("too few hexadecimal digits in an escape sequence"))?;
            let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            Ok((code.ok_or_else(|| fault("an escape sequence does not name a character"))?, 2 + len))
        }
        Some(_) => Err(fault("unknown escape sequence")),
        None => Err(Fault::new(QuotedText, at, UNCLOSED, "end it with `\"]`")),
    }
}

/// Writes `text` so that reading it between quotes gives `text` again.
pub(super) fn write_escaped(f: &mut impl Write, text: &str) -> fmt::Result {
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let next = text.as_bytes().get(at + c.len_utf8());
        if stands_for_itself(c, next) {
            continue;
        }
        f.write_str(&text[copied..at])?;
        copied = at + c.len_utf8();
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '$' => f.write_str("$$")?,
            '%' => f.write_str("%%")?,
            _ if u32::from(c) > 0xffff => write!(f, "\\U{:08x}", u32::from(c))?,
            _ => write!(f, "\\u{:04x}", u32::from(c))?,
        }
    }
    f.write_str(&text[copied..])
}

fn stands_for_itself(c: char, next: Option<&u8>) -> bool {
    match c {
        '"' | '\\' => false,
        '$' | '%' => next != Some(&b'{'),
        ' '..='~' => true,
        _ => matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Letter
                | GeneralCategoryGroup::Mark
                | GeneralCategoryGroup::Number
                | GeneralCategoryGroup::Punctuation
                | GeneralCategoryGroup::Symbol
        ),
    }
}
