//! What stands before the damage in a file of format 1, 2 or 3.

use super::{Gap, SalvageError, why};
use crate::decode::{DecodeOptions, decode};
use crate::file::File;
use crate::json::{Cursor, Kind, Stop};

/// How far the file is whole, and what closes it there.
struct Whole {
    end: usize,
    close: &'static str,
}

/// Reads what stands before the damage.
pub(super) fn salvage(text: &[u8]) -> Result<(File, Vec<Gap>), SalvageError> {
    let mut cursor = Cursor::new(text);
    let mut whole = None;
    let stop = match read(&mut cursor, &mut whole) {
        // The form is fine, so it is the content that no reader takes.
        Ok(()) => {
            decode(text, &DecodeOptions::default())?;
            return Err(SalvageError::Nothing);
        }
        Err(stop) => stop,
    };
    let Some(Whole { end, close }) = whole else { return Err(SalvageError::Nothing) };
    let mut repaired = text.get(..end).unwrap_or_default().to_vec();
    repaired.extend_from_slice(close.as_bytes());
    let mut file = decode(&repaired, &DecodeOptions::default())?;
    file.notes.clear();
    let reason = why(text, stop.offset, stop.why).to_owned();
    let gap = Gap { range: end..text.len(), what: None, reason };
    Ok((file, vec![gap]))
}

fn read(cursor: &mut Cursor<'_>, whole: &mut Option<Whole>) -> Result<(), Stop> {
    cursor.kind()?;
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        if name.raw == b"modules" && cursor.kind()? == Kind::Array {
            modules(cursor, whole)?;
        } else {
            cursor.skip()?;
        }
    }
    cursor.end()
}

fn modules(cursor: &mut Cursor<'_>, whole: &mut Option<Whole>) -> Result<(), Stop> {
    cursor.open(b'[')?;
    let mut first = true;
    while cursor.element(&mut first)? {
        if cursor.kind()? == Kind::Object {
            module(cursor, whole)?;
        } else {
            cursor.skip()?;
        }
        *whole = Some(Whole { end: cursor.offset(), close: "]}" });
    }
    Ok(())
}

/// Reads a module; parts of it count from its path on, without which they would belong nowhere.
fn module(cursor: &mut Cursor<'_>, whole: &mut Option<Whole>) -> Result<(), Stop> {
    cursor.open(b'{')?;
    let mut first = true;
    let mut has_path = false;
    while let Some(name) = cursor.member(&mut first)? {
        has_path |= name.raw == b"path";
        let parts = matches!(name.raw, b"resources" | b"outputs") && cursor.kind()? == Kind::Object;
        if !parts {
            cursor.skip()?;
            continue;
        }
        cursor.open(b'{')?;
        let mut begin = true;
        while cursor.member(&mut begin)?.is_some() {
            let object = cursor.kind()? == Kind::Object;
            cursor.skip()?;
            // A value that is not an object may go on behind the cut.
            if has_path && object {
                *whole = Some(Whole { end: cursor.offset(), close: "}}]}" });
            }
        }
    }
    Ok(())
}
