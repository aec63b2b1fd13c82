//! Values as `show -json` has them.

use super::{Event, Events, Kind, Marks, Tape};

/// The value without wrappers. Hidden values are null.
pub(crate) fn values(tape: &Tape<'_>, marks: &Marks) -> String {
    let mut out = String::new();
    let Some(root) = tape.root() else { return "null".to_owned() };
    for (name, event) in Events::new(tape, marks, root) {
        match event {
            Event::Close(token) => out.push(closing(tape.kind(token))),
            _ => begin(&mut out, name.map(|name| tape.text(name))),
        }
        match event {
            Event::Open(token) => out.push(opening(tape.kind(token))),
            Event::Leaf(token) => out.push_str(tape.text(token)),
            Event::Hidden(_) => out.push_str("null"),
            Event::Close(_) => {}
        }
    }
    out
}

/// Where the value is sensitive: `true` at these places, inside the containers that lead there.
///
/// Arrays keep their length, with `false` for what is not sensitive; objects leave such members out.
pub(crate) fn sensitive_values(tape: &Tape<'_>, marks: &Marks) -> String {
    let mut out = String::new();
    let Some(root) = tape.root() else { return "false".to_owned() };
    for (name, event) in Events::new(tape, marks, root) {
        if name.is_some() && matches!(event, Event::Leaf(_)) {
            continue;
        }
        match event {
            Event::Close(token) => out.push(closing(tape.kind(token))),
            _ => begin(&mut out, name.map(|name| tape.text(name))),
        }
        match event {
            Event::Open(token) => out.push(opening(tape.kind(token))),
            Event::Leaf(_) => out.push_str("false"),
            Event::Hidden(_) => out.push_str("true"),
            Event::Close(_) => {}
        }
    }
    out
}

/// Writes what stands before a value: a comma if it is not the first one, and its name.
fn begin(out: &mut String, name: Option<&str>) {
    if !out.is_empty() && !out.ends_with(['{', '[']) {
        out.push(',');
    }
    if let Some(name) = name {
        out.push_str(name);
        out.push(':');
    }
}

fn opening(kind: Kind) -> char {
    if kind == Kind::Array { '[' } else { '{' }
}

fn closing(kind: Kind) -> char {
    if kind == Kind::Array { ']' } else { '}' }
}
