//! Dependencies on what is moved: they follow it, or are wiped as Terraform does it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource, ModuleInstance, Target};
use groundstate_states::{Generation, ObjectSrc, ResourceInstance};

use super::shift::Batch;
use super::word_search::Words;
use super::working_set::WorkingSet;
use groundstate_statefile::ReadError;

/// The objects of which the dependencies changed, at the addresses they are going to have.
type Dependents = Vec<(AbsResourceInstance, Generation)>;

/// Where resources of the configuration go to.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// For each resource of the configuration, the modules it leaves and what it becomes.
    by_config: HashMap<ConfigResource, Vec<(ModuleInstance, ConfigResource)>>,
    /// Modules in which it stays as well.
    staying: HashMap<ConfigResource, Vec<ModuleInstance>>,
    resources: HashMap<AbsResource, AbsResource>,
    instances: HashMap<AbsResourceInstance, AbsResourceInstance>,
}

impl Routes {
    pub(super) fn new(working_set: &WorkingSet<'_>, batch: &Batch) -> Self {
        let mut routes = Self::default();
        let mut seen = HashSet::new();
        for shift in batch.shifts() {
            match &shift.keys {
                None => {
                    routes.resources.insert(shift.from.clone(), shift.to.clone());
                }
                Some((from, to)) => {
                    let (from, to) = (shift.from.instance(from.clone()), shift.to.instance(to.clone()));
                    routes.instances.insert(from, to);
                }
            }
            // Many instances of one resource may go the same way.
            if seen.insert((&shift.from, &shift.to)) {
                let ways = routes.by_config.entry(shift.from.to_config()).or_default();
                ways.push((shift.from.module.clone(), shift.to.to_config()));
            }
        }
        let staying = routes.by_config.keys().map(|config| {
            let stays = |address: &AbsResource| !routes.leaves(address, working_set);
            let modules =
                working_set.expansions(config).into_iter().filter(stays).map(|address| address.module);
            (config.clone(), modules.collect())
        });
        routes.staying = staying.collect();
        routes
    }

    /// Whether all instances of a resource are moved.
    fn leaves(&self, address: &AbsResource, working_set: &WorkingSet<'_>) -> bool {
        let moves = |key| self.instances.contains_key(&address.instance(key));
        self.resources.contains_key(address) || working_set.keys(address).into_iter().flatten().all(moves)
    }

    fn new_address(&self, instance: &AbsResourceInstance) -> AbsResourceInstance {
        match self.resources.get(&instance.resource) {
            Some(resource) => resource.instance(instance.key.clone()),
            None => self.instances.get(instance).unwrap_or(instance).clone(),
        }
    }

    /// The dependencies of an object in `module`, which is going to belong to the resource `own`.
    fn dependencies(
        &self,
        list: &[ConfigResource],
        module: &ModuleInstance,
        own: &ConfigResource,
    ) -> Vec<ConfigResource> {
        let mut new = Vec::with_capacity(list.len());
        for config in list {
            let ways = self.by_config.get(config).into_iter().flatten();
            let mut ways = ways.filter(|(from, _)| same_branch(module, from)).peekable();
            let stays = || {
                let modules = self.staying.get(config).into_iter().flatten();
                modules.into_iter().any(|other| same_branch(module, other))
            };
            if ways.peek().is_none() || stays() {
                new.push(config.clone());
            }
            // An object that depends on its own resource would wait for itself.
            new.extend(ways.map(|(_, to)| to).filter(|to| *to != own).cloned());
        }
        new
    }

    /// The object as another state has it, which this batch moves it to: it depends only on what comes along.
    pub(super) fn departing(
        &self,
        object: &ObjectSrc,
        module: &ModuleInstance,
        own: &ConfigResource,
    ) -> Option<Arc<ObjectSrc>> {
        let ways = |config| self.by_config.get(config).into_iter().flatten();
        let along = |config| {
            let ways = ways(config).filter(|(from, _)| same_branch(module, from));
            ways.map(|(_, to)| to).filter(|to| *to != own).cloned()
        };
        let dependencies = object.dependencies.iter().flat_map(along).collect();
        let moved = object.depends_on.iter().filter(|instance| self.moves(instance));
        changed(object, dependencies, moved.map(|instance| self.new_address(instance)).collect())
    }

    /// The object as it is once another state has what this batch moves: it depends on nothing that is gone.
    fn remaining(&self, object: &ObjectSrc, module: &ModuleInstance) -> Option<Arc<ObjectSrc>> {
        let is_gone = |config: &&ConfigResource| {
            let near = |other: &ModuleInstance| same_branch(module, other);
            let leaves = self.by_config.get(config).into_iter().flatten().any(|(from, _)| near(from));
            leaves && !self.staying.get(config).into_iter().flatten().any(near)
        };
        let dependencies = object.dependencies.iter().filter(|config| !is_gone(config)).cloned().collect();
        let depends_on = object.depends_on.iter().filter(|instance| !self.moves(instance)).cloned().collect();
        changed(object, dependencies, depends_on)
    }

    /// Whether the batch moves this instance.
    fn moves(&self, instance: &AbsResourceInstance) -> bool {
        self.resources.contains_key(&instance.resource) || self.instances.contains_key(instance)
    }

    /// The object with its new dependencies, if they differ.
    fn object(
        &self,
        object: &ObjectSrc,
        module: &ModuleInstance,
        own: &ConfigResource,
    ) -> Option<Arc<ObjectSrc>> {
        let dependencies = self.dependencies(&object.dependencies, module, own);
        let depends_on: Vec<_> =
            object.depends_on.iter().map(|instance| self.new_address(instance)).collect();
        changed(object, dependencies, depends_on)
    }
}

