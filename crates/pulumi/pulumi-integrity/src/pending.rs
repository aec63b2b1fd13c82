//! Operations whose outcome is unknown: leaving them, clearing them, saying how they ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Operation, OperationType, ResourceId, Snapshot};

/// Which pending operations are cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PendingRule {
    /// None.
    #[default]
    Keep,
    /// Those that Pulumi forgets by itself at the next write: all but creations.
    ClearForgotten,
    /// All of them. What was created in the meantime has to be imported.
    ClearAll,
}

/// Why a pending operation cannot be resolved. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PendingError {
    /// There is no operation at this index.
    #[error("there is no pending operation at index {0}; list them again")]
    NoOperation(usize),
    /// Only what was being created can be given an identifier.
    #[error(
        "the operation at index {index} is {kind:?}, and only creating can be resolved with an identifier; clear it instead"
    )]
    NotCreating {
        /// The index.
        index: usize,
        /// What the operation is.
        kind: OperationType,
    },
    /// Components have no identifiers.
    #[error(
        "the resource of the operation at index {0} is a component, which has no identifier; clear it instead"
    )]
    Component(usize),
    /// There is no identifier.
    #[error("the identifier is empty; clear the operation if the resource was not created")]
    NoId,
}

impl PendingRule {
    /// Whether an operation is cleared.
    pub fn clears(self, operation: &Operation) -> bool {
        match self {
            Self::Keep => false,
            Self::ClearForgotten => operation.kind != OperationType::Creating,
            Self::ClearAll => true,
        }
    }
}

/// Takes the pending operations at these indexes out, and gives them back. Indexes that are none are passed over.
pub fn clear_pending(snapshot: &mut Snapshot, indexes: impl IntoIterator<Item = usize>) -> Vec<Operation> {
    let gone: BTreeSet<usize> = indexes.into_iter().collect();
    let all = std::mem::take(&mut snapshot.pending_operations);
    let (cleared, kept): (Vec<_>, Vec<_>) =
        all.into_iter().enumerate().partition(|(index, _)| gone.contains(index));
    snapshot.pending_operations = kept.into_iter().map(|(_, operation)| operation).collect();
    cleared.into_iter().map(|(_, operation)| operation).collect()
}

/// Notes that a creation has succeeded, with the identifier of what was created: the next refresh imports it.
///
/// # Errors
///
/// There is no such operation, it is not a creation, it created a component, which has no identifier, or the identifier is empty.
pub fn resolve_pending(snapshot: &mut Snapshot, index: usize, id: ResourceId) -> Result<(), PendingError> {
    let operation = snapshot.pending_operations.get_mut(index).ok_or(PendingError::NoOperation(index))?;
    if operation.kind != OperationType::Creating {
        return Err(PendingError::NotCreating { index, kind: operation.kind.clone() });
    }
    if !operation.resource.custom {
        return Err(PendingError::Component(index));
    }
    if id.is_empty() {
        return Err(PendingError::NoId);
    }
    Arc::make_mut(&mut operation.resource).id = Some(id);
    operation.kind = OperationType::Importing;
    Ok(())
}
