//! Where in the source something stands.

use std::fmt;

use crate::cursor::{Cursor, Kind, Stop};

/// A position in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SourcePos {
    /// Index of the byte, from 0.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Path of the innermost value, for example `resources[3].instances[0].schema_version`; empty for the document.
    pub path: String,
}

impl SourcePos {
    /// Works out line, column and path of a byte of `text`.
    ///
    /// Reads the text from its start: meant for the few places that are shown.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let column =
            String::from_utf8_lossy(before.get(line_start..).unwrap_or_default()).chars().count() + 1;
        let mut path = String::new();
        // A syntax error ends the walk early; what was found so far still leads to the place.
        let _ = walk(&mut Cursor::new(text), offset, &mut path);
        Self { offset, line, column, path }
    }

    /// The path without list positions, for example `resources.instances.schema_version`.
    pub fn member_path(&self) -> String {
        let mut out = String::with_capacity(self.path.len());
        let mut quoted = false;
        let mut index = false;
        for c in self.path.chars() {
            match c {
                '"' => quoted = !quoted,
                '[' if !quoted => index = true,
                ']' if !quoted => {
                    index = false;
                    continue;
                }
                _ => {}
            }
            if !index {
                out.push(c);
            }
        }
        out
    }
}

impl fmt::Display for SourcePos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, " ({})", self.path) }
    }
}

/// Steps a path shows at most: each costs a pass over the value it enters, and a longer path is unreadable.
pub(crate) const MAX_STEPS: usize = 64;

/// Follows the value that contains `target` inwards, without recursion.
fn walk(cursor: &mut Cursor<'_>, target: usize, path: &mut String) -> Result<(), Stop> {
    'value: for _ in 0..MAX_STEPS {
        let kind = cursor.kind()?;
        if !matches!(kind, Kind::Array | Kind::Object) || cursor.offset() >= target {
            return Ok(());
        }
        cursor.open(if kind == Kind::Object { b'{' } else { b'[' })?;
        let mut first = true;
        let mut index = 0;
        loop {
            let reset = path.len();
            if kind == Kind::Object {
                let Some(name) = cursor.member(&mut first)? else { return Ok(()) };
                if name.offset > target {
                    return Ok(());
                }
                push_name(path, &name.decode());
            } else {
                if !cursor.element(&mut first)? || cursor.offset() > target {
                    return Ok(());
                }
                path.push_str(&format!("[{index}]"));
                index += 1;
            }
            let mut ahead = cursor.clone();
            // The value holds the target if it ends behind it, or if it is broken, which is then what is asked for.
            if ahead.skip().is_err() || ahead.offset() > target {
                continue 'value;
            }
            *cursor = ahead;
            path.truncate(reset);
        }
    }
    Ok(())
}

/// Names that are plain words stand as they are; others are quoted so that the path can be read back.
pub fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if plain {
        path.push_str(name);
    } else {
        path.push_str(&format!("{name:?}"));
    }
}
