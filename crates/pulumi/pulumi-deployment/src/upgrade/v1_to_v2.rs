//! Version 1 to 2: defaults of inputs go; resources are owned and have no provider yet; nothing is pending.

use super::{drop_newer, present};
use crate::note::NoteKind;
use crate::sink::Sink;
use crate::wire::v1::{DeploymentV1, ResourceV1};
use crate::wire::v2::{DeploymentV2, NEW_MEMBERS, NEW_PARTS, ResourceV2};

/// Takes a deployment of version 1 to version 2.
pub(crate) fn deployment(old: DeploymentV1, sink: &mut Sink) -> DeploymentV2 {
    let offset = old.offset;
    DeploymentV2 {
        manifest: old.manifest,
        resources: old.resources.into_iter().map(|old| resource(old, sink)).collect(),
        pending_operations: Vec::new(),
        extra: drop_newer(old.extra, &NEW_PARTS, 1, offset, sink),
        offset,
    }
}

fn resource(old: ResourceV1, sink: &mut Sink) -> ResourceV2 {
    let offset = old.offset;
    if !old.defaults.is_empty() {
        let message = format!("format 2 has no defaults, those of {} are left out", old.urn);
        sink.note(NoteKind::Dropped, offset, message);
    }
    ResourceV2 {
        urn: old.urn,
        custom: old.custom,
        delete: old.delete,
        id: old.id,
        resource_type: old.resource_type,
        inputs: present(old.inputs),
        outputs: present(old.outputs),
        parent: old.parent,
        protect: old.protect,
        external: false,
        dependencies: old.dependencies,
        init_errors: old.init_errors,
        provider: None,
        extra: drop_newer(old.extra, &NEW_MEMBERS, 1, offset, sink),
        offset,
    }
}
