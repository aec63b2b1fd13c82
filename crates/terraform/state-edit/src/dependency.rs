//! Dependencies that objects record and should not.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_states::ObjectSrc;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource, Target};

use super::Editor;
use super::follow::rewrite;
use super::summary::{Change, Summary};
use groundstate_statefile::ReadError;

impl Editor<'_> {
    /// Removes what the objects at these addresses record of their dependence on a resource, deposed objects included. The
    /// summary is empty if none records it.
    ///
    /// This breaks a cycle of recorded dependencies. Where the configuration still says that the one depends on the other,
    /// the next apply records it again.
    ///
    /// # Errors
    ///
    /// When a part of the document cannot be decoded.
    pub fn remove_dependency(
        &mut self,
        from: &[Target],
        dependency: &ConfigResource,
    ) -> Result<Summary, ReadError> {
        let mut changed: BTreeSet<AbsResourceInstance> = BTreeSet::new();
        for address in self.working_set.mentioning([dependency]) {
            rewrite(&mut self.working_set, &address, |key, _, object| {
                let instance = address.instance(key.clone());
                if !from.iter().any(|target| is_meant(target, &instance)) {
                    return None;
                }
                let object = without(object, dependency)?;
                changed.insert(instance);
                Some(object)
            })?;
        }
        let change = |instance| Change::DependencyRemoved { instance, dependency: dependency.clone() };
        Ok(Summary { changes: changed.into_iter().map(change).collect(), ..Summary::default() })
    }
}

fn is_meant(target: &Target, instance: &AbsResourceInstance) -> bool {
    match target {
        Target::Module(module) => {
            let inside = &instance.resource.module;
            module.is_ancestor_of(inside) || module.contains(inside)
        }
        Target::Resource(resource) => *resource == instance.resource,
        Target::Instance(wanted) => wanted == instance,
    }
}

/// The object without the dependency, if it records it.
fn without(object: &ObjectSrc, dependency: &ConfigResource) -> Option<Arc<ObjectSrc>> {
    let mut new = object.clone();
    new.dependencies.retain(|recorded| recorded != dependency);
    new.depends_on.retain(|recorded| recorded.resource.to_config() != *dependency);
    let is_changed = (new.dependencies.len(), new.depends_on.len())
        != (object.dependencies.len(), object.depends_on.len());
    is_changed.then(|| Arc::new(new))
}
