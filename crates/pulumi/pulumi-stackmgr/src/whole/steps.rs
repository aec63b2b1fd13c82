//! What each kind of step means for the snapshot that is written.

use groundstate_pulumi_journal::{RecordError, State, Step, StepKind, must_write};

use super::{Work, Write};
use crate::error::{Error, Result};

impl Work {
    pub(super) fn begin(&mut self, step: &Step) -> Result<Write> {
        check(step)?;
        self.gate.enter(step)?;
        if let Some(extension) = &step.extension {
            self.extensions.push(extension.clone());
            return Ok(Write::Later);
        }
        let Some(kind) = step.kind.operation() else {
            let changes = step.kind == StepKind::Same;
            return Ok(if changes { Write::Later } else { Write::Nothing });
        };
        let state = if step.kind.deletes() { &step.old } else { &step.new };
        if let Some(state) = state {
            self.operations.push((state.clone(), kind));
        }
        Ok(Write::Now)
    }

    pub(super) fn end(&mut self, step: &Step, success: bool) -> Result<Write> {
        use StepKind as Kind;
        self.gate.leave(step);
        let state = if step.kind.deletes() { &step.old } else { &step.new };
        if let (Some(state), Some(_)) = (state, step.kind.operation())
            && let Some(at) = self.operations.iter().position(|(running, _)| running == state)
        {
            self.operations.remove(at);
        }
        let old = step.old.as_ref();
        let was_pending = old.is_some_and(|old| old.get().pending_replacement);
        match step.kind {
            Kind::Replace | Kind::ExtendParameterize => return Ok(Write::Nothing),
            // The engine changes the base itself, and tells so with all of it.
            Kind::Refresh if !step.persisted => return Ok(Write::Later),
            Kind::Refresh => self.is_refresh = true,
            _ => {}
        }
        if !success {
            return Ok(Write::Now);
        }
        match step.kind {
            Kind::Same if step.skipped_create => return Ok(Write::Later),
            Kind::Same | Kind::Update | Kind::Read | Kind::Refresh => {
                self.gone(old);
                self.resources.extend(step.new.clone());
                return Ok(if step.kind == Kind::Same { same(step) } else { Write::Now });
            }
            Kind::Create | Kind::CreateReplacement | Kind::ReadReplacement => {
                if was_pending {
                    self.gone(old);
                }
                self.resources.extend(step.new.clone());
            }
            Kind::Import | Kind::ImportReplacement => self.resources.extend(step.new.clone()),
            Kind::RemovePendingReplace => self.gone(old),
            _ if step.kind.deletes() && !was_pending => self.gone(old),
            _ => {}
        }
        Ok(Write::Now)
    }

    fn gone(&mut self, state: Option<&State>) {
        if let Some(state) = state {
            self.done.insert(state.id());
            self.held.push(state.clone());
        }
    }
}

fn same(step: &Step) -> Write {
    match (&step.old, &step.new) {
        (Some(old), Some(new)) if !step.view && !must_write(&old.get(), &new.get()) => Write::Later,
        _ => Write::Now,
    }
}

fn check(step: &Step) -> Result<()> {
    let missing = |what| Err(Error::Record(RecordError::Incomplete { kind: step.kind, what }));
    let needs_old = step.kind.deletes()
        || matches!(step.kind, StepKind::Update | StepKind::Refresh | StepKind::RemovePendingReplace);
    let needs_new = !step.kind.deletes() && step.kind.operation().is_some() || step.kind == StepKind::Same;
    match () {
        () if needs_old && step.old.is_none() => missing("old state"),
        () if needs_new && step.new.is_none() => missing("new state"),
        () if step.kind == StepKind::ExtendParameterize && step.extension.is_none() => missing("extension"),
        // Before anything is done, not after it, as the original has it.
        () => check_protected(step),
    }
}

fn check_protected(step: &Step) -> Result<()> {
    let may = !step.kind.deletes() || step.kind.may_delete_protected() || step.ignore_protect;
    match &step.old {
        Some(old) if old.get().protect && !may => {
            Err(RecordError::Protected { urn: old.get().urn.clone() }.into())
        }
        _ => Ok(()),
    }
}
