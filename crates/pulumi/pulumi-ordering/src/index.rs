//! Who depends on whom in a list, by index and not by rescanning it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{DependencyKind, Resource, Urn, UrnIndex};

use crate::RemovalReason;

/// A list with what is needed to ask about it. Resources are named by their position, since several may have one name.
#[derive(Clone, Debug)]
pub struct StackIndex<'a> {
    names: UrnIndex<'a>,
    /// The name of each resource's provider, if the list has it.
    providers: Vec<Option<&'a Urn>>,
    children: HashMap<&'a Urn, Vec<usize>>,
    waiters: HashMap<&'a Urn, Vec<usize>>,
}

/// Everything that a resource refers to, and how, given the name of its provider.
pub(crate) fn references<'r>(
    resource: &'r Resource,
    provider: Option<&'r Urn>,
) -> impl Iterator<Item = (RemovalReason, &'r Urn)> {
    let provider = provider.map(|urn| (RemovalReason::Provider, urn));
    provider.into_iter().chain(resource.all_dependencies().map(|one| (one.kind.into(), one.urn)))
}

/// Whether a provider has an object for the resource that this stack manages.
pub(crate) fn is_managed(resource: &Resource) -> bool {
    resource.custom && !resource.external
}

impl<'a> StackIndex<'a> {
    /// Indexes a list.
    #[must_use]
    pub fn new(resources: &'a [Arc<Resource>]) -> Self {
        let names = UrnIndex::new(resources);
        let provider = |resource: &Arc<Resource>| Some(&resources[names.provider(resource)?].urn);
        let providers: Vec<Option<&Urn>> = resources.iter().map(provider).collect();
        let mut children: HashMap<_, Vec<_>> = HashMap::new();
        let mut waiters: HashMap<_, Vec<_>> = HashMap::new();
        for (at, resource) in resources.iter().enumerate() {
            if let Some(parent) = resource.parent() {
                children.entry(parent).or_default().push(at);
            }
            let urns: HashSet<&Urn> = references(resource, providers[at]).map(|(_, urn)| urn).collect();
            for urn in urns {
                waiters.entry(urn).or_default().push(at);
            }
        }
        Self { names, providers, children, waiters }
    }

    /// The resources, in order.
    #[must_use]
    pub fn resources(&self) -> &'a [Arc<Resource>] {
        self.names.resources()
    }

    /// The name of the provider of a resource, if the list has it.
    #[must_use]
    pub fn provider(&self, at: usize) -> Option<&'a Urn> {
        self.providers[at]
    }

    /// Everything that a resource refers to, and how.
    pub(crate) fn references(&self, at: usize) -> impl Iterator<Item = (RemovalReason, &'a Urn)> + use<'a> {
        references(&self.resources()[at], self.providers[at])
    }

    /// The live resource of this name.
    #[must_use]
    pub fn live(&self, urn: &Urn) -> Option<usize> {
        self.names.live(urn)
    }

    /// Every resource of this name, old ones and the live one.
    pub fn positions<'s>(&'s self, urn: &'s Urn) -> impl Iterator<Item = usize> + 's {
        self.names.all(urn)
    }

    /// Whether there is a resource of this name.
    pub(crate) fn contains(&self, urn: &Urn) -> bool {
        self.names.contains(urn)
    }

    /// Every resource that refers to this name in any way, in the order of the list.
    #[must_use]
    pub fn waiters(&self, urn: &Urn) -> &[usize] {
        self.waiters.get(urn).map_or(&[], Vec::as_slice)
    }

    /// Whether anything belongs to this name.
    pub(crate) fn has_children(&self, urn: &Urn) -> bool {
        self.children.contains_key(urn)
    }

    /// The resources behind any of these that depend on them, directly or not, in the order of the list. What is ignored
    /// does not count, and neither does what depends only on that. Children count as dependents if that is asked for.
    #[must_use]
    pub fn depending_on(
        &self,
        starts: &BTreeSet<usize>,
        ignore: &HashSet<usize>,
        include_children: bool,
    ) -> Vec<usize> {
        let Some(&first) = starts.first() else { return Vec::new() };
        let mut urns: HashSet<&Urn> = HashSet::new();
        let mut found = Vec::new();
        for (at, resource) in self.resources().iter().enumerate().skip(first) {
            if starts.contains(&at) {
                urns.insert(&resource.urn);
                continue;
            }
            let counts = |reason| reason != RemovalReason::Parent || include_children;
            if !ignore.contains(&at)
                && self.references(at).any(|(reason, urn)| counts(reason) && urns.contains(urn))
            {
                urns.insert(&resource.urn);
                found.push(at);
            }
        }
        found
    }

    /// The resources before this one that have to be deleted after it: whatever it refers to, old and live, and of
    /// components that it refers to also what belongs to them.
    #[must_use]
    pub fn dependencies_of(&self, at: usize) -> BTreeSet<usize> {
        let (mut found, mut entered) = (BTreeSet::new(), BTreeSet::new());
        for (reason, urn) in self.references(at) {
            for place in self.positions(urn).take_while(|&place| place < at) {
                // Children of the own parent are siblings, and wait for each other only if they say so.
                let is_component = !self.resources()[place].custom;
                if found.insert(place) && reason != RemovalReason::Parent && is_component {
                    self.add_children(place, at, &mut found, &mut entered);
                }
            }
        }
        found
    }

    /// Everything that this resource needs, directly or not. A name of both an old resource and the live one means the old one
    /// to a resource that is old itself, and the live one to others.
    #[must_use]
    pub fn transitive_dependencies_of(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut work = vec![at];
        while let Some(next) = work.pop() {
            work.extend(self.needs(next).filter(|place| found.insert(*place)));
        }
        found
    }

    /// What a resource refers to, each name resolved to one resource before it.
    pub(crate) fn needs(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.references(at).filter_map(move |(_, urn)| self.resolve(at, urn))
    }

    /// The resource that a name means to another one: an old one to a resource that is old itself, the live one to others,
    /// and failing that whichever comes before it.
    #[must_use]
    pub fn resolve(&self, at: usize, urn: &Urn) -> Option<usize> {
        let resources = self.resources();
        let before = || self.names.all(urn).take_while(|&place| place < at);
        let old = resources[at].delete;
        before().find(|&place| resources[place].delete == old).or_else(|| before().next())
    }

    /// Adds what belongs to a component, directly or not. A child that was found before, as a dependency of its own, still
    /// brings its children.
    fn add_children(
        &self,
        component: usize,
        before: usize,
        found: &mut BTreeSet<usize>,
        entered: &mut BTreeSet<usize>,
    ) {
        let mut work = vec![component];
        while let Some(next) = work.pop() {
            if entered.insert(next) {
                let children = self.children.get(&self.resources()[next].urn).map_or(&[][..], Vec::as_slice);
                let children = children.iter().take_while(|&&child| child < before);
                work.extend(children.inspect(|&&child| {
                    found.insert(child);
                }));
            }
        }
    }
}

impl From<DependencyKind<'_>> for RemovalReason {
    fn from(kind: DependencyKind<'_>) -> Self {
        match kind {
            DependencyKind::Parent => Self::Parent,
            DependencyKind::Property(_) => Self::Property,
            DependencyKind::DeletedWith => Self::DeletedWith,
            DependencyKind::ReplaceWith => Self::ReplaceWith,
            // A kind that is not known is still something that must stand before.
            _ => Self::Dependency,
        }
    }
}
