//! Repairs of values that Pulumi cannot load, and of secrets that nothing can decrypt.

use std::sync::Arc;

use groundstate_pulumi_snapshot::{Properties, RawJson, Resource, StoredValue};

use super::choice::{Choice, QuestionId};
use super::step::{Action, Step};
use super::work::Work;
use crate::verify::{Faults, Values, ciphertext_check, faults, path_of, unusable_provider};

/// Where a resource stands.
#[derive(Clone, Copy)]
enum Owner {
    Resource(usize),
    Operation(usize),
}

impl Work<'_> {
    /// Takes out what cannot be loaded, and leaves everything else as it is.
    pub(super) fn values(&mut self) {
        self.secrets_provider();
        let snapshot = self.snapshot.clone();
        let check = ciphertext_check(&snapshot);
        let resources = snapshot.resources.iter().enumerate().map(|(at, it)| (Owner::Resource(at), it));
        let operations = snapshot.pending_operations.iter().enumerate();
        let operations = operations.map(|(at, it)| (Owner::Operation(at), &it.resource));
        let mut lost = 0;
        for (owner, resource) in resources.chain(operations) {
            for values in Values::ALL {
                let Some(found) = faults(values, resource, check) else { continue };
                lost += found.undecryptable;
                self.drop_values(owner, resource, values, found);
            }
        }
        if lost > 0 {
            let text =
                format!("{lost} encrypted values cannot be decrypted by any key; a backup may have them.");
            self.ask_openly(QuestionId::Secrets, text, vec![Choice::DropSecrets]);
        }
    }

    fn secrets_provider(&mut self) {
        let Some((_, message, _)) = unusable_provider(&self.snapshot) else { return };
        let text = format!("No secrets manager can be made, so that nothing can be decrypted: {message}.");
        self.ask_openly(QuestionId::SecretsProvider, text, vec![Choice::DropSecretsProvider]);
        if let Some(provider) = self.snapshot.secrets_provider.take() {
            self.step_beside(Action::DropSecretsProvider(provider.kind));
        }
    }

    fn drop_values(&mut self, owner: Owner, resource: &Resource, values: Values, found: Faults) {
        if found.unloadable == 0 {
            return;
        }
        for error in found.breaking() {
            self.value_step(owner, resource, Action::DropValue(path_of(values, error)));
        }
        let more = found.more_unloadable();
        if more > 0 {
            self.value_step(owner, resource, Action::DropMoreValues(more, values.name()));
        }
        let holder = match owner {
            Owner::Resource(at) => self.snapshot.resources.get_mut(at),
            Owner::Operation(at) => {
                self.snapshot.pending_operations.get_mut(at).map(|operation| &mut operation.resource)
            }
        };
        if let Some(holder) = holder {
            set(Arc::make_mut(holder), values, found.left);
        }
    }

    fn value_step(&mut self, owner: Owner, resource: &Resource, action: Action) {
        match owner {
            Owner::Resource(at) => self.step(at, action),
            Owner::Operation(_) => {
                let (urn, delete) = (resource.urn.clone(), resource.delete);
                self.steps.push(Step { resource: None, urn, delete, action });
            }
        }
    }
}

fn set(resource: &mut Resource, values: Values, raw: Option<RawJson>) {
    let properties = |raw: Option<RawJson>| raw.map_or(Properties::Absent, Properties::Raw);
    match values {
        Values::Inputs => resource.inputs = properties(raw),
        Values::Outputs => resource.outputs = properties(raw),
        Values::Trigger => resource.replacement_trigger = raw.map(StoredValue::Raw),
    }
}
