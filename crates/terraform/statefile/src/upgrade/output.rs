//! Root outputs of format 3: their types are worked out from the values.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_states::{MAX_VALUE_DEPTH, ObjectType, OutputValue, Type};
use unicode_normalization::UnicodeNormalization as _;

use super::tally::Tally;
use super::tree::Tree;
use crate::json::{Cursor, Kind, Str};
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sink::Sink;
use crate::value::decode_value;
use crate::wire::v2;

/// Members of an output that format 4 gives a meaning.
const KNOWN: [&str; 4] = ["value", "type", "sensitive", "deprecated"];

/// Builds the model of one output; `None` after a problem.
pub(super) fn upgrade(
    name: Str<'_>,
    old: &v2::Output<'_>,
    tally: &mut Tally,
    sink: &mut Sink,
) -> Option<OutputValue> {
    let raw = old.value.unwrap_or(b"null");
    let offset = if old.value.is_some() { old.value_offset } else { name.offset };
    // The text has been read before, so it is JSON.
    let tree = Tree::read(raw).ok()?;
    if tree.depth > MAX_VALUE_DEPTH {
        let why = format!("the value nests deeper than {MAX_VALUE_DEPTH} levels");
        sink.problem(Code::OutputValue, offset, why);
        return None;
    }
    tell_contradiction(old, &tree, tally);
    let value_type = simplify(infer(&tree));
    let decoded = if tree.has_duplicates {
        sink.note(NoteKind::Lost, offset, "an object in the value names a member twice; the last one counts");
        let text = tree.to_json();
        decode_value(&mut Cursor::new(text.as_bytes()), &value_type, &mut Sink::default())
    } else {
        let base = std::mem::replace(&mut sink.base, offset);
        let decoded = decode_value(&mut Cursor::new(raw), &value_type, sink);
        sink.base = base;
        decoded
    };
    match decoded.ok()? {
        Ok(value) => Some(OutputValue {
            value,
            value_type,
            sensitive: old.sensitive,
            deprecated: None,
            extra: tally.carry(&old.extra, &KNOWN, "outputs"),
        }),
        Err(error) => {
            sink.problem(Code::OutputValue, offset + error.offset, error.detail);
            None
        }
    }
}

/// Formats 2 and 3 declare `string`, `list` or `map`, which upgrades ignore.
fn tell_contradiction(old: &v2::Output<'_>, tree: &Tree<'_>, tally: &mut Tally) {
    let Some(declared) = old.type_name.filter(|text| !text.raw.is_empty()) else { return };
    let fits = match (declared.raw, tree.nodes.first().map(|node| node.kind)) {
        (b"list", kind) => kind == Some(Kind::Array),
        (b"map", kind) => kind == Some(Kind::Object),
        (b"string", kind) => !matches!(kind, Some(Kind::Array | Kind::Object)),
        _ => false,
    };
    if !fits {
        tally.dropped(declared.offset, "types of outputs that contradict their values");
    }
}

/// The type of a value as it stands: arrays are tuples, objects are object types.
fn infer(tree: &Tree<'_>) -> Type {
    let mut types: Vec<Type> = tree.nodes.iter().map(|_| Type::Dynamic).collect();
    // What a container holds comes after it, so backwards its parts come first.
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let mut take = |child: &usize| {
            types.get_mut(*child).map_or(Type::Dynamic, |known| std::mem::replace(known, Type::Dynamic))
        };
        let found = match node.kind {
            Kind::Null => Type::Dynamic,
            Kind::Bool => Type::Bool,
            Kind::Number => Type::Number,
            Kind::String => Type::String,
            Kind::Array => Type::Tuple(node.children.iter().map(take).collect()),
            Kind::Object => {
                let name = |child: &usize| tree.nodes.get(*child).map_or("", |node| &*node.name);
                let attributes: BTreeMap<Arc<str>, Type> = node
                    .children
                    .iter()
                    .map(|child| (name(child).nfc().collect::<String>().into(), take(child)))
                    .collect();
                Type::Object(ObjectType { attributes, ..ObjectType::default() })
            }
        };
        if let Some(slot) = types.get_mut(index) {
            *slot = found;
        }
    }
    types.into_iter().next().unwrap_or(Type::Dynamic)
}

/// Makes a list of a tuple of equal types and a map of an object of equal types, not looking into mixed ones.
///
/// Types are compared as they were before, so `[["a"],["b","c"]]` stays a tuple of tuples.
fn simplify(found: Type) -> Type {
    match found {
        Type::Tuple(mut elements) if all_equal(elements.iter()) => {
            Type::List(Box::new(simplify(elements.swap_remove(0))))
        }
        Type::Object(object) if all_equal(object.attributes.values()) => {
            match object.attributes.into_values().next() {
                Some(first) => Type::Map(Box::new(simplify(first))),
                None => Type::Object(ObjectType::default()),
            }
        }
        other => other,
    }
}

/// Whether there is at least one type and all are the same.
fn all_equal<'a>(mut types: impl Iterator<Item = &'a Type>) -> bool {
    types.next().is_some_and(|first| types.all(|other| other == first))
}