/// The object with these dependencies, if they differ from its own.
fn changed(
    object: &ObjectSrc,
    dependencies: Vec<ConfigResource>,
    depends_on: Vec<AbsResourceInstance>,
) -> Option<Arc<ObjectSrc>> {
    if dependencies == object.dependencies && depends_on == object.depends_on {
        return None;
    }
    Some(Arc::new(ObjectSrc {
        dependencies: settled(&object.dependencies, dependencies),
        depends_on: settled(&object.depends_on, depends_on),
        ..object.clone()
    }))
}

/// Whether `module` can mean the instance `other` when it names that module without keys: where both go through the
/// same calls, it means the instances that it is in itself.
fn same_branch(module: &ModuleInstance, other: &ModuleInstance) -> bool {
    let mut common = module.steps().iter().zip(other.steps()).take_while(|(a, b)| a.name == b.name);
    common.all(|(a, b)| a.key == b.key)
}

/// The new list without what stands in it twice, sorted by its text if the old one was.
fn settled<T: ToString + PartialEq>(old: &[T], new: Vec<T>) -> Vec<T> {
    if old == new {
        return new;
    }
    let sorted = old.is_sorted_by_key(ToString::to_string);
    let mut texts = HashSet::new();
    let mut list: Vec<_> = new.into_iter().map(|item| (item.to_string(), item)).collect();
    list.retain(|(text, _)| texts.insert(text.clone()));
    if sorted {
        list.sort_by(|a, b| a.0.cmp(&b.0));
    }
    list.into_iter().map(|(_, item)| item).collect()
}

/// Makes dependencies follow the moves of a batch that is about to happen.
pub(super) fn follow(working_set: &mut WorkingSet<'_>, batch: &Batch) -> Result<Dependents, ReadError> {
    let routes = Routes::new(working_set, batch);
    let mut dependents = Dependents::new();
    for address in working_set.mentioning(routes.by_config.keys()) {
        rewrite(working_set, &address, |key, generation, object| {
            let new = routes.new_address(&address.instance(key.clone()));
            let object = routes.object(object, &address.module, &new.resource.to_config())?;
            dependents.push((new, generation));
            Some(object)
        })?;
    }
    dependents.sort();
    Ok(dependents)
}

/// Makes objects forget their dependencies on what a batch is about to move to another state.
pub(super) fn forget(working_set: &mut WorkingSet<'_>, batch: &Batch) -> Result<Dependents, ReadError> {
    let routes = Routes::new(working_set, batch);
    let mut dependents = Dependents::new();
    for address in working_set.mentioning(routes.by_config.keys()) {
        rewrite(working_set, &address, |key, generation, object| {
            let instance = address.instance(key.clone());
            let object = (!routes.moves(&instance)).then(|| routes.remaining(object, &address.module))??;
            dependents.push((instance, generation));
            Some(object)
        })?;
    }
    dependents.sort();
    Ok(dependents)
}

/// Wipes the dependencies of all current objects that depend on anything that a batch is about to move.
pub(super) fn wipe(working_set: &mut WorkingSet<'_>, batch: &Batch) -> Result<Dependents, ReadError> {
    let routes = Routes::new(working_set, batch);
    let mut configs = HashSet::new();
    let mut modules = Vec::new();
    for (from, _) in batch.lines() {
        match from {
            Target::Module(module) => modules.push(module),
            Target::Resource(resource) => drop(configs.insert(resource.to_config())),
            Target::Instance(instance) => drop(configs.insert(instance.resource.to_config())),
        }
    }
    let hit = |config: &ConfigResource| {
        configs.contains(config) || modules.iter().any(|module| module.contains_config(&config.module))
    };
    let words = configs.iter().map(Words::of_resource);
    // The root cannot move, so every module has a last call.
    let calls =
        modules.iter().flat_map(|module| module.steps().last()).map(|step| Words::of_call(&step.name));
    let words = words.chain(calls).collect();
    let mut dependents = Dependents::new();
    for address in working_set.mentioning_any(&words, &hit) {
        rewrite(working_set, &address, |key, generation, object| {
            if generation != Generation::Current || !object.dependencies.iter().any(&hit) {
                return None;
            }
            dependents.push((routes.new_address(&address.instance(key.clone())), generation));
            Some(Arc::new(ObjectSrc { dependencies: Vec::new(), ..object.clone() }))
        })?;
    }
    dependents.sort();
    Ok(dependents)
}

/// Replaces the objects of a resource for which the change gives new ones.
pub(super) fn rewrite(
    working_set: &mut WorkingSet<'_>,
    address: &AbsResource,
    mut change: impl FnMut(
        &groundstate_states::addr::InstanceKey,
        Generation,
        &ObjectSrc,
    ) -> Option<Arc<ObjectSrc>>,
) -> Result<(), ReadError> {
    let Some(resource) = working_set.resource(address)? else { return Ok(()) };
    let mut new = Vec::new();
    for (key, instance) in &resource.instances {
        for (generation, object) in instance.objects() {
            new.extend(change(key, generation, object).map(|object| (key.clone(), generation, object)));
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    // Given back first, so that the change does not have to copy it.
    drop(resource);
    let Some(resource) = working_set.edit(address)? else { return Ok(()) };
    for (key, generation, object) in new {
        if let Some(instance) = resource.instances.get_mut(&key) {
            set(instance, generation, object);
        }
    }
    Ok(())
}

/// Puts an object in its place in an instance.
pub(super) fn set(instance: &mut ResourceInstance, generation: Generation, object: Arc<ObjectSrc>) {
    match generation {
        Generation::Current => instance.current = Some(object),
        Generation::Deposed(key) => drop(instance.deposed.insert(key, object)),
    }
}
