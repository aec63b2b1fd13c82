//! Rules on single instance objects.

use groundstate_states::DeposedKey;
use groundstate_states::addr::AbsResourceInstance;

use super::finding::Draft;
use super::members::{find, offset_in};
use super::rule::Rule;
use super::sensitive_paths;
use groundstate_json::{Cursor, Kind};
use groundstate_statefile::walk::{InstanceWire, string_map, strings};

/// Judges one object of the document `text`.
///
/// `legacy` says that the document is from before Terraform 0.13, when `depends_on` meant something else.
pub(super) fn check(wire: &InstanceWire<'_>, legacy: bool, text: &[u8], out: &mut Vec<Draft>) {
    out.extend(tainted(wire));
    out.extend(deposed(wire));
    out.extend(deposed_key(wire));
    out.extend(not_an_object(wire, text));
    out.extend(flat(wire));
    sensitive_paths::check(wire, out);
    out.extend(skip_destroy(wire, text));
    if !legacy {
        out.extend(precise_dependencies(wire));
    }
}

fn tainted(wire: &InstanceWire<'_>) -> Option<Draft> {
    let status = wire.status.filter(|status| &*status.decode() == "tainted")?;
    Some(Draft::new(Rule::Tainted, status.offset, "the object is tainted"))
}

fn deposed(wire: &InstanceWire<'_>) -> Option<Draft> {
    let key = wire.deposed.filter(|key| !key.raw.is_empty())?;
    let message = format!("the object is deposed under the key {}", shown(&key.decode()));
    Some(Draft::new(Rule::Deposed, key.offset, message))
}

fn deposed_key(wire: &InstanceWire<'_>) -> Option<Draft> {
    let key = wire.deposed?;
    // A key of another length is a problem of the reader.
    let parsed = DeposedKey::parse(&key.decode()).ok()?;
    let message =
        || format!("deposed key {} is not eight lower-case hexadecimal digits", shown(parsed.as_str()));
    (!parsed.is_canonical()).then(|| Draft::new(Rule::DeposedKeyForm, key.offset, message()))
}

fn shown(key: &str) -> String {
    let short: String = key.chars().take(16).collect();
    format!("{short:?}")
}

fn not_an_object(wire: &InstanceWire<'_>, text: &[u8]) -> Option<Draft> {
    let raw = wire.attributes?;
    let found = match Cursor::new(raw).kind().ok()? {
        Kind::Object => return None,
        // Then the flat map counts.
        Kind::Null if wire.attributes_flat.is_some() => return None,
        Kind::Null => "null",
        Kind::Array => "an array",
        Kind::String => "a string",
        Kind::Number => "a number",
        Kind::Bool => "a bool",
    };
    Some(Draft::new(Rule::NotAnObject, offset_in(text, raw), format!("the attributes are {found}")))
}

fn flat(wire: &InstanceWire<'_>) -> Option<Draft> {
    let map = wire.attributes_flat?;
    let counts = wire.attributes.is_none_or(|raw| raw == b"null") && string_map(map).next().is_some();
    counts.then(|| Draft::new(Rule::FlatAttributes, map.offset, "the attributes are a flat map of strings"))
}

fn skip_destroy(wire: &InstanceWire<'_>, text: &[u8]) -> Option<Draft> {
    let message = "Terraform drops \"skip_destroy\", and would destroy the remote object then";
    let draft = || Draft::new(Rule::OpenTofuMember, find(text, wire.offset, "skip_destroy"), message);
    wire.skip_destroy.then(draft)
}

fn precise_dependencies(wire: &InstanceWire<'_>) -> Option<Draft> {
    let list = wire.depends_on?;
    let mut some = false;
    for text in strings(Some(list)) {
        // What is not an address there was written by Terraform 0.12, and means something else.
        AbsResourceInstance::parse(&text.decode()).ok()?;
        some = true;
    }
    let message = "Terraform drops \"depends_on\", the exact dependencies of the instance";
    some.then(|| Draft::new(Rule::OpenTofuMember, list.offset, message))
}
