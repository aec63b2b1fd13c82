//! Resources of version 3, which is where the model stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{
    CustomTimeouts, HookType, Properties, PropertyDependencies, Resource, ResourceId, StackFrame,
    StoredValue, Time, Timeouts, Urn,
};

use crate::members::read_member;
use crate::reader::Reader;

/// Reads a resource.
pub(crate) fn resource(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Resource, Stop> {
    let mark = reader.sink.len();
    let mut out = Resource::default();
    let extra = reader.object(cursor, |reader, name, cursor| read_member(reader, &mut out, name, cursor))?;
    out.extra = extra.unwrap_or_default();
    reader.sink.name_since(mark, out.urn.as_str());
    Ok(out)
}

// How the table of members has each form read.

pub(crate) fn required<T: From<Arc<str>>>(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<T, Stop> {
    Ok(reader.shared(cursor)?.unwrap_or_default().into())
}

pub(crate) fn required_flag(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
    reader.flag(cursor)
}

pub(crate) fn flag(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
    reader.flag(cursor)
}

/// A text that no other member is likely to hold too.
pub(crate) fn id(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<ResourceId>, Stop> {
    Ok(reader.text(cursor)?.filter(|id| !id.is_empty()).map(Into::into))
}

pub(crate) fn text<T: From<Arc<str>>>(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
) -> Result<Option<T>, Stop> {
    reader.optional(cursor)
}

pub(crate) fn list<T: From<Arc<str>>>(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Vec<T>, Stop> {
    reader.list(cursor)
}

pub(crate) fn properties(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Properties, Stop> {
    reader.properties(cursor)
}

pub(crate) fn time(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<Time>, Stop> {
    reader.time(cursor)
}

pub(crate) fn trigger(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<StoredValue>, Stop> {
    Ok(reader.value(cursor)?.map(StoredValue::Raw))
}

pub(crate) fn hooks(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
) -> Result<BTreeMap<HookType, Vec<Arc<str>>>, Stop> {
    let mut hooks = BTreeMap::new();
    reader.map(cursor, |reader, moment, cursor| {
        hooks.insert(moment.into(), reader.list(cursor)?);
        Ok(())
    })?;
    Ok(hooks)
}

/// Lists by property. An absent list stays apart from an empty one.
pub(crate) fn property_dependencies(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
) -> Result<PropertyDependencies, Stop> {
    let mut entries: Vec<(Arc<str>, Option<Vec<Urn>>)> = Vec::new();
    reader.map(cursor, |reader, property, cursor| {
        let absent = cursor.kind()? == groundstate_json::Kind::Null;
        let urns = reader.list(cursor)?;
        entries.push((property, (!absent).then_some(urns)));
        Ok(())
    })?;
    Ok(entries.into_iter().collect())
}

pub(crate) fn timeouts(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<CustomTimeouts, Stop> {
    let mut out = Timeouts::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        let slot = match name {
            b"create" => &mut out.create,
            b"update" => &mut out.update,
            b"delete" => &mut out.delete,
            b"read" => &mut out.read,
            _ => return Ok(false),
        };
        *slot = reader.seconds(cursor)?;
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out.into())
}

pub(crate) fn stack_trace(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Vec<StackFrame>, Stop> {
    let mut frames = Vec::new();
    reader.array(cursor, |reader, cursor| {
        let mut frame = StackFrame::default();
        let extra = reader.object(cursor, |reader, name, cursor| match name {
            b"sourcePosition" => {
                frame.source_position = reader.optional(cursor)?;
                Ok(true)
            }
            _ => Ok(false),
        })?;
        frame.extra = extra.unwrap_or_default();
        frames.push(frame);
        Ok(())
    })?;
    Ok(frames)
}
