//! Changes of a whole state: the operations of its modules, which are created and removed as needed.

use std::sync::Arc;

use crate::addr::{AbsResource, AbsResourceInstance, ModuleInstance, ProviderConfig, ProviderInstance};
use crate::{
    CheckResults, DeposedKey, Module, ObjectSrc, OutputValue, Resource, ResourceInstance, State, Value,
};

/// A change that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The root module can be emptied, not removed.
    #[error("the root module cannot be removed; remove its resources and outputs instead")]
    RootModule,
    /// Another deposed object of the instance has the key.
    #[error("{instance} already has a deposed object {key}; choose another key")]
    DeposedKeyInUse {
        /// The instance.
        instance: Box<AbsResourceInstance>,
        /// The key in use.
        key: DeposedKey,
    },
}

/// Operations on resources, instances and objects; see the methods of the same name on [`Module`].
impl State {
    /// Sets the provider of a resource, creating it without instances if it is missing.
    pub fn set_resource_provider(&mut self, addr: &AbsResource, provider: &ProviderConfig) {
        self.ensure_module(&addr.module).set_resource_provider(&addr.resource, provider);
    }

    /// Removes a resource with everything inside. Says whether it was there.
    pub fn remove_resource(&mut self, addr: &AbsResource) -> bool {
        self.edit(&addr.module, |module| module.remove_resource(&addr.resource).is_some()).unwrap_or(false)
    }

    /// Removes a resource if it is a husk. Says whether it is gone, or was never there.
    pub fn remove_resource_if_empty(&mut self, addr: &AbsResource) -> bool {
        self.edit(&addr.module, |module| module.remove_resource_if_empty(&addr.resource)).unwrap_or(true)
    }

    /// Stores a whole instance, or removes it, keeping the resource and its provider.
    pub fn set_resource_instance(
        &mut self,
        addr: &AbsResourceInstance,
        instance: Option<ResourceInstance>,
        provider: &ProviderConfig,
    ) {
        let resource = &addr.resource;
        self.ensure_module(&resource.module).set_resource_instance(
            &resource.resource,
            &addr.key,
            instance,
            provider,
        );
    }

    /// Sets the current object of an instance, or clears it and whatever is empty then.
    pub fn set_resource_instance_current(
        &mut self,
        addr: &AbsResourceInstance,
        object: Option<Arc<ObjectSrc>>,
        provider: &ProviderInstance,
    ) {
        let AbsResource { module, resource } = &addr.resource;
        // Without an object nothing can appear in a missing module, so it need not exist even for a moment.
        if object.is_some() {
            self.ensure_module(module);
        }
        self.edit(module, |module| {
            module.set_resource_instance_current(resource, &addr.key, object, provider);
        });
    }

    /// Sets a deposed object of an instance, or removes it and whatever is empty then.
    pub fn set_resource_instance_deposed(
        &mut self,
        addr: &AbsResourceInstance,
        key: DeposedKey,
        object: Option<Arc<ObjectSrc>>,
        provider: &ProviderInstance,
    ) {
        let AbsResource { module, resource } = &addr.resource;
        if object.is_some() {
            self.ensure_module(module);
        }
        self.edit(module, |module| {
            module.set_resource_instance_deposed(resource, &addr.key, key, object, provider);
        });
    }

    /// Removes an instance with all its objects, and whatever is empty then.
    pub fn forget_resource_instance_all(&mut self, addr: &AbsResourceInstance) {
        let AbsResource { module, resource } = &addr.resource;
        self.edit(module, |module| module.forget_resource_instance_all(resource, &addr.key));
    }

    /// Removes the current object of an instance, and whatever is empty then.
    pub fn forget_resource_instance_current(&mut self, addr: &AbsResourceInstance) {
        let AbsResource { module, resource } = &addr.resource;
        self.edit(module, |module| module.forget_resource_instance_current(resource, &addr.key));
    }

    /// Removes a deposed object of an instance, and whatever is empty then.
    pub fn forget_resource_instance_deposed(&mut self, addr: &AbsResourceInstance, key: DeposedKey) {
        let AbsResource { module, resource } = &addr.resource;
        self.edit(module, |module| module.forget_resource_instance_deposed(resource, &addr.key, key));
    }

    /// Makes the current object of an instance a deposed one, under a key made of random numbers that the caller
    /// draws. None if there is no current object.
    pub fn depose_resource_instance_object(
        &mut self,
        addr: &AbsResourceInstance,
        draw: impl FnMut() -> u32,
    ) -> Option<DeposedKey> {
        let instance = self.instance_with_current(addr)?;
        let key = instance.unused_deposed_key(draw);
        instance.depose(key).then_some(key)
    }

