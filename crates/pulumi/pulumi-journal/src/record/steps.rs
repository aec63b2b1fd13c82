//! What each kind of step means for the entries of its beginning and end.

use groundstate_pulumi_snapshot::Operation;

use super::{RecordError, Recorder};
use crate::engine::{State, Step, StepKind, must_write};
use crate::entry::{EntryKind, Target};

/// What the end of a step tells.
pub(super) struct Effect {
    pub(super) kind: EntryKind,
    pub(super) state: Option<State>,
    pub(super) removed: Option<Target>,
    pub(super) deleted: Option<Target>,
    pub(super) pending_replacement: Option<Target>,
    pub(super) elided: bool,
}

/// Checks that a step has the states that its kind is about.
pub(super) fn check(step: &Step) -> Result<(), RecordError> {
    use StepKind as Kind;
    let kind = step.kind;
    let (needs_old, needs_new) = match kind {
        Kind::Same
        | Kind::Create
        | Kind::CreateReplacement
        | Kind::Read
        | Kind::ReadReplacement
        | Kind::Import
        | Kind::ImportReplacement => (false, true),
        Kind::Update => (true, true),
        Kind::Refresh | Kind::RemovePendingReplace => (true, false),
        Kind::Replace | Kind::ExtendParameterize => (false, false),
        Kind::Delete | Kind::DeleteReplaced | Kind::Discard | Kind::DiscardReplaced => (true, false),
    };
    let missing = match () {
        () if needs_old && step.old.is_none() => "old state",
        () if needs_new && step.new.is_none() => "new state",
        () if kind == Kind::ExtendParameterize && step.extension.is_none() => "extension",
        // Before anything is done, not after it, as the original has it.
        () => return check_protected(step),
    };
    Err(RecordError::Incomplete { kind, what: missing })
}

/// What is pending while a step runs.
pub(super) fn pending(step: &Step) -> Option<Operation> {
    let state = if step.kind.deletes() { step.old.as_ref() } else { step.new.as_ref() };
    Some(Operation::new(state?.get(), step.kind.operation()?))
}

impl Recorder {
    /// What the success of a step tells.
    pub(super) fn effect(&self, step: &Step) -> Result<Effect, RecordError> {
        use StepKind as Kind;
        let old = step.old.as_ref();
        let mut effect = Effect {
            kind: EntryKind::Success,
            state: step.new.clone(),
            removed: None,
            deleted: None,
            pending_replacement: None,
            elided: false,
        };
        let find = |state: Option<&State>| state.map(|state| self.find(state)).transpose();
        let is_pending = old.is_some_and(|old| old.get().pending_replacement);
        match step.kind {
            Kind::Same if step.skipped_create => {
                effect.state = None;
                effect.elided = true;
            }
            Kind::Same => {
                effect.removed = find(old)?;
                effect.elided = is_elided(step);
            }
            Kind::Create | Kind::CreateReplacement if !is_pending => effect.deleted = find(old)?,
            // The old object is owned and still has to be deleted. The original forgets it here.
            Kind::ReadReplacement if !is_pending => effect.deleted = find(old)?,
            Kind::Import | Kind::ImportReplacement => effect.deleted = find(old)?,
            Kind::Create | Kind::CreateReplacement | Kind::Update | Kind::Read | Kind::ReadReplacement => {
                effect.removed = find(old)?
            }
            Kind::Delete | Kind::DeleteReplaced | Kind::Discard | Kind::DiscardReplaced => {
                effect.state = None;
                let target = find(old)?;
                *(if is_pending { &mut effect.pending_replacement } else { &mut effect.removed }) = target;
            }
            Kind::Refresh => {
                effect.removed = find(old)?;
                if !step.persisted {
                    effect.kind = EntryKind::RefreshSuccess;
                }
            }
            Kind::RemovePendingReplace => {
                effect.state = None;
                effect.removed = find(old)?;
            }
            Kind::Replace | Kind::ExtendParameterize => effect.state = None,
        }
        Ok(effect)
    }
}

/// Whether a step that does nothing need not be written at once.
fn is_elided(step: &Step) -> bool {
    match (&step.old, &step.new) {
        _ if step.view => false,
        (Some(old), Some(new)) => !must_write(&old.get(), &new.get()),
        _ => false,
    }
}

fn check_protected(step: &Step) -> Result<(), RecordError> {
    let may = !step.kind.deletes() || step.kind.may_delete_protected() || step.ignore_protect;
    match &step.old {
        Some(old) if old.get().protect && !may => Err(RecordError::Protected { urn: old.get().urn.clone() }),
        _ => Ok(()),
    }
}
