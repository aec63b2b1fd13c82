//! Changes inside one module, with the housekeeping that keeps empty parts from staying behind.

use std::sync::Arc;

use crate::addr::{self, InstanceKey, ProviderConfig, ProviderInstance};
use crate::{DeposedKey, Module, ObjectSrc, ObjectStatus, OutputValue, Resource, ResourceInstance, Value};

/// The provider arguments of these operations name the configuration that manages the object from now on; it becomes
/// that of the whole resource. None of them is looked at when an object is removed, except by
/// [`Module::set_resource_instance_deposed`].
impl Module {
    /// Sets the provider of a resource, creating the resource without instances if it is missing.
    pub fn set_resource_provider(&mut self, addr: &addr::Resource, provider: &ProviderConfig) {
        self.ensure_resource(addr, provider).provider = provider.clone();
    }

    /// Takes a resource out with everything inside.
    pub fn remove_resource(&mut self, addr: &addr::Resource) -> Option<Arc<Resource>> {
        self.resources.remove(addr)
    }

    /// Takes a resource out if it is a husk. Says whether it is gone, or was never there.
    pub fn remove_resource_if_empty(&mut self, addr: &addr::Resource) -> bool {
        let empty = self.resources.get(addr).is_none_or(|resource| resource.instances.is_empty());
        if empty {
            self.resources.remove(addr);
        }
        empty
    }

    /// Stores a whole instance, or removes it. A resource that exists keeps its provider, and stays even if its
    /// last instance is removed; a missing one is created with `provider`.
    pub fn set_resource_instance(
        &mut self,
        addr: &addr::Resource,
        key: &InstanceKey,
        instance: Option<ResourceInstance>,
        provider: &ProviderConfig,
    ) {
        let resource = self.ensure_resource(addr, provider);
        match instance {
            Some(instance) => resource.instances.insert(key.clone(), instance),
            None => resource.instances.remove(key),
        };
    }

    /// Sets the current object of an instance, or clears it. Clearing removes the instance if no object is left,
    /// and the resource if no instance is left.
    pub fn set_resource_instance_current(
        &mut self,
        addr: &addr::Resource,
        key: &InstanceKey,
        object: Option<Arc<ObjectSrc>>,
        provider: &ProviderInstance,
    ) {
        match object {
            Some(object) => self.ensure_instance(addr, key, provider).current = Some(object),
            None => self.forget_resource_instance_current(addr, key),
        }
    }

    /// Sets a deposed object of an instance, or removes it. Either way `provider` becomes that of the resource and
    /// the instance; both are removed if nothing is left inside.
    pub fn set_resource_instance_deposed(
        &mut self,
        addr: &addr::Resource,
        key: &InstanceKey,
        deposed: DeposedKey,
        object: Option<Arc<ObjectSrc>>,
        provider: &ProviderInstance,
    ) {
        // Terraform sets the provider even when it removes an object, which may create the resource for a moment.
        let instance = self.ensure_instance(addr, key, provider);
        match object {
            Some(object) => instance.deposed.insert(deposed, object),
            None => instance.deposed.remove(&deposed),
        };
        self.prune_instance(addr, key);
    }

    /// Removes an instance with all its objects, and the resource if no instance is left.
    pub fn forget_resource_instance_all(&mut self, addr: &addr::Resource, key: &InstanceKey) {
        let Some(resource) = self.resources.get_mut(addr) else { return };
        if resource.instances.contains_key(key) {
            Arc::make_mut(resource).instances.remove(key);
        }
        self.prune_resource(addr);
    }

    /// Removes the current object of an instance, the instance if no object is left, and the resource if no
    /// instance is left.
    pub fn forget_resource_instance_current(&mut self, addr: &addr::Resource, key: &InstanceKey) {
        if let Some(instance) = self.instance_mut(addr, key) {
            instance.current = None;
            self.prune_instance(addr, key);
        }
        // A husk goes as well, although it never had the instance.
        self.prune_resource(addr);
    }

    /// Removes a deposed object of an instance, the instance if no object is left, and the resource if no instance
    /// is left.
    pub fn forget_resource_instance_deposed(
        &mut self,
        addr: &addr::Resource,
        key: &InstanceKey,
        deposed: DeposedKey,
    ) {
        if let Some(instance) = self.instance_mut(addr, key) {
            instance.deposed.remove(&deposed);
            self.prune_instance(addr, key);
        }
    }

