//! The parts of a damaged file that are whole, as ranges of its text.

use std::ops::Range;

use groundstate_states::addr::{AbsResource, ModuleInstance, Resource, ResourceMode};

use super::Gap;
use crate::json::Cursor;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Members at the top that are no sections: name and value.
    pub(super) header: Vec<Range<usize>>,
    /// Each output with its name.
    pub(super) outputs: Vec<Range<usize>>,
    pub(super) resources: Vec<ResourcePiece>,
    /// Each check result.
    pub(super) checks: Vec<Range<usize>>,
    /// The end of the list of resources was read.
    pub(super) has_all: bool,
    pub(super) gaps: Vec<Gap>,
}

/// A resource, or what is left of it.
#[derive(Clone, Debug, Default)]
pub(super) struct ResourcePiece {
    /// Where it stands, up to the last byte that was read of it.
    pub(super) range: Range<usize>,
    /// Its members except the instances.
    pub(super) members: Vec<Range<usize>>,
    pub(super) objects: Vec<Range<usize>>,
    /// Objects that it had are among the gaps.
    pub(super) lost_objects: bool,
}

impl Pieces {
    /// The format, if the member could be read.
    pub(super) fn version(&self, text: &[u8]) -> Option<u64> {
        let member = self.header.iter().rev().find(|range| name(text, range) == Some("version"))?;
        let (_, value) = member_of(text, member)?;
        str::from_utf8(text.get(value)?).ok()?.trim().parse().ok()
    }

    /// Gives up a lineage in damaged surroundings unless it has the form that all writers give it: a part of another
    /// text may have taken its place.
    pub(super) fn doubt_lineage(&mut self, text: &[u8]) {
        let is_lineage = |range: &Range<usize>| name(text, range) == Some("lineage");
        let Some(at) = self.header.iter().position(is_lineage) else { return };
        let value = self.header.get(at).and_then(|range| member_of(text, range)).map(|(_, value)| value);
        if !value.and_then(|value| text.get(value)).is_some_and(is_uuid) {
            let range = self.header.remove(at);
            let reason = "it stands beside damage, and is not a UUID as lineages are".to_owned();
            self.gaps.push(Gap { range, what: Some("lineage".to_owned()), reason });
        }
    }

    /// Moves all pieces back by so many bytes.
    pub(super) fn shift(&mut self, by: usize) {
        let resources = self.resources.iter_mut().flat_map(|piece| {
            std::iter::once(&mut piece.range).chain(&mut piece.members).chain(&mut piece.objects)
        });
        let lists = self.header.iter_mut().chain(&mut self.outputs).chain(&mut self.checks);
        let gaps = self.gaps.iter_mut().map(|gap| &mut gap.range);
        for range in resources.chain(lists).chain(gaps) {
            *range = range.start + by..range.end + by;
        }
    }

    /// Whether there is anything of a state.
    pub(super) fn is_recognized(&self) -> bool {
        self.has_all || !self.resources.is_empty() || !self.outputs.is_empty()
    }
}

impl ResourcePiece {
    /// Whether its members come in the order of the writers, so that those in front of the instances are all.
    pub(super) fn is_in_order(&self, text: &[u8]) -> bool {
        let first = self.members.first().and_then(|member| name(text, member));
        matches!(first, Some("module" | "mode"))
    }

    /// The address, if all members that make it up are there.
    pub(super) fn address(&self, text: &[u8]) -> Option<AbsResource> {
        let mut module = ModuleInstance::root();
        let (mut mode, mut type_name, mut name) = (None, None, None);
        for range in &self.members {
            let (member, value) = member_of(text, range)?;
            let mut cursor = Cursor::new(text.get(value)?);
            let value = cursor.string().map(|text| text.decode().into_owned());
            match (member, value) {
                ("module", Ok(value)) => module = ModuleInstance::parse(&value).ok()?,
                ("mode", Ok(value)) if value == "managed" => mode = Some(ResourceMode::Managed),
                ("mode", Ok(value)) if value == "data" => mode = Some(ResourceMode::Data),
                ("type", Ok(value)) => type_name = Some(value),
                ("name", Ok(value)) => name = Some(value),
                _ => {}
            }
        }
        Some(Resource::new(mode?, &type_name?, &name?).absolute(module))
    }

    /// Whether its type or name is missing. Readers accept that, but no command could ever name it.
    pub(super) fn is_nameless(&self, text: &[u8]) -> bool {
        let has = |wanted: &str| {
            self.members.iter().filter_map(|range| member_of(text, range)).any(|(member, value)| {
                let is_empty = text.get(value).is_some_and(|value| value == b"\"\"");
                member == wanted && !is_empty
            })
        };
        !(has("type") && has("name"))
    }
}

/// Whether the text is a UUID in quotes.
fn is_uuid(text: &[u8]) -> bool {
    let dashes = [9, 14, 19, 24];
    let inside = |(at, b): (usize, &u8)| match at {
        0 | 37 => *b == b'"',
        at if dashes.contains(&at) => *b == b'-',
        _ => b.is_ascii_hexdigit(),
    };
    text.len() == 38 && text.iter().enumerate().all(inside)
}

/// The name of a member and the range of its value.
fn member_of<'t>(text: &'t [u8], range: &Range<usize>) -> Option<(&'t str, Range<usize>)> {
    let mut cursor = Cursor::at(text.get(..range.end)?, range.start, 1);
    let name = cursor.member(&mut true).ok()??;
    Some((str::from_utf8(name.raw).ok()?, cursor.offset()..range.end))
}

/// The name of a member, as it is written.
pub(super) fn name<'t>(text: &'t [u8], range: &Range<usize>) -> Option<&'t str> {
    member_of(text, range).map(|(name, _)| name)
}

/// The value of a member, as it is written.
pub(super) fn value<'t>(text: &'t [u8], range: &Range<usize>) -> Option<&'t [u8]> {
    text.get(member_of(text, range)?.1)
}
