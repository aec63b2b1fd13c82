//! The input with numbers in place of addresses, checked.

use std::collections::{BTreeSet, HashMap};

use groundstate_dag::CompactGraph;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource, Module, ProviderConfig, ResourceMode};
use groundstate_states::{DeposedKey, Generation};

use super::intern::{Interner, Names};
use crate::config::Config;
use crate::error::{BuildError, Warning};
use crate::input::{Action, DepRef, Input, ObjectRecord};
use crate::node::{cmp_instances, cmp_providers};

/// A part of [`Model::recorded`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// The resources it is recorded to depend on, without its own.
    pub(super) recorded: Span,
    /// Whether its own resource was among them.
    pub(super) records_itself: bool,
    pub(super) cbd: bool,
    pub(super) skip_destroy: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Deposed {
    pub(super) key: DeposedKey,
    pub(super) object: Object,
    pub(super) action: Option<Action>,
}

#[derive(Clone, Debug)]
pub(super) struct Instance<'a> {
    pub(super) addr: &'a AbsResourceInstance,
    pub(super) resource: u32,
    /// The number of the module instance.
    pub(super) module: u32,
    /// The provider that operations on it use, if any is known.
    pub(super) provider: Option<u32>,
    pub(super) current: Option<Object>,
    /// What is planned for the current object.
    pub(super) action: Option<Action>,
    pub(super) deposed: Vec<Deposed>,
}

/// What is declared about a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    pub(super) cbd: bool,
    pub(super) has_conditions: bool,
    provider: u32,
}

#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) config: Config,
    /// For each resource.
    pub(super) declared: Vec<Option<Declared>>,
    /// For each resource the number of its module path.
    pub(super) paths: Vec<u32>,
    /// The module paths, by number.
    pub(super) path_names: Vec<Module>,
    /// The module instances, by number.
    pub(super) module_instances: Vec<&'a groundstate_states::addr::ModuleInstance>,
    /// For each module instance the number of its path.
    pub(super) path_of_instance: Vec<u32>,
    /// In order.
    pub(super) instances: Vec<Instance<'a>>,
    /// Whether each provider is in the list of the input.
    pub(super) known_providers: Vec<bool>,
    /// Whether providers are nodes.
    pub(super) with_providers: bool,
    pub(super) warnings: Vec<Warning>,
    recorded: Vec<u32>,
}

impl Instance<'_> {
    /// Whether it has a current object when the run is over.
    pub(super) fn is_desired(&self) -> bool {
        match self.action {
            Some(action) => action.is_desired(),
            None => self.current.is_some(),
        }
    }
}

impl Model<'_> {
    pub(super) fn recorded(&self, span: Span) -> &[u32] {
        &self.recorded[span.start as usize..span.end as usize]
    }

    pub(super) fn is_declared(&self, resource: u32) -> bool {
        self.declared[resource as usize].is_some()
    }

    pub(super) fn mode(&self, resource: u32) -> ResourceMode {
        self.config.resources[resource as usize].resource.mode
    }
}

