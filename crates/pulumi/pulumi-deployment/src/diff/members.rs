//! The members of two resources, compared by what each of them means.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use groundstate_json::{Cursor, Kind, Stop};
use groundstate_pulumi_snapshot::{Properties, PropertyMap, PropertyValue, RawJson, Resource, StoredValue};

use super::values::{self, Fields};
use super::{FieldChange, Side};
use crate::encode::{EncodeError, Secrets, encode_resource};
use crate::property::{
    CiphertextCheck, PropertyError, UNREADABLE, decode_map, decode_value, salvage_map, salvage_value,
};

/// Members whose order says nothing.
const SETS: [&str; 7] = [
    "dependencies",
    "aliases",
    "additionalSecretOutputs",
    "replaceWith",
    "ignoreChanges",
    "replaceOnChanges",
    "hideDiff",
];

/// Members that are compared as values, and the name, which is the subject.
const ELSEWHERE: [&str; 4] = ["urn", "inputs", "outputs", "replacementTrigger"];

/// Compares two resources, or lists the members of one.
pub(super) fn compare(
    before: Option<&Resource>,
    after: Option<&Resource>,
) -> Result<Vec<FieldChange>, EncodeError> {
    let mut fields = Fields::default();
    let (a, b) = (plain(before)?, plain(after)?);
    let (a, b) = (plain_members(a.as_ref()), plain_members(b.as_ref()));
    let mut names: Vec<&str> = a.iter().chain(&b).map(|(name, _)| &**name).collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(*name));
    let (a, b): (BTreeMap<&str, &str>, BTreeMap<&str, &str>) = (
        a.iter().map(|(name, raw)| (&**name, *raw)).collect(),
        b.iter().map(|(name, raw)| (&**name, *raw)).collect(),
    );
    for name in names {
        let (from, to) = (a.get(name).copied(), b.get(name).copied());
        // The same text means the same.
        if from == to {
            continue;
        }
        match name {
            // Nothing says whether they are secret.
            name if is_unknown(before, name) || is_unknown(after, name) => fields.hidden(name, from, to),
            "propertyDependencies" => property_dependencies(from, to, &mut fields),
            name if SETS.contains(&name) => fields.whole(name, from.and_then(sorted), to.and_then(sorted)),
            name => fields.whole(name, from.map(RawJson::from_validated), to.map(RawJson::from_validated)),
        }
    }
    properties(before, after, &mut fields)?;
    // Most resources differ in one member, and there may be as many of them as there are resources.
    fields.0.shrink_to_fit();
    Ok(fields.0)
}

/// Whether a resource has a member of this name that is not understood.
fn is_unknown(resource: Option<&Resource>, name: &str) -> bool {
    resource.is_some_and(|resource| resource.extra.iter().any(|(unknown, _)| unknown == name))
}

/// The text of a resource without most of what is compared as values.
fn plain(resource: Option<&Resource>) -> Result<Option<RawJson>, EncodeError> {
    let Some(resource) = resource else { return Ok(None) };
    let mut bare = resource.clone();
    bare.inputs = Properties::Absent;
    bare.outputs = Properties::Absent;
    bare.replacement_trigger = None;
    encode_resource(&bare, Secrets::Sealed).map(Some)
}

/// All members of that text but those that are compared as values, in their order.
fn plain_members(raw: Option<&RawJson>) -> Vec<(Cow<'_, str>, &str)> {
    let mut members = raw.and_then(|raw| members(raw.as_str()).ok()).unwrap_or_default();
    members.retain(|(name, _)| !ELSEWHERE.contains(&&**name));
    members
}

/// The members of an object with their texts. What the writer has written is one.
fn members(raw: &str) -> Result<Vec<(Cow<'_, str>, &str)>, Stop> {
    let mut cursor = Cursor::new(raw.as_bytes());
    let mut found = Vec::new();
    if cursor.kind()? != Kind::Object {
        return Ok(found);
    }
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        found.push((name.decode(), str::from_utf8(cursor.raw()?).unwrap_or_default()));
    }
    Ok(found)
}

/// An array with its elements in order; nothing for one that is empty or `null`.
fn sorted(raw: &str) -> Option<RawJson> {
    let read = || -> Result<Vec<&str>, Stop> {
        let mut cursor = Cursor::new(raw.as_bytes());
        let mut elements = Vec::new();
        if cursor.kind()? != Kind::Array {
            return Ok(elements);
        }
        cursor.open(b'[')?;
        let mut first = true;
        while cursor.element(&mut first)? {
            elements.push(str::from_utf8(cursor.raw()?).unwrap_or_default());
        }
        Ok(elements)
    };
    let mut elements = read().unwrap_or_default();
    elements.sort_unstable();
    elements.dedup();
    (!elements.is_empty()).then(|| RawJson::from_validated(&format!("[{}]", elements.join(","))))
}

/// The texts of sets by the names of properties.
fn lists(raw: Option<&str>) -> BTreeMap<Cow<'_, str>, &str> {
    raw.and_then(|raw| members(raw).ok()).unwrap_or_default().into_iter().collect()
}

