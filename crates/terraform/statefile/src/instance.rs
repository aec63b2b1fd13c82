//! Instance objects of format 4: from members to the model, and the checks both readers share.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey};
use groundstate_states::{Attributes, DeposedKey, Extra, Number, ObjectSrc, ObjectStatus, RawJson};

use crate::json::{Cursor, Kind, Str, compact};
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sensitive;
use crate::sink::{Sink, describe};
use crate::wire::v4::{InstanceWire, Slice, string_map, strings};

/// Go's decoder does not look at the bits that padding leaves over.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Which object of its resource a wire describes.
pub type ObjectKey = (InstanceKey, Option<DeposedKey>);

/// Reads what tells the object from the others of its resource; `None` after a problem.
pub fn object_key(wire: &InstanceWire<'_>, sink: &mut Sink) -> Option<ObjectKey> {
    let key = index_key(wire, sink);
    let deposed = deposed_key(wire, sink);
    Some((key?, deposed?))
}

fn index_key(wire: &InstanceWire<'_>, sink: &mut Sink) -> Option<InstanceKey> {
    let Some((kind, raw, offset)) = wire.index_key else { return Some(InstanceKey::None) };
    match kind {
        Kind::Null => Some(InstanceKey::None),
        Kind::String => {
            let text = Cursor::new(raw).string().ok()?;
            note_surrogate(text, offset, sink);
            Some(InstanceKey::string(&text.decode()))
        }
        Kind::Number => {
            let text = str::from_utf8(raw).unwrap_or_default();
            let fits = |index: &u64| i64::try_from(*index).is_ok();
            if let Some(index) = text.parse().ok().filter(fits) {
                return Some(InstanceKey::Int(index));
            }
            // Tools that know only floating point write `1.0`; Terraform takes it for the same index.
            let number = Number::parse(text).ok().and_then(|number| number.to_u64());
            if let Some(index) = number.filter(fits) {
                let message =
                    format!("index_key is a whole number in another spelling; it is written as {index}");
                sink.note(NoteKind::Normalized, offset, message);
                return Some(InstanceKey::Int(index));
            }
            let found = describe(kind, raw);
            let why = format!(
                "index_key is {found}; it has to be a whole number from 0 to 9223372036854775807 or a string"
            );
            sink.problem(Code::IndexKey, offset, why);
            None
        }
        Kind::Bool | Kind::Array | Kind::Object => {
            let found = describe(kind, raw);
            sink.problem(
                Code::IndexKey,
                offset,
                format!("index_key is {found}; it has to be a number or a string"),
            );
            None
        }
    }
}

/// The outer option is a problem, the inner one the current object.
fn deposed_key(wire: &InstanceWire<'_>, sink: &mut Sink) -> Option<Option<DeposedKey>> {
    let Some(text) = wire.deposed.filter(|text| !text.raw.is_empty()) else { return Some(None) };
    let decoded = text.decode();
    let key = DeposedKey::parse(&decoded).ok();
    if key.is_none() {
        let shown: String = decoded.chars().take(40).collect();
        let why = format!("deposed key {shown:?} is not eight bytes long");
        sink.problem(Code::DeposedKey, text.offset, why);
    }
    key.map(Some)
}

fn status(wire: &InstanceWire<'_>, sink: &mut Sink) -> Option<ObjectStatus> {
    let Some(text) = wire.status else { return Some(ObjectStatus::Ready) };
    match &*text.decode() {
        "" => Some(ObjectStatus::Ready),
        "tainted" => Some(ObjectStatus::Tainted),
        other => {
            let shown: String = other.chars().take(40).collect();
            let why = format!(
                "status {shown:?} is not known; leave it out for a usable object or write \"tainted\""
            );
            sink.problem(Code::Status, text.offset, why);
            None
        }
    }
}

