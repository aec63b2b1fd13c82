//! The whole state.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::addr::{ModuleInstance, ProviderSource};
use crate::{CheckResults, Module, OutputValue, Resource};

/// All that is known of remote objects, without lineage and serial.
///
/// The root module is always present. Cloning shares the modules; a change copies only what leads to the place it
/// touches, so clones never see each other's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    root: Arc<Module>,
    /// Modules other than the root.
    descendants: BTreeMap<ModuleInstance, Arc<Module>>,
    /// Results of conditions; absent when the writer did not know of checks.
    pub check_results: Option<CheckResults>,
}

// The root has a field of its own, so that its presence needs no proof; iteration still hands out its address.
static ROOT: LazyLock<ModuleInstance> = LazyLock::new(ModuleInstance::root);

impl State {
    /// A state of an empty root module.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The root module.
    #[must_use]
    pub fn root(&self) -> &Module {
        &self.root
    }

    /// The root module, for changes.
    pub fn root_mut(&mut self) -> &mut Module {
        Arc::make_mut(&mut self.root)
    }

    /// The output values that files store: those of the root module.
    #[must_use]
    pub fn outputs(&self) -> &BTreeMap<Arc<str>, Arc<OutputValue>> {
        &self.root.outputs
    }

    /// All modules in the order of lists: the root, then shorter paths first.
    pub fn modules(&self) -> impl DoubleEndedIterator<Item = (&ModuleInstance, &Module)> {
        let descendants = self.descendants.iter().map(|(addr, module)| (addr, &**module));
        std::iter::once((&*ROOT, &*self.root)).chain(descendants)
    }

    /// The module at this address.
    #[must_use]
    pub fn module(&self, addr: &ModuleInstance) -> Option<&Module> {
        if addr.is_root() { Some(&self.root) } else { self.descendants.get(addr).map(|module| &**module) }
    }

    /// The module at this address, for changes. A caller who empties it removes it, or calls
    /// [`State::prune_module`].
    pub fn module_mut(&mut self, addr: &ModuleInstance) -> Option<&mut Module> {
        if addr.is_root() {
            return Some(self.root_mut());
        }
        self.descendants.get_mut(addr).map(Arc::make_mut)
    }

    /// The module at this address, created empty if it is missing. The caller puts something inside.
    pub fn ensure_module(&mut self, addr: &ModuleInstance) -> &mut Module {
        if addr.is_root() {
            return self.root_mut();
        }
        Arc::make_mut(self.descendants.entry(addr.clone()).or_default())
    }

    /// Completes the provider addresses that leave the registry out by another default; see [`ProviderSource::read_with`].
    pub fn complete_providers(&mut self, default_host: &str) {
        self.each_source(|source| {
            let differs = source.is_short() && source.host() != default_host;
            differs.then(|| source.read_with(default_host))
        });
    }

    /// Writes the registry out in all provider addresses that leave it out, except for types that no product reads in
    /// that form.
    pub fn write_out_providers(&mut self) {
        self.each_source(|source| {
            let differs = source.is_short() && source.is_quotable();
            differs.then(|| source.written_out())
        });
    }

    /// Replaces the providers of resources where there is another one.
    fn each_source(&mut self, replace: impl Fn(&ProviderSource) -> Option<ProviderSource>) {
        let differs = |resource: &Arc<Resource>| replace(&resource.provider.source).is_some();
        for module in std::iter::once(&mut self.root).chain(self.descendants.values_mut()) {
            if !module.resources.values().any(differs) {
                continue;
            }
            for resource in Arc::make_mut(module).resources.values_mut() {
                if let Some(source) = replace(&resource.provider.source) {
                    Arc::make_mut(resource).provider.source = source;
                }
            }
        }
    }

    /// Removes the module if it is empty and not the root.
    pub fn prune_module(&mut self, addr: &ModuleInstance) {
        if self.descendants.get(addr).is_some_and(|module| module.is_empty()) {
            self.descendants.remove(addr);
        }
    }

    /// Takes a module other than the root out of the state.
    pub(crate) fn take_module(&mut self, addr: &ModuleInstance) -> Option<Arc<Module>> {
        self.descendants.remove(addr)
    }

    /// Puts a module at an address other than the root's, in place of what was there.
    pub(crate) fn put_module(&mut self, addr: ModuleInstance, module: Arc<Module>) {
        self.descendants.insert(addr, module);
    }
}
