//! Moves whose addresses are worked out: whether they can all happen, and making them happen.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, InstanceKey, Module, ModuleInstance, ProviderConfig, ProviderInstance,
    Target,
};
use groundstate_states::{Resource, ResourceInstance};

use super::error::MoveError;
use super::moves::Resolved;
use super::summary::ProviderTaken;
use super::working_set::WorkingSet;
use groundstate_statefile::ReadError;

/// One resource that moves, with all its instances or one of them.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    pub(super) from: AbsResource,
    pub(super) to: AbsResource,
    /// The keys of the one instance; all of them if there is none.
    pub(super) keys: Option<(InstanceKey, InstanceKey)>,
}

impl Shift {
    pub(super) fn whole(from: AbsResource, to: AbsResource) -> Self {
        Self { from, to, keys: None }
    }

    pub(super) fn one(from: AbsResourceInstance, to: AbsResourceInstance) -> Self {
        Self { from: from.resource, to: to.resource, keys: Some((from.key, to.key)) }
    }
}

/// What moves, told apart by how much of it.
#[derive(Debug, Default)]
struct AddressSet {
    resources: HashSet<AbsResource>,
    instances: HashSet<AbsResourceInstance>,
    /// Resources that some of the instances belong to.
    around: HashSet<AbsResource>,
}

impl AddressSet {
    /// Adds a place; false if it is taken.
    fn add(&mut self, resource: &AbsResource, key: Option<&InstanceKey>) -> bool {
        match key {
            None => !self.around.contains(resource) && self.resources.insert(resource.clone()),
            Some(key) => {
                self.around.insert(resource.clone());
                !self.resources.contains(resource) && self.instances.insert(resource.instance(key.clone()))
            }
        }
    }

    fn has(&self, instance: &AbsResourceInstance) -> bool {
        self.instances.contains(instance) || self.resources.contains(&instance.resource)
    }
}

/// Moves that happen together.
#[derive(Debug)]
pub(super) struct Batch {
    resolved: Vec<Resolved>,
}

impl Batch {
    /// Checks that every source moves once and every destination is free by then.
    pub(super) fn new(working_set: &WorkingSet<'_>, resolved: Vec<Resolved>) -> Result<Self, MoveError> {
        let (batch, sources) = Self::distinct(resolved)?;
        for (pair, shift) in pairs(&batch.resolved) {
            if let Some(taken) = taken(working_set, &sources, shift) {
                let module = || Target::Module(shift.to.module.clone());
                return Err(exists(pair, &if pair.is_of_module() { module() } else { taken }));
            }
        }
        check_modules(working_set, &sources, &batch.resolved)?;
        Ok(batch)
    }

    /// Checks that every source moves once, and that no two come to the same place in another state.
    pub(super) fn between_states(resolved: Vec<Resolved>) -> Result<Self, MoveError> {
        Ok(Self::distinct(resolved)?.0)
    }

    fn distinct(resolved: Vec<Resolved>) -> Result<(Self, AddressSet), MoveError> {
        let (mut sources, mut dests) = (AddressSet::default(), AddressSet::default());
        for (pair, shift) in pairs(&resolved) {
            let (from, to) = (pair.from.clone(), pair.to.clone());
            let keys = shift.keys.as_ref();
            if !sources.add(&shift.from, keys.map(|(key, _)| key)) {
                return Err(MoveError::SourceTwice { from, to });
            }
            if !dests.add(&shift.to, keys.map(|(_, key)| key)) {
                return Err(MoveError::DestinationTwice { from, to });
            }
        }
        Ok((Self { resolved }, sources))
    }

