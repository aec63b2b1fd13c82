//! Paths such as `resources[3].inputs."a.b"`, followed into a text: the other way round than [`places`](crate::places).

use std::collections::HashMap;
use std::ops::Range;

use crate::cursor::{Cursor, Kind, Stop};

/// A step of a path, from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// To the member of an object.
    Name(String),
    /// To the element of an array, from 0.
    Index(usize),
}

/// The steps of a path as [`SourcePos`](crate::SourcePos) writes it; names that are no plain words stand in quotes.
///
/// ```
/// use groundstate_json::{PathStep, path_steps};
///
/// let name = |name: &str| PathStep::Name(name.to_owned());
/// assert_eq!(path_steps("resources[3].\"a.b\""), [name("resources"), PathStep::Index(3), name("a.b")]);
/// ```
pub fn path_steps(path: &str) -> Vec<PathStep> {
    let mut out = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        match first {
            '.' => rest = rest.strip_prefix('.').unwrap_or_default(),
            '[' => {
                let end = rest.find(']').map_or(rest.len(), |at| at + 1);
                let (step, behind) = rest.split_at(end);
                out.extend(step.trim_matches(['[', ']']).parse().ok().map(PathStep::Index));
                rest = behind;
            }
            '"' => {
                let (name, length) = quoted(rest);
                out.push(PathStep::Name(name));
                rest = rest.get(length..).unwrap_or_default();
            }
            _ => {
                let (name, behind) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
                out.push(PathStep::Name(name.to_owned()));
                rest = behind;
            }
        }
    }
    out
}

/// The name in the quotes at the beginning of a text, and how many bytes it takes with them.
fn quoted(text: &str) -> (String, usize) {
    let mut name = String::new();
    let mut rest = text.get(1..).unwrap_or_default();
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '"' => return (name, text.len() - rest.len()),
            '\\' => {
                let (escaped, length) = escaped(rest);
                name.extend(escaped);
                rest = rest.get(length..).unwrap_or_default();
            }
            c => name.push(c),
        }
    }
    (name, text.len())
}

/// The character behind a backslash as [`push_name`](crate::push_name) escapes it, and how many bytes it takes.
fn escaped(text: &str) -> (Option<char>, usize) {
    let number = text.strip_prefix("u{").and_then(|rest| rest.split_once('}'));
    let named = number.and_then(|(digits, _)| {
        let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        Some((Some(c), digits.len() + 3))
    });
    named.unwrap_or_else(|| {
        let first = text.chars().next();
        let c = match first {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('0') => Some('\0'),
            other => other,
        };
        (c, first.map_or(0, char::len_utf8))
    })
}

/// Where each path leads from the value that begins at `start`, or how far it leads. The text is read once for all of them.
///
/// ```
/// use groundstate_json::{follow_paths, path_steps};
///
/// let text = br#"{"a": [{"b": 1}, {"b": 2}]}"#;
/// let paths = ["a[1].b", "a[7].b"].map(path_steps);
/// assert_eq!(follow_paths(text, 0, paths.iter().map(Vec::as_slice)), [23, 6]);
/// ```
pub fn follow_paths<'p>(
    text: &[u8],
    start: usize,
    paths: impl Iterator<Item = &'p [PathStep]>,
) -> Vec<usize> {
    let mut wanted = Wanted::default();
    let mut count = 0;
    for steps in paths {
        wanted.add(steps, count);
        count += 1;
    }
    let mut offsets = vec![start; count];
    // What cannot be followed to its end is found as far as it leads.
    let _ended = wanted.find(&mut Cursor::at(text, start, 0), &mut offsets);
    offsets
}

