//! Rules about providers and references to them.

use groundstate_pulumi_snapshot::Resource;

use super::{Checker, Finding};
use crate::rule::Rule;

impl Checker<'_> {
    pub(super) fn provider_itself(&mut self, index: usize, resource: &Resource) {
        if !resource.is_provider() {
            return;
        }
        if let Err(error) = resource.provider_ref() {
            let message = format!("no reference can name the provider: {error}");
            let finding = Finding::new(Rule::ProviderNotReferenceable, message, "")
                .original(format!("provider {} is not referenceable: {error}", resource.urn));
            self.about(index, resource, ".urn", finding);
        }
    }

    /// A resource that waits for its replacement may refer to a provider that is gone; one that waits for its deletion may
    /// not.
    pub(super) fn provider_of(&mut self, index: usize, resource: &Resource) {
        let Some(reference) = resource.provider() else { return };
        let urn = &resource.urn;
        let unknown = || format!("resource {urn} refers to unknown provider {reference}");
        // A provider can be named from its place on, also by itself.
        let first = self.known.providers.get(reference.as_str());
        let provider = first.filter(|first| **first <= index);
        let finding = match (reference.split_text(), provider) {
            (Err(error), _) => {
                let message = format!("its provider cannot be read: {error}");
                Finding::new(Rule::ProviderRefMalformed, message, "")
                    .original(format!("failed to parse provider reference for resource {urn}: {error}"))
            }
            (Ok(_), None) if !resource.pending_replacement => {
                let mut message = format!("no provider before it is {reference}");
                self.out_of_order = true;
                if first.is_some() {
                    message.push_str("; one comes after it");
                }
                Finding::new(Rule::UnknownProvider, message, "").original(unknown())
            }
            (Ok((name, _)), Some(&provider)) if !self.names_exactly(provider, name) => {
                let message =
                    "the identifier of its provider holds ::, so Pulumi reads the reference in another way";
                let finding = Finding::new(Rule::AmbiguousProviderId, message, "");
                if resource.pending_replacement { finding } else { finding.original(unknown()) }
            }
            _ => return,
        };
        self.about(index, resource, ".provider", finding);
    }

    /// Whether the provider has the name that the last `::` of a reference to it leaves.
    fn names_exactly(&self, provider: usize, name: &str) -> bool {
        self.known.snapshot.resource(provider).is_some_and(|provider| provider.urn == *name)
    }
}
