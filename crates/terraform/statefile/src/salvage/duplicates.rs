//! Objects of one instance that stand more than once in a text that is JSON.

use std::collections::HashMap;
use std::ops::Range;

use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance};

use super::assemble::{identity, members};
use super::entries::{Entries, EntryObject};
use super::pieces::{Pieces, name, value};
use super::walk::Walk;
use crate::json::{Cursor, Kind, SourcePos, compact_as_written, places};
use crate::upgrade::legacy_resource;

/// An instance of which a text has several current objects, or several deposed ones of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Duplicate {
    /// Address of the instance.
    pub instance: AbsResourceInstance,
    /// Key of the deposed objects; `None` for current ones.
    pub deposed: Option<DeposedKey>,
    /// Its objects in the order of the text.
    pub objects: Vec<DuplicateObject>,
    /// If `true`, all objects say the same.
    pub equal: bool,
}

/// One object of several.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicateObject {
    /// Where it stands in the text.
    pub range: Range<usize>,
    /// The place of its begin.
    pub place: SourcePos,
    /// The attribute `id`, if it is a string.
    pub id: Option<String>,
}

/// Finds the instances of a document that have more than one object where there can be one. Documents of formats 1 to 3 list a module twice for that.
///
/// ```
/// use groundstate_statefile::{duplicates, without_objects};
///
/// let text = br#"{"version": 4, "serial": 1, "resources": [{"mode": "managed", "type": "t", "name": "a", "provider":
///     "provider[\"hashicorp/t\"]", "instances": [{"attributes": {"id": "1"}}, {"attributes": {"id": "2"}}]}]}"#;
/// let found = duplicates(text);
/// assert_eq!((found.len(), found[0].objects[1].id.as_deref()), (1, Some("2")));
/// let left = without_objects(text, &[found[0].objects[1].range.clone()]);
/// assert!(duplicates(&left).is_empty());
/// ```
pub fn duplicates(text: &[u8]) -> Vec<Duplicate> {
    let pieces = Walk::new(text).run();
    let mut grouped = Grouped::default();
    if pieces.resources.is_empty() {
        old_objects(text, &mut grouped);
    }
    for piece in &pieces.resources {
        let Some(address) = piece.address(text) else { continue };
        for range in &piece.objects {
            let raw = text.get(range.clone()).unwrap_or_default();
            let Some((key, deposed)) = identity(raw).and_then(parsed) else { continue };
            grouped.add((address.clone().instance(key), deposed), range.clone());
        }
    }
    grouped.duplicates(text)
}

/// Instance, and key of a deposed object.
type ObjectKey = (AbsResourceInstance, Option<DeposedKey>);

/// Objects by what they are of, in the order of the text.
#[derive(Default)]
struct Grouped {
    order: Vec<ObjectKey>,
    by_instance: HashMap<ObjectKey, Vec<Range<usize>>>,
}

impl Grouped {
    fn add(&mut self, key: ObjectKey, range: Range<usize>) {
        let objects = self.by_instance.entry(key).or_insert_with_key(|key| {
            self.order.push(key.clone());
            Vec::new()
        });
        objects.push(range);
    }

    fn duplicates(mut self, text: &[u8]) -> Vec<Duplicate> {
        let mut found = Vec::new();
        for key in self.order {
            let ranges = self.by_instance.remove(&key).filter(|ranges| ranges.len() > 1);
            found.extend(ranges.map(|ranges| duplicate(text, key, &ranges)));
        }
        found
    }
}

/// The objects of a document of format 1, 2 or 3.
fn old_objects(text: &[u8], grouped: &mut Grouped) {
    let Ok(entries) = Entries::read(text) else { return };
    for EntryObject { entry, number, range } in entries.objects() {
        let Some(instance) = legacy_instance(entry) else { continue };
        let deposed = (number > 0).then(|| DeposedKey::from_number(number));
        grouped.add((instance, deposed), range);
    }
}

/// The instance of a legacy address behind the names of its modules.
fn legacy_instance(text: &str) -> Option<AbsResourceInstance> {
    let (mut rest, mut module) = (text, ModuleInstance::root());
    while let Some(tail) = rest.strip_prefix("module.") {
        let (name, tail) = tail.split_once('.')?;
        module = module.child(name, InstanceKey::None);
        rest = tail;
    }
    let (resource, key) = legacy_resource(rest).ok()?;
    Some(AbsResource { module, resource }.instance(key))
}

