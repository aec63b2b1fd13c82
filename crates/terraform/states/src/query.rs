//! Questions to a state.

use std::collections::BTreeSet;

use crate::addr::{self, AbsResource, AbsResourceInstance, ConfigResource, ModuleInstance, ResourceMode};
use crate::addr::{ProviderConfig, ProviderSource};
use crate::{Generation, Module, ObjectSrc, OutputValue, Resource, ResourceInstance, State, Value};

impl State {
    /// Whether no module has a resource or an output. Local values and check results do not count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.modules().all(|(_, module)| module.resources.is_empty() && module.outputs.is_empty())
    }

    /// The resource at this address.
    #[must_use]
    pub fn resource(&self, addr: &AbsResource) -> Option<&Resource> {
        self.module(&addr.module)?.resource(&addr.resource)
    }

    /// The resource instance at this address.
    #[must_use]
    pub fn resource_instance(&self, addr: &AbsResourceInstance) -> Option<&ResourceInstance> {
        self.resource(&addr.resource)?.instances.get(&addr.key)
    }

    /// One object of the resource instance at this address.
    #[must_use]
    pub fn object(&self, addr: &AbsResourceInstance, generation: Generation) -> Option<&ObjectSrc> {
        self.resource_instance(addr)?.object(generation)
    }

    /// An output value of a module.
    #[must_use]
    pub fn output_value(&self, module: &ModuleInstance, name: &str) -> Option<&OutputValue> {
        self.module(module)?.outputs.get(name).map(|output| &**output)
    }

    /// A local value of a module.
    #[must_use]
    pub fn local_value(&self, module: &ModuleInstance, name: &str) -> Option<&Value> {
        self.module(module)?.locals.get(name)
    }

    /// Every instance of a module of the configuration.
    pub fn module_instances<'a>(
        &'a self,
        module: &'a addr::Module,
    ) -> impl Iterator<Item = (&'a ModuleInstance, &'a Module)> {
        self.modules().filter(|(instance, _)| is_instance_of(instance, module))
    }

    /// The outputs of all instances of one call in `parent`, by instance and name.
    pub fn module_outputs<'a>(
        &'a self,
        parent: &'a ModuleInstance,
        call: &'a str,
    ) -> impl Iterator<Item = (&'a ModuleInstance, &'a str, &'a OutputValue)> {
        let called = move |instance: &ModuleInstance| match instance.steps().split_last() {
            Some((last, before)) => &*last.name == call && before == parent.steps(),
            None => false,
        };
        self.modules().filter(move |(instance, _)| called(instance)).flat_map(|(instance, module)| {
            module.outputs.iter().map(move |(name, output)| (instance, &**name, &**output))
        })
    }

    /// Every resource, in the order of lists.
    pub fn all_resources(&self) -> impl Iterator<Item = (&ModuleInstance, &addr::Resource, &Resource)> {
        self.modules().flat_map(|(module_addr, module)| {
            module.resources.iter().map(move |(addr, resource)| (module_addr, addr, &**resource))
        })
    }

    /// The resource of the configuration in every instance of its module.
    pub fn resources<'a>(
        &'a self,
        config: &'a ConfigResource,
    ) -> impl Iterator<Item = (AbsResource, &'a Resource)> {
        self.module_instances(&config.module).filter_map(|(module_addr, module)| {
            let resource = module.resource(&config.resource)?;
            let addr = AbsResource { module: module_addr.clone(), resource: config.resource.clone() };
            Some((addr, resource))
        })
    }

    /// Every resource instance, in the order of lists.
    pub fn resource_instances(&self) -> impl Iterator<Item = (AbsResourceInstance, &ResourceInstance)> {
        self.all_resources().flat_map(|(module, addr, resource)| {
            let resource_addr = AbsResource { module: module.clone(), resource: addr.clone() };
            resource.instances.iter().map(move |(key, instance)| {
                (AbsResourceInstance { resource: resource_addr.clone(), key: key.clone() }, instance)
            })
        })
    }

    /// Every object, in the order of lists: by instance, the current one before the deposed ones.
    pub fn objects(&self) -> impl Iterator<Item = (AbsResourceInstance, Generation, &ObjectSrc)> {
        self.resource_instances().flat_map(|(addr, instance)| {
            instance.objects().map(move |(generation, object)| (addr.clone(), generation, object))
        })
    }

    /// Whether any managed resource has an object. Husks and data resources do not count.
    #[must_use]
    pub fn has_managed_resource_instance_objects(&self) -> bool {
        let mut managed = self.all_resources().filter(|(_, addr, _)| addr.mode == ResourceMode::Managed);
        managed.any(|(_, _, resource)| resource.instances.values().any(ResourceInstance::has_objects))
    }

    /// Where every object of a managed resource is, in the order of lists.
    #[must_use]
    pub fn managed_resource_instance_object_addrs(&self) -> Vec<(AbsResourceInstance, Generation)> {
        let managed = |addr: &AbsResourceInstance| addr.resource.resource.mode == ResourceMode::Managed;
        self.objects().filter(|(addr, ..)| managed(addr)).map(|(addr, at, _)| (addr, at)).collect()
    }

    /// Where every object is, in the order of lists.
    #[must_use]
    pub fn resource_instance_object_addrs(&self) -> Vec<(AbsResourceInstance, Generation)> {
        self.objects().map(|(addr, at, _)| (addr, at)).collect()
    }

    /// The provider configuration that managed the resource last.
    #[must_use]
    pub fn resource_provider(&self, addr: &AbsResource) -> Option<&ProviderConfig> {
        self.resource(addr).map(|resource| &resource.provider)
    }

    /// The distinct provider configurations of all resources, sorted by their printed form.
    #[must_use]
    pub fn provider_addrs(&self) -> Vec<&ProviderConfig> {
        let distinct: BTreeSet<_> = self.all_resources().map(|(_, _, resource)| &resource.provider).collect();
        let mut sorted: Vec<_> = distinct.into_iter().collect();
        sorted.sort_by_cached_key(ToString::to_string);
        sorted
    }

    /// The distinct providers of all resources.
    #[must_use]
    pub fn provider_requirements(&self) -> BTreeSet<&ProviderSource> {
        self.all_resources().map(|(_, _, resource)| &resource.provider.source).collect()
    }

    /// The instances of a resource of the configuration that have a current object.
    #[must_use]
    pub fn instances_matching_config_resource(&self, config: &ConfigResource) -> Vec<AbsResourceInstance> {
        let current = |(addr, resource): (AbsResource, &Resource)| {
            let keys = resource.instances.iter().filter(|(_, instance)| instance.current.is_some());
            keys.map(|(key, _)| AbsResourceInstance { resource: addr.clone(), key: key.clone() })
                .collect::<Vec<_>>()
        };
        self.resources(config).flat_map(current).collect()
    }
}

fn is_instance_of(instance: &ModuleInstance, module: &addr::Module) -> bool {
    let names = instance.steps().iter().map(|step| &step.name);
    names.eq(module.steps())
}
