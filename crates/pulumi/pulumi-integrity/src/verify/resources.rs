//! Rules about one resource by itself, and about those that share a name.

use groundstate_pulumi_snapshot::Resource;

use super::{Checker, Finding};
use crate::rule::Rule;

impl Checker<'_> {
    pub(super) fn resource(&mut self, index: usize, resource: &Resource) {
        self.identity(index, resource);
        self.provider_itself(index, resource);
        self.provider_of(index, resource);
        self.edges(index, resource);
        self.links(index, resource);
    }

    fn identity(&mut self, index: usize, resource: &Resource) {
        let urn = &resource.urn;
        if !urn.is_empty() && !urn.is_valid() {
            let message = format!("{urn:?} does not have the form of a URN");
            self.about(index, resource, ".urn", Finding::new(Rule::UrnInvalid, message, ""));
        }
        // Who loads the snapshot has seen the rest.
        if self.known.options.loading {
            return;
        }
        if urn.is_empty() {
            let finding = Finding::new(Rule::UrnMissing, "the resource has no URN", "")
                .original(format!("resource at index {index} missing required 'urn' field"));
            self.about(index, resource, ".urn", finding);
        }
        if resource.resource_type.is_empty() {
            let finding = Finding::new(Rule::TypeMissing, "the resource has no type", "")
                .original(format!("resource '{urn}' missing required 'type' field"));
            self.about(index, resource, ".type", finding);
        }
        if let (false, Some(id)) = (resource.custom, resource.id()) {
            let message = format!("the resource is a component and has the identifier {id:?}");
            // The quote that is missing is missing in Pulumi as well.
            let finding = Finding::new(Rule::IdOnComponent, message, "")
                .original(format!("resource '{urn}' has 'custom false but non-empty ID"));
            self.about(index, resource, ".id", finding);
        }
    }

    /// What a resource names without depending on it.
    fn links(&mut self, index: usize, resource: &Resource) {
        if let Some(view_of) = resource.view_of.as_ref().filter(|urn| !urn.is_empty())
            && !self.known.names.contains_key(view_of.as_str())
        {
            let message = format!("it is a view of {view_of}, which is not there");
            self.about(index, resource, ".viewOf", Finding::new(Rule::ViewOfMissing, message, ""));
        }
        if let Some(extension) = resource.extension_ref.as_ref().filter(|name| !name.is_empty())
            && !self.known.snapshot.extensions.contains_key(extension)
        {
            let message = format!("its extension {extension:?} is not there");
            self.about(index, resource, ".extensionRef", Finding::new(Rule::ExtensionMissing, message, ""));
        }
        if !resource.aliases.is_empty() {
            let message = format!("it still has {} aliases", resource.aliases.len());
            self.about(index, resource, ".aliases", Finding::new(Rule::AliasesLeft, message, ""));
        }
    }

    pub(super) fn duplicates(&mut self) {
        let snapshot = self.known.snapshot;
        for (index, resource) in snapshot.indexed() {
            let Some(name) = self.known.names.get(resource.urn.as_str()).copied() else { continue };
            if name.first != index || name.live < 2 {
                continue;
            }
            let (live, last) = (name.live, name.last);
            let message =
                format!("{live} resources of this name are not marked for deletion, the last at {last}");
            let urn = &resource.urn;
            let finding = Finding::new(Rule::Duplicate, message, "")
                .original(format!("duplicate resource {urn} (not marked for deletion)"));
            self.about(index, resource, ".urn", finding);
        }
    }
}
