//! Deployments of versions 3 and 4, which have the same shape, straight into the model.

use std::sync::Arc;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{Operation, OperationType, Resource, Snapshot};

use super::{manifest, parts, resource};
use crate::reader::Reader;

/// A deployment, and what its text says beyond the model.
#[derive(Debug)]
pub(crate) struct Deployment {
    pub(crate) snapshot: Snapshot,
    /// Whether `metadata` was there, which older writers left out.
    pub(crate) metadata: bool,
}

/// Names of all members, which older versions must not carry along as if they knew them.
pub(crate) const MEMBERS: [&str; 7] = [
    "manifest",
    "secrets_providers",
    "resources",
    "pending_operations",
    "metadata",
    "snippets",
    "extensions",
];

/// Reads a deployment; nothing for `null`.
pub(crate) fn deployment(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<Deployment>, Stop> {
    let mut out = Snapshot::default();
    let mut metadata = false;
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"manifest" => {
                out.manifest = manifest::manifest(reader, cursor)?;
            }
            b"secrets_providers" => {
                out.secrets_provider = parts::secrets_provider(reader, cursor)?;
            }
            b"resources" => {
                out.resources.clear();
                reader.objects(cursor, |reader, cursor| {
                    out.resources.push(Arc::new(resource::resource(reader, cursor)?));
                    Ok(())
                })?;
            }
            b"pending_operations" => {
                out.pending_operations.clear();
                reader.objects(cursor, |reader, cursor| {
                    out.pending_operations.push(operation(reader, cursor)?);
                    Ok(())
                })?;
            }
            b"metadata" => {
                metadata = true;
                out.metadata = parts::metadata(reader, cursor)?;
            }
            b"snippets" => {
                out.snippets.clear();
                reader.objects(cursor, |reader, cursor| {
                    out.snippets.push(parts::snippet(reader, cursor)?);
                    Ok(())
                })?;
            }
            b"extensions" => {
                out.extensions.clear();
                reader.map(cursor, |reader, reference, cursor| {
                    if let Some(extension) = parts::extension(reader, cursor)? {
                        out.extensions.insert(reference.into(), extension);
                    }
                    Ok(())
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(extra.map(|extra| Deployment { snapshot: Snapshot { extra, ..out }, metadata }))
}

pub(crate) fn operation(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Operation, Stop> {
    let mut out = Operation::new(Resource::default(), OperationType::Other(Arc::default()));
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"resource" => {
                out.resource = Arc::new(resource::resource(reader, cursor)?);
            }
            b"type" => {
                out.kind = OperationType::from(&*reader.text(cursor)?.unwrap_or_default());
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}
