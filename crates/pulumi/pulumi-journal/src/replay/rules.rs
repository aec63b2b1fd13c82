//! What entries must not say, by themselves and together.

use groundstate_pulumi_snapshot::SecretsProvider;

use super::{ReplayError, Replayer};
use crate::entry::{Entry, EntryKind};
use crate::ids::SequenceId;

/// Checks what can be told of an entry without knowing others.
pub(super) fn by_itself(entry: &Entry) -> Result<(), ReplayError> {
    use EntryKind as Kind;
    let (kind, sequence) = (entry.kind, entry.sequence);
    if sequence.is_zero() {
        return Err(ReplayError::NoSequence { kind });
    }
    let replaces = entry.state.is_some() && entry.removed.is_none();
    let missing = match kind {
        Kind::Unknown(kind) => return Err(ReplayError::UnknownKind { sequence, kind }),
        Kind::Begin | Kind::Success | Kind::Failure | Kind::RefreshSuccess
            if entry.operation_id.is_zero() =>
        {
            Some("operation ID")
        }
        Kind::RefreshSuccess | Kind::Outputs if replaces => Some("state that its own takes the place of"),
        Kind::Write if entry.new_snapshot.is_none() => Some("snapshot"),
        Kind::SecretsManager if entry.secrets_provider.is_none() => Some("secrets provider"),
        Kind::ExtensionParameterize if entry.extension_ref.is_none() => Some("reference to an extension"),
        Kind::ExtensionParameterize if entry.extension.is_none() => Some("extension"),
        _ => None,
    };
    missing.map_or(Ok(()), |what| Err(ReplayError::Incomplete { sequence, kind, what }))
}

/// Whether an entry of this kind stands for work on the base, so that none can be before another base.
pub(super) fn speaks_of_base(kind: EntryKind) -> bool {
    !matches!(
        kind,
        EntryKind::Write
            | EntryKind::SecretsManager
            | EntryKind::Snippets
            | EntryKind::ExtensionParameterize
            | EntryKind::Unknown(_)
    )
}

/// Whether a provider is the known one: of its type, and with the same state byte for byte.
pub(super) fn same(known: &Option<SecretsProvider>, provider: &SecretsProvider) -> bool {
    known.as_ref().is_some_and(|known| known.kind == provider.kind && known.state == provider.state)
}

impl Replayer {
    /// Another base comes before everything that speaks of one.
    pub(super) fn check_write(&self) -> Result<(), ReplayError> {
        match (self.first_step, self.last_write) {
            (Some(step), Some(write)) if step < write => Err(ReplayError::LateWrite { write, step }),
            _ => Ok(()),
        }
    }

    /// A base that was rebuilt with new resources in it ends the journal: its writer counts them in another way.
    pub(super) fn check_rebuilt(&self, sequence: SequenceId, resources: usize) -> Result<(), ReplayError> {
        let next = self.entries.keys().next_back().copied().filter(|last| *last > sequence);
        match next {
            Some(next) if resources > 0 => Err(ReplayError::RebuiltNotLast { sequence, resources, next }),
            _ => Ok(()),
        }
    }

    /// Every index that was named is one of the base.
    pub(super) fn check_indexes(&self) -> Result<(), ReplayError> {
        let resources = self.state.base.resources.len();
        match self.state.highest {
            Some((index, sequence)) if index >= resources as u64 => {
                Err(ReplayError::IndexOutOfRange { sequence, index, resources })
            }
            _ => Ok(()),
        }
    }
}
