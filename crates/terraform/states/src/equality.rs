//! When two states or objects count as equal, beyond the structural `==`.

use std::collections::BTreeSet;

use crate::addr::ResourceMode;
use crate::{ObjectSrc, Resource, ResourceInstance, State};

/// Whether both states have the same managed resources. Data resources, outputs and check results do not matter,
/// neither do order and duplicates of dependencies and sensitive paths.
///
/// An absent state equals one without managed objects, husks or not.
#[must_use]
pub fn managed_resources_equal(left: Option<&State>, right: Option<&State>) -> bool {
    let (left, right) = match (left, right) {
        (None, None) => return true,
        (Some(state), None) | (None, Some(state)) => return !state.has_managed_resource_instance_objects(),
        (Some(left), Some(right)) => (left, right),
    };
    let managed =
        |state| State::all_resources(state).filter(|(_, addr, _)| addr.mode == ResourceMode::Managed);
    managed(left).count() == managed(right).count()
        && managed(left)
            .zip(managed(right))
            .all(|(left, right)| (left.0, left.1) == (right.0, right.1) && left.2.is_equivalent(right.2))
}

impl Resource {
    /// Whether both have the same provider and equivalent instances.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self.provider == other.provider
            && self.extra == other.extra
            && self.instances.len() == other.instances.len()
            && self.instances.iter().zip(&other.instances).all(|((left_key, left), (right_key, right))| {
                left_key == right_key && left.is_equivalent(right)
            })
    }
}

impl ResourceInstance {
    /// Whether both have the same provider key and equivalent objects.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self.provider_key == other.provider_key
            && self.objects().count() == other.objects().count()
            && self
                .objects()
                .zip(other.objects())
                .all(|((left_at, left), (right_at, right))| left_at == right_at && left.is_equivalent(right))
    }
}

impl ObjectSrc {
    /// Whether both describe the same remote object: as `==`, but dependencies and sensitive paths are sets.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        // Taken apart completely, so that a new field cannot be forgotten here.
        let Self {
            schema_version,
            attributes,
            sensitive_paths,
            private,
            status,
            dependencies,
            depends_on,
            create_before_destroy,
            skip_destroy,
            identity,
            identity_schema_version,
            extra,
        } = self;
        *schema_version == other.schema_version
            && *attributes == other.attributes
            && *private == other.private
            && *status == other.status
            && *create_before_destroy == other.create_before_destroy
            && *skip_destroy == other.skip_destroy
            && *identity == other.identity
            && *identity_schema_version == other.identity_schema_version
            && *extra == other.extra
            && same_set(sensitive_paths, &other.sensitive_paths)
            && same_set(dependencies, &other.dependencies)
            && same_set(depends_on, &other.depends_on)
    }

    /// Sorts dependencies by their printed form and sensitive paths by their steps, and drops duplicates.
    ///
    /// For objects that are newly made. One that is only read and written again keeps its order.
    pub fn normalize_sets(&mut self) {
        self.dependencies.sort_by_cached_key(ToString::to_string);
        self.dependencies.dedup();
        self.depends_on.sort_by_cached_key(ToString::to_string);
        self.depends_on.dedup();
        self.sensitive_paths.sort();
        self.sensitive_paths.dedup();
    }
}

fn same_set<T: Ord>(left: &[T], right: &[T]) -> bool {
    left == right || left.iter().collect::<BTreeSet<_>>() == right.iter().collect::<BTreeSet<_>>()
}
