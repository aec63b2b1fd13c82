//! Version 2 to 3: every input is taken to depend on all that its resource depends on.

use std::sync::Arc;

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{Operation, Properties, PropertyDependencies, Resource, Snapshot, Urn};

use super::drop_newer;
use crate::members::RESOURCE_MEMBERS;
use crate::sink::Sink;
use crate::wire::v2::{DeploymentV2, OperationV1, ResourceV2};
use crate::wire::v3::MEMBERS;

/// Takes a deployment of version 2 to the model, which is that of version 3.
pub(crate) fn deployment(old: DeploymentV2, sink: &mut Sink) -> Snapshot {
    let resources = old.resources.into_iter().map(|old| Arc::new(resource(old, sink))).collect();
    let pending = old.pending_operations.into_iter().map(|old| operation(old, sink)).collect();
    Snapshot {
        manifest: old.manifest,
        resources,
        pending_operations: pending,
        extra: drop_newer(old.extra, &MEMBERS, 2, old.offset, sink),
        ..Snapshot::default()
    }
}

fn operation(old: OperationV1, sink: &mut Sink) -> Operation {
    let mut operation = Operation::new(resource(old.resource, sink), old.kind);
    operation.extra = old.extra;
    operation
}

fn resource(old: ResourceV2, sink: &mut Sink) -> Resource {
    Resource {
        property_dependencies: property_dependencies(&old.inputs, &old.dependencies),
        urn: old.urn,
        custom: old.custom,
        delete: old.delete,
        id: old.id,
        resource_type: old.resource_type,
        inputs: old.inputs,
        outputs: old.outputs,
        parent: old.parent,
        protect: old.protect,
        external: old.external,
        dependencies: old.dependencies,
        init_errors: old.init_errors,
        provider: old.provider,
        extra: drop_newer(old.extra, RESOURCE_MEMBERS, 2, old.offset, sink),
        ..Resource::default()
    }
}

/// All dependencies for each input, in a list of its own; no list if there are none.
fn property_dependencies(inputs: &Properties, dependencies: &[Urn]) -> PropertyDependencies {
    let list = (!dependencies.is_empty()).then(|| dependencies.to_vec());
    names(inputs).into_iter().map(|name| (name, list.clone())).collect()
}

fn names(inputs: &Properties) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    match inputs {
        Properties::Absent => {}
        Properties::Map(map) => names.extend(map.names().map(Arc::from)),
        Properties::Raw(raw) => {
            // The text was accepted as an object, so reading it again does not stop early.
            let _ = members(raw.as_str().as_bytes(), &mut names);
        }
    }
    names
}

fn members(text: &[u8], names: &mut Vec<Arc<str>>) -> Result<(), Stop> {
    let mut cursor = Cursor::new(text);
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        names.push(name.decode().into());
        cursor.skip()?;
    }
    Ok(())
}