/// Sets by the names of properties; a name without any is like no name.
fn property_dependencies(before: Option<&str>, after: Option<&str>, fields: &mut Fields) {
    let (a, b) = (lists(before), lists(after));
    let mut names: Vec<&Cow<'_, str>> = a.keys().chain(b.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (from, to) = (a.get(name), b.get(name));
        if from == to {
            continue;
        }
        let mut path = "propertyDependencies".to_owned();
        groundstate_json::push_name(&mut path, name);
        fields.whole(&path, from.and_then(|raw| sorted(raw)), to.and_then(|raw| sorted(raw)));
    }
}

/// Inputs, outputs and the trigger.
fn properties(
    before: Option<&Resource>,
    after: Option<&Resource>,
    fields: &mut Fields,
) -> Result<(), EncodeError> {
    for (name, of) in [("inputs", inputs as fn(&Resource) -> &Properties), ("outputs", outputs)] {
        // The same text says the same, and nearly all texts are the same.
        if before.zip(after).is_some_and(|(a, b)| of(a) == of(b)) {
            continue;
        }
        let map = |resource: Option<&Resource>| match resource {
            Some(resource) => decoded(of(resource)).map_err(|source| error(resource, source)),
            None => Ok(Readable::default()),
        };
        let (a, b) = (map(before)?, map(after)?);
        let found = fields.0.len();
        values::maps(name, &a.value, &b.value, fields);
        fields.unreadable(name, found, (before.is_some(), after.is_some()), a.partly || b.partly);
    }
    let trigger = |resource: Option<&Resource>| match resource {
        Some(resource) => stored(resource).map_err(|source| error(resource, source)),
        None => Ok(Readable::default()),
    };
    if before.zip(after).is_some_and(|(a, b)| a.replacement_trigger == b.replacement_trigger) {
        return Ok(());
    }
    let (a, b) = (trigger(before)?, trigger(after)?);
    let found = fields.0.len();
    values::optional("replacementTrigger", a.value.as_ref(), b.value.as_ref(), fields);
    let sides = (before.is_some(), after.is_some());
    fields.unreadable("replacementTrigger", found, sides, a.partly || b.partly);
    Ok(())
}

/// A value, with something in place of what cannot be read.
#[derive(Default)]
struct Readable<V> {
    value: V,
    /// Not all of it could be read.
    partly: bool,
}

fn inputs(resource: &Resource) -> &Properties {
    &resource.inputs
}

fn outputs(resource: &Resource) -> &Properties {
    &resource.outputs
}

fn decoded(properties: &Properties) -> Result<Readable<PropertyMap>, PropertyError> {
    let whole = |value| Readable { value, partly: false };
    match properties {
        Properties::Absent => Ok(Readable::default()),
        Properties::Raw(raw) => match decode_map(raw) {
            Ok(map) => Ok(whole(map)),
            Err(_) => salvage_map(raw, CiphertextCheck::Unchecked)
                .map(|salvaged| Readable { value: salvaged.value, partly: true }),
        },
        Properties::Map(map) => Ok(whole(map.clone())),
    }
}

fn stored(resource: &Resource) -> Result<Readable<Option<PropertyValue>>, PropertyError> {
    let whole = |value| Readable { value: Some(value), partly: false };
    match &resource.replacement_trigger {
        None => Ok(Readable::default()),
        Some(StoredValue::Raw(raw)) => match decode_value(raw) {
            Ok(value) => Ok(whole(value)),
            Err(_) => salvage_value(raw, CiphertextCheck::Unchecked).map(|salvaged| {
                let unreadable = || PropertyValue::String(UNREADABLE.into());
                Readable { value: Some(salvaged.value.unwrap_or_else(unreadable)), partly: true }
            }),
        },
        Some(StoredValue::Value(value)) => Ok(whole(value.clone())),
    }
}

fn error(resource: &Resource, source: PropertyError) -> EncodeError {
    EncodeError::Property { urn: resource.urn.to_string(), source }
}

impl Fields {
    /// Notes a difference of two texts that shows in nothing that can be read of them; values that cannot are not shown.
    fn unreadable(&mut self, path: &str, found: usize, (before, after): (bool, bool), partly: bool) {
        if partly && self.0.len() == found {
            let side = |is_there: bool| is_there.then_some(Side::Secret(None));
            self.0.push(FieldChange { path: path.to_owned(), before: side(before), after: side(after) });
        }
    }

    /// Compares two texts that may be secrets.
    fn hidden(&mut self, path: &str, before: Option<&str>, after: Option<&str>) {
        if before != after {
            let side = |raw: &str| Side::Secret(Some(RawJson::from_validated(raw)));
            self.0.push(FieldChange {
                path: path.to_owned(),
                before: before.map(side),
                after: after.map(side),
            });
        }
    }

    /// Compares two texts; what is the same text means the same.
    fn whole(&mut self, path: &str, before: Option<RawJson>, after: Option<RawJson>) {
        if before != after {
            let path = path.to_owned();
            self.0.push(FieldChange { path, before: before.map(Side::Plain), after: after.map(Side::Plain) });
        }
    }
}
