//! Lists without views.

use std::collections::HashMap;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};

/// The resources of a snapshot, in its order, without views.
///
/// Views are derived from another resource, and go with it: what refers to one refers to its owner. Where the owner is missing, or
/// stands behind what refers to its view, that reference orders nothing, as in Pulumi. Anything else is taken as it is.
#[must_use]
pub fn without_views(snapshot: &Snapshot) -> Vec<Arc<Resource>> {
    if !snapshot.resources.iter().any(|resource| is_view(resource)) {
        return snapshot.resources.clone();
    }
    let views = Views::of(snapshot);
    let all = snapshot.resources.iter().enumerate().filter(|(_, resource)| !is_view(resource));
    all.map(|(at, resource)| views.resolved(at, resource)).collect()
}

/// Whether the resource is derived from another one.
pub(crate) fn is_view(resource: &Resource) -> bool {
    owner(resource).is_some()
}

/// The resource that this one is a view of.
fn owner(resource: &Resource) -> Option<&Urn> {
    resource.view_of.as_ref().filter(|urn| !urn.is_empty())
}

struct Views<'a> {
    /// The names of resources that are no views, with the place of the first of each.
    places: HashMap<&'a Urn, usize>,
    owners: HashMap<&'a Urn, &'a Urn>,
}

impl<'a> Views<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let (mut places, mut owners) = (HashMap::new(), HashMap::new());
        for (at, resource) in snapshot.indexed() {
            match owner(resource) {
                Some(owner) => drop(owners.insert(&resource.urn, owner)),
                None => {
                    places.entry(&resource.urn).or_insert(at);
                }
            }
        }
        Self { places, owners }
    }

    fn is_view(&self, urn: &Urn) -> bool {
        self.owners.contains_key(urn) && !self.places.contains_key(urn)
    }

    /// The name that a reference of the resource at a place means; none if it orders nothing.
    fn name(&self, at: usize, own: &Urn, urn: &'a Urn) -> Option<&'a Urn> {
        let mut name = urn;
        // Views of views lead on; a circle of them is left, and has no place.
        for _ in 0..self.owners.len() {
            match self.owners.get(name) {
                Some(owner) if self.is_view(name) => name = owner,
                _ => break,
            }
        }
        let is_before = self.places.get(name).is_some_and(|place| *place <= at);
        (!self.is_view(urn) || (is_before && name != own)).then_some(name)
    }

    fn resolved(&self, at: usize, resource: &'a Arc<Resource>) -> Arc<Resource> {
        if !resource.all_dependencies().any(|one| self.is_view(one.urn)) {
            return Arc::clone(resource);
        }
        let names = |urns: &'a [Urn]| -> Vec<Urn> {
            urns.iter().filter_map(|urn| self.name(at, &resource.urn, urn).cloned()).collect()
        };
        let name = |urn: &'a Option<Urn>| names(urn.as_slice()).pop();
        let properties = resource.property_dependencies.iter();
        Arc::new(Resource {
            parent: name(&resource.parent),
            dependencies: names(&resource.dependencies),
            property_dependencies: properties.map(|(property, urns)| (property, urns.map(names))).collect(),
            deleted_with: name(&resource.deleted_with),
            replace_with: names(&resource.replace_with),
            ..Resource::clone(resource)
        })
    }
}