fn duplicate(text: &[u8], (instance, deposed): ObjectKey, ranges: &[Range<usize>]) -> Duplicate {
    let starts: Vec<usize> = ranges.iter().map(|range| range.start).collect();
    let raws: Vec<_> = ranges.iter().map(|range| text.get(range.clone()).unwrap_or_default()).collect();
    let compacted: Vec<_> = raws.iter().map(|raw| compact_as_written(raw)).collect();
    let objects = ranges
        .iter()
        .zip(places(text, &starts))
        .zip(&raws)
        .map(|((range, place), raw)| DuplicateObject { range: range.clone(), place, id: id_of(raw) });
    let equal = compacted.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    Duplicate { instance, deposed, objects: objects.collect(), equal }
}

/// The keys as readers take them.
fn parsed([key, deposed]: [Option<&[u8]>; 2]) -> Option<(InstanceKey, Option<DeposedKey>)> {
    let text = |raw: &[u8]| Cursor::new(raw).string().ok().map(|text| text.decode().into_owned());
    let key = match key {
        None => InstanceKey::None,
        Some(raw) => match Cursor::new(raw).kind().ok()? {
            Kind::Null => InstanceKey::None,
            Kind::String => InstanceKey::string(&text(raw)?),
            _ => InstanceKey::int(str::from_utf8(raw).ok()?.parse().ok()?)?,
        },
    };
    let deposed = deposed.and_then(text).filter(|key| !key.is_empty());
    Some((key, deposed.and_then(|key| DeposedKey::parse(&key).ok())))
}

fn id_of(object: &[u8]) -> Option<String> {
    // The current object of an old entry stands there with its name.
    let object = match object.first() {
        Some(b'"') => value(object, &(0..object.len()))?,
        _ => object,
    };
    let [own, attributes] = members(object, ["id", "attributes"])?;
    let of_attributes = || members(attributes?, ["id"]).and_then(|[id]| id);
    // Objects of formats 1 to 3 have it beside their attributes.
    Cursor::new(own.or_else(of_attributes)?).string().ok().map(|text| text.decode().into_owned())
}

/// The text without these objects, and without resources of which all objects are among them.
pub fn without_objects(text: &[u8], gone: &[Range<usize>]) -> Vec<u8> {
    let Pieces { resources, .. } = Walk::new(text).run();
    if resources.is_empty() {
        return match Entries::read(text) {
            Ok(mut entries) => {
                entries.remove_objects(gone);
                entries.draft(text)
            }
            Err(_) => text.to_vec(),
        };
    }
    let mut ranges = Vec::new();
    for piece in resources {
        let is_gone = |range: &&Range<usize>| gone.contains(range);
        if !piece.objects.is_empty() && piece.objects.iter().all(|range| gone.contains(range)) {
            ranges.push(piece.range);
        } else {
            ranges.extend(piece.objects.iter().filter(is_gone).cloned());
        }
    }
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    let mut left = text.to_vec();
    for range in ranges {
        let element = with_comma(&left, range);
        left.drain(element);
    }
    left
}

/// An element of a list with the comma behind it, or else the one in front.
fn with_comma(text: &[u8], range: Range<usize>) -> Range<usize> {
    let blank = |byte: &u8| !byte.is_ascii_whitespace();
    let behind = text.get(range.end..).unwrap_or_default();
    if let Some(at) = behind.iter().position(blank).filter(|at| behind.get(*at) == Some(&b',')) {
        let next = behind.iter().skip(at + 1).position(blank).unwrap_or(0);
        return range.start..range.end + at + 1 + next;
    }
    let before = text.get(..range.start).unwrap_or_default();
    match before.iter().rposition(blank).filter(|at| before.get(*at) == Some(&b',')) {
        Some(comma) => comma..range.end,
        None => range,
    }
}

/// The text with 0 in place of a serial that no reader takes, and the number that it means; `None` if the serial is sound.
pub fn without_bad_serial(text: &[u8]) -> Option<(Vec<u8>, u64)> {
    let pieces = Walk::new(text).run();
    let member = pieces.header.iter().find(|range| name(text, range) == Some("serial"))?;
    let raw = str::from_utf8(value(text, member)?).ok()?;
    if raw == "null" || raw.parse::<u64>().is_ok() {
        return None;
    }
    let digits = raw.trim_matches('"').trim();
    let fraction = || digits.parse::<f64>().ok().filter(|number| (0.0..9e15).contains(number));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    let serial = digits.parse().ok().or_else(|| fraction().map(|number| number as u64)).unwrap_or(0);
    let mut mended = text.to_vec();
    let start = member.end - raw.len();
    mended.get_mut(start..member.end)?.fill(b' ');
    *mended.get_mut(start)? = b'0';
    Some((mended, serial))
}