    /// Makes the current object of an instance a deposed one under the given key. False if there is no current
    /// object.
    ///
    /// # Errors
    /// When another deposed object of the instance has the key.
    pub fn depose_resource_instance_object_as(
        &mut self,
        addr: &AbsResourceInstance,
        key: DeposedKey,
    ) -> Result<bool, EditError> {
        let Some(instance) = self.instance_with_current(addr) else { return Ok(false) };
        if instance.depose(key) {
            return Ok(true);
        }
        Err(EditError::DeposedKeyInUse { instance: Box::new(addr.clone()), key })
    }

    /// Makes a deposed object the current one again. False, and nothing changes, if there is a current object or
    /// none of this key is deposed.
    pub fn maybe_restore_resource_instance_deposed(
        &mut self,
        addr: &AbsResourceInstance,
        key: DeposedKey,
    ) -> bool {
        let AbsResource { module, resource } = &addr.resource;
        // Asked before anything is changed, because access for changes copies a shared module.
        let restorable = self
            .resource_instance(addr)
            .is_some_and(|instance| instance.current.is_none() && instance.deposed.contains_key(&key));
        let instance = self.module_mut(module).filter(|_| restorable);
        let instance = instance.and_then(|module| module.instance_mut(resource, &addr.key));
        instance.is_some_and(|instance| instance.maybe_restore(key))
    }

    /// Looks before it leads to a copy of a shared module.
    fn instance_with_current(&mut self, addr: &AbsResourceInstance) -> Option<&mut ResourceInstance> {
        self.resource_instance(addr)?.current.as_ref()?;
        self.module_mut(&addr.resource.module)?.instance_mut(&addr.resource.resource, &addr.key)
    }
}

/// Operations on modules, values and check results.
impl State {
    /// Sets an output value of a module, in place of one of the same name.
    pub fn set_output_value(
        &mut self,
        module: &ModuleInstance,
        name: &str,
        output: impl Into<Arc<OutputValue>>,
    ) {
        self.ensure_module(module).set_output_value(name, output);
    }

    /// Removes an output value of a module. Says whether it was there.
    pub fn remove_output_value(&mut self, module: &ModuleInstance, name: &str) -> bool {
        self.edit(module, |module| module.remove_output_value(name).is_some()).unwrap_or(false)
    }

    /// Sets a local value of a module, in place of one of the same name.
    pub fn set_local_value(&mut self, module: &ModuleInstance, name: &str, value: Value) {
        self.ensure_module(module).set_local_value(name, value);
    }

    /// Removes a local value of a module. Says whether it was there.
    pub fn remove_local_value(&mut self, module: &ModuleInstance, name: &str) -> bool {
        self.edit(module, |module| module.remove_local_value(name).is_some()).unwrap_or(false)
    }

    /// Removes a module with everything inside; modules below it stay. Says whether it was there.
    ///
    /// # Errors
    /// When asked to remove the root.
    pub fn remove_module(&mut self, addr: &ModuleInstance) -> Result<bool, EditError> {
        if addr.is_root() {
            return Err(EditError::RootModule);
        }
        Ok(self.take_module(addr).is_some())
    }

    /// Removes every resource without instances, then every module other than the root without resources, also if
    /// it has outputs or local values. Meant for the time after everything was destroyed.
    pub fn prune_resource_husks(&mut self) {
        let is_husk = |resource: &Arc<Resource>| resource.instances.is_empty();
        for addr in self.module_addrs() {
            if self.module(&addr).is_some_and(|module| module.resources.values().any(is_husk)) {
                self.edit(&addr, Module::prune_resource_husks);
            }
            if self.module(&addr).is_some_and(|module| module.resources.is_empty()) {
                // The root is not among the modules that can be taken out.
                self.take_module(&addr);
            }
        }
    }

    /// Removes placeholders that a plan left, and whatever consists of nothing else.
    pub fn remove_planned_resource_instance_objects(&mut self) {
        for addr in self.module_addrs() {
            if self.module(&addr).is_some_and(Module::has_planned_objects) {
                self.edit(&addr, Module::remove_planned_resource_instance_objects);
            }
            self.prune_module(&addr);
        }
    }

    /// Forgets what conditions found, as if no run had ever checked them.
    pub fn discard_check_results(&mut self) {
        self.check_results = None;
    }

    /// Replaces what conditions found by the outcome of a run.
    pub fn record_check_results(&mut self, results: CheckResults) {
        self.check_results = Some(results);
    }

    fn module_addrs(&self) -> Vec<ModuleInstance> {
        self.modules().map(|(addr, _)| addr.clone()).collect()
    }

    /// Changes a module that exists, and removes it if it is empty then.
    fn edit<R>(&mut self, addr: &ModuleInstance, change: impl FnOnce(&mut Module) -> R) -> Option<R> {
        let answer = self.module_mut(addr).map(change);
        self.prune_module(addr);
        answer
    }
}
