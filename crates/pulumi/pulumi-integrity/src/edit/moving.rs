//! Moving resources from one stack to another.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_deployment::sealed_values;
use groundstate_pulumi_snapshot::{
    DependencyGraph, ExtensionRef, GraphError, PropertyMap, ProviderRef, Resource, Snapshot, Urn,
};

use super::delete::remove;
use crate::prune::prune;
use crate::reference::{Reference, ReferenceKind};
use crate::rewrite::{Renames, provider_names};
use crate::verify::{IntegrityError, IntegrityOperation};

/// Where resources go, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoveOptions {
    /// The stack that they go to.
    pub stack: Arc<str>,
    /// Its project.
    pub project: Arc<str>,
    /// Their parents go too.
    pub include_parents: bool,
}

impl MoveOptions {
    /// To this stack.
    pub fn new(stack: impl Into<Arc<str>>, project: impl Into<Arc<str>>) -> Self {
        Self { stack: stack.into(), project: project.into(), include_parents: false }
    }

    /// Sets whether parents go too.
    #[must_use]
    pub fn include_parents(mut self, include: bool) -> Self {
        self.include_parents = include;
        self
    }
}

/// A reference between what moves and what stays, which is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The resource that has it, under its old name.
    pub urn: Urn,
    /// What it refers to.
    pub reference: Reference,
}

/// Both stacks after a move. Nothing is stored yet: the destination has to be, first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Moved {
    /// The stack that the resources left.
    pub source: Snapshot,
    /// The stack that has them now. Ciphertexts in them are the source's, and have to be encrypted anew.
    pub destination: Snapshot,
    /// The indexes in the destination of what came from the source, providers included.
    pub arrived: Vec<usize>,
    /// What moved: names before and after.
    pub resources: Vec<(Urn, Urn)>,
    /// Providers that were copied, in the same way.
    pub providers: Vec<(Urn, Urn)>,
    /// References from what moves to what stays.
    pub broken_in_destination: Vec<Broken>,
    /// References from what stays to what moves.
    pub broken_in_source: Vec<Broken>,
    /// Names that mean nothing in the source.
    pub unmatched: Vec<Urn>,
    /// Encrypted values in what arrived. Old names may stand in them until `resources` and `providers` are followed by
    /// [`rewrite_sealed_references`](groundstate_pulumi_deployment::rewrite_sealed_references) with the keys of the source.
    pub sealed: usize,
}

/// Why resources cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The source is empty.
    #[error("source stack has no resources")]
    NothingThere,
    /// None of the names means a resource that can be moved.
    #[error("no resources found to move")]
    NothingToMove,
    /// A provider was asked for.
    #[error(
        "cannot move providers. Only resources can be moved, and providers will be included automatically"
    )]
    Provider(Urn),
    /// A resource of the name is there already.
    #[error("resource {0} already exists in destination stack")]
    Taken(Urn),
    /// Another provider of the name is there already.
    #[error("provider {0} already exists in destination stack")]
    ProviderTaken(Urn),
    /// Another extension of the name is there already.
    #[error(
        "extension {0:?} is another one in the destination stack; move the resource after an update of both"
    )]
    Extension(ExtensionRef),
    /// The source is broken.
    #[error("failed to verify integrity of source snapshot: {0}")]
    Source(IntegrityError),
    /// The destination is broken.
    #[error("failed to verify integrity of destination snapshot: {0}")]
    Destination(IntegrityError),
    /// The source is not in order.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Moves the resources of these names, with everything below them, to another stack.