/// Checks everything about the object that [`Objects::build`] checks, without building it.
///
/// Tells whether it has OpenTofu's `depends_on`.
pub(crate) fn check(wire: &InstanceWire<'_>, legacy_references: bool, sink: &mut Sink) -> bool {
    status(wire, sink);
    if let Some(text) = wire.private.filter(|text| !is_base64(text.raw)) {
        private(text, sink);
    }
    if !wire.plain_dependencies {
        for text in strings(wire.dependencies) {
            dependency(&text, sink);
        }
    }
    if let Some(list) = wire.sensitive.filter(|list| list.text != b"[]") {
        sensitive_paths(list, sink);
    }
    wire.depends_on.is_some() && !depends_on(wire, legacy_references, sink).is_empty()
}

/// Decodes the provider's data. Go's decoder skips line breaks inside base64, so they are no problem here either.
fn private(text: Str<'_>, sink: &mut Sink) -> Option<Vec<u8>> {
    let mut input = text.bytes();
    if memchr::memchr2(b'\n', b'\r', &input).is_some() {
        input.to_mut().retain(|b| !matches!(b, b'\n' | b'\r'));
    }
    let bytes = BASE64.decode(&input);
    if bytes.is_err() {
        let why = "private is not base64; it is data of the provider, so take it from a backup or remove the member";
        sink.problem(Code::Malformed, text.offset, why);
    }
    bytes.ok()
}

/// Whether the text is base64 as every known writer has it, without decoding it.
fn is_base64(text: &[u8]) -> bool {
    let body = text.strip_suffix(b"=").map_or(text, |text| text.strip_suffix(b"=").unwrap_or(text));
    text.len().is_multiple_of(4) && body.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn dependency(text: &Str<'_>, sink: &mut Sink) -> Option<ConfigResource> {
    match AbsResource::parse(&text.decode()) {
        Ok(address) => Some(address.to_config()),
        Err(error) => {
            sink.problem(
                Code::Dependency,
                text.offset,
                format!("dependency is not a resource address: {error}"),
            );
            None
        }
    }
}

fn sensitive_paths(list: Slice<'_>, sink: &mut Sink) -> Vec<groundstate_states::AttributePath> {
    let mut cursor = Cursor::new(list.text);
    let base = sink.base;
    sink.base += list.offset;
    // The text has been read before, so it cannot stop here.
    let paths = sensitive::decode(&mut cursor, sink).unwrap_or_default();
    sink.base = base;
    paths
}

pub(crate) const LEGACY_REFERENCES: &str =
    "depends_on holds references of Terraform 0.12, which nothing reads any more; left out";

/// Reads `depends_on`, which Terraform 0.12 used for references relative to a module.
///
/// A list that is not OpenTofu's says nothing that can be trusted, and is left out as Terraform 0.13 leaves it out.
fn depends_on(wire: &InstanceWire<'_>, legacy_references: bool, sink: &mut Sink) -> Vec<AbsResourceInstance> {
    let parsed: Option<Vec<_>> = (!legacy_references)
        .then(|| {
            strings(wire.depends_on).map(|text| AbsResourceInstance::parse(&text.decode()).ok()).collect()
        })
        .flatten();
    parsed.unwrap_or_else(|| {
        sink.note(NoteKind::Dropped, wire.offset, LEGACY_REFERENCES);
        Vec::new()
    })
}

/// The `id` attribute of the object, as `list --id` compares it.
///
/// Nothing where the original prints `<none>`: attributes that are not an object, or an `id` that is not a string. An object
/// without an `id` has an empty one.
pub(crate) fn id(wire: &InstanceWire<'_>) -> Option<Box<str>> {
    match (wire.attributes.filter(|raw| *raw != b"null"), wire.attributes_flat) {
        (Some(raw), _) => json_id(raw),
        (None, Some(flat)) => string_map(flat).find(|(name, _)| name == "id").map(|(_, value)| value.into()),
        (None, None) => Some("".into()),
    }
}

/// The string member `id` of a JSON object.
fn json_id(raw: &[u8]) -> Option<Box<str>> {
    let mut cursor = Cursor::new(raw);
    cursor.open(b'{').ok()?;
    let mut first = true;
    let mut id = Some(Box::from(""));
    while let Some(name) = cursor.member(&mut first).ok()? {
        if &*name.decode() == "id" {
            let value = cursor.raw().ok()?;
            id = match value {
                b"null" => Some("".into()),
                _ => Cursor::new(value).string().ok().map(|text| text.decode().into()),
            };
        } else {
            cursor.skip().ok()?;
        }
    }
    id
}

fn note_surrogate(text: Str<'_>, offset: usize, sink: &mut Sink) {
    if text.has_lone_surrogate() {
        sink.note(NoteKind::Lost, offset, "half a surrogate pair has become U+FFFD");
    }
}

/// Builds objects, sharing what many of them have in common.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    dependencies: HashMap<Box<[u8]>, ConfigResource>,
}

