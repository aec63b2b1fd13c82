//! References that lead nowhere, taken out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{PropertyDependencies, Resource, Snapshot, Urn};

use crate::reference::{Reference, ReferenceKind};
use crate::rewrite::{Renames, provider_names};
use crate::verify::is_below;

/// What pruning did to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Its index.
    pub resource: usize,
    /// Its name before.
    pub old: Urn,
    /// Its name after: without its parent it has another one.
    pub new: Urn,
    /// Whether it waits for its deletion.
    pub delete: bool,
    /// The references that it no longer has.
    pub removed: Vec<Reference>,
    /// The name it did not get, because another resource has it.
    pub clash: Option<Urn>,
}

/// Takes out references to what does not stand before the resource that refers to it. The resources have to be [sorted](crate::sort).
///
/// A resource whose parent is gone has none, and everything below it gets the name that belongs there, as does every
/// resource whose name does not match its parent. All that refers to them follows, references to providers included. A
/// name that another resource has is not given away: the resource keeps the one it had. Providers stay as they are.
pub fn prune(snapshot: &mut Snapshot) -> Vec<Pruned> {
    pruned(snapshot, None)
}

/// The same, but no URN changes that need not: one that does not match its parent stays, and that of a resource whose parent
/// is gone changes if the function says so, which is given its index and that parent. What lies below follows.
pub(crate) fn prune_choosing(snapshot: &mut Snapshot, renames: &mut Chooser<'_>) -> Vec<Pruned> {
    pruned(snapshot, Some(renames))
}

/// Whether the resource at an index loses the types of its parent, which is gone, from its URN.
pub(crate) type Chooser<'c> = dyn FnMut(usize, &Urn) -> bool + 'c;

fn pruned(snapshot: &mut Snapshot, mut renames: Option<&mut Chooser<'_>>) -> Vec<Pruned> {
    let taken = snapshot.resources.iter().map(|resource| resource.urn.clone()).collect();
    let mut pruner = Pruner { taken, ..Pruner::default() };
    let mut results = Vec::new();
    for (index, resource) in snapshot.resources.iter_mut().enumerate() {
        results.extend(pruner.resource(index, resource, renames.as_deref_mut()));
    }
    if pruner.renamed {
        pruner.follow(snapshot);
    }
    results
}

/// The names of the copies of a name that stand before: of the live one and of the one that waits for its deletion.
#[derive(Clone, Debug, Default)]
struct Copies([Option<Urn>; 2]);

#[derive(Default)]
struct Pruner {
    /// All names, old and new.
    taken: HashSet<Urn>,
    /// Which resource got a new name.
    given: HashMap<Urn, Urn>,
    seen: HashMap<Urn, Copies>,
    renamed: bool,
}

impl Pruner {
    /// The present name of what a reference means, going by the kind of the resource that refers to it.
    fn present(&self, urn: &Urn, from_deleted: bool) -> Option<&Urn> {
        let Copies(copies) = self.seen.get(urn)?;
        let [live, deleted] = copies;
        if from_deleted { deleted.as_ref().or(live.as_ref()) } else { live.as_ref().or(deleted.as_ref()) }
    }

    fn resource(
        &mut self,
        index: usize,
        shared: &mut Arc<Resource>,
        renames: Option<&mut Chooser<'_>>,
    ) -> Option<Pruned> {
        let (old, delete) = (shared.urn.clone(), shared.delete);
        let mut removed = Vec::new();
        let mut wanted = old.clone();
        if let Some(parent) = shared.parent().cloned() {
            let present = self.present(&parent, delete).cloned();
            let below = || old.below(present.as_ref().map_or("", |parent| parent.qualified_type()));
            wanted = match (renames, &present) {
                (None, _) => below(),
                (Some(renames), None) if below() != old => {
                    if renames(index, &parent) {
                        below()
                    } else {
                        old.clone()
                    }
                }
                (Some(_), Some(new))
                    if *new != parent && is_below(&old, &parent, shared.resource_type.as_str()) =>
                {
                    below()
                }
                (Some(_), _) => old.clone(),
            };
            if present.as_ref() != Some(&parent) {
                Arc::make_mut(shared).parent = present.clone();
            }
            if present.is_none() {
                removed.push(Reference { kind: ReferenceKind::Parent, urn: parent });
            }
        }
        if shared.all_dependencies().any(|edge| self.present(edge.urn, delete) != Some(edge.urn)) {
            self.lists(Arc::make_mut(shared), &mut removed);
        }
        let clash =
            (wanted != old && !old.is_valid() || self.is_taken(&wanted, &old)).then_some(wanted.clone());
        let new = if clash.is_some() { old.clone() } else { wanted };
        if new != old {
            self.renamed = true;
            self.taken.insert(new.clone());
            self.given.insert(new.clone(), old.clone());
            Arc::make_mut(shared).urn = new.clone();
        }
        self.seen.entry(old.clone()).or_default().0[usize::from(delete)] = Some(new.clone());
        let changed = new != old || !removed.is_empty();
        changed.then_some(Pruned { resource: index, old, new, delete, removed, clash })
    }