/// Where the value stands to which the path leads from the value at `start`; nothing if the path ends before. Of members of one
/// name the last counts, as with [`follow_paths`].
///
/// ```
/// use groundstate_json::{path_steps, value_span};
///
/// let text = br#"{"a": [{"b": 1}, {"b": "two"}]}"#;
/// let span = value_span(text, 0, &path_steps("a[1].b")).unwrap();
/// assert_eq!(&text[span], br#""two""#);
/// assert_eq!(value_span(text, 0, &path_steps("a[2].b")), None);
/// ```
pub fn value_span(text: &[u8], start: usize, path: &[PathStep]) -> Option<Range<usize>> {
    let mut cursor = Cursor::at(text, start, 0);
    for step in path {
        let at = match (step, cursor.kind().ok()?) {
            (PathStep::Name(name), Kind::Object) => member(&mut cursor, name)?,
            (PathStep::Index(index), Kind::Array) => element(&mut cursor, *index)?,
            _ => return None,
        };
        cursor = Cursor::at(text, at, 0);
    }
    cursor.space();
    let start = cursor.offset();
    cursor.skip().ok()?;
    Some(start..cursor.offset())
}

/// Where the value of the last member of this name begins.
fn member(cursor: &mut Cursor<'_>, name: &str) -> Option<usize> {
    cursor.open(b'{').ok()?;
    let (mut first, mut found) = (true, None);
    while let Some(known) = cursor.member(&mut first).ok()? {
        if known.decode() == name {
            found = Some(cursor.offset());
        }
        cursor.skip().ok()?;
    }
    found
}

/// Where the element with this index begins.
fn element(cursor: &mut Cursor<'_>, index: usize) -> Option<usize> {
    cursor.open(b'[').ok()?;
    let mut first = true;
    for _ in 0..index {
        cursor.element(&mut first).ok()?.then_some(())?;
        cursor.skip().ok()?;
    }
    cursor.element(&mut first).ok()?.then(|| cursor.offset())
}

/// Paths from one value inwards, so that all are followed in one pass over the text.
#[derive(Default)]
struct Wanted {
    /// Which paths end here.
    ends: Vec<usize>,
    names: HashMap<String, Self>,
    indexes: HashMap<usize, Self>,
}

impl Wanted {
    fn add(&mut self, steps: &[PathStep], path: usize) {
        let mut at = self;
        for step in steps {
            at = match step {
                PathStep::Name(name) => at.names.entry(name.clone()).or_default(),
                PathStep::Index(index) => at.indexes.entry(*index).or_default(),
            };
        }
        at.ends.push(path);
    }

    /// Everything in here begins at this place, unless it is found further inside.
    fn mark(&self, offset: usize, offsets: &mut [usize]) {
        let mut open = vec![self];
        while let Some(wanted) = open.pop() {
            for path in &wanted.ends {
                if let Some(place) = offsets.get_mut(*path) {
                    *place = offset;
                }
            }
            open.extend(wanted.names.values().chain(wanted.indexes.values()));
        }
    }

    /// Follows the paths from the value at the cursor. Of members of one name the last counts.
    fn find(&self, cursor: &mut Cursor<'_>, offsets: &mut [usize]) -> Result<(), Stop> {
        let mut first = true;
        match cursor.kind()? {
            Kind::Object if !self.names.is_empty() => {
                cursor.open(b'{')?;
                while let Some(name) = cursor.member(&mut first)? {
                    cursor.kind()?;
                    match self.names.get(&*name.decode()) {
                        Some(inside) => {
                            inside.mark(cursor.offset(), offsets);
                            inside.find(cursor, offsets)?;
                        }
                        None => cursor.skip()?,
                    }
                }
                Ok(())
            }
            Kind::Array if !self.indexes.is_empty() => {
                cursor.open(b'[')?;
                let mut index = 0;
                while cursor.element(&mut first)? {
                    cursor.kind()?;
                    match self.indexes.get(&index) {
                        Some(inside) => {
                            inside.mark(cursor.offset(), offsets);
                            inside.find(cursor, offsets)?;
                        }
                        None => cursor.skip()?,
                    }
                    index += 1;
                }
                Ok(())
            }
            _ => cursor.skip(),
        }
    }
}
