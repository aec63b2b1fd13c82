//! What a refresh leaves behind: references to resources that are gone.

use std::collections::HashSet;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Urn};

/// Drops every reference to a resource that does not stand before the one which refers to it.
///
/// Parents, dependencies, dependencies of properties, what a resource is deleted or replaced with: all but providers, without
/// which nothing works. A child whose parent is gone has none. Unlike with Pulumi, which looks for parents anywhere, the
/// place counts for all of them, since a copy of the parent that stands after the child does not make the list valid. A name
/// that a resource used to have counts like its own. Properties whose lists are empty go, as they do with Pulumi, also where
/// nothing dangles.
pub fn drop_dangling(resources: &mut [Arc<Resource>]) {
    let mut seen: HashSet<Urn> = HashSet::with_capacity(resources.len());
    for resource in resources {
        let mut lists = resource.property_dependencies.iter();
        let has_empty = lists.any(|(_, urns)| urns.unwrap_or_default().is_empty());
        drop(lists);
        if has_empty || resource.all_dependencies().any(|dependency| !seen.contains(dependency.urn)) {
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
        let Some(urns) = urns else { return false };
        urns.retain(keep);
        !urns.is_empty()
    });
    resource.deleted_with = resource.deleted_with.take().filter(keep);
    resource.replace_with.retain(keep);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_without_dependencies_go_and_others_stay() {
        let named = |name: &str| Resource::new(Urn::build("s", "p", "", "t:t:T", name), "t:t:T");
        let (a, mut b, mut c) = (named("a"), named("b"), named("c"));
        b.property_dependencies.insert("input", Some(Vec::new()));
        b.property_dependencies.insert("absent", None);
        b.property_dependencies.insert("kept", Some(vec![a.urn.clone()]));
        c.property_dependencies.insert("input", Some(vec![named("gone").urn]));
        let mut resources: Vec<Arc<Resource>> = [a, b, c].into_iter().map(Arc::new).collect();
        drop_dangling(&mut resources);
        let left = |at: usize| {
            let properties = resources[at].property_dependencies.iter();
            properties.map(|(property, _)| property.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(left(1), ["kept"]);
        assert!(left(2).is_empty());
    }
}
