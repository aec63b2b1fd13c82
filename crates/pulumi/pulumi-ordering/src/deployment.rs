//! The list of a deployment as it is stored.

use std::collections::{BTreeMap, HashMap};

use groundstate_pulumi_snapshot as deployments;
use groundstate_pulumi_snapshot::{Resource, Snapshot};

use crate::{ProviderRef, StackEntry, Urn};

/// The entries of a snapshot, in its order.
///
/// Views are derived from another resource, and go with it: they have no entry, and what refers to one refers to its owner.
/// Where the owner is missing, or stands behind what refers to its view, that reference orders nothing, as in Pulumi.
/// Anything else is taken as it is; [`verify`](crate::verify) says what is wrong with it.
#[must_use]
pub fn entries_of(snapshot: &Snapshot) -> Vec<StackEntry> {
    let mut names = Names::of(snapshot);
    let resources = snapshot.indexed().filter(|(_, resource)| owner(resource).is_none());
    resources.map(|(at, resource)| entry(at, resource, &mut names)).collect()
}

/// The resource that this one is a view of.
fn owner(resource: &Resource) -> Option<&deployments::Urn> {
    resource.view_of.as_ref().filter(|urn| !urn.is_empty())
}

/// One name for each text, and whose name it is.
struct Names<'a> {
    /// The names of entries, with the place of the first of each.
    known: HashMap<&'a str, usize>,
    views: HashMap<&'a str, &'a str>,
    made: HashMap<&'a str, Urn>,
}

impl<'a> Names<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let (mut known, mut views) = (HashMap::new(), HashMap::new());
        for (at, resource) in snapshot.indexed() {
            match owner(resource) {
                Some(owner) => drop(views.insert(resource.urn.as_str(), owner.as_str())),
                None => {
                    known.entry(resource.urn.as_str()).or_insert(at);
                }
            }
        }
        Self { known, views, made: HashMap::new() }
    }

    fn get(&mut self, text: &'a str) -> Urn {
        let mut name = text;
        // Views of views lead on; a circle of them is left, and missed as any name that is not there.
        for _ in 0..self.views.len() {
            match self.views.get(name) {
                Some(owner) if !self.known.contains_key(name) => name = owner,
                _ => break,
            }
        }
        self.made.entry(name).or_insert_with(|| Urn::new(name)).clone()
    }

    /// Whether a name is that of a view, whose owner does not stand before this place.
    fn is_view_of_later(&self, at: usize, urn: &str, name: &Urn) -> bool {
        let is_view = !self.known.contains_key(urn) && self.views.contains_key(urn);
        is_view && self.known.get(name.as_str()).is_none_or(|owner| *owner > at)
    }

    /// Names that the entry at this place refers to. What refers to its own view does not depend on itself.
    fn others(&mut self, at: usize, own: &Urn, urns: &'a [deployments::Urn]) -> Vec<Urn> {
        if self.views.is_empty() {
            return urns.iter().filter(|urn| !urn.is_empty()).map(|urn| self.get(urn.as_str())).collect();
        }
        let found = urns.iter().filter(|urn| !urn.is_empty()).map(|urn| (urn, self.get(urn.as_str())));
        found
            .filter(|(urn, name)| name != own || own.as_str() == urn.as_str())
            .collect::<Vec<_>>()
            .into_iter()
            .filter(|(urn, name)| !self.is_view_of_later(at, urn.as_str(), name))
            .map(|(_, name)| name)
            .collect()
    }

    fn provider(&mut self, reference: &'a deployments::ProviderRef) -> ProviderRef {
        let known = reference.splits().find(|(urn, _)| self.known.contains_key(urn));
        let (urn, id) = known.or_else(|| reference.split_text().ok()).unwrap_or((reference.as_str(), ""));
        ProviderRef { urn: self.get(urn), id: id.to_owned() }
    }
}

fn entry<'a>(at: usize, resource: &'a Resource, names: &mut Names<'a>) -> StackEntry {
    let urn = names.get(resource.urn.as_str());
    let mut properties = BTreeMap::new();
    for (property, urns) in resource.property_dependencies.iter() {
        let urns = names.others(at, &urn, urns.unwrap_or_default());
        if !urns.is_empty() {
            properties.insert(property.to_owned(), urns);
        }
    }
    let one = |names: &mut Names<'a>, other: &'a Option<deployments::Urn>| {
        names.others(at, &urn, other.as_slice()).pop()
    };
    StackEntry {
        id: resource.id().map(|id| id.as_str().to_owned()),
        type_: resource.resource_type.as_str().to_owned(),
        custom: resource.custom,
        external: resource.external,
        provider: resource.provider().map(|reference| names.provider(reference)),
        parent: one(names, &resource.parent),
        dependencies: names.others(at, &urn, &resource.dependencies),
        property_dependencies: properties,
        deleted_with: one(names, &resource.deleted_with),
        replace_with: names.others(at, &urn, &resource.replace_with),
        protect: resource.protect,
        retain_on_delete: resource.retain_on_delete,
        delete: resource.delete,
        pending_replacement: resource.pending_replacement,
        init_errors: resource.init_errors.iter().map(ToString::to_string).collect(),
        urn,
    }
}
