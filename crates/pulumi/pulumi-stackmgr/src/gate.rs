//! Steps that are under way, and who may not begin beside them.

use std::collections::HashMap;

use groundstate_pulumi_journal::{Step, StepKind};
use groundstate_pulumi_snapshot::{Resource, Urn};

use crate::error::{Error, Result};

/// The steps that are under way. A step that depends on one of them cannot begin.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// How many steps make a new state of each name.
    making: HashMap<Urn, usize>,
}

impl Gate {
    /// Lets a step begin, unless its new state refers to one that is being made.
    pub(crate) fn enter(&mut self, step: &Step) -> Result<()> {
        let Some(urn) = making(step) else { return Ok(()) };
        if let Some(new) = &step.new
            && let Some(before) = self.needed(&new.get())
        {
            return Err(Error::Overtakes { urn, before });
        }
        *self.making.entry(urn).or_default() += 1;
        Ok(())
    }

    /// A step has ended, or did not begin after all.
    pub(crate) fn leave(&mut self, step: &Step) {
        let Some(urn) = making(step) else { return };
        if let Some(count) = self.making.get_mut(&urn) {
            *count -= 1;
            if *count == 0 {
                self.making.remove(&urn);
            }
        }
    }

    fn needed(&self, resource: &Resource) -> Option<Urn> {
        if self.making.is_empty() {
            return None;
        }
        let mut needs = resource.all_dependencies().map(|dependency| dependency.urn);
        if let Some(urn) = needs.find(|urn| self.making.contains_key(*urn)) {
            return Some(urn.clone());
        }
        let mut providers = resource.provider()?.splits().map(|(urn, _)| Urn::from(urn));
        providers.find(|urn| self.making.contains_key(urn))
    }
}

/// The name of the state that a step makes. What a refresh finds replaces what was there, so nothing waits for it.
fn making(step: &Step) -> Option<Urn> {
    let makes = !step.skipped_create
        && (step.kind != StepKind::Refresh || step.persisted)
        && step.kind != StepKind::Replace;
    let new = step.new.as_ref().filter(|_| makes)?;
    Some(new.get().urn.clone())
}
