//! Finding resources by name, where names repeat.

use std::collections::HashMap;
use std::sync::Arc;

use crate::resource::Resource;
use crate::urn::Urn;

/// The resources of each name, copies that wait for their deletion among them.
#[derive(Clone, Debug)]
pub struct UrnIndex<'a> {
    resources: &'a [Arc<Resource>],
    entries: HashMap<&'a str, Entry>,
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
        let mut entries: HashMap<&str, Entry> = HashMap::with_capacity(resources.len());
        for (index, resource) in resources.iter().enumerate() {
            let entry = entries
                .entry(resource.urn.as_str())
                .and_modify(|entry| entry.others.push(index))
                .or_insert(Entry { first: index, others: Vec::new(), live: None, deleted: None });
            *(if resource.delete { &mut entry.deleted } else { &mut entry.live }) = Some(index);
        }
        Self { resources, entries }
    }

    /// The resources it was made of.
    pub fn resources(&self) -> &'a [Arc<Resource>] {
        self.resources
    }

    /// The resource at an index.
    pub fn resource(&self, index: usize) -> Option<&'a Resource> {
        self.resources.get(index).map(|resource| &**resource)
    }

    /// The indexes of all resources of a name, in order.
    pub fn all(&self, urn: &Urn) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let entry = self.entries.get(urn.as_str());
        entry.into_iter().flat_map(|entry| std::iter::once(entry.first).chain(entry.others.iter().copied()))
    }

    /// Whether there is a resource of this name.
    pub fn contains(&self, urn: &Urn) -> bool {
        self.entries.contains_key(urn.as_str())
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
        self.resources.iter().enumerate().filter_map(|(index, resource)| {
            let entry = self.entries.get(resource.urn.as_str())?;
            (entry.first == index && !entry.others.is_empty()).then_some(&resource.urn)
        })
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
        let known = reference.splits().find(|(urn, _)| self.entries.contains_key(urn));
        self.resolve(&Urn::from(known?.0), resource.delete)
    }

    fn last(&self, urn: &Urn, deleted: bool) -> Option<usize> {
        let entry = self.entries.get(urn.as_str())?;
        if deleted { entry.deleted } else { entry.live }
    }
}