///
/// Providers that they use are copied, unless the destination has them. References between what moves and what stays are
/// dropped; a resource whose parent stays becomes a child of the root of its new stack, which is made if there is none.
///
/// # Errors
///
/// One of the stacks is broken, nothing can be moved, or a name is taken.
pub fn move_resources(
    source: &Snapshot,
    destination: &Snapshot,
    urns: &[Urn],
    options: &MoveOptions,
) -> Result<Moved, MoveError> {
    if source.resources.is_empty() {
        return Err(MoveError::NothingThere);
    }
    IntegrityError::check(source, IntegrityOperation::Read).map_err(MoveError::Source)?;
    IntegrityError::check(destination, IntegrityOperation::Read).map_err(MoveError::Destination)?;
    let (moving, unmatched) = select(source, urns, options)?;
    let mut arrival = Arrival::new(source, destination, options, &moving);
    for (index, resource) in source.indexed() {
        if moving.contains(&index) {
            arrival.resource(resource)?;
        } else if arrival.used_providers.contains(&index) {
            arrival.provider(resource)?;
        }
    }
    let broken_in_destination = std::mem::take(&mut arrival.broken);
    let (remaining, broken_in_source) = depart(source, &moving);
    let Arrival { destination, arrived, resources, providers, .. } = arrival;
    let sealed = arrived.iter().filter_map(|index| destination.resource(*index)).map(sealed_values).sum();
    IntegrityError::check(&remaining, IntegrityOperation::Write).map_err(MoveError::Source)?;
    IntegrityError::check(&destination, IntegrityOperation::Write).map_err(MoveError::Destination)?;
    Ok(Moved {
        source: remaining,
        destination,
        arrived,
        resources,
        providers,
        broken_in_destination,
        broken_in_source,
        unmatched,
        sealed,
    })
}

/// The same for a move that may have been stored in the destination already, and not in the source.
///
/// Gives what the move makes of a destination without the resources that have arrived there. Who finds them in `destination` as
/// they would arrive (ciphertexts may differ) has only the source left to store.
///
/// # Errors
///
/// Those of [`move_resources`]; [`MoveError::NothingToMove`] if nothing of it has arrived.
pub fn move_again(
    source: &Snapshot,
    destination: &Snapshot,
    urns: &[Urn],
    options: &MoveOptions,
) -> Result<Moved, MoveError> {
    let alone = move_resources(source, &Snapshot::default(), urns, options)?;
    let arriving: HashSet<&Urn> = alone.resources.iter().map(|(_, new)| new).collect();
    let mut before = destination.clone();
    before.resources.retain(|resource| !arriving.contains(&resource.urn));
    if before.resources.len() == destination.resources.len() {
        return Err(MoveError::NothingToMove);
    }
    move_resources(source, &before, urns, options)
}

/// What moves, by index, and names that mean nothing.
fn select(
    source: &Snapshot,
    urns: &[Urn],
    options: &MoveOptions,
) -> Result<(BTreeSet<usize>, Vec<Urn>), MoveError> {
    let graph = DependencyGraph::new(&source.resources)?;
    let stays = |index: &usize| {
        source.resource(*index).is_none_or(|resource| resource.is_root_stack() || resource.is_provider())
    };
    let mut moving = BTreeSet::new();
    let mut unmatched = Vec::new();
    for urn in urns {
        let copies: Vec<usize> = graph.urn_index().all(urn).collect();
        if copies.is_empty() {
            unmatched.push(urn.clone());
        }
        for index in copies {
            if source.resources[index].is_provider() {
                return Err(MoveError::Provider(urn.clone()));
            }
            moving.insert(index);
            if options.include_parents {
                moving.extend(graph.parents_of(index));
            }
        }
    }
    moving.retain(|index| !stays(index));
    // One pass is enough, because children stand after their parents.
    let mut names: HashSet<&Urn> = moving.iter().map(|index| &source.resources[*index].urn).collect();
    for (index, resource) in source.indexed() {
        let below = resource.parent().is_some_and(|parent| names.contains(parent));
        if (below || names.contains(&resource.urn)) && !stays(&index) {
            moving.insert(index);
            names.insert(&resource.urn);
        }
    }
    if moving.is_empty() { Err(MoveError::NothingToMove) } else { Ok((moving, unmatched)) }
}

