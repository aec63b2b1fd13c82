//! Recorded identities of remote objects, which some releases of a provider cannot read.

use std::sync::Arc;

use groundstate_statefile::ReadError;
use groundstate_states::addr::Target;
use groundstate_states::{ObjectSrc, ResourceInstance};

use super::Editor;
use super::summary::{Change, Summary};

impl Editor<'_> {
    /// Removes the recorded identity of all objects at these addresses, deposed ones included. The summary is empty if none
    /// has one.
    ///
    /// A provider that cannot decode an identity fails every plan. It records a new one at the next refresh.
    ///
    /// # Errors
    ///
    /// When a part of the document cannot be decoded.
    pub fn remove_identity(&mut self, targets: &[Target]) -> Result<Summary, ReadError> {
        let mut changes = Vec::new();
        let found: Vec<_> = targets.iter().flat_map(|target| self.matches(target)).collect();
        for (address, key) in found {
            let Some(key) = key else { continue };
            let instance = address.instance(key);
            if !self.working_set.instance(&instance)?.is_some_and(|found| has_identity(&found)) {
                continue;
            }
            let resource = self.working_set.edit(&address)?;
            if let Some(found) = resource.and_then(|resource| resource.instances.get_mut(&instance.key)) {
                found.current.iter_mut().chain(found.deposed.values_mut()).for_each(forget);
                changes.push(Change::IdentityRemoved(instance));
            }
        }
        Ok(Summary { changes, ..Summary::default() })
    }
}

fn has_identity(instance: &ResourceInstance) -> bool {
    let is_recorded =
        |object: &ObjectSrc| object.identity.is_some() || object.identity_schema_version.is_some();
    instance.objects().any(|(_, object)| is_recorded(object))
}

fn forget(object: &mut Arc<ObjectSrc>) {
    *object = Arc::new(ObjectSrc { identity: None, identity_schema_version: None, ..(**object).clone() });
}