    /// Sets an output value, in place of one of the same name.
    pub fn set_output_value(&mut self, name: &str, output: impl Into<Arc<OutputValue>>) {
        self.outputs.insert(name.into(), output.into());
    }

    /// Takes an output value out.
    pub fn remove_output_value(&mut self, name: &str) -> Option<Arc<OutputValue>> {
        self.outputs.remove(name)
    }

    /// Sets a local value, in place of one of the same name.
    pub fn set_local_value(&mut self, name: &str, value: Value) {
        self.locals.insert(name.into(), value);
    }

    /// Takes a local value out.
    pub fn remove_local_value(&mut self, name: &str) -> Option<Value> {
        self.locals.remove(name)
    }

    /// Removes every resource without instances.
    pub fn prune_resource_husks(&mut self) {
        self.resources.retain(|_, resource| !resource.instances.is_empty());
    }

    /// Removes placeholders that a plan left, and instances and resources that consist of nothing else.
    pub fn remove_planned_resource_instance_objects(&mut self) {
        self.resources.retain(|_, resource| {
            if !has_planned_objects(resource) {
                return true;
            }
            let resource = Arc::make_mut(resource);
            resource.instances.retain(|_, instance| {
                if !instance.objects().any(|(_, object)| is_planned(object)) {
                    return true;
                }
                instance.current.take_if(|object| is_planned(object));
                instance.deposed.retain(|_, object| !is_planned(object));
                instance.has_objects()
            });
            !resource.instances.is_empty()
        });
    }

    /// Whether any object is a placeholder that a plan left.
    #[must_use]
    pub fn has_planned_objects(&self) -> bool {
        self.resources.values().any(|resource| has_planned_objects(resource))
    }

    /// The instance, for changes; a shared resource is copied only if the instance exists.
    pub fn instance_mut(
        &mut self,
        addr: &addr::Resource,
        key: &InstanceKey,
    ) -> Option<&mut ResourceInstance> {
        let resource = self.resources.get_mut(addr)?;
        if !resource.instances.contains_key(key) {
            return None;
        }
        Arc::make_mut(resource).instances.get_mut(key)
    }

    fn ensure_resource(&mut self, addr: &addr::Resource, provider: &ProviderConfig) -> &mut Resource {
        let create = || Arc::new(Resource::new(provider.clone()));
        Arc::make_mut(self.resources.entry(addr.clone()).or_insert_with(create))
    }

    fn ensure_instance(
        &mut self,
        addr: &addr::Resource,
        key: &InstanceKey,
        provider: &ProviderInstance,
    ) -> &mut ResourceInstance {
        let resource = self.ensure_resource(addr, &provider.config);
        if resource.provider != provider.config {
            resource.provider = provider.config.clone();
        }
        let instance = resource.instances.entry(key.clone()).or_default();
        instance.provider_key = provider.key.clone();
        instance
    }

    fn prune_instance(&mut self, addr: &addr::Resource, key: &InstanceKey) {
        let Some(resource) = self.resources.get_mut(addr) else { return };
        if resource.instances.get(key).is_some_and(|instance| !instance.has_objects()) {
            Arc::make_mut(resource).instances.remove(key);
        }
        self.prune_resource(addr);
    }

    fn prune_resource(&mut self, addr: &addr::Resource) {
        if self.resources.get(addr).is_some_and(|resource| resource.instances.is_empty()) {
            self.resources.remove(addr);
        }
    }
}

impl ResourceInstance {
    /// Makes the current object a deposed one, under a key that the caller makes sure is not in use. Without a
    /// current object, or if the key is in use after all, nothing changes and the answer is false.
    pub fn depose(&mut self, key: DeposedKey) -> bool {
        if self.deposed.contains_key(&key) {
            return false;
        }
        let Some(object) = self.current.take() else { return false };
        self.deposed.insert(key, object);
        true
    }

    /// Makes a deposed object the current one again. If there is a current object, or none of this key is deposed,
    /// nothing changes and the answer is false.
    pub fn maybe_restore(&mut self, key: DeposedKey) -> bool {
        if self.current.is_some() {
            return false;
        }
        self.current = self.deposed.remove(&key);
        self.current.is_some()
    }
}

fn has_planned_objects(resource: &Resource) -> bool {
    resource.instances.values().flat_map(ResourceInstance::objects).any(|(_, object)| is_planned(object))
}

fn is_planned(object: &ObjectSrc) -> bool {
    object.status == ObjectStatus::Planned
}
