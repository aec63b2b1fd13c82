//! Deployments of version 2: resources know their providers, and operations may be pending.

use std::sync::Arc;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{
    Extra, Manifest, OperationType, Properties, ProviderRef, ResourceId, TypeToken, Urn,
};

use super::manifest;
use crate::reader::Reader;

/// A deployment of version 2.
#[derive(Debug, Default)]
pub(crate) struct DeploymentV2 {
    pub(crate) manifest: Manifest,
    pub(crate) resources: Vec<ResourceV2>,
    pub(crate) pending_operations: Vec<OperationV1>,
    pub(crate) extra: Extra,
    /// Where it begins.
    pub(crate) offset: usize,
}

/// A pending operation of version 2; operations began to be counted there.
#[derive(Debug)]
pub(crate) struct OperationV1 {
    pub(crate) resource: ResourceV2,
    pub(crate) kind: OperationType,
    pub(crate) extra: Extra,
}

/// A resource of version 2.
#[derive(Debug, Default)]
pub(crate) struct ResourceV2 {
    pub(crate) urn: Urn,
    pub(crate) custom: bool,
    pub(crate) delete: bool,
    pub(crate) id: Option<ResourceId>,
    pub(crate) resource_type: TypeToken,
    pub(crate) inputs: Properties,
    pub(crate) outputs: Properties,
    pub(crate) parent: Option<Urn>,
    pub(crate) protect: bool,
    pub(crate) external: bool,
    pub(crate) dependencies: Vec<Urn>,
    pub(crate) init_errors: Vec<Arc<str>>,
    pub(crate) provider: Option<ProviderRef>,
    pub(crate) extra: Extra,
    /// Where it begins.
    pub(crate) offset: usize,
}

/// Names of the members of a resource that version 1 does not have.
pub(crate) const NEW_MEMBERS: [&str; 2] = ["external", "provider"];
/// The name of the member of a deployment that version 1 does not have.
pub(crate) const NEW_PARTS: [&str; 1] = ["pending_operations"];

/// Reads a deployment; nothing for `null`.
pub(crate) fn deployment(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<DeploymentV2>, Stop> {
    cursor.kind()?;
    let mut out = DeploymentV2 { offset: cursor.offset(), ..DeploymentV2::default() };
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"manifest" => {
                out.manifest = manifest::manifest(reader, cursor)?;
            }
            b"resources" => {
                out.resources.clear();
                reader.objects(cursor, |reader, cursor| {
                    out.resources.push(resource(reader, cursor)?);
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
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(extra.map(|extra| DeploymentV2 { extra, ..out }))
}

fn operation(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<OperationV1, Stop> {
    let kind = OperationType::Other(Arc::default());
    let mut out = OperationV1 { resource: ResourceV2::default(), kind, extra: Extra::new() };
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"resource" => {
                out.resource = resource(reader, cursor)?;
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

fn resource(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<ResourceV2, Stop> {
    cursor.kind()?;
    let mark = reader.sink.len();
    let mut out = ResourceV2 { offset: cursor.offset(), ..ResourceV2::default() };
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"urn" => {
                out.urn = reader.shared(cursor)?.unwrap_or_default().into();
            }
            b"custom" => {
                out.custom = reader.flag(cursor)?;
            }
            b"delete" => {
                out.delete = reader.flag(cursor)?;
            }
            b"id" => {
                out.id = reader.optional(cursor)?;
            }
            b"type" => {
                out.resource_type = reader.shared(cursor)?.unwrap_or_default().into();
            }
            b"inputs" => {
                out.inputs = reader.properties(cursor)?;
            }
            b"outputs" => {
                out.outputs = reader.properties(cursor)?;
            }
            b"parent" => {
                out.parent = reader.optional(cursor)?;
            }
            b"protect" => {
                out.protect = reader.flag(cursor)?;
            }
            b"external" => {
                out.external = reader.flag(cursor)?;
            }
            b"dependencies" => {
                out.dependencies = reader.list(cursor)?;
            }
            b"initErrors" => {
                out.init_errors = reader.list(cursor)?;
            }
            b"provider" => {
                out.provider = reader.optional(cursor)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    reader.sink.name_since(mark, out.urn.as_str());
    Ok(out)
}
