//! Deployments of version 1: resources knew neither providers nor whose they are.

use std::sync::Arc;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{Extra, Manifest, Properties, ResourceId, TypeToken, Urn};

use super::manifest;
use crate::reader::Reader;

/// A deployment of version 1.
#[derive(Debug, Default)]
pub(crate) struct DeploymentV1 {
    pub(crate) manifest: Manifest,
    pub(crate) resources: Vec<ResourceV1>,
    pub(crate) extra: Extra,
    /// Where it begins.
    pub(crate) offset: usize,
}

/// A resource of version 1.
#[derive(Debug, Default)]
pub(crate) struct ResourceV1 {
    pub(crate) urn: Urn,
    pub(crate) custom: bool,
    pub(crate) delete: bool,
    pub(crate) id: Option<ResourceId>,
    pub(crate) resource_type: TypeToken,
    pub(crate) inputs: Properties,
    pub(crate) defaults: Properties,
    pub(crate) outputs: Properties,
    pub(crate) parent: Option<Urn>,
    pub(crate) protect: bool,
    pub(crate) dependencies: Vec<Urn>,
    pub(crate) init_errors: Vec<Arc<str>>,
    pub(crate) extra: Extra,
    /// Where it begins.
    pub(crate) offset: usize,
}

/// Reads a deployment; nothing for `null`.
pub(crate) fn deployment(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Option<DeploymentV1>, Stop> {
    cursor.kind()?;
    let mut out = DeploymentV1 { offset: cursor.offset(), ..DeploymentV1::default() };
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
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(extra.map(|extra| DeploymentV1 { extra, ..out }))
}

fn resource(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<ResourceV1, Stop> {
    cursor.kind()?;
    let mark = reader.sink.len();
    let mut out = ResourceV1 { offset: cursor.offset(), ..ResourceV1::default() };
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
            b"defaults" => {
                out.defaults = reader.properties(cursor)?;
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
            b"dependencies" => {
                out.dependencies = reader.list(cursor)?;
            }
            b"initErrors" => {
                out.init_errors = reader.list(cursor)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    reader.sink.name_since(mark, out.urn.as_str());
    Ok(out)
}
