//! Property values, compared down to the members that differ.

use std::collections::BTreeSet;

use groundstate_json::{Escapes, push_json_string_as, push_name};
use groundstate_pulumi_snapshot::{PropertyMap, PropertyValue, RawJson};

use super::{FieldChange, Side};
use crate::encode::Secrets;
use crate::property::{MAX_DEPTH, encode_value};

/// The members that differ so far.
#[derive(Default)]
pub(super) struct Fields(pub(super) Vec<FieldChange>);

/// Compares two maps, name by name. A name with the value null is like no name.
pub(super) fn maps(path: &str, before: &PropertyMap, after: &PropertyMap, out: &mut Fields) {
    maps_at(path, before, after, 0, out);
}

fn maps_at(path: &str, before: &PropertyMap, after: &PropertyMap, depth: usize, out: &mut Fields) {
    let names: BTreeSet<&str> = before.names().chain(after.names()).collect();
    let value = |map: &'_ PropertyMap, name: &str| {
        map.get(name).filter(|value| **value != PropertyValue::Null).cloned()
    };
    for name in names {
        let mut path = path.to_owned();
        push_name(&mut path, name);
        optional_at(&path, value(before, name).as_ref(), value(after, name).as_ref(), depth, out);
    }
}

/// Compares two values that may be missing.
pub(super) fn optional(
    path: &str,
    before: Option<&PropertyValue>,
    after: Option<&PropertyValue>,
    out: &mut Fields,
) {
    optional_at(path, before, after, 0, out);
}

fn optional_at(
    path: &str,
    before: Option<&PropertyValue>,
    after: Option<&PropertyValue>,
    depth: usize,
    out: &mut Fields,
) {
    match (before, after) {
        (Some(PropertyValue::Object(a)), Some(PropertyValue::Object(b))) if depth < MAX_DEPTH => {
            maps_at(path, a, b, depth + 1, out);
        }
        (Some(PropertyValue::Array(a)), Some(PropertyValue::Array(b))) if depth < MAX_DEPTH => {
            for index in 0..a.len().max(b.len()) {
                optional_at(&format!("{path}[{index}]"), a.get(index), b.get(index), depth + 1, out);
            }
        }
        (None, None) => {}
        (Some(a), Some(b)) if a == b || a.deep_equals(b) == Some(true) => {}
        (a, b) => {
            let secret = a.into_iter().chain(b).any(PropertyValue::contains_secrets);
            let side = |value: &PropertyValue| match secret {
                true => Side::Secret(shown(value)),
                false => shown(value).map_or(Side::Secret(None), Side::Plain),
            };
            out.0.push(FieldChange { path: path.to_owned(), before: a.map(side), after: b.map(side) });
        }
    }
}

/// The value as JSON, if all secrets in it have been opened. A secret itself is shown as what is inside.
fn shown(value: &PropertyValue) -> Option<RawJson> {
    let value = match value {
        PropertyValue::Secret(secret) => secret.value()?,
        other => other,
    };
    encode_value(value, Escapes::Plain, Secrets::Shown).ok()
}

/// A text as JSON.
pub(super) fn string(text: &str) -> RawJson {
    let mut out = String::new();
    push_json_string_as(&mut out, text, Escapes::Plain);
    RawJson::from_validated(&out)
}