    /// The pairs of addresses, each with what it moves.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Resolved, &Shift)> {
        pairs(&self.resolved)
    }

    pub(super) fn shifts(&self) -> impl Iterator<Item = &Shift> {
        pairs(&self.resolved).map(|(_, shift)| shift)
    }

    /// What moves, as it is shown.
    pub(super) fn lines(&self) -> impl Iterator<Item = &(Target, Target)> {
        self.resolved.iter().flat_map(|pair| &pair.lines)
    }

    /// Makes the moves. All sources are taken out before the first is put anywhere.
    ///
    /// Returns the instances that have another provider configuration now.
    pub(super) fn apply(&self, working_set: &mut WorkingSet<'_>) -> Result<Vec<ProviderTaken>, ReadError> {
        let mut taken = Vec::new();
        let mut whole = Vec::new();
        let mut single = Vec::new();
        for shift in self.shifts() {
            match &shift.keys {
                None => {
                    whole.push((&shift.to, working_set.resource(&shift.from)?));
                    working_set.put(shift.from.clone(), None);
                }
                Some((from, to)) => {
                    let Some(resource) = working_set.edit(&shift.from)? else { continue };
                    let provider = resource.provider.clone();
                    if let Some(instance) = resource.instances.remove(from) {
                        single.push((shift, to, instance, provider));
                    }
                }
            }
        }
        for (to, resource) in whole {
            working_set.put(to.clone(), resource);
        }
        for (shift, key, mut instance, provider) in single {
            if !working_set.has(&shift.to) {
                let mut new = Resource::new(provider.clone());
                // What is not understood follows the last instance, as it would follow the whole resource.
                if let Some(old) = working_set.resource(&shift.from)?.filter(|old| old.instances.is_empty()) {
                    new.extra = old.extra.clone();
                }
                working_set.put(shift.to.clone(), Some(Arc::new(new)));
            }
            let Some(resource) = working_set.edit(&shift.to)? else { continue };
            let address = shift.to.instance(key.clone());
            taken.extend(join(&mut instance, address, &provider, &resource.provider));
            resource.instances.insert(key.clone(), instance);
        }
        self.prune(working_set);
        Ok(taken)
    }

    /// Removes resources that lost their last instance.
    pub(super) fn prune(&self, working_set: &mut WorkingSet<'_>) {
        for shift in self.shifts().filter(|shift| shift.keys.is_some()) {
            if working_set.keys(&shift.from).is_some_and(|keys| keys.is_empty()) {
                working_set.put(shift.from.clone(), None);
            }
        }
    }
}

/// Gives an instance the provider configuration of the resource that it joins, and says so if it is another one.
pub(super) fn join(
    instance: &mut ResourceInstance,
    address: AbsResourceInstance,
    old: &ProviderConfig,
    new: &ProviderConfig,
) -> Option<ProviderTaken> {
    if old == new {
        return None;
    }
    // The key belongs to the configuration that is left behind.
    let key = std::mem::replace(&mut instance.provider_key, InstanceKey::None);
    let from = ProviderInstance { config: old.clone(), key };
    let to = ProviderInstance { config: new.clone(), key: InstanceKey::None };
    Some(ProviderTaken { instance: address, from, to })
}

fn pairs(resolved: &[Resolved]) -> impl Iterator<Item = (&Resolved, &Shift)> {
    resolved.iter().flat_map(|pair| pair.shifts.iter().map(move |shift| (pair, shift)))
}

/// What stands at the destination and stays there.
fn taken(working_set: &WorkingSet<'_>, sources: &AddressSet, shift: &Shift) -> Option<Target> {
    match &shift.keys {
        None => {
            let stays = shift.from == shift.to || !sources.resources.contains(&shift.to);
            (stays && working_set.has(&shift.to)).then(|| Target::Resource(shift.to.clone()))
        }
        Some((from, to)) => {
            let dest = shift.to.instance(to.clone());
            let stays = (shift.from == shift.to && from == to) || !sources.has(&dest);
            (stays && working_set.has_instance(&dest)).then_some(Target::Instance(dest))
        }
    }
}

/// No module may be merged into one that exists.
fn check_modules(
    working_set: &WorkingSet<'_>,
    sources: &AddressSet,
    resolved: &[Resolved],
) -> Result<(), MoveError> {
    let mut dests: HashMap<&ModuleInstance, &Resolved> = HashMap::new();
    for pair in resolved.iter().filter(|pair| pair.is_of_module()) {
        for (_, to) in &pair.lines {
            dests.entry(to.module()).or_insert(pair);
        }
    }
    let taken = |address: &AbsResource| {
        let pair = dests.get(&address.module).filter(|_| !sources.resources.contains(address))?;
        Some(exists(pair, &Target::Module(address.module.clone())))
    };
    let calls: BTreeMap<Module, &ModuleInstance> =
        dests.keys().map(|module| (module.to_config(), *module)).collect();
    let mut there = calls.values().flat_map(|module| working_set.lookup().inside(module));
    there.find_map(|address| taken(&address)).map_or(Ok(()), Err)
}

fn exists(pair: &Resolved, taken: &Target) -> MoveError {
    let (from, to) = (pair.from.clone(), pair.to.clone());
    MoveError::DestinationExists { from, to, taken: taken.to_string() }
}
