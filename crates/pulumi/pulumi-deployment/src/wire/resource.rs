//! Resources of version 3, which is where the model stands.

use std::sync::Arc;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{Resource, StackFrame, StoredValue, Timeouts, Urn};

use crate::reader::{Known, Reader};

/// Reads a resource. The numbers of members are those of the order in which they are written.
pub(crate) fn resource(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Resource, Stop> {
    let mark = reader.sink.len();
    let mut out = Resource::default();
    let extra =
        reader.object(cursor, |reader, name, cursor| match identity(reader, &mut out, name, cursor)? {
            Some(number) => Ok(Some(number)),
            None => options(reader, &mut out, name, cursor),
        })?;
    out.extra = extra.unwrap_or_default();
    reader.sink.name_since(mark, out.urn.as_str());
    Ok(out)
}

/// Members 1 to 15: what the resource is and what it needs.
fn identity(
    reader: &mut Reader,
    out: &mut Resource,
    name: &[u8],
    cursor: &mut Cursor<'_>,
) -> Result<Known, Stop> {
    let number = match name {
        b"urn" => {
            out.urn = reader.shared(cursor)?.unwrap_or_default().into();
            1
        }
        b"custom" => {
            out.custom = reader.flag(cursor)?;
            2
        }
        b"delete" => {
            out.delete = reader.flag(cursor)?;
            3
        }
        b"id" => {
            out.id = reader.text(cursor)?.filter(|id| !id.is_empty()).map(Into::into);
            4
        }
        b"type" => {
            out.resource_type = reader.shared(cursor)?.unwrap_or_default().into();
            5
        }
        b"inputs" => {
            out.inputs = reader.properties(cursor)?;
            6
        }
        b"outputs" => {
            out.outputs = reader.properties(cursor)?;
            7
        }
        b"parent" => {
            out.parent = reader.optional(cursor)?;
            8
        }
        b"protect" => {
            out.protect = reader.flag(cursor)?;
            9
        }
        b"taint" => {
            out.taint = reader.flag(cursor)?;
            10
        }
        b"external" => {
            out.external = reader.flag(cursor)?;
            11
        }
        b"dependencies" => {
            out.dependencies = reader.list(cursor)?;
            12
        }
        b"initErrors" => {
            out.init_errors = reader.list(cursor)?;
            13
        }
        b"provider" => {
            out.provider = reader.optional(cursor)?;
            14
        }
        b"propertyDependencies" => {
            property_dependencies(reader, out, cursor)?;
            15
        }
        _ => return Ok(None),
    };
    Ok(Some(number))
}

/// Members 16 to 36: how the engine treats the resource.
fn options(
    reader: &mut Reader,
    out: &mut Resource,
    name: &[u8],
    cursor: &mut Cursor<'_>,
) -> Result<Known, Stop> {
    let number = match name {
        b"pendingReplacement" => {
            out.pending_replacement = reader.flag(cursor)?;
            16
        }
        b"additionalSecretOutputs" => {
            out.additional_secret_outputs = reader.list(cursor)?;
            17
        }
        b"aliases" => {
            out.aliases = reader.list(cursor)?;
            18
        }
        b"customTimeouts" => {
            out.custom_timeouts = timeouts(reader, cursor)?.into();
            19
        }
        b"importID" => {
            out.import_id = reader.text(cursor)?.filter(|id| !id.is_empty()).map(Into::into);
            20
        }
        b"retainOnDelete" => {
            out.retain_on_delete = reader.flag(cursor)?;
            21
        }
        b"deletedWith" => {
            out.deleted_with = reader.optional(cursor)?;
            22
        }
        b"replaceWith" => {
            out.replace_with = reader.list(cursor)?;
            23
        }
        b"created" => {
            out.created = reader.time(cursor)?;
            24
        }
        b"modified" => {
            out.modified = reader.time(cursor)?;
            25
        }
        b"sourcePosition" => {
            out.source_position = reader.optional(cursor)?;
            26
        }
        b"stackTrace" => {
            out.stack_trace = stack_trace(reader, cursor)?;
            27
        }
        b"ignoreChanges" => {
            out.ignore_changes = reader.list(cursor)?;
            28
        }
        b"hideDiff" => {
            out.hide_diff = reader.list(cursor)?;
            29
        }
        b"replaceOnChanges" => {
            out.replace_on_changes = reader.list(cursor)?;
            30
        }
        b"replacementTrigger" => {
            out.replacement_trigger = reader.value(cursor)?.map(StoredValue::Raw);
            31
        }
        b"refreshBeforeUpdate" => {
            out.refresh_before_update = reader.flag(cursor)?;
            32
        }
        b"viewOf" => {
            out.view_of = reader.optional(cursor)?;
            33
        }
        b"resourceHooks" => {
            out.resource_hooks.clear();
            reader.map(cursor, |reader, moment, cursor| {
                let names = reader.list(cursor)?;
                out.resource_hooks.insert(moment.into(), names);
                Ok(())
            })?;
            34
        }
        b"extensionRef" => {
            out.extension_ref = reader.optional(cursor)?;
            35
        }
        b"snippetID" => {
            out.snippet_id = reader.optional(cursor)?;
            36
        }
        _ => return Ok(None),
    };
    Ok(Some(number))
}

/// Lists by property. An absent list stays apart from an empty one.
fn property_dependencies(
    reader: &mut Reader,
    out: &mut Resource,
    cursor: &mut Cursor<'_>,
) -> Result<(), Stop> {
    let mut entries: Vec<(Arc<str>, Option<Vec<Urn>>)> = Vec::new();
    reader.map(cursor, |reader, property, cursor| {
        let absent = cursor.kind()? == groundstate_json::Kind::Null;
        let urns = reader.list(cursor)?;
        entries.push((property, (!absent).then_some(urns)));
        Ok(())
    })?;
    out.property_dependencies = entries.into_iter().collect();
    Ok(())
}

fn timeouts(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Timeouts, Stop> {
    let mut out = Timeouts::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        let (slot, number) = match name {
            b"create" => (&mut out.create, 0),
            b"update" => (&mut out.update, 1),
            b"delete" => (&mut out.delete, 2),
            b"read" => (&mut out.read, 3),
            _ => return Ok(None),
        };
        *slot = reader.seconds(cursor)?;
        Ok(Some(number))
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

fn stack_trace(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Vec<StackFrame>, Stop> {
    let mut frames = Vec::new();
    reader.array(cursor, |reader, cursor| {
        let mut frame = StackFrame::default();
        let extra = reader.object(cursor, |reader, name, cursor| match name {
            b"sourcePosition" => {
                frame.source_position = reader.optional(cursor)?;
                Ok(Some(0))
            }
            _ => Ok(None),
        })?;
        frame.extra = extra.unwrap_or_default();
        frames.push(frame);
        Ok(())
    })?;
    Ok(frames)
}
