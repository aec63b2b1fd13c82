//! `groundstate diff`: what differs in meaning between two states.

use std::io::{self, Write};

use anstyle::AnsiColor;
use groundstate_statefile::{ChangeKind, Diff, DiffValue, Entry, FieldChange, Subject, diff};

use crate::args::DiffArgs;
use crate::error::{Failure, Kind, Outcome, Result};
use crate::json::Json;
use crate::load::load;
use crate::output::Output;
use crate::source::{Source, is_standard};

/// Characters of a value that are shown, at most.
const MAX_VALUE: usize = 200;

pub(super) fn run(args: &DiffArgs) -> Result {
    if is_standard(&args.before) && is_standard(&args.after) {
        return Err(Failure::new(Kind::Usage, "standard input can be only one of the two states"));
    }
    let (before, after) = (Source::find(&args.before)?, Source::find(&args.after)?);
    // The texts are gone before the models are compared.
    let (before, after) = (load(&before)?.file, load(&after)?.file);
    let diff = diff(&before, &after);
    let mut out = Output::stdout();
    if args.json {
        out.line(&json(&diff))?
    } else {
        text(&diff, &mut out)?
    }
    out.finish()?;
    Ok(if diff.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

pub(super) fn text(diff: &Diff, out: &mut Output) -> io::Result<()> {
    for entry in &diff.entries {
        let (sign, colour) = match entry.kind {
            ChangeKind::Added => ("+", AnsiColor::Green),
            ChangeKind::Removed => ("-", AnsiColor::Red),
            _ => ("~", AnsiColor::Yellow),
        };
        let subject = entry.subject.to_string();
        let heading = format!("{sign} {}", out.visible(&subject));
        writeln!(out, "{}", out.paint().colour(colour, &heading))?;
        for field in &entry.fields {
            out.line(&format!("    {}", line(field, entry.kind)))?;
        }
    }
    if diff.is_empty() {
        return out.line("the states mean the same");
    }
    let counts = [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed]
        .map(|kind| format!("{} {kind}", diff.count(kind)));
    out.line(&counts.join(", "))
}

/// A field on one line: its value, or both of them.
fn line(field: &FieldChange, kind: ChangeKind) -> String {
    let value = |value: &Option<DiffValue>| value.as_ref().map_or_else(|| "(absent)".to_owned(), shown);
    let (before, after) = (value(&field.before), value(&field.after));
    match kind {
        ChangeKind::Added => format!("{}: {after}", field.path),
        ChangeKind::Removed => format!("{}: {before}", field.path),
        _ => format!("{}: {before} -> {after}", field.path),
    }
}

fn shown(value: &DiffValue) -> String {
    let Some(text) = value.plain() else { return "(sensitive value)".to_owned() };
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn json(diff: &Diff) -> String {
    Json::object(|json| {
        json.text("format_version", "1.0");
        members(json, diff);
    })
}

/// Adds the difference to a document.
pub(super) fn members(json: &mut Json, diff: &Diff) {
    json.inner("summary", |json| {
        for kind in [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed] {
            json.raw(&kind.to_string(), diff.count(kind));
        }
    });
    json.objects("changes", &diff.entries, entry);
}

fn entry(json: &mut Json, entry: &Entry) {
    let kind = match &entry.subject {
        Subject::Document => "document",
        Subject::Output(_) => "output",
        Subject::Resource(_) => "resource",
        Subject::Instance(_) => "instance",
        Subject::Current(_) => "object",
        Subject::Deposed(..) => "deposed_object",
        _ => "check",
    };
    json.text("kind", kind);
    match &entry.subject {
        Subject::Document => {}
        Subject::Output(name) => json.text("name", name),
        Subject::Deposed(address, key) => {
            json.text("address", &address.to_string());
            json.text("deposed_key", key.as_str());
        }
        Subject::Check { address, .. } => json.text("address", address),
        other => json.text("address", &other.to_string()),
    }
    json.text("change", &entry.kind.to_string());
    json.objects("fields", &entry.fields, |json, field| {
        json.text("path", &field.path);
        side(json, "before", &field.before);
        side(json, "after", &field.after);
    });
}

/// Adds the value of one side; a hidden one is null, and a member of its own says so.
fn side(json: &mut Json, name: &str, value: &Option<DiffValue>) {
    let Some(value) = value else { return };
    json.raw(name, value.plain().unwrap_or("null"));
    if value.is_sensitive() {
        json.raw(&format!("{name}_sensitive"), true);
    }
}
