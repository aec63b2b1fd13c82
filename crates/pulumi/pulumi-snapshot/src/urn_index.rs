//! Finding resources by name, where names repeat.

use std::collections::HashMap;
use std::sync::Arc;

use crate::resource::Resource;
use crate::urn::Urn;

/// The resources of each name, copies that wait for their deletion among them.
#[derive(Clone, Debug)]
pub struct UrnIndex<'a> {
    resources: &'a [Arc<Resource>],
    numbers: HashMap<&'a str, UrnNumber>,
    names: Vec<Entry>,
    /// The number of each resource's name.
    own: Vec<UrnNumber>,
}

/// The number of a name in a [`UrnIndex`]: names are numbered from zero, in the order of their first resources. To ask by number
/// spares the search for the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrnNumber(usize);

impl UrnNumber {
    /// The number itself, below [`UrnIndex::names`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// The resources of one name. Most names have one.
#[derive(Clone, Debug)]
struct Entry {
    first: usize,
    others: Vec<usize>,
    /// The last one that does not wait for its deletion, and the last one that does.
    live: Option<usize>,
    deleted: Option<usize>,
}

impl<'a> UrnIndex<'a> {
    /// Takes note of all names.
    pub fn new(resources: &'a [Arc<Resource>]) -> Self {
        let mut numbers = HashMap::with_capacity(resources.len());
        let mut names: Vec<Entry> = Vec::with_capacity(resources.len());
        let mut own = Vec::with_capacity(resources.len());
        for (index, resource) in resources.iter().enumerate() {
            let number = *numbers.entry(resource.urn.as_str()).or_insert(UrnNumber(names.len()));
            own.push(number);
            match names.get_mut(number.0) {
                Some(entry) => entry.others.push(index),
                None => names.push(Entry { first: index, others: Vec::new(), live: None, deleted: None }),
            }
            let entry = &mut names[number.0];
            *(if resource.delete { &mut entry.deleted } else { &mut entry.live }) = Some(index);
        }
        Self { resources, numbers, names, own }
    }

    /// The resources it was made of.
    pub fn resources(&self) -> &'a [Arc<Resource>] {
        self.resources
    }

    /// The resource at an index.
    pub fn resource(&self, index: usize) -> Option<&'a Resource> {
        self.resources.get(index).map(|resource| &**resource)
    }

    /// How many names there are.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// The number of a name, if a resource has it.
    pub fn number(&self, urn: &Urn) -> Option<UrnNumber> {
        self.numbers.get(urn.as_str()).copied()
    }

    /// The number of each resource's name.
    pub fn own_numbers(&self) -> &[UrnNumber] {
        &self.own
    }

    /// The indexes of all resources of a name, in order.
    pub fn all(&self, urn: &Urn) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.number(urn).into_iter().flat_map(|number| self.all_of(number))
    }

    /// The same for the name of a number.
    pub fn all_of(&self, number: UrnNumber) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let entry = self.names.get(number.0).into_iter();
        entry.flat_map(|entry| std::iter::once(entry.first).chain(entry.others.iter().copied()))
    }

    /// Whether there is a resource of this name.
    pub fn contains(&self, urn: &Urn) -> bool {
        self.numbers.contains_key(urn.as_str())
    }

    /// The last resource of this name that does not wait for its deletion.
    pub fn live(&self, urn: &Urn) -> Option<usize> {
        self.last(urn, false)
    }

    /// The last resource of this name that waits for its deletion.
    pub fn deleted(&self, urn: &Urn) -> Option<usize> {
        self.last(urn, true)
    }

    /// Names that more than one resource has, in the order of their first resources.
    pub fn repeated(&self) -> impl Iterator<Item = &'a Urn> + '_ {
        let repeated = self.names.iter().filter(|entry| !entry.others.is_empty());
        repeated.map(|entry| &self.resources[entry.first].urn)
    }

    /// Which resource a name means to a resource that waits for its deletion (`from_deleted`) or does not: one of its own
    /// kind if there is one, otherwise one of the other kind.
    pub fn resolve(&self, urn: &Urn, from_deleted: bool) -> Option<usize> {
        self.last(urn, from_deleted).or_else(|| self.last(urn, !from_deleted))
    }

    /// What the resource at an index needs, as indexes: its provider, and then all dependencies in their order. Unknown
    /// names are left out, and so are references to providers that cannot be read; a resource can be named more than
    /// once.
    pub fn successors(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let resource = self.resource(index);
        let deleted = resource.is_some_and(|resource| resource.delete);
        let provider = resource.and_then(|resource| self.provider(resource));
        let others = resource.into_iter().flat_map(|resource| resource.all_dependencies());
        provider.into_iter().chain(others.filter_map(move |dependency| self.resolve(dependency.urn, deleted)))
    }

    /// The provider of a resource, by its name alone.
    pub fn provider(&self, resource: &Resource) -> Option<usize> {
        let reference = resource.provider()?;
        // An identifier may hold the delimiter, so the longest name that is known counts.
        let known = reference.splits().find(|(urn, _)| self.numbers.contains_key(urn));
        self.resolve(&Urn::from(known?.0), resource.delete)
    }

    fn last(&self, urn: &Urn, deleted: bool) -> Option<usize> {
        let entry = &self.names[self.number(urn)?.0];
        if deleted { entry.deleted } else { entry.live }
    }
}
