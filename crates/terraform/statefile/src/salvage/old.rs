//! Files of format 1, 2 or 3: what stands before the damage, without the entries that cannot be upgraded.

use std::borrow::Cow;

use super::entries::Entries;
use super::{Gap, SalvageError, why};
use crate::decode::{DecodeOptions, decode};
use crate::file::File;
use crate::json::{Cursor, Kind, Stop};
use crate::note::NoteKind;

/// After so many passes the rest is given up. Each takes all that the one before found.
const PASSES: usize = 1000;

/// How far the file is whole, and what closes it there.
struct Whole {
    end: usize,
    close: &'static str,
}

/// Reads what stands before the damage, entry by entry.
pub(super) fn salvage(text: &[u8]) -> Result<(File, Vec<Gap>), SalvageError> {
    let (text, mut gaps) = before_damage(text)?;
    let mut entries = Entries::read(&text).map_err(|_| SalvageError::Nothing)?;
    let mut first = None;
    for _ in 0..PASSES {
        let error = match decode(&entries.draft(&text), &DecodeOptions::default()) {
            Ok(file) => {
                // Without an entry that can be upgraded, what is wrong says more than an empty state.
                return match first.filter(|_| file.state.is_empty()) {
                    Some(error) => Err(SalvageError::Read(error)),
                    None => Ok((settle(file, &mut gaps), gaps)),
                };
            }
            Err(error) => error,
        };
        let found: Vec<Gap> = error.problems().iter().filter_map(|problem| entries.remove(problem)).collect();
        if found.is_empty() {
            return Err(error.into());
        }
        gaps.extend(found);
        first.get_or_insert(error);
    }
    Err(SalvageError::Nothing)
}

/// Adds what the upgrade could not keep to the gaps.
fn settle(mut file: File, gaps: &mut Vec<Gap>) -> File {
    if gaps.is_empty() {
        return file;
    }
    let notes = std::mem::take(&mut file.notes).into_iter().filter(|note| note.kind == NoteKind::Lost);
    gaps.extend(notes.map(|note| Gap { range: note.offset..note.offset, what: None, reason: note.message }));
    file
}

/// The text up to the damage, closed there.
fn before_damage(text: &[u8]) -> Result<(Cow<'_, [u8]>, Vec<Gap>), SalvageError> {
    let mut cursor = Cursor::new(text);
    let mut whole = None;
    let stop = match read(&mut cursor, &mut whole) {
        // The form is fine, so it is the content that no reader takes.
        Ok(()) => return Ok((Cow::Borrowed(text), Vec::new())),
        Err(stop) => stop,
    };
    let Some(Whole { end, close }) = whole else { return Err(SalvageError::Nothing) };
    let mut repaired = text.get(..end).unwrap_or_default().to_vec();
    repaired.extend_from_slice(close.as_bytes());
    let reason = why(text, stop.offset, stop.why).to_owned();
    Ok((Cow::Owned(repaired), vec![Gap { range: end..text.len(), what: None, reason }]))
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
