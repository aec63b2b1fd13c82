//! The parts of a deployment of version 3 besides its resources.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{
    Extension, IntegrityErrorMetadata, SecretsProvider, SnapshotMetadata, Snippet, SnippetDescriptor,
};

use crate::problem::Code;
use crate::reader::{Reader, raw_json};

/// Reads the secrets provider; nothing for `null`.
pub(crate) fn secrets_provider(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
) -> Result<Option<SecretsProvider>, Stop> {
    let mut out = SecretsProvider::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"type" => {
                out.kind = reader.text(cursor)?.unwrap_or_default();
            }
            b"state" => {
                // Even `null` is a state, and written again.
                out.state = Some(raw_json(cursor.raw()?));
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(extra.map(|extra| SecretsProvider { extra, ..out }))
}

pub(super) fn metadata(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<SnapshotMetadata, Stop> {
    let mut out = SnapshotMetadata::default();
    let extra = reader.object(cursor, |reader, name, cursor| match name {
        b"integrity_error" => {
            out.integrity_error = integrity_error(reader, cursor)?;
            Ok(true)
        }
        _ => Ok(false),
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

fn integrity_error(
    reader: &mut Reader,
    cursor: &mut Cursor<'_>,
) -> Result<Option<IntegrityErrorMetadata>, Stop> {
    let mut out = IntegrityErrorMetadata::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"version" => {
                out.version = reader.text(cursor)?.unwrap_or_default();
            }
            b"command" => {
                out.command = reader.text(cursor)?.unwrap_or_default();
            }
            b"error" => {
                out.error = reader.text(cursor)?.unwrap_or_default();
            }
            b"env_vars" => {
                out.env_vars.clear();
                reader.map(cursor, |reader, variable, cursor| {
                    out.env_vars.insert(variable, reader.text(cursor)?.unwrap_or_default());
                    Ok(())
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(extra.map(|extra| IntegrityErrorMetadata { extra, ..out }))
}

pub(crate) fn snippet(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Snippet, Stop> {
    let mut out = Snippet::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"uuid" => {
                out.uuid = reader.shared(cursor)?.unwrap_or_default().into();
            }
            b"name" => {
                out.name = reader.text(cursor)?.unwrap_or_default();
            }
            b"type" => {
                out.kind = reader.shared(cursor)?.unwrap_or_default().into();
            }
            b"code" => {
                out.code = reader.text(cursor)?.unwrap_or_default();
            }
            b"descriptor" => {
                out.descriptor = descriptor(reader, cursor)?;
            }
            b"references" => {
                out.references.clear();
                reader.map(cursor, |reader, name, cursor| {
                    out.references.insert(name, reader.shared(cursor)?.unwrap_or_default().into());
                    Ok(())
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

fn descriptor(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<SnippetDescriptor, Stop> {
    let mut out = SnippetDescriptor::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"name" => {
                out.name = reader.text(cursor)?.unwrap_or_default();
            }
            b"version" => {
                out.version = reader.text(cursor)?;
            }
            b"downloadURL" => {
                out.download_url = reader.optional(cursor)?;
            }
            b"parameterization" => {
                out.parameterization = extension(reader, cursor)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

/// Reads an extension or a parameterization; nothing for `null`.
pub(crate) fn extension(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<Extension>, Stop> {
    let mut out = Extension::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"name" => {
                out.name = reader.text(cursor)?.unwrap_or_default();
            }
            b"version" => {
                out.version = reader.text(cursor)?.unwrap_or_default();
            }
            b"value" => {
                out.value = bytes(reader, cursor)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(extra.map(|extra| Extension { extra, ..out }))
}

/// Reads bytes in base64.
fn bytes(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Arc<[u8]>, Stop> {
    let Some(found) = reader.string(cursor)? else { return Ok(Arc::default()) };
    match STANDARD.decode(found.decode().as_bytes()) {
        Ok(bytes) => Ok(bytes.into()),
        Err(_) => {
            let detail = "these bytes are not written in standard base64 with padding";
            reader.sink.problem(Code::Base64, found.offset, detail);
            Ok(Arc::default())
        }
    }
}
