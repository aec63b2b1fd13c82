//! Small steps through JSON.

use groundstate_json::{Cursor, Kind, Stop};

use super::PlanError;

pub(super) type Read<T> = Result<T, PlanError>;

impl From<Stop> for PlanError {
    fn from(stop: Stop) -> Self {
        Self::Syntax { offset: stop.offset, why: stop.why.to_string() }
    }
}

/// Calls `member` for each member of the object; it has to read the value. `null` is an object without members.
pub(super) fn object<'a>(
    cursor: &mut Cursor<'a>,
    what: &str,
    mut member: impl FnMut(&mut Cursor<'a>, &str) -> Read<()>,
) -> Read<()> {
    match cursor.kind()? {
        Kind::Null => Ok(cursor.null()?),
        Kind::Object => {
            cursor.open(b'{')?;
            let mut first = true;
            while let Some(name) = cursor.member(&mut first)? {
                member(cursor, &name.decode())?;
            }
            Ok(())
        }
        _ => Err(form(what, "an object")),
    }
}

/// Calls `element` for each element of the array; it has to read it. `null` is an array without elements.
pub(super) fn array<'a>(
    cursor: &mut Cursor<'a>,
    what: &str,
    mut element: impl FnMut(&mut Cursor<'a>) -> Read<()>,
) -> Read<()> {
    match cursor.kind()? {
        Kind::Null => Ok(cursor.null()?),
        Kind::Array => {
            cursor.open(b'[')?;
            let mut first = true;
            while cursor.element(&mut first)? {
                element(cursor)?;
            }
            Ok(())
        }
        _ => Err(form(what, "an array")),
    }
}

pub(super) fn text(cursor: &mut Cursor<'_>, what: &str) -> Read<String> {
    match cursor.kind()? {
        Kind::String => Ok(cursor.string()?.decode().into_owned()),
        _ => Err(form(what, "a string")),
    }
}

pub(super) fn flag(cursor: &mut Cursor<'_>, what: &str) -> Read<bool> {
    match cursor.kind()? {
        Kind::Bool => Ok(cursor.bool()?),
        Kind::Null => {
            cursor.null()?;
            Ok(false)
        }
        _ => Err(form(what, "true or false")),
    }
}

pub(super) fn texts(cursor: &mut Cursor<'_>, what: &str) -> Read<Vec<String>> {
    let mut texts = Vec::new();
    array(cursor, what, |cursor| {
        texts.push(text(cursor, what)?);
        Ok(())
    })?;
    Ok(texts)
}

pub(super) fn skip(cursor: &mut Cursor<'_>) -> Read<()> {
    cursor.raw()?;
    Ok(())
}

fn form(member: &str, expected: &'static str) -> PlanError {
    PlanError::Form { member: member.to_owned(), expected }
}

/// Adds the texts of every member `references` in the value, however deep it lies.
pub(super) fn references(cursor: &mut Cursor<'_>, found: &mut Vec<String>) -> Read<()> {
    // The containers around the cursor: whether each is an object, and whether nothing was read of it yet.
    let mut open: Vec<(bool, bool)> = Vec::new();
    loop {
        match cursor.kind()? {
            Kind::Object => {
                cursor.open(b'{')?;
                open.push((true, true));
            }
            Kind::Array => {
                cursor.open(b'[')?;
                open.push((false, true));
            }
            _ => skip(cursor)?,
        }
        // On to the next value, out of what is read to its end.
        loop {
            let Some((is_object, first)) = open.last_mut() else { return Ok(()) };
            let more = if *is_object {
                match cursor.member(first)? {
                    Some(name) if &*name.bytes() == b"references" && cursor.kind()? == Kind::Array => {
                        found.extend(texts(cursor, "references")?);
                        continue;
                    }
                    member => member.is_some(),
                }
            } else {
                cursor.element(first)?
            };
            if more {
                break;
            }
            open.pop();
        }
    }
}
