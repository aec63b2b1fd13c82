//! One remote object of format 3 in the form of format 4.

use std::collections::HashSet;
use std::sync::Arc;

use groundstate_states::{Attributes, ObjectSrc, ObjectStatus, RawJson};

use super::tally::Tally;
use super::tree::Tree;
use crate::json::{Cursor, Kind, push_json_string};
use crate::sink::Sink;
use crate::wire::legacy::{Member, StringMap, sort_keeping_last};
use crate::wire::v2;
use crate::wire::v4::INSTANCE_MEMBERS;

/// Texts beyond this many are not shared: hashes of set elements hardly ever come again.
const MAX_SHARED: usize = 1 << 16;

/// Values of at most this length are shared, which are above all numbers, bools and nothing.
const SHORT: usize = 8;

/// Builds objects; names and short values that come again share their text.
#[derive(Debug, Default)]
pub(super) struct Objects {
    shared: HashSet<Arc<str>>,
}

impl Objects {
    /// Builds the model of one object; `resource_extra` are unknown members of the legacy resource.
    pub(super) fn build(
        &mut self,
        old: v2::Instance<'_>,
        resource_extra: &[Member<'_>],
        tally: &mut Tally,
        sink: &mut Sink,
    ) -> ObjectSrc {
        let (schema_version, private) = metadata(old.meta, old.offset, tally);
        let mut members = old.extra;
        members.extend_from_slice(resource_extra);
        let id = old.id.map(|id| id.decode()).unwrap_or_default();
        ObjectSrc {
            private: private.map_or_else(|| Arc::from([]), |json| Arc::from(json.into_bytes())),
            status: if old.tainted { ObjectStatus::Tainted } else { ObjectStatus::Ready },
            attributes: self.attributes(old.attributes, &id, old.offset, tally, sink),
            extra: tally.carry(&members, &INSTANCE_MEMBERS, "resources"),
            ..ObjectSrc::new(schema_version, RawJson::empty_object())
        }
    }

    /// The flat attributes with the object's id among them.
    fn attributes(
        &mut self,
        old: Option<StringMap<'_>>,
        id: &str,
        offset: usize,
        tally: &mut Tally,
        sink: &mut Sink,
    ) -> Attributes {
        if old.is_none() && id.is_empty() {
            return Attributes::Json(RawJson::empty_object());
        }
        let entries = old.map(|map| map.into_entries(sink)).unwrap_or_default();
        let mut flat: std::collections::BTreeMap<Arc<str>, Arc<str>> =
            entries.into_iter().map(|(name, value)| (self.share(&name), self.value(&value))).collect();
        if !id.is_empty() {
            let known = flat.entry(self.share("id")).or_insert_with(|| Arc::from(""));
            if known.is_empty() {
                *known = Arc::from(id);
            } else if **known != *id {
                tally.dropped(offset, "ids of objects whose attribute \"id\" says otherwise");
            }
        }
        Attributes::Flat(flat)
    }

    fn value(&mut self, text: &str) -> Arc<str> {
        if text.len() <= SHORT { self.share(text) } else { text.into() }
    }

    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.shared.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        if self.shared.len() < MAX_SHARED {
            self.shared.insert(Arc::clone(&new));
        }
        new
    }
}

/// The schema version, and everything else as the provider's private data.
fn metadata(
    mut meta: Vec<(crate::json::Str<'_>, &[u8])>,
    offset: usize,
    tally: &mut Tally,
) -> (u64, Option<String>) {
    if meta.is_empty() {
        return (0, None);
    }
    let mut members: Vec<(std::borrow::Cow<'_, str>, &[u8])> =
        meta.drain(..).map(|(name, raw)| (name.decode(), raw)).collect();
    if sort_keeping_last(&mut members, |member| &member.0).is_some() {
        tally.lost(offset, "members of \"meta\" that appear twice");
    }
    let mut version = 0;
    members.retain(|(name, raw)| {
        let found = (name == "schema_version").then(|| schema_version(raw)).flatten();
        version = found.unwrap_or(version);
        if found.is_some() && raw.contains(&b'.') {
            tally.dropped(offset, "fractions of schema versions");
        }
        found.is_none()
    });
    if members.is_empty() {
        return (version, None);
    }
    let mut json = String::from("{");
    for (name, raw) in &members {
        // The text has been read before, so it is JSON.
        let Ok(tree) = Tree::read(raw) else { continue };
        if json.len() > 1 {
            json.push(',');
        }
        push_json_string(&mut json, name);
        json.push(':');
        json.push_str(&tree.to_json());
        if tree.has_duplicates {
            tally.lost(offset, "members inside \"meta\" that appear twice");
        }
        if tree.has_half_pair {
            tally.lost(offset, "half surrogate pairs inside \"meta\"");
        }
    }
    json.push('}');
    (version, Some(json))
}

/// Reads a string of digits, or a number without what stands behind its point.
fn schema_version(raw: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(raw);
    match cursor.kind().ok()? {
        Kind::String => {
            let text = cursor.string().ok()?.decode();
            text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
        }
        Kind::Number => {
            let text = cursor.number().ok()?;
            text.parse().ok().or_else(|| truncated(text))
        }
        _ => None,
    }
}

/// A number that fits after its fraction is cut off.
fn truncated(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    (0.0..18_446_744_073_709_551_616.0).contains(&number).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_schema_versions_of_every_form() {
        for (raw, expected) in [
            (r#""1""#, Some(1)),
            ("2", Some(2)),
            ("2.9", Some(2)),
            ("1e1", Some(10)),
            ("18446744073709551615", Some(u64::MAX)),
            (r#""x""#, None),
            (r#""+1""#, None),
            (r#""""#, None),
            ("-1", None),
            ("18446744073709551616", None),
            ("null", None),
            ("true", None),
        ] {
            assert_eq!(schema_version(raw.as_bytes()), expected, "{raw}");
        }
    }
}