/// The source without what moved, and the references that this broke.
fn depart(source: &Snapshot, moving: &BTreeSet<usize>) -> (Snapshot, Vec<Broken>) {
    let gone: HashSet<&Urn> = moving.iter().map(|index| &source.resources[*index].urn).collect();
    let mut remaining = source.clone();
    let root = remaining.root_stack().map(|(_, root)| root.urn.clone());
    let mut broken = Vec::new();
    for shared in &mut remaining.resources {
        let parent_gone = shared.parent().is_some_and(|parent| gone.contains(parent));
        let view_gone = shared.view_of.as_ref().filter(|urn| gone.contains(urn)).cloned();
        if gone.contains(&shared.urn) || !(parent_gone || view_gone.is_some()) {
            continue;
        }
        let resource = Arc::make_mut(shared);
        if let Some(urn) = view_gone {
            resource.view_of = None;
            let reference = Reference { kind: ReferenceKind::ViewOf, urn };
            broken.push(Broken { urn: resource.urn.clone(), reference });
        }
        // Only providers stay when their parents move.
        if let (true, Some(root)) = (parent_gone, &root)
            && let Some(urn) = resource.parent.replace(root.clone())
        {
            let reference = Reference { kind: ReferenceKind::Parent, urn };
            broken.push(Broken { urn: resource.urn.clone(), reference });
        }
    }
    remove(&mut remaining, moving);
    for pruned in prune(&mut remaining) {
        let broke = |reference| Broken { urn: pruned.old.clone(), reference };
        broken.extend(pruned.removed.iter().cloned().map(broke));
    }
    (remaining, broken)
}

/// The destination while resources arrive.
struct Arrival<'a> {
    source: &'a Snapshot,
    options: &'a MoveOptions,
    destination: Snapshot,
    root: Urn,
    used_providers: BTreeSet<usize>,
    provider_names: HashSet<Urn>,
    /// Names of what has arrived, by the names they had.
    names: HashMap<Urn, Urn>,
    /// References to providers that have arrived, by the references that the source has.
    references: HashMap<ProviderRef, ProviderRef>,
    /// Names in the destination that do not wait for their deletion.
    taken: HashMap<Urn, usize>,
    arrived: Vec<usize>,
    resources: Vec<(Urn, Urn)>,
    providers: Vec<(Urn, Urn)>,
    broken: Vec<Broken>,
}

impl<'a> Arrival<'a> {
    fn new(
        source: &'a Snapshot,
        destination: &Snapshot,
        options: &'a MoveOptions,
        moving: &BTreeSet<usize>,
    ) -> Self {
        let mut destination = destination.clone();
        let root = match destination.root_stack() {
            Some((_, root)) => root.urn.clone(),
            None => {
                let urn = Urn::root_stack(&options.stack, &options.project);
                let mut root = Resource::new(urn.clone(), groundstate_pulumi_snapshot::ROOT_STACK_TYPE);
                root.inputs = PropertyMap::new().into();
                destination.resources.insert(0, Arc::new(root));
                urn
            }
        };
        let used: HashSet<&ProviderRef> =
            moving.iter().filter_map(|index| source.resources[*index].provider()).collect();
        let providers = source.indexed().filter(|(_, resource)| resource.is_provider());
        let used_providers = providers
            .filter(|(_, provider)| provider.provider_ref().is_ok_and(|reference| used.contains(&reference)))
            .map(|(index, _)| index)
            .collect();
        let live = destination.indexed().filter(|(_, resource)| !resource.delete);
        let taken = live.map(|(index, resource)| (resource.urn.clone(), index)).collect();
        Self {
            source,
            options,
            root,
            used_providers,
            provider_names: provider_names(source),
            names: HashMap::new(),
            references: HashMap::new(),
            taken,
            arrived: Vec::new(),
            resources: Vec::new(),
            providers: Vec::new(),
            broken: Vec::new(),
            destination,
        }
    }

    fn resource(&mut self, resource: &Resource) -> Result<(), MoveError> {
        let mut copy = self.copy(resource);
        if !copy.delete && self.taken.contains_key(&copy.urn) {
            return Err(MoveError::Taken(copy.urn));
        }
        self.extension(resource)?;
        if let Some(provider) = resource.provider().and_then(|reference| self.references.get(reference)) {
            copy.provider = Some(provider.clone());
        }
        self.resources.push((resource.urn.clone(), copy.urn.clone()));
        self.arrive(resource, copy);
        Ok(())
    }

