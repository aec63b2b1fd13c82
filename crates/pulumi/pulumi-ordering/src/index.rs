//! Who depends on whom in a list, by index and not by rescanning it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{DependencyKind, Resource, Urn, UrnIndex, UrnNumber};

use crate::RemovalReason;

/// A list with what is needed to ask about it. Resources are named by their position, since several may have one name.
#[derive(Clone, Debug)]
pub struct StackIndex<'a> {
    names: UrnIndex<'a>,
    /// The name of each resource's provider, if the list has it.
    providers: Vec<Option<&'a Urn>>,
    /// What the resources refer to, one after another, and where that of each ends.
    references: Vec<Reference<'a>>,
    ends: Vec<usize>,
    /// For each name the resources whose parent it is, and those that refer to it in any way.
    children: Vec<Vec<usize>>,
    waiters: Vec<Vec<usize>>,
    /// Those that refer to a name that no resource has.
    dangling: HashMap<&'a Urn, Vec<usize>>,
}

/// That a resource refers to a name, with the number of it if a resource of the list has the name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference<'a> {
    pub(crate) reason: RemovalReason,
    pub(crate) urn: &'a Urn,
    pub(crate) number: Option<UrnNumber>,
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

/// Notes a resource among others, all of which stand before it.
fn note(among: &mut Vec<usize>, at: usize) {
    if among.last() != Some(&at) {
        among.push(at);
    }
}

impl<'a> StackIndex<'a> {
    /// Indexes a list.
    #[must_use]
    pub fn new(resources: &'a [Arc<Resource>]) -> Self {
        let names = UrnIndex::new(resources);
        let provider = |resource: &Arc<Resource>| Some(&resources[names.provider(resource)?].urn);
        let providers: Vec<Option<&Urn>> = resources.iter().map(provider).collect();
        let mut all = Vec::with_capacity(resources.len());
        let mut ends = Vec::with_capacity(resources.len());
        let mut children = vec![Vec::new(); names.names()];
        let mut waiters = vec![Vec::new(); names.names()];
        let mut dangling: HashMap<_, Vec<_>> = HashMap::new();
        for (at, resource) in resources.iter().enumerate() {
            for (reason, urn) in references(resource, providers[at]) {
                let number = names.number(urn);
                all.push(Reference { reason, urn, number });
                match number.map(UrnNumber::index) {
                    Some(name) => {
                        note(&mut waiters[name], at);
                        if reason == RemovalReason::Parent {
                            note(&mut children[name], at);
                        }
                    }
                    None => note(dangling.entry(urn).or_default(), at),
                }
            }
            ends.push(all.len());
        }
        Self { names, providers, references: all, ends, children, waiters, dangling }
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
    pub(crate) fn references(&self, at: usize) -> &[Reference<'a>] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.references[start..self.ends[at]]
    }

    /// The number of a resource's name.
    pub(crate) fn own_number(&self, at: usize) -> UrnNumber {
        self.names.own_numbers()[at]
    }

    /// The number of the name of a resource's parent, if a resource has that name.
    pub(crate) fn parent(&self, at: usize) -> Option<UrnNumber> {
        let of_parent = |one: &&Reference<'_>| one.reason == RemovalReason::Parent;
        self.references(at).iter().find(of_parent)?.number
    }

    /// How many names the resources have.
    pub(crate) fn names(&self) -> usize {
        self.names.names()
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

    /// The same for the name that a resource refers to.
    pub(crate) fn meant(&self, reference: &Reference<'_>) -> impl Iterator<Item = usize> + use<'_, 'a> {
        reference.number.into_iter().flat_map(|number| self.names.all_of(number))
    }

    /// The same for the name of a number.
    pub(crate) fn all_of(&self, number: UrnNumber) -> impl Iterator<Item = usize> + '_ {
        self.names.all_of(number)
    }

    /// Whether there is a resource of this name.
    pub(crate) fn contains(&self, urn: &Urn) -> bool {
        self.names.contains(urn)
    }

    /// Every resource that refers to this name in any way, in the order of the list.
    #[must_use]
    pub fn waiters(&self, urn: &Urn) -> &[usize] {
        match self.names.number(urn) {
            Some(number) => &self.waiters[number.index()],
            None => self.dangling.get(urn).map_or(&[], Vec::as_slice),
        }
    }

    /// The resources whose parent has this name, in the order of the list.
    pub(crate) fn children(&self, number: UrnNumber) -> &[usize] {
        &self.children[number.index()]
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
        let mut named = vec![false; self.names()];
        let mut found = Vec::new();
        for at in first..self.resources().len() {
            let counts = |one: &&Reference<'_>| one.reason != RemovalReason::Parent || include_children;
            let refers = |one: &Reference<'_>| one.number.is_some_and(|number| named[number.index()]);
            let is_start = starts.contains(&at);
            if is_start || (!ignore.contains(&at) && self.references(at).iter().filter(counts).any(refers)) {
                named[self.own_number(at).index()] = true;
                found.extend((!is_start).then_some(at));
            }
        }
        found
    }

    /// The resources before this one that have to be deleted after it: whatever it refers to, old and live, and of
    /// components that it refers to also what belongs to them.
    #[must_use]
    pub fn dependencies_of(&self, at: usize) -> BTreeSet<usize> {
        let (mut found, mut entered) = (BTreeSet::new(), BTreeSet::new());
        for reference in self.references(at) {
            for place in self.meant(reference).take_while(|&place| place < at) {
                // Children of the own parent are siblings, and wait for each other only if they say so.
                let is_component = !self.resources()[place].custom;
                if found.insert(place) && reference.reason != RemovalReason::Parent && is_component {
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
        self.references(at).iter().filter_map(move |one| self.one_of(at, || self.meant(one)))
    }

    /// The resource that a name means to another one: an old one to a resource that is old itself, the live one to others,
    /// and failing that whichever comes before it.
    #[must_use]
    pub fn resolve(&self, at: usize, urn: &Urn) -> Option<usize> {
        self.one_of(at, || self.names.all(urn))
    }

    /// The one of several resources of a name that the resource at a place means.
    fn one_of<I: Iterator<Item = usize>>(&self, at: usize, all: impl Fn() -> I) -> Option<usize> {
        let resources = self.resources();
        let before = || all().take_while(|&place| place < at);
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
                let children =
                    self.children(self.own_number(next)).iter().take_while(|&&child| child < before);
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
