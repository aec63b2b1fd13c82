//! Type expressions: `"string"`, `["list","number"]`, `["object",{…}]` and the like.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_states::{MAX_VALUE_DEPTH, ObjectType, Type};

use super::{Fail, ValueError, normalized};
use crate::json::{Cursor, Kind, Stop, push_json_string};

/// Reads a type expression. The cursor ends behind it, whether it is one or not.
pub(crate) fn read_type(cursor: &mut Cursor<'_>) -> Result<Result<Type, ValueError>, Stop> {
    let mut ahead = cursor.clone();
    match type_at(&mut ahead, 0) {
        Ok(ty) => {
            *cursor = ahead;
            Ok(Ok(ty))
        }
        Err(Fail::Stop(stop)) => Err(stop),
        Err(Fail::Value(error)) => cursor.skip().map(|()| Err(error)),
    }
}

fn type_at(cursor: &mut Cursor<'_>, depth: usize) -> Result<Type, Fail> {
    let kind = cursor.kind()?;
    let offset = cursor.offset();
    if depth >= MAX_VALUE_DEPTH {
        return Err(Fail::value(offset, format!("the type nests deeper than {MAX_VALUE_DEPTH} levels")));
    }
    match kind {
        Kind::String => match &*cursor.string()?.decode() {
            "string" => Ok(Type::String),
            "number" => Ok(Type::Number),
            "bool" => Ok(Type::Bool),
            "dynamic" => Ok(Type::Dynamic),
            _ => {
                let known = "\"string\", \"number\", \"bool\" or \"dynamic\"";
                Err(Fail::value(offset, format!("the text names no simple type, which are {known}")))
            }
        },
        Kind::Array => compound(cursor, offset, depth + 1),
        kind => Err(Fail::wanted(offset, kind, "a type's name or an array")),
    }
}

/// Reads `[keyword, argument…]`.
fn compound(cursor: &mut Cursor<'_>, offset: usize, depth: usize) -> Result<Type, Fail> {
    cursor.open(b'[')?;
    let mut first = true;
    if !cursor.element(&mut first)? {
        return Err(Fail::value(offset, "the array is empty where a type is needed"));
    }
    let at = cursor.offset();
    let kind = cursor.kind()?;
    if kind != Kind::String {
        return Err(Fail::wanted(at, kind, "\"list\", \"set\", \"map\", \"tuple\" or \"object\""));
    }
    let keyword = cursor.string()?.decode();
    if !matches!(&*keyword, "list" | "set" | "map" | "tuple" | "object") {
        let known = "\"list\", \"set\", \"map\", \"tuple\" or \"object\"";
        return Err(Fail::value(at, format!("the text names no compound type, which are {known}")));
    }
    if !cursor.element(&mut first)? {
        return Err(Fail::value(offset, format!("the type {keyword:?} lacks its second element")));
    }
    let ty = match &*keyword {
        "list" => Type::List(Box::new(type_at(cursor, depth)?)),
        "set" => Type::Set(Box::new(type_at(cursor, depth)?)),
        "map" => Type::Map(Box::new(type_at(cursor, depth)?)),
        "tuple" => Type::Tuple(element_types(cursor, depth)?),
        _ => return object_type(cursor, first, depth),
    };
    leave(cursor, first)?;
    Ok(ty)
}

fn leave(cursor: &mut Cursor<'_>, mut first: bool) -> Result<(), Fail> {
    if cursor.element(&mut first)? {
        return Err(Fail::value(cursor.offset(), "the type has an element too many"));
    }
    Ok(())
}

fn element_types(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<Type>, Fail> {
    let mut types = Vec::new();
    let kind = cursor.kind()?;
    if kind != Kind::Array {
        return Err(Fail::wanted(cursor.offset(), kind, "an array of element types"));
    }
    cursor.open(b'[')?;
    let mut first = true;
    while cursor.element(&mut first)? {
        types.push(type_at(cursor, depth)?);
    }
    Ok(types)
}

/// Reads the rest of `["object",{name:type…},[optional…]]` from the second element on.
fn object_type(cursor: &mut Cursor<'_>, mut first: bool, depth: usize) -> Result<Type, Fail> {
    let attributes = attribute_types(cursor, depth)?;
    let mut optional = BTreeSet::new();
    if cursor.element(&mut first)? {
        let kind = cursor.kind()?;
        if kind != Kind::Array {
            return Err(Fail::wanted(cursor.offset(), kind, "an array of optional attributes' names"));
        }
        cursor.open(b'[')?;
        let mut first = true;
        while cursor.element(&mut first)? {
            let at = cursor.offset();
            let kind = cursor.kind()?;
            if kind != Kind::String {
                return Err(Fail::wanted(at, kind, "an optional attribute's name"));
            }
            let (name, _) = normalized(&cursor.string()?);
            if !attributes.contains_key(&name) {
                return Err(Fail::value(at, "an optional attribute is none of the object's attributes"));
            }
            optional.insert(name);
        }
        leave(cursor, false)?;
    }
    Ok(Type::Object(ObjectType { attributes, optional }))
}

fn attribute_types(cursor: &mut Cursor<'_>, depth: usize) -> Result<BTreeMap<Arc<str>, Type>, Fail> {
    let kind = cursor.kind()?;
    if kind != Kind::Object {
        return Err(Fail::wanted(cursor.offset(), kind, "an object of attribute types"));
    }
    cursor.open(b'{')?;
    let mut attributes = BTreeMap::new();
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        attributes.insert(normalized(&name).0, type_at(cursor, depth)?);
    }
    Ok(attributes)
}

/// Writes a type expression in its canonical form.
pub(crate) fn encode_type(out: &mut String, ty: &Type) {
    match ty {
        Type::String => out.push_str("\"string\""),
        Type::Number => out.push_str("\"number\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::List(element) => encode_collection(out, "list", element),
        Type::Set(element) => encode_collection(out, "set", element),
        Type::Map(element) => encode_collection(out, "map", element),
        Type::Tuple(elements) => {
            out.push_str("[\"tuple\",[");
            for (index, element) in elements.iter().enumerate() {
                separate(out, index);
                encode_type(out, element);
            }
            out.push_str("]]");
        }
        Type::Object(object) => encode_object(out, object),
    }
}

fn encode_collection(out: &mut String, keyword: &str, element: &Type) {
    out.push_str("[\"");
    out.push_str(keyword);
    out.push_str("\",");
    encode_type(out, element);
    out.push(']');
}

fn encode_object(out: &mut String, object: &ObjectType) {
    out.push_str("[\"object\",{");
    for (index, (name, ty)) in object.attributes.iter().enumerate() {
        separate(out, index);
        push_json_string(out, name);
        out.push(':');
        encode_type(out, ty);
    }
    out.push('}');
    if !object.optional.is_empty() {
        out.push_str(",[");
        for (index, name) in object.optional.iter().enumerate() {
            separate(out, index);
            push_json_string(out, name);
        }
        out.push(']');
    }
    out.push(']');
}

/// Writes the comma before every item but the first.
pub(super) fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}