    fn provider(&mut self, provider: &Resource) -> Result<(), MoveError> {
        let Ok(reference) = provider.provider_ref() else { return Ok(()) };
        let before = self.broken.len();
        let copy = self.copy(provider);
        if let Some(&known) = self.taken.get(&copy.urn).filter(|_| !copy.delete) {
            self.broken.truncate(before);
            let known = &self.destination.resources[known];
            if known.id() != copy.id() && known.inputs != copy.inputs {
                return Err(MoveError::ProviderTaken(copy.urn));
            }
            self.names.insert(provider.urn.clone(), known.urn.clone());
            if let Ok(known) = known.provider_ref() {
                self.references.insert(reference, known);
            }
            return Ok(());
        }
        if let Ok(new) = copy.provider_ref() {
            self.references.insert(reference, new);
        }
        self.extension(provider)?;
        self.providers.push((provider.urn.clone(), copy.urn.clone()));
        self.arrive(provider, copy);
        Ok(())
    }

    fn arrive(&mut self, original: &Resource, copy: Resource) {
        let at = self.destination.resources.len();
        self.names.insert(original.urn.clone(), copy.urn.clone());
        if !copy.delete {
            self.taken.insert(copy.urn.clone(), at);
        }
        self.arrived.push(at);
        self.destination.resources.push(Arc::new(copy));
    }

    /// The resource as it stands in the destination, but for its provider.
    fn copy(&mut self, resource: &Resource) -> Resource {
        let mut copy = resource.clone();
        let broken = &mut self.broken;
        let names = &self.names;
        let mut keep = |kind: ReferenceKind, urn: &Urn| {
            let known = urn.is_empty() || names.contains_key(urn);
            if !known {
                let reference = Reference { kind, urn: urn.clone() };
                broken.push(Broken { urn: resource.urn.clone(), reference });
            }
            known
        };
        copy.dependencies.retain(|urn| keep(ReferenceKind::Dependency, urn));
        copy.property_dependencies.retain(|property, urns| {
            let Some(urns) = urns else { return true };
            let before = urns.len();
            urns.retain(|urn| keep(ReferenceKind::Property(property.into()), urn));
            before == 0 || !urns.is_empty()
        });
        copy.deleted_with = copy.deleted_with.filter(|urn| keep(ReferenceKind::DeletedWith, urn));
        copy.replace_with.retain(|urn| keep(ReferenceKind::ReplaceWith, urn));
        copy.view_of = copy.view_of.filter(|urn| keep(ReferenceKind::ViewOf, urn));
        let parent = resource.parent().and_then(|parent| names.get(parent)).unwrap_or(&self.root).clone();
        copy.parent = None;
        let mut shared = Arc::new(copy);
        let rename = |urn: &Urn| names.get(urn).cloned();
        Renames::new(&rename, &self.provider_names).references(&mut shared);
        let mut copy = Arc::unwrap_or_clone(shared);
        copy.aliases = copy.aliases.iter().map(|alias| self.in_destination(alias)).collect();
        copy.urn = self.in_destination(&resource.urn).below(parent.qualified_type());
        copy.parent = Some(parent);
        copy
    }

    fn in_destination(&self, urn: &Urn) -> Urn {
        if !urn.is_valid() {
            return urn.clone();
        }
        let (stack, project) = (&self.options.stack, &self.options.project);
        Urn::build(stack, project, "", urn.qualified_type(), urn.name())
    }

    /// The extension that a resource names comes along.
    fn extension(&mut self, resource: &Resource) -> Result<(), MoveError> {
        let Some(name) = &resource.extension_ref else { return Ok(()) };
        let Some(extension) = self.source.extensions.get(name) else { return Ok(()) };
        let known = self.destination.extensions.entry(name.clone()).or_insert_with(|| extension.clone());
        if known == extension { Ok(()) } else { Err(MoveError::Extension(name.clone())) }
    }
}
