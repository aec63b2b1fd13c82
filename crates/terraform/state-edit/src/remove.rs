//! Removals: forgetting objects without destroying them.

use std::collections::{BTreeMap, HashSet};

use groundstate_states::DeposedObject;
use groundstate_states::addr::{AbsResource, InstanceKey, ModuleInstance, Target};

use super::Editor;
use super::error::RemoveError;
use super::summary::{Change, Summary};
use groundstate_statefile::ReadError;

/// An instance, or a resource that has none.
type Removal = (AbsResource, Option<InstanceKey>);

impl Editor<'_> {
    /// Forgets everything at these addresses. What depends on it keeps saying so, as in Terraform.
    ///
    /// A module means all that is inside, in every instance where it has no key. Addresses that match nothing are
    /// listed in the summary. Resources without instances go as well, which Terraform leaves behind.
    ///
    /// # Errors
    ///
    /// When nothing matches at all.
    pub fn remove(&mut self, targets: &[Target]) -> Result<Summary, RemoveError> {
        let mut missing = Vec::new();
        let mut removals: Vec<Removal> = Vec::new();
        let mut seen = HashSet::new();
        for target in targets {
            let matches = self.matches(target);
            if matches.is_empty() {
                missing.push(target.clone());
            }
            // What two addresses match is removed and counted once.
            removals.extend(matches.into_iter().filter(|removal| seen.insert(removal.clone())));
        }
        if removals.is_empty() {
            return Err(RemoveError::NothingMatched { targets: targets.to_vec() });
        }
        self.attempt(|editor| editor.remove_all(&removals))?;
        let changes = removals.into_iter().map(|(resource, key)| match key {
            Some(key) => Change::Removed(resource.instance(key)),
            None => Change::RemovedEmptyResource(resource),
        });
        Ok(Summary { changes: changes.collect(), missing, ..Summary::default() })
    }

    /// Forgets one deposed object. Its instance goes too if it has no other object.
    ///
    /// # Errors
    ///
    /// When there is no such object.
    pub fn remove_deposed(&mut self, object: &DeposedObject) -> Result<Summary, RemoveError> {
        let DeposedObject { instance: address, key } = object;
        let missing = || RemoveError::NoDeposed { object: object.clone() };
        let instance = self.working_set.instance(address)?;
        if !instance.is_some_and(|instance| instance.deposed.contains_key(key)) {
            return Err(missing());
        }
        let Some(resource) = self.working_set.edit(&address.resource)? else { return Err(missing()) };
        if let Some(instance) = resource.instances.get_mut(&address.key) {
            instance.deposed.remove(key);
            if !instance.has_objects() {
                resource.instances.remove(&address.key);
            }
        }
        if resource.instances.is_empty() {
            self.working_set.put(address.resource.clone(), None);
        }
        let changes = vec![Change::RemovedDeposed(address.clone(), *key)];
        Ok(Summary { changes, ..Summary::default() })
    }

    /// What a removal of this address removes, in the order of lists.
    pub(super) fn matches(&self, target: &Target) -> Vec<Removal> {
        match target {
            Target::Module(module) => {
                let all = self.working_set.lookup().inside(module).into_iter();
                let inside = all.filter(|address| is_around(module, &address.module));
                inside.flat_map(|address| self.all_of(&address)).collect()
            }
            Target::Resource(resource) => self.all_of(resource),
            Target::Instance(instance) if self.working_set.has_instance(instance) => {
                vec![(instance.resource.clone(), Some(instance.key.clone()))]
            }
            Target::Instance(_) => Vec::new(),
        }
    }

    /// All instances of a resource, or itself if it has none.
    fn all_of(&self, resource: &AbsResource) -> Vec<Removal> {
        match self.working_set.keys(resource) {
            None => Vec::new(),
            Some(keys) if keys.is_empty() => vec![(resource.clone(), None)],
            Some(keys) => keys.into_iter().map(|key| (resource.clone(), Some(key))).collect(),
        }
    }

    fn remove_all(&mut self, removals: &[Removal]) -> Result<(), ReadError> {
        let mut by_resource: BTreeMap<&AbsResource, Vec<&InstanceKey>> = BTreeMap::new();
        for (resource, key) in removals {
            by_resource.entry(resource).or_default().extend(key);
        }
        for (address, removed) in by_resource {
            // Nothing has to be decoded of a resource that goes as a whole.
            if self.working_set.keys(address).is_none_or(|keys| keys.len() == removed.len()) {
                self.working_set.put(address.clone(), None);
            } else if let Some(resource) = self.working_set.edit(address)? {
                for key in removed {
                    resource.instances.remove(key);
                }
            }
        }
        Ok(())
    }
}

fn is_around(outer: &ModuleInstance, module: &ModuleInstance) -> bool {
    outer.contains(module) || outer.is_ancestor_of(module)
}
