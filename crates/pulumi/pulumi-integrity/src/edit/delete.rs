//! Taking resources out of a snapshot.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{DependencyGraph, GraphError, Snapshot, Urn};

/// Options of [`delete`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteOptions {
    /// Protected resources are deleted as well.
    pub force: bool,
    /// Resources that could not stay are deleted as well.
    pub dependents: bool,
}

impl DeleteOptions {
    /// Sets whether protected resources are deleted as well.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Sets whether resources that could not stay are deleted as well.
    #[must_use]
    pub fn dependents(mut self, dependents: bool) -> Self {
        self.dependents = dependents;
        self
    }
}

/// What was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deleted {
    /// The names of the resources that were asked for, in the order of the snapshot.
    pub targets: Vec<Urn>,
    /// The names of those that went with them.
    pub dependents: Vec<Urn>,
    /// The names of those among both that were protected.
    pub protected: Vec<Urn>,
}

/// Why resources cannot be deleted. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// A resource is protected.
    #[error("Can't delete protected resource {:?}", .urn.as_str())]
    Protected {
        /// The resource.
        urn: Urn,
    },
    /// Others could not stay without a resource.
    #[error("Can't delete resource {:?} due to dependent resources", .urn.as_str())]
    Dependents {
        /// The resource.
        urn: Urn,
        /// Those that could not stay.
        dependents: Vec<Urn>,
    },
    /// There is no resource at this index.
    #[error("there is no resource at index {0}; look the name up again")]
    NoResource(usize),
    /// The resources are not in order.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Takes the resources at these indexes out of the snapshot, whatever their order.
///
/// A resource that needs one of them stays if another copy of what it needs does. Pending operations stay.
///
/// # Errors
///
/// A resource is protected, or others could not stay, unless the options say otherwise; no resource has one of the indexes; the
/// resources are not in order.
pub fn delete(
    snapshot: &mut Snapshot,
    indexes: impl IntoIterator<Item = usize>,
    options: DeleteOptions,
) -> Result<Deleted, DeleteError> {
    let targets: BTreeSet<usize> = indexes.into_iter().collect();
    if let Some(&index) = targets.iter().find(|index| **index >= snapshot.resources.len()) {
        return Err(DeleteError::NoResource(index));
    }
    let graph = DependencyGraph::new(&snapshot.resources)?;
    let dependents = graph.only_depends_on_these(&targets);
    let refuse_protected = |index: usize| {
        let resource = &snapshot.resources[index];
        let urn = resource.urn.clone();
        if resource.protect && !options.force { Err(DeleteError::Protected { urn }) } else { Ok(()) }
    };
    // What stands last has to go first, so it is the first that can be refused.
    targets.iter().rev().try_for_each(|index| refuse_protected(*index))?;
    if !dependents.is_empty() && !options.dependents {
        return Err(refuse_dependents(snapshot, &graph, &targets, &dependents));
    }
    dependents.iter().try_for_each(|index| refuse_protected(*index))?;
    let gone: BTreeSet<usize> = targets.iter().chain(&dependents).copied().collect();
    let urn = |index: &usize| snapshot.resources[*index].urn.clone();
    let result = Deleted {
        targets: targets.iter().map(urn).collect(),
        dependents: dependents.iter().map(urn).collect(),
        protected: gone.iter().filter(|index| snapshot.resources[**index].protect).map(urn).collect(),
    };
    remove(snapshot, &gone);
    Ok(result)
}

/// Takes all resources out of the snapshot.
///
/// # Errors
///
/// A resource is protected, unless `force` says that this does not matter.
pub fn delete_all(snapshot: &mut Snapshot, force: bool) -> Result<Deleted, DeleteError> {
    let protected = snapshot.resources.iter().filter(|resource| resource.protect);
    let protected: Vec<Urn> = protected.map(|resource| resource.urn.clone()).collect();
    if let (false, Some(urn)) = (force, protected.last().cloned()) {
        return Err(DeleteError::Protected { urn });
    }
    let targets = snapshot.resources.drain(..).map(|resource| resource.urn.clone()).collect();
    Ok(Deleted { targets, dependents: Vec::new(), protected })
}

/// Names the first of the targets that something needs which is no target.
fn refuse_dependents(
    snapshot: &Snapshot,
    graph: &DependencyGraph<'_>,
    targets: &BTreeSet<usize>,
    all: &[usize],
) -> DeleteError {
    let urns = |indexes: &[usize]| {
        let urns = indexes.iter().filter(|index| !targets.contains(index));
        urns.filter_map(|index| snapshot.resource(*index)).map(|resource| resource.urn.clone()).collect()
    };
    let alone = targets.iter().find_map(|target| {
        let dependents: Vec<Urn> = urns(&graph.only_depends_on(*target));
        (!dependents.is_empty()).then_some((*target, dependents))
    });
    // Only all of them together leave nothing that is needed.
    let (target, dependents) =
        alone.unwrap_or_else(|| (targets.last().copied().unwrap_or_default(), urns(all)));
    let urn = snapshot.resource(target).map(|resource| resource.urn.clone()).unwrap_or_default();
    DeleteError::Dependents { urn, dependents }
}

/// Takes out what stands at these indexes.
pub(super) fn remove(snapshot: &mut Snapshot, gone: &BTreeSet<usize>) {
    let kept = snapshot.resources.iter().enumerate().filter(|(index, _)| !gone.contains(index));
    snapshot.resources = kept.map(|(_, resource)| Arc::clone(resource)).collect();
}
