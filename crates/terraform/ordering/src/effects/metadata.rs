//! What instances without an operation record from now on.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_states::addr::{AbsResourceInstance, ConfigResource, ProviderInstance};
use groundstate_states::{ObjectSrc, State};

use super::{Meta, Mutation, Operation};
use crate::{ApplyKind, OpKind};

/// The instances whose current object records something else than what is wanted, with what to do about it.
///
/// Without this, a flag that a resource inherits is lost when only its dependency is touched. Give the instances for
/// which the plan has no operation; the operations given back are checks, which call no provider.
///
/// Dependencies are compared as sets, so what is only sorted differently stays as it is.
#[must_use]
pub fn metadata_writes(
    state: &State,
    wanted: &BTreeMap<AbsResourceInstance, Meta>,
) -> Vec<(Operation, Mutation)> {
    let mut writes = Vec::new();
    for (addr, meta) in wanted {
        let Some(instance) = state.resource_instance(addr) else { continue };
        let Some(resource) = state.resource(&addr.resource) else { continue };
        if instance.current.as_ref().is_none_or(|object| records(object, meta)) {
            continue;
        }
        let provider =
            ProviderInstance { config: resource.provider.clone(), key: instance.provider_key.clone() };
        let check = Operation::new(addr.clone(), OpKind::Apply(ApplyKind::Check), provider);
        writes.push((check.recording(meta.clone()), Mutation::WriteMeta(meta.clone())));
    }
    writes
}

fn records(object: &ObjectSrc, meta: &Meta) -> bool {
    let set = |dependencies: &[ConfigResource]| dependencies.iter().cloned().collect::<BTreeSet<_>>();
    object.create_before_destroy == meta.create_before_destroy
        && set(&object.dependencies) == set(&meta.dependencies)
}
