//! What counts as a name.

use unicode_id::UnicodeID;

/// Whether `text` is an identifier of the configuration language: a letter or `_`, then letters, digits, `_` or `-`.
///
/// ```
/// use groundstate_states::addr::is_identifier;
///
/// assert!(is_identifier("größe-2"));
/// assert!(!is_identifier("2nd"));
/// ```
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_len(text) == text.len()
}

/// Length in bytes of the identifier at the start of `text`; 0 if there is none.
pub(super) fn identifier_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let len = ascii_identifier_len(bytes);
    if bytes.get(len).is_none_or(u8::is_ascii) { len } else { unicode_identifier_len(text) }
}

/// Length in bytes of the identifier of ASCII characters at the start of `bytes`.
pub(super) fn ascii_identifier_len(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' => {}
        _ => return 0,
    }
    bytes.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))).unwrap_or(bytes.len())
}

fn unicode_identifier_len(text: &str) -> usize {
    let starts = text.chars().next().is_some_and(|c| c == '_' || c.is_id_start());
    if !starts {
        return 0;
    }
    text.find(|c: char| !(c == '-' || c.is_id_continue())).unwrap_or(text.len())
}
