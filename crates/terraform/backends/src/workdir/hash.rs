//! The number by which Terraform and OpenTofu tell that a block has changed since `init`.
//!
//! It is taken over the block alone, without what `-backend-config` adds, as the schema of the release has it. The recorded
//! options have all members of that schema, so the number can be computed for any release.

use crc::{CRC_32_ISO_HDLC, Crc};
use serde_json::{Map, Value};

use super::literal::Literal;

/// The number for a block whose options are all that was recorded.
pub(super) fn of_recorded(kind: &str, recorded: &Map<String, Value>) -> Option<u32> {
    let mut text = String::new();
    value(&Value::Object(recorded.clone()), &mut text)?;
    sum(kind, &text)
}

/// The number for this block, by the schema that what was recorded shows; nothing where a value is not known.
pub(super) fn of_block(kind: &str, recorded: &Map<String, Value>, block: &Literal) -> Option<u32> {
    let mut text = String::new();
    object(recorded, block, &mut text)?;
    sum(kind, &text)
}

fn sum(kind: &str, options: &str) -> Option<u32> {
    let mut text = String::from("<");
    quoted(kind, &mut text)?;
    text.push(';');
    text.push_str(options);
    text.push_str(";>");
    Some(Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(text.as_bytes()))
}

fn value(recorded: &Value, text: &mut String) -> Option<()> {
    match recorded {
        Value::Null => text.push('~'),
        Value::Bool(flag) => text.push(if *flag { 'T' } else { 'F' }),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::String(string) => quoted(string, text)?,
        Value::Array(items) => {
            text.push('[');
            for item in items {
                value(item, text)?;
                text.push(';');
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('<');
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            for (_, member) in members {
                value(member, text)?;
                text.push(';');
            }
            text.push('>');
        }
    }
    Some(())
}

fn object(recorded: &Map<String, Value>, block: &Literal, text: &mut String) -> Option<()> {
    text.push('<');
    let mut members: Vec<_> = recorded.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    for (name, shape) in members {
        literal(shape, block.member(name).as_ref(), text)?;
        text.push(';');
    }
    text.push('>');
    Some(())
}

/// What the block has, as the type that was recorded.
fn literal(shape: &Value, literal: Option<&Literal>, text: &mut String) -> Option<()> {
    match (literal, shape) {
        // Blocks that are not there are lists without items.
        (None, Value::Array(_)) => text.push_str("[]"),
        (None | Some(Literal::Null), _) => text.push('~'),
        (Some(Literal::Map(_)), Value::Object(shape)) => object(shape, literal?, text)?,
        (Some(Literal::Bool(flag)), Value::Bool(_)) => value(&Value::Bool(*flag), text)?,
        (Some(Literal::Text(flag)), Value::Bool(_)) => value(&Value::Bool(flag.parse().ok()?), text)?,
        (Some(Literal::Number(number) | Literal::Text(number)), Value::Number(_)) => text.push_str(number),
        (Some(Literal::Text(string) | Literal::Number(string)), Value::String(_)) => quoted(string, text)?,
        (Some(Literal::Bool(flag)), Value::String(_)) => quoted(&flag.to_string(), text)?,
        (Some(Literal::List(items)), Value::Array(_)) => {
            text.push('[');
            for item in items {
                match item {
                    Literal::Text(string) => quoted(string, text)?,
                    _ => return None,
                }
                text.push(';');
            }
            text.push(']');
        }
        _ => return None,
    }
    Some(())
}

/// Quotes as Go does, for texts in which that is plain.
fn quoted(string: &str, text: &mut String) -> Option<()> {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            _ => return None,
        }
    }
    text.push('"');
    Some(())
}