impl Objects {
    /// Builds the model of one object; `None` after a problem.
    pub(crate) fn build(
        &mut self,
        wire: &InstanceWire<'_>,
        legacy_references: bool,
        sink: &mut Sink,
    ) -> Option<ObjectSrc> {
        let mark = sink.len();
        let object = ObjectSrc {
            schema_version: wire.schema_version,
            attributes: attributes(wire, sink)?,
            sensitive_paths: wire.sensitive.map(|list| sensitive_paths(list, sink)).unwrap_or_default(),
            private: wire
                .private
                .and_then(|text| private(text, sink))
                .map_or_else(|| Arc::from([]), Arc::from),
            status: status(wire, sink).unwrap_or_default(),
            dependencies: strings(wire.dependencies)
                .filter_map(|text| self.dependency(&text, sink))
                .collect(),
            depends_on: match wire.depends_on {
                Some(_) => depends_on(wire, legacy_references, sink),
                None => Vec::new(),
            },
            create_before_destroy: wire.create_before_destroy,
            skip_destroy: wire.skip_destroy,
            identity: wire.identity.and_then(compact),
            identity_schema_version: wire.identity_schema_version,
            extra: extra(&wire.extra),
        };
        (sink.len() == mark).then_some(object)
    }

    fn dependency(&mut self, text: &Str<'_>, sink: &mut Sink) -> Option<ConfigResource> {
        if let Some(known) = self.dependencies.get(text.raw) {
            return Some(known.clone());
        }
        let address = dependency(text, sink)?;
        self.dependencies.insert(text.raw.into(), address.clone());
        Some(address)
    }
}

/// The attributes in the form that counts.
///
/// `attributes: null` says nothing, so a flat map beside it counts; upstream takes the null and drops the map.
fn attributes(wire: &InstanceWire<'_>, sink: &mut Sink) -> Option<Attributes> {
    let json = wire.attributes.filter(|raw| *raw != b"null" || wire.attributes_flat.is_none());
    match (json, wire.attributes_flat) {
        (Some(raw), flat) => {
            if let Some(flat) = flat.filter(|flat| string_map(*flat).next().is_some()) {
                let message = "attributes_flat is ignored beside attributes, as in Terraform";
                sink.note(NoteKind::Lost, flat.offset, message);
            }
            compact(raw).map(Attributes::Json)
        }
        (None, Some(flat)) => {
            let mut map = BTreeMap::new();
            for (name, value) in string_map(flat) {
                if map.insert(Arc::from(&*name), Arc::from(&*value)).is_some() {
                    let message =
                        format!("member {name:?} of attributes_flat appears twice; the last one counts");
                    sink.note(NoteKind::Lost, flat.offset, message);
                }
            }
            Some(Attributes::Flat(map))
        }
        (None, None) => RawJson::parse("{}").ok().map(Attributes::Json),
    }
}

/// Unknown members, as the model keeps them.
pub(crate) fn extra<N: AsRef<str>, R: AsRef<[u8]>>(members: &[(N, R)]) -> Extra {
    let mut extra = Extra::default();
    for (name, raw) in members {
        if let Some(raw) = compact(raw.as_ref()) {
            extra.push(name.as_ref(), raw);
        }
    }
    extra
}
