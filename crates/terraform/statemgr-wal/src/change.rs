//! What changed between two states, as values: applying it twice is applying it once.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, AbsResourceInstance, ModuleInstance};
use groundstate_states::{Module, Resource, ResourceInstance, State};

/// A change of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// The instances and outputs that are new or different, whole, in resources that hold nothing else.
    pub(crate) document: State,
    /// Instances that are gone while their resource is still there.
    pub(crate) removed: Vec<AbsResourceInstance>,
    /// Resources that are gone with everything inside.
    pub(crate) resources: Vec<AbsResource>,
    /// Outputs that are gone.
    pub(crate) outputs: Vec<Arc<str>>,
    /// Whether the results of checks are those of the document.
    pub(crate) checks: bool,
    /// Whether the document is the whole state, and nothing of the one before stays.
    pub(crate) whole: bool,
}

/// A key with what two maps have under it.
type Difference<'a, K, V> = (&'a K, Option<&'a V>, Option<&'a V>);

impl Change {
    /// What has to be done to `old` so that a file of it is one of `new`; nothing if that is so already.
    ///
    /// Both may share what did not change. That is recognised without a look inside.
    pub(crate) fn between(old: &State, new: &State) -> Option<Self> {
        let mut change = Self::default();
        let empty = Module::default();
        for (addr, module) in new.modules() {
            change.compare_modules(addr, old.module(addr).unwrap_or(&empty), module);
        }
        for (addr, module) in old.modules().filter(|(addr, _)| new.module(addr).is_none()) {
            change.compare_modules(addr, module, &empty);
        }
        for (name, _, output) in differences(old.outputs(), new.outputs(), |a, b| Arc::ptr_eq(a, b) || a == b)
        {
            match output {
                Some(output) => {
                    drop(change.document.root_mut().outputs.insert(Arc::clone(name), Arc::clone(output)))
                }
                None => change.outputs.push(Arc::clone(name)),
            }
        }
        if old.check_results != new.check_results {
            change.checks = true;
            change.document.check_results.clone_from(&new.check_results);
        }
        (change != Self::default()).then_some(change)
    }

    /// Every state becomes this one.
    pub(crate) fn to(state: &State) -> Self {
        Self { document: state.clone(), whole: true, ..Self::default() }
    }

    fn compare_modules(&mut self, addr: &ModuleInstance, old: &Module, new: &Module) {
        if std::ptr::eq(old, new) {
            return;
        }
        let same = |a: &Arc<Resource>, b: &Arc<Resource>| Arc::ptr_eq(a, b);
        for (name, old, new) in differences(&old.resources, &new.resources, same) {
            let addr = name.clone().absolute(addr.clone());
            match (old, new) {
                (old, Some(new)) => self.compare_resources(&addr, old.map(|old| &**old), new),
                (_, None) => self.resources.push(addr),
            }
        }
    }

    fn compare_resources(&mut self, addr: &AbsResource, old: Option<&Resource>, new: &Resource) {
        let mut partial = Resource { extra: new.extra.clone(), ..Resource::new(new.provider.clone()) };
        let mut is_changed = old.is_none_or(|old| old.provider != new.provider || old.extra != new.extra);
        let nothing = BTreeMap::new();
        let instances = old.map_or(&nothing, |old| &old.instances);
        for (key, old, instance) in differences(instances, &new.instances, same_instance) {
            match instance.filter(|instance| instance.has_objects()) {
                Some(instance) => {
                    is_changed = true;
                    partial.instances.insert(key.clone(), instance.clone());
                }
                // An instance without objects has no place in a file.
                None if old.is_some_and(ResourceInstance::has_objects) => {
                    self.removed.push(addr.instance(key.clone()))
                }
                None => {}
            }
        }
        if is_changed {
            let module = self.document.ensure_module(&addr.module);
            module.resources.insert(addr.resource.clone(), Arc::new(partial));
        }
    }

    /// Makes the change.
    pub(crate) fn apply(&self, state: &mut State) {
        if self.whole {
            state.clone_from(&self.document);
            return;
        }
        for addr in &self.resources {
            state.remove_resource(addr);
        }
        for addr in &self.removed {
            let module = state.module_mut(&addr.resource.module);
            if let Some(resource) =
                module.and_then(|module| module.resources.get_mut(&addr.resource.resource))
            {
                Arc::make_mut(resource).instances.remove(&addr.key);
            }
        }
        for (addr, module) in self.document.modules() {
            for (name, partial) in &module.resources {
                let resources = &mut state.ensure_module(addr).resources;
                let Some(resource) = resources.get_mut(name) else {
                    resources.insert(name.clone(), Arc::clone(partial));
                    continue;
                };
                let resource = Arc::make_mut(resource);
                resource.provider.clone_from(&partial.provider);
                resource.extra.clone_from(&partial.extra);
                let instances = partial.instances.iter();
                resource.instances.extend(instances.map(|(key, instance)| (key.clone(), instance.clone())));
            }
        }
        for name in &self.outputs {
            state.root_mut().outputs.remove(name);
        }
        if !self.document.outputs().is_empty() {
            let outputs = self.document.outputs().iter();
            state
                .root_mut()
                .outputs
                .extend(outputs.map(|(name, output)| (Arc::clone(name), Arc::clone(output))));
        }
        if self.checks {
            state.check_results.clone_from(&self.document.check_results);
        }
    }
}

fn same_instance(a: &ResourceInstance, b: &ResourceInstance) -> bool {
    let current = match (&a.current, &b.current) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
        (None, None) => true,
        _ => false,
    };
    // A map compares its values by content, which are the same ones more often than not.
    current
        && a.provider_key == b.provider_key
        && a.deposed.len() == b.deposed.len()
        && a.deposed.iter().zip(&b.deposed).all(|(a, b)| a.0 == b.0 && (Arc::ptr_eq(a.1, b.1) || a.1 == b.1))
}

/// The keys under which two maps differ, in order: both are walked once.
fn differences<'a, K: Ord, V>(
    old: &'a BTreeMap<K, V>,
    new: &'a BTreeMap<K, V>,
    same: impl Fn(&V, &V) -> bool,
) -> Vec<Difference<'a, K, V>> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    let mut found = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return found,
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        let Some(key) = before.or(after).map(|(key, _)| key) else { return found };
        match (before.map(|(_, value)| value), after.map(|(_, value)| value)) {
            (Some(before), Some(after)) if same(before, after) => {}
            (before, after) => found.push((key, before, after)),
        }
    }
}
