//! Which addresses lie inside which.

use super::{AbsResource, AbsResourceInstance, ConfigResource, Module, ModuleInstance, ModuleStep, Target};

impl ModuleInstance {
    /// Whether `other` is this module instance or lies inside it.
    ///
    /// If the last step has no key it stands for all instances of that call; earlier steps must be equal.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        let Some((last, parents)) = self.steps().split_last() else { return true };
        let Some((others, [step, ..])) = other.steps().split_at_checked(parents.len()) else { return false };
        parents == others && matches_step(last, step)
    }

    /// Whether every instance of the module, and of modules inside it, lies in this one: only if no step has a key.
    #[must_use]
    pub fn contains_config(&self, other: &Module) -> bool {
        let keyless = self.steps().iter().all(|step| step.key.is_none());
        let names = self.steps().iter().map(|step| &step.name);
        keyless
            && self.steps().len() <= other.steps().len()
            && names.eq(other.steps().iter().take(self.steps().len()))
    }

    /// Whether `other` lies strictly inside this module instance. A step without a key, anywhere, stands for all instances.
    #[must_use]
    pub fn is_ancestor_of(&self, other: &Self) -> bool {
        let steps = self.steps();
        steps.len() < other.steps().len() && steps.iter().zip(other.steps()).all(|(a, b)| matches_step(a, b))
    }
}

fn matches_step(pattern: &ModuleStep, step: &ModuleStep) -> bool {
    pattern.name == step.name && (pattern.key.is_none() || pattern.key == step.key)
}

impl Module {
    /// Whether the instance is one of this module.
    #[must_use]
    pub fn is_module_of(&self, instance: &ModuleInstance) -> bool {
        self.steps().iter().eq(instance.steps().iter().map(|step| &step.name))
    }
}

impl AbsResource {
    /// Whether this is the configured resource in a module without any key.
    #[must_use]
    pub fn contains_config(&self, other: &ConfigResource) -> bool {
        self.resource == other.resource
            && self.module.contains_config(&other.module)
            && self.module.steps().len() == other.module.steps().len()
    }
}

impl ConfigResource {
    /// Whether the resource is one that this configuration expands to.
    #[must_use]
    pub fn contains_resource(&self, other: &AbsResource) -> bool {
        self.resource == other.resource && self.module.is_module_of(&other.module)
    }

    /// Whether the instance is one that this configuration expands to.
    #[must_use]
    pub fn contains_instance(&self, other: &AbsResourceInstance) -> bool {
        self.contains_resource(&other.resource)
    }

    /// Whether everything that `target` names is part of this resource. A module never is.
    #[must_use]
    pub fn contains(&self, target: &Target) -> bool {
        match target {
            Target::Module(_) => false,
            Target::Resource(resource) => self.contains_resource(resource),
            Target::Instance(instance) => self.contains_instance(instance),
        }
    }
}