/// What is filled while the input is read.
pub(super) struct Reader<'a> {
    input: &'a Input,
    names: Names<'a>,
    providers: Interner<&'a ProviderConfig>,
    recorded: Vec<u32>,
    instances: Vec<Instance<'a>>,
    pub(super) errors: Vec<BuildError>,
    warnings: Vec<Warning>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(input: &'a Input) -> Self {
        Self {
            input,
            names: Names::new(),
            providers: Interner::new(),
            recorded: Vec::new(),
            instances: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Reads all of the input. Errors are collected; the model is whole in spite of them.
    pub(super) fn read(mut self) -> (Model<'a>, Vec<BuildError>) {
        let input = self.input;
        self.read_instances();
        self.read_changes();
        // Declared and mentioned resources get their numbers; those of instances have them.
        let with_instances = self.names.sorted_resources().1.len();
        let blocks: Vec<u32> = input.resources.iter().map(|block| self.names.resource(&block.addr)).collect();
        let mut references: Vec<Vec<u32>> = Vec::with_capacity(blocks.len());
        for block in &input.resources {
            references.push(self.resource_refs(&block.dependencies));
        }
        let listed = input.providers.as_deref().unwrap_or_default();
        let mut provider_references: Vec<Vec<u32>> = Vec::with_capacity(listed.len());
        for provider in listed {
            self.providers.intern(&provider.id);
            provider_references.push(self.resource_refs(&provider.config_dependencies));
        }
        let block_providers: Vec<u32> =
            input.resources.iter().map(|block| self.providers.intern(&block.provider)).collect();

        let (resources, paths, ranks) = self.names.sorted_resources();
        let rank = |number: u32| ranks[number as usize];
        let (providers, provider_ranks) = self.providers.sorted(|a, b| cmp_providers(a, b));

        let mut declared: Vec<Option<Declared>> = vec![None; resources.len()];
        for ((block, &number), &provider) in input.resources.iter().zip(&blocks).zip(&block_providers) {
            let entry = &mut declared[rank(number) as usize];
            if entry.is_some() {
                self.errors.push(BuildError::DuplicateResource { addr: block.addr.clone() });
            }
            *entry = Some(Declared {
                cbd: block.create_before_destroy,
                has_conditions: block.has_conditions,
                provider: provider_ranks[provider as usize],
            });
        }
        let mut known_providers = vec![false; providers.len()];
        for provider in listed {
            if let Some(number) = self.providers.get(&&provider.id) {
                known_providers[provider_ranks[number as usize] as usize] = true;
            }
        }

        // What is mentioned and neither declared nor has instances is unknown.
        let mut known: Vec<bool> = declared.iter().map(Option::is_some).collect();
        for instance in &self.instances {
            known[rank(instance.resource) as usize] = true;
        }
        debug_assert!(with_instances <= resources.len(), "numbers are only added");

        let mut edges = Edges {
            providers: providers.len() as u32,
            resources: &resources,
            paths: &paths,
            path_names: self.names.paths.values(),
            declared: &declared,
            known: &known,
            modules: Interner::new(),
            list: Vec::new(),
            warnings: &mut self.warnings,
        };
        for (at, block) in input.resources.iter().enumerate() {
            let numbers = references[at].iter().map(|&number| rank(number));
            let from = edges.providers + rank(blocks[at]);
            edges.of_block(from, rank(blocks[at]), numbers, &block.dependencies);
        }
        for (provider, references) in listed.iter().zip(&provider_references) {
            let numbers = references.iter().map(|&number| rank(number));
            if let Some(number) = self.providers.get(&&provider.id) {
                edges.of_provider(provider_ranks[number as usize], provider, numbers);
            }
        }
        edges.through_providers();
        let (modules, list) = edges.finish();

        let vertices = providers.len() + resources.len() + modules.len();
        let graph = CompactGraph::from_edges(vertices, list, |(), ()| {});
        let providers: Vec<ProviderConfig> = providers.into_iter().cloned().collect();
        let config = Config { providers, resources, modules, graph };

        for number in &mut self.recorded {
            *number = ranks[*number as usize];
        }
        for instance in &mut self.instances {
            instance.resource = ranks[instance.resource as usize];
            let recorded = instance.provider.map(|provider| provider_ranks[provider as usize]);
            // A block says which provider is used; what it does not say, the record does.
            let block = declared[instance.resource as usize].map(|declared| declared.provider);
            instance.provider = block.or(recorded);
        }
        self.instances.sort_by(|a, b| cmp_instances(a.addr, b.addr));
        let mut model = Model {
            config,
            declared,
            paths,
            path_names: self.names.paths.values().to_vec(),
            module_instances: self.names.instances.values().to_vec(),
            path_of_instance: self.names.paths_of_instances().to_vec(),
            instances: self.instances,
            known_providers,
            with_providers: input.providers.is_some(),
            warnings: self.warnings,
            recorded: self.recorded,
        };
        model.drop_self_records();
        self.errors.extend(model.config.cycles());
        (model, self.errors)
    }

    fn resource_refs(&mut self, references: &'a [DepRef]) -> Vec<u32> {
        let numbers = references.iter().filter_map(|reference| match reference {
            DepRef::Resource(addr) => Some(self.names.resource(addr)),
            DepRef::Module(_) => None,
        });
        numbers.collect()
    }

    fn read_instances(&mut self) {
        let mut seen: HashMap<&AbsResourceInstance, ()> = HashMap::with_capacity(self.input.instances.len());
        for given in &self.input.instances {
            if seen.insert(&given.addr, ()).is_some() {
                self.errors.push(BuildError::DuplicateInstance { addr: given.addr.clone() });
                continue;
            }
            let (resource, module) = self.names.instance(&given.addr);
            let provider = Some(self.providers.intern(&given.provider));
            let current = given.current.as_ref().map(|record| self.object(record));
            let mut deposed = Vec::new();
            for (key, record) in &given.deposed {
                if !key.is_canonical() {
                    self.errors.push(BuildError::BadDeposedKey { addr: given.addr.clone(), key: *key });
                }
                deposed.push(Deposed { key: *key, object: self.object(record), action: None });
            }
            self.instances.push(Instance {
                addr: &given.addr,
                resource,
                module,
                provider,
                current,
                action: None,
                deposed,
            });
        }
    }

    fn object(&mut self, record: &'a ObjectRecord) -> Object {
        let start = self.recorded.len() as u32;
        for dependency in &record.dependencies {
            let number = self.names.resource(dependency);
            self.recorded.push(number);
        }
        let recorded = Span { start, end: self.recorded.len() as u32 };
        Object {
            recorded,
            records_itself: false,
            cbd: record.create_before_destroy,
            skip_destroy: record.skip_destroy,
        }
    }

    fn read_changes(&mut self) {
        let mut places: HashMap<&AbsResourceInstance, usize> =
            self.instances.iter().enumerate().map(|(at, instance)| (instance.addr, at)).collect();
        // Told apart from a missing change, which is as good as none.
        let mut changed: BTreeSet<(usize, Generation)> = BTreeSet::new();
        for change in &self.input.changes {
            let place = *places.entry(&change.addr).or_insert_with(|| {
                let (resource, module) = self.names.instance(&change.addr);
                let addr = &change.addr;
                let deposed = Vec::new();
                self.instances.push(Instance {
                    addr,
                    resource,
                    module,
                    provider: None,
                    current: None,
                    action: None,
                    deposed,
                });
                self.instances.len() - 1
            });
            if !changed.insert((place, change.object)) {
                let deposed = match change.object {
                    Generation::Current => None,
                    Generation::Deposed(key) => Some(key),
                };
                self.errors.push(BuildError::DuplicateChange { addr: change.addr.clone(), deposed });
                continue;
            }
            let instance = &mut self.instances[place];
            match change.object {
                Generation::Current => instance.action = Some(change.action),
                Generation::Deposed(key) => {
                    let place = instance.deposed.iter_mut().find(|deposed| deposed.key == key);
                    let addr = change.addr.clone();
                    match place {
                        _ if !matches!(change.action, Action::NoOp | Action::Delete | Action::Forget) => {
                            let action = change.action;
                            self.errors.push(BuildError::DeposedActionInvalid { addr, key, action });
                        }
                        None if !key.is_canonical() => {
                            self.errors.push(BuildError::BadDeposedKey { addr, key });
                        }
                        None => self.errors.push(BuildError::NoSuchDeposed { addr, key }),
                        Some(deposed) => deposed.action = Some(change.action),
                    }
                }
            }
        }
    }
}

impl Model<'_> {
    /// Sorts what objects record, and takes out the object's own resource and what is there twice.
    fn drop_self_records(&mut self) {
        let (recorded, warnings) = (&mut self.recorded, &mut self.warnings);
        for instance in &mut self.instances {
            let resource = instance.resource;
            let current = instance.current.as_mut().map(|object| (None, object));
            let deposed = instance.deposed.iter_mut().map(|deposed| (Some(deposed.key), &mut deposed.object));
            for (key, object) in current.into_iter().chain(deposed) {
                let span = object.recorded;
                let list = &mut recorded[span.start as usize..span.end as usize];
                list.sort_unstable();
                let mut kept = 0;
                for at in 0..list.len() {
                    if list[at] == resource {
                        object.records_itself = true;
                    } else if kept == 0 || list[kept - 1] != list[at] {
                        list[kept] = list[at];
                        kept += 1;
                    }
                }
                object.recorded.end = span.start + kept as u32;
                if object.records_itself {
                    let addr = instance.addr.clone();
                    warnings.push(Warning::SelfStateDependency { addr, deposed: key });
                }
            }
        }
    }
}

