//! Numbers for resources, modules and providers, handed out in order.

use std::collections::HashMap;
use std::hash::Hash;

use groundstate_states::addr::{AbsResourceInstance, ConfigResource, Module, ModuleInstance, Resource};

/// Numbers for values, in the order in which they come in.
#[derive(Debug)]
pub(super) struct Interner<K> {
    numbers: HashMap<K, u32>,
    values: Vec<K>,
}

impl<K: Hash + Eq + Clone> Interner<K> {
    pub(super) fn new() -> Self {
        Self { numbers: HashMap::new(), values: Vec::new() }
    }

    pub(super) fn intern(&mut self, value: K) -> u32 {
        let next = self.values.len() as u32;
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            next
        })
    }

    pub(super) fn get(&self, value: &K) -> Option<u32> {
        self.numbers.get(value).copied()
    }

    pub(super) fn values(&self) -> &[K] {
        &self.values
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The values in another order, and for each number given out so far the new one.
    pub(super) fn sorted(&self, compare: impl Fn(&K, &K) -> std::cmp::Ordering) -> (Vec<K>, Vec<u32>) {
        let mut by_rank: Vec<u32> = (0..self.values.len() as u32).collect();
        by_rank.sort_by(|&a, &b| compare(&self.values[a as usize], &self.values[b as usize]));
        let mut ranks = vec![0; by_rank.len()];
        for (rank, &number) in by_rank.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        (by_rank.iter().map(|&number| self.values[number as usize].clone()).collect(), ranks)
    }
}

/// Numbers for resources without keys, told apart by the number of their module.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// Module paths.
    pub(super) paths: Interner<Module>,
    /// Module instances, each with the number of its path.
    pub(super) instances: Interner<&'a ModuleInstance>,
    path_of_instance: Vec<u32>,
    resources: Interner<(u32, &'a Resource)>,
}

impl<'a> Names<'a> {
    pub(super) fn new() -> Self {
        Self {
            paths: Interner::new(),
            instances: Interner::new(),
            path_of_instance: Vec::new(),
            resources: Interner::new(),
        }
    }

    pub(super) fn resource(&mut self, addr: &'a ConfigResource) -> u32 {
        let path = match self.paths.get(&addr.module) {
            Some(path) => path,
            None => self.paths.intern(addr.module.clone()),
        };
        self.resources.intern((path, &addr.resource))
    }

    /// The numbers of the resource and of the module instance.
    pub(super) fn instance(&mut self, addr: &'a AbsResourceInstance) -> (u32, u32) {
        let module = self.instances.intern(addr.module());
        if module as usize == self.path_of_instance.len() {
            self.path_of_instance.push(self.paths.intern(addr.module().to_config()));
        }
        let path = self.path_of_instance[module as usize];
        (self.resources.intern((path, &addr.resource.resource)), module)
    }

    /// The number of the path of each module instance.
    pub(super) fn paths_of_instances(&self) -> &[u32] {
        &self.path_of_instance
    }

    /// All resources in order, the number of the path of each, and the new number for each given out.
    pub(super) fn sorted_resources(&self) -> (Vec<ConfigResource>, Vec<u32>, Vec<u32>) {
        // Paths are compared by rank, so that equal modules are not compared step by step again and again.
        let (_, path_ranks) = self.paths.sorted(|a, b| a.steps().cmp(b.steps()));
        let (sorted, ranks) = self.resources.sorted(|(p, a), (q, b)| {
            path_ranks[*p as usize]
                .cmp(&path_ranks[*q as usize])
                .then_with(|| crate::node::cmp_in_module(a, b))
        });
        let addrs = sorted.iter().map(|(path, resource)| ConfigResource {
            module: self.paths.values()[*path as usize].clone(),
            resource: (*resource).clone(),
        });
        (addrs.collect(), sorted.iter().map(|(path, _)| *path).collect(), ranks)
    }
}
