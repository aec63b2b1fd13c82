//! Dynamic attributes, which keep their type beside their value.

use groundstate_json::{Kind, Tape};

/// The value inside the wrapper that keeps the type of a dynamic attribute; the token itself if it is none.
///
/// Writers sort the members of every other object, so only in a wrapper `value` stands before `type`.
pub(crate) fn unwrapped(tape: &Tape<'_>, mut at: usize) -> usize {
    while let Some(inner) = wrapped(tape, at) {
        at = inner;
    }
    at
}

fn wrapped(tape: &Tape<'_>, at: usize) -> Option<usize> {
    if tape.kind(at) != Kind::Object {
        return None;
    }
    let mut members = tape.members(at);
    let ((name, value), (type_name, ty)) = (members.next()?, members.next()?);
    let fits =
        tape.text(name) == "\"value\"" && tape.text(type_name) == "\"type\"" && members.next().is_none();
    (fits && is_type(tape, ty)).then_some(value)
}

fn is_type(tape: &Tape<'_>, at: usize) -> bool {
    match tape.kind(at) {
        Kind::String => ["\"string\"", "\"number\"", "\"bool\"", "\"dynamic\""].contains(&tape.text(at)),
        Kind::Array => {
            let mut elements = tape.elements(at);
            let constructor = elements.next().map(|first| tape.text(first));
            let known = ["\"list\"", "\"set\"", "\"map\"", "\"tuple\"", "\"object\""];
            constructor.is_some_and(|name| known.contains(&name)) && elements.next().is_some()
        }
        _ => false,
    }
}
