//! References to names that resources had before.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Urn, UrnField};

use super::step::Action;
use super::work::Work;

impl Work<'_> {
    /// Lets references to a name that no resource has follow the one resource that has it as an alias.
    ///
    /// Pulumi does so before each update. A name that two resources claim stays: neither is likelier.
    pub(super) fn aliases(&mut self) {
        let present = self.present_names();
        if present.is_empty() {
            return;
        }
        for index in 0..self.len() {
            let resource = self.at(index);
            let found = former_names(&resource, &present);
            if found.is_empty() {
                continue;
            }
            let mut followed = Resource::clone(&resource);
            // A reference to a provider that cannot be read is asked about later.
            let unreadable = followed.provider.take_if(|reference| reference.split_text().is_err());
            let rewritten = followed.rewrite_urns(|field, urn| match field {
                UrnField::Own | UrnField::Alias => None,
                _ => present.get(urn).cloned().flatten(),
            });
            if rewritten.is_err() {
                continue;
            }
            followed.provider = followed.provider.or(unreadable);
            for (from, to) in found {
                self.step(index, Action::FollowAlias { from, to });
            }
            if let Some(shared) = self.snapshot.resources.get_mut(index) {
                *shared = Arc::new(followed);
            }
        }
    }

    /// Aliases that no resource has as its name, each with the resource that claims it, or `None` if several do.
    fn present_names(&self) -> HashMap<Urn, Option<Urn>> {
        let mut present: HashMap<Urn, Option<Urn>> = HashMap::new();
        for resource in self.snapshot.resources.iter().filter(|resource| !resource.urn.is_empty()) {
            for alias in resource.aliases.iter().filter(|alias| !alias.is_empty() && !self.is_taken(alias)) {
                let claim = present.entry(alias.clone()).or_insert_with(|| Some(resource.urn.clone()));
                if claim.as_ref() != Some(&resource.urn) {
                    *claim = None;
                }
            }
        }
        present
    }
}

/// The names that a resource refers to and that one other resource had, with the present ones.
fn former_names(resource: &Resource, present: &HashMap<Urn, Option<Urn>>) -> BTreeSet<(Urn, Urn)> {
    let provider = resource.provider().and_then(|reference| reference.split().ok()).map(|(urn, _)| urn);
    let names = resource.all_dependencies().map(|edge| edge.urn).chain(&resource.view_of).chain(&provider);
    names.filter_map(|urn| Some((urn.clone(), present.get(urn)?.clone()?))).collect()
}
