//! Values as canonical compact JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_states::{MAX_VALUE_DEPTH, ObjectType, Type, Value};

use super::type_expr::{encode_type, separate};
use crate::json::push_json_string;

/// A value that does not conform to its type, so that no reader would accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// What would have to stand there.
    pub(crate) wanted: &'static str,
}

/// Writes a value of type `ty`: members sorted by name, a set in the order it has in the model.
///
/// On an error `out` holds a part of the value.
pub(crate) fn encode_value(out: &mut String, value: &Value, ty: &Type) -> Result<(), Misfit> {
    write(out, value, ty, 0)
}

fn write(out: &mut String, value: &Value, ty: &Type, depth: usize) -> Result<(), Misfit> {
    if depth >= MAX_VALUE_DEPTH {
        return Err(Misfit { wanted: "a value of at most 256 levels" });
    }
    match (ty, value) {
        (_, Value::Null) => out.push_str("null"),
        (Type::String, Value::String(text)) => push_json_string(out, text),
        (Type::Number, Value::Number(number)) => out.push_str(number.as_str()),
        (Type::Bool, Value::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
        (Type::List(element) | Type::Set(element), Value::Sequence(elements)) => {
            write_elements(out, elements.iter().map(|value| (value, &**element)), depth)?;
        }
        (Type::Tuple(types), Value::Sequence(elements)) if types.len() == elements.len() => {
            write_elements(out, elements.iter().zip(types), depth)?;
        }
        (Type::Map(element), Value::Mapping(members)) => {
            let members = members.iter().map(|(name, value)| (&**name, value, &**element));
            write_members(out, members, depth)?;
        }
        (Type::Object(object), Value::Mapping(members)) => {
            let fits = members.keys().all(|name| object.attributes.contains_key(name));
            if !fits {
                return Err(Misfit { wanted: "an object of its type's attributes only" });
            }
            let members = attributes(object, members);
            write_members(out, members, depth)?;
        }
        (Type::Dynamic, Value::Dynamic(inner)) => {
            let (ty, value) = &**inner;
            out.push_str("{\"value\":");
            write(out, value, ty, depth + 1)?;
            out.push_str(",\"type\":");
            encode_type(out, ty);
            out.push('}');
        }
        _ => return Err(Misfit { wanted: wanted(ty) }),
    }
    Ok(())
}

/// The attributes of an object in their order; a missing one is null.
fn attributes<'a>(
    object: &'a ObjectType,
    members: &'a BTreeMap<Arc<str>, Value>,
) -> impl Iterator<Item = (&'a str, &'a Value, &'a Type)> {
    object.attributes.iter().map(|(name, ty)| (&**name, members.get(name).unwrap_or(&Value::Null), ty))
}

fn write_elements<'a>(
    out: &mut String,
    elements: impl Iterator<Item = (&'a Value, &'a Type)>,
    depth: usize,
) -> Result<(), Misfit> {
    out.push('[');
    for (index, (value, ty)) in elements.enumerate() {
        separate(out, index);
        write(out, value, ty, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn write_members<'a>(
    out: &mut String,
    members: impl Iterator<Item = (&'a str, &'a Value, &'a Type)>,
    depth: usize,
) -> Result<(), Misfit> {
    out.push('{');
    for (index, (name, value, ty)) in members.enumerate() {
        separate(out, index);
        push_json_string(out, name);
        out.push(':');
        write(out, value, ty, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn wanted(ty: &Type) -> &'static str {
    match ty {
        Type::String => "a string",
        Type::Number => "a number",
        Type::Bool => "a bool",
        Type::Dynamic => "a value with its own type",
        Type::List(_) => "a list",
        Type::Set(_) => "a set",
        Type::Tuple(_) => "a tuple of the type's length",
        Type::Map(_) => "a map",
        Type::Object(_) => "an object",
    }
}
