//! What differs between two states, whatever family they are of: as lines and as JSON.

use std::io::{self, Write};

use anstyle::AnsiColor;
use groundstate_common::one_line;

use crate::report::json::Json;
use crate::report::output::Output;

/// Characters of a value that are shown, at most.
const MAX_VALUE: usize = 200;

/// Things that are named where values are not shown, at most.
const MOST_BRIEF: usize = 100;

/// One thing that differs, whatever family it belongs to.
#[derive(Debug)]
pub(crate) struct Difference {
    /// What it is, for people.
    pub(crate) subject: String,
    /// What sort of thing it is, for programs.
    pub(crate) kind: &'static str,
    /// What names it, for programs: members and their JSON.
    pub(crate) members: Vec<(&'static str, String)>,
    pub(crate) sign: Kind,
    pub(crate) fields: Vec<Field>,
}

/// On which side something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Removed,
    Changed,
}

/// A member that differs: its values as JSON, which are absent on a side that has none, and empty where they are hidden.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) path: String,
    pub(crate) before: Option<Option<String>>,
    pub(crate) after: Option<Option<String>>,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Added, Self::Removed, Self::Changed];

    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// Prints the differences, and how many there are.
pub(crate) fn text(found: &[Difference], out: &mut Output) -> io::Result<()> {
    for entry in found {
        heading(entry, out)?;
        for field in &entry.fields {
            out.line(&format!("    {}", line(field, entry.sign)))?;
        }
    }
    if found.is_empty() {
        return out.line("the states mean the same");
    }
    counts(found, out)
}

/// Prints what differs without values, and no more of it than can be read, and how many there are.
pub(crate) fn brief(found: &[Difference], out: &mut Output) -> io::Result<()> {
    for entry in found.iter().take(MOST_BRIEF) {
        heading(entry, out)?;
    }
    if found.len() > MOST_BRIEF {
        out.line(&format!("and {} more", found.len() - MOST_BRIEF))?;
    }
    counts(found, out)
}

fn heading(entry: &Difference, out: &mut Output) -> io::Result<()> {
    let (sign, colour) = match entry.sign {
        Kind::Added => ("+", AnsiColor::Green),
        Kind::Removed => ("-", AnsiColor::Red),
        Kind::Changed => ("~", AnsiColor::Yellow),
    };
    let heading = format!("{sign} {}", one_line(&entry.subject));
    writeln!(out, "{}", out.paint().colour(colour, &heading))
}

fn counts(found: &[Difference], out: &mut Output) -> io::Result<()> {
    let counts = Kind::ALL.map(|kind| format!("{} {}", count(found, kind), kind.word()));
    out.line(&counts.join(", "))
}

fn count(found: &[Difference], kind: Kind) -> usize {
    found.iter().filter(|entry| entry.sign == kind).count()
}

/// A field on one line: its value, or both of them.
fn line(field: &Field, kind: Kind) -> String {
    let value = |value: &Option<Option<String>>| value.as_ref().map_or_else(|| "(absent)".to_owned(), shown);
    let (before, after) = (value(&field.before), value(&field.after));
    match kind {
        // What came from elsewhere has a value of before.
        Kind::Added if field.before.is_none() => format!("{}: {after}", field.path),
        Kind::Removed => format!("{}: {before}", field.path),
        Kind::Added | Kind::Changed => format!("{}: {before} -> {after}", field.path),
    }
}

fn shown(value: &Option<String>) -> String {
    let Some(text) = value else { return "(sensitive value)".to_owned() };
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.clone(),
    }
}

/// Adds the differences to a document.
pub(crate) fn members(json: &mut Json, found: &[Difference]) {
    json.inner("summary", |json| {
        for kind in Kind::ALL {
            json.raw(kind.word(), count(found, kind));
        }
    });
    json.objects("changes", found, |json, entry| {
        json.text("kind", entry.kind);
        for (name, value) in &entry.members {
            json.raw(name, value);
        }
        json.text("change", entry.sign.word());
        json.objects("fields", &entry.fields, |json, field| {
            json.text("path", &field.path);
            side(json, "before", &field.before);
            side(json, "after", &field.after);
        });
    });
}

/// Adds the value of one side; a hidden one is null, and a member of its own says so.
fn side(json: &mut Json, name: &str, value: &Option<Option<String>>) {
    let Some(value) = value else { return };
    json.raw(name, value.as_deref().unwrap_or("null"));
    if value.is_none() {
        json.raw(&format!("{name}_sensitive"), true);
    }
}