/// The edges of the graph of configuration.
struct Edges<'m> {
    /// The number of providers, whose vertices come first.
    providers: u32,
    resources: &'m [ConfigResource],
    paths: &'m [u32],
    path_names: &'m [Module],
    declared: &'m [Option<Declared>],
    known: &'m [bool],
    modules: Interner<Module>,
    list: Vec<(u32, u32, ())>,
    warnings: &'m mut Vec<Warning>,
}

impl Edges<'_> {
    fn of_block(&mut self, from: u32, own: u32, numbers: impl Iterator<Item = u32>, references: &[DepRef]) {
        let mut refers_to_itself = false;
        for number in numbers {
            if number == own {
                refers_to_itself = true;
                continue;
            }
            self.warn_unknown(|edges| edges.resources[own as usize].to_string(), number);
            self.list.push((from, self.providers + number, ()));
        }
        for reference in references {
            let DepRef::Module(module) = reference else { continue };
            let inside =
                self.path_names[self.paths[own as usize] as usize].steps().starts_with(module.steps());
            if inside {
                // The module as a whole would hold the resource itself, so what else it holds is named one by one.
                refers_to_itself = true;
                let members = self.members(module);
                let others = members.into_iter().filter(|&member| member != own);
                let providers = self.providers;
                self.list.extend(others.map(|member| (from, providers + member, ())));
            } else {
                let vertex = self.module_vertex(module);
                self.list.push((from, vertex, ()));
            }
        }
        if refers_to_itself {
            self.warnings.push(Warning::SelfDependency { addr: self.resources[own as usize].clone() });
        }
    }

    fn of_provider(
        &mut self,
        vertex: u32,
        provider: &crate::input::ProviderInput,
        numbers: impl Iterator<Item = u32>,
    ) {
        for number in numbers {
            self.warn_unknown(|_| provider.id.to_string(), number);
            self.list.push((vertex, self.providers + number, ()));
        }
        for reference in &provider.config_dependencies {
            if let DepRef::Module(module) = reference {
                let to = self.module_vertex(module);
                self.list.push((vertex, to, ()));
            }
        }
    }

    /// Resources depend on what the configuration of their provider refers to.
    fn through_providers(&mut self) {
        let mut refers = vec![false; self.providers as usize];
        for &(from, _, ()) in &self.list {
            if let Some(refers) = refers.get_mut(from as usize) {
                *refers = true;
            }
        }
        for (resource, declared) in self.declared.iter().enumerate() {
            if let Some(declared) = declared.filter(|declared| refers[declared.provider as usize]) {
                self.list.push((self.providers + resource as u32, declared.provider, ()));
            }
        }
    }

    fn warn_unknown(&mut self, from: impl Fn(&Self) -> String, number: u32) {
        if !self.known[number as usize] {
            let warning =
                Warning::UnknownDependency { from: from(self), to: self.resources[number as usize].clone() };
            self.warnings.push(warning);
        }
    }

    fn module_vertex(&mut self, module: &Module) -> u32 {
        let number = self.modules.intern(module.clone());
        self.providers + self.resources.len() as u32 + number
    }

    /// The declared resources in the module and below it.
    fn members(&self, module: &Module) -> Vec<u32> {
        let inside = |path: &Module| path.steps().starts_with(module.steps());
        let paths: Vec<bool> = self.path_names.iter().map(inside).collect();
        let resources = 0..self.resources.len() as u32;
        let is_member = |&resource: &u32| {
            self.declared[resource as usize].is_some() && paths[self.paths[resource as usize] as usize]
        };
        resources.filter(is_member).collect()
    }

    fn finish(mut self) -> (Vec<Module>, Vec<(u32, u32, ())>) {
        for number in 0..self.modules.len() as u32 {
            let module = self.modules.values()[number as usize].clone();
            let from = self.providers + self.resources.len() as u32 + number;
            let members = self.members(&module);
            let providers = self.providers;
            self.list.extend(members.into_iter().map(|member| (from, providers + member, ())));
        }
        (self.modules.values().to_vec(), self.list)
    }
}
