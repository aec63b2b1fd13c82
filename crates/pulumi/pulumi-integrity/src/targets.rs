//! Which resource each reference means, in a list that may be out of order.

use std::collections::HashMap;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Urn, UrnIndex};

/// Finds what references mean.
///
/// A reference that the present order satisfies means a copy that stands before, so that a list in order has no edges against
/// its order. Other references mean the copy of the resource's own kind, live or waiting for its deletion, if there is one.
pub(crate) struct Targets<'a> {
    index: UrnIndex<'a>,
    /// The first and the last provider that each reference names.
    providers: HashMap<String, (usize, usize)>,
}

impl<'a> Targets<'a> {
    pub(crate) fn new(resources: &'a [Arc<Resource>]) -> Self {
        let mut providers: HashMap<String, (usize, usize)> = HashMap::new();
        for (at, resource) in resources.iter().enumerate().filter(|(_, resource)| resource.is_provider()) {
            if let Ok(reference) = resource.provider_ref() {
                let known = providers.entry(reference.as_str().to_owned()).or_insert((at, at));
                known.1 = at;
            }
        }
        Self { index: UrnIndex::new(resources), providers }
    }

    pub(crate) fn resources(&self) -> &'a [Arc<Resource>] {
        self.index.resources()
    }

    /// The resource that the one at `from` names, itself included.
    pub(crate) fn dependency(&self, from: usize, urn: &Urn) -> Option<usize> {
        let deleted = self.index.resource(from).is_some_and(|resource| resource.delete);
        let meant = self.index.resolve(urn, deleted)?;
        if meant < from {
            return Some(meant);
        }
        let first = self.index.all(urn).next().filter(|first| *first < from);
        Some(first.unwrap_or(meant))
    }

    /// The provider of the resource at `from`, which is never the resource itself.
    pub(crate) fn provider(&self, from: usize) -> Option<usize> {
        let resource = self.index.resource(from)?;
        let reference = resource.provider()?;
        let meant = match self.providers.get(reference.as_str()) {
            Some(&(_, last)) if last < from => Some(last),
            Some(&(first, _)) => Some(first),
            // The identifier is another one; the name still says what should stand before.
            None => self
                .index
                .provider(resource)
                .and_then(|at| self.dependency(from, &self.index.resource(at)?.urn)),
        };
        // Who waits for its replacement needs no provider.
        meant.filter(|at| *at < from || (*at > from && !resource.pending_replacement))
    }

    /// Everything that must stand before the resource at `from`: the provider, then the dependencies in their order.
    pub(crate) fn successors(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let provider = self.provider(from).into_iter();
        let others = self.index.resource(from).into_iter().flat_map(Resource::all_dependencies);
        provider.chain(others.filter_map(move |edge| self.dependency(from, edge.urn)))
    }
}