    /// Copies of one name may share a new one; others may not.
    fn is_taken(&self, wanted: &Urn, old: &Urn) -> bool {
        wanted != old && self.taken.contains(wanted) && self.given.get(wanted) != Some(old)
    }

    fn lists(&self, resource: &mut Resource, removed: &mut Vec<Reference>) {
        let delete = resource.delete;
        let mut keep = |kind: ReferenceKind, urn: &mut Urn| {
            if urn.is_empty() {
                return true;
            }
            match self.present(urn, delete) {
                Some(present) => urn.clone_from(present),
                None => {
                    removed.push(Reference { kind, urn: urn.clone() });
                    return false;
                }
            }
            true
        };
        resource.dependencies.retain_mut(|urn| keep(ReferenceKind::Dependency, urn));
        prune_properties(&mut resource.property_dependencies, &mut keep);
        if let Some(mut urn) = resource.deleted_with.take() {
            resource.deleted_with = keep(ReferenceKind::DeletedWith, &mut urn).then_some(urn);
        }
        resource.replace_with.retain_mut(|urn| keep(ReferenceKind::ReplaceWith, urn));
    }

    /// Gives everything else the new names: references to providers, to views, in properties, beside resources.
    fn follow(&self, snapshot: &mut Snapshot) {
        let providers: HashSet<Urn> = provider_names(snapshot).into_iter().chain(self.old_names()).collect();
        for delete in [false, true] {
            let rename = |urn: &Urn| self.present(urn, delete).cloned();
            let renames = Renames::new(&rename, &providers);
            for resource in snapshot.resources.iter_mut().filter(|resource| resource.delete == delete) {
                self.references(&renames, resource);
            }
            if !delete {
                renames.beside_resources(snapshot);
            }
        }
    }

    fn old_names(&self) -> impl Iterator<Item = Urn> + '_ {
        self.given.values().cloned()
    }

    /// The members that have been dealt with must not be renamed twice.
    fn references(&self, renames: &Renames<'_>, shared: &mut Arc<Resource>) {
        let mut rest = Arc::new(Resource {
            provider: shared.provider.clone(),
            inputs: shared.inputs.clone(),
            outputs: shared.outputs.clone(),
            replacement_trigger: shared.replacement_trigger.clone(),
            view_of: shared.view_of.clone(),
            aliases: shared.aliases.clone(),
            ..Resource::default()
        });
        if renames.references(&mut rest) {
            let rest = Arc::unwrap_or_clone(rest);
            let resource = Arc::make_mut(shared);
            resource.provider = rest.provider;
            resource.inputs = rest.inputs;
            resource.outputs = rest.outputs;
            resource.replacement_trigger = rest.replacement_trigger;
            resource.view_of = rest.view_of;
            resource.aliases = rest.aliases;
        }
    }
}

/// A property that loses all its dependencies goes too.
fn prune_properties(
    properties: &mut PropertyDependencies,
    keep: &mut dyn FnMut(ReferenceKind, &mut Urn) -> bool,
) {
    properties.retain(|property, urns| {
        let Some(urns) = urns else { return true };
        let before = urns.len();
        urns.retain_mut(|urn| keep(ReferenceKind::Property(property.into()), urn));
        before == 0 || !urns.is_empty()
    });
}
