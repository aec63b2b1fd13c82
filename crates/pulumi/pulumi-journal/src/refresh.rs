//! What a refresh leaves behind: references to resources that are gone.

use std::collections::HashSet;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Urn};

/// Drops every reference to a resource that does not stand before the one which refers to it.
///
/// Parents, dependencies, dependencies of properties, what a resource is deleted or replaced with: all but providers, without
/// which nothing works. A child whose parent is gone has none. Unlike with Pulumi, which looks for parents anywhere, the
/// place counts for all of them, since a copy of the parent that stands after the child does not make the list valid. A name
/// that a resource used to have counts like its own. Lists that were empty stay as they are.
pub fn drop_dangling(resources: &mut [Arc<Resource>]) {
    let mut seen: HashSet<Urn> = HashSet::with_capacity(resources.len());
    for resource in resources {
        if resource.all_dependencies().any(|dependency| !seen.contains(dependency.urn)) {
            filter(Arc::make_mut(resource), &seen);
        }
        seen.insert(resource.urn.clone());
        seen.extend(resource.aliases.iter().cloned());
    }
}

fn filter(resource: &mut Resource, seen: &HashSet<Urn>) {
    let keep = |urn: &Urn| urn.is_empty() || seen.contains(urn);
    resource.parent = resource.parent.take().filter(keep);
    resource.dependencies.retain(keep);
    resource.property_dependencies.retain(|_, urns| {
        let Some(urns) = urns.as_mut().filter(|urns| !urns.is_empty()) else { return true };
        urns.retain(keep);
        !urns.is_empty()
    });
    resource.deleted_with = resource.deleted_with.take().filter(keep);
    resource.replace_with.retain(keep);
}
