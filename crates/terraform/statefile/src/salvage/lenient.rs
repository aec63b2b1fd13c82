//! Objects whose only fault is a few bytes inside of strings.
//!
//! The one place where JSON is read without the cursor of `groundstate-json`: that refuses such bytes, and so never finds the end.

use std::ops::Range;

use crate::json::Cursor;

/// So few bytes cannot have covered the end of one resource and the begin of another.
const MOST_BAD: usize = 16;

/// How far the end of an object is looked for.
const LONGEST: usize = 1 << 20;

/// The object at `start`, if it is whole apart from a few bytes in its strings that cannot stand there.
pub(super) fn object(text: &[u8], start: usize) -> Option<Range<usize>> {
    let window = text.get(start..)?;
    let window = window.get(..LONGEST).unwrap_or(window);
    let end = end_of(window)?;
    let mut repaired = window.get(..end)?.to_vec();
    let mut bad = 0;
    while let Err(error) = str::from_utf8(&repaired) {
        let at = error.valid_up_to();
        for byte in repaired.iter_mut().skip(at).take(error.error_len().unwrap_or(1)) {
            *byte = b'?';
            bad += 1;
        }
        if bad > MOST_BAD {
            return None;
        }
    }
    let mut in_string = false;
    let mut escaped = false;
    for byte in &mut repaired {
        match *byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            0..0x20 if in_string => {
                *byte = b'?';
                bad += 1;
            }
            _ => {}
        }
    }
    let mut cursor = Cursor::new(&repaired);
    let whole = cursor.skip().is_ok() && cursor.end().is_ok();
    (whole && bad <= MOST_BAD).then(|| start..start + end)
}

/// Where the object at the start of the text ends, whatever its strings hold.
fn end_of(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
