//! Rules about snippets, cycles, pending operations and the record of an error.

use std::collections::HashMap;

use groundstate_pulumi_snapshot::{Operation, Resource};

use super::{Checker, Finding};
use crate::rule::Rule;
use crate::sort;

/// So many names of a cycle are shown.
const SHOWN: usize = 8;

impl Checker<'_> {
    pub(super) fn snippets(&mut self) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (index, snippet) in self.known.snapshot.snippets.iter().enumerate() {
            let uuid = snippet.uuid.as_str();
            let path = format!("snippets[{index}].uuid");
            if uuid.is_empty() {
                let message = format!("the snippet {:?} has no UUID", snippet.name);
                let original = format!("snippet at index {index} missing required 'uuid' field");
                self.push(Finding::new(Rule::SnippetWithoutUuid, message, path).original(original));
                continue;
            }
            match first.get(uuid) {
                Some(known) => {
                    let message = format!("the snippets at {known} and {index} have the UUID {uuid:?}");
                    let original = format!("duplicate snippet uuid {uuid:?} at indexes {known} and {index}");
                    let finding = Finding::new(Rule::SnippetDuplicate, message, path);
                    self.push(finding.original(original));
                }
                None => {
                    first.insert(uuid, index);
                }
            }
        }
    }

    /// Only looked for if something is out of order, because nothing else is the sign of a cycle.
    pub(super) fn cycles(&mut self) {
        if !self.out_of_order {
            return;
        }
        for cycle in sort::cycles(self.known.snapshot) {
            let Some(&start) = cycle.first() else { continue };
            let names =
                cycle.iter().filter_map(|at| self.known.snapshot.resource(*at)).map(|resource| &resource.urn);
            let mut shown: Vec<String> = names.take(SHOWN).map(ToString::to_string).collect();
            if cycle.len() > SHOWN {
                shown.push(format!("{} more", cycle.len() - SHOWN));
            }
            if let Some(resource) = self.known.snapshot.resource(start) {
                shown.push(resource.urn.to_string());
                let message = format!("resources need each other in a circle: {}", shown.join(" -> "));
                self.about(start, resource, "", Finding::new(Rule::Cycle, message, ""));
            }
        }
    }

    pub(super) fn pending_operations(&mut self) {
        for (index, operation) in self.known.snapshot.pending_operations.iter().enumerate() {
            let urn = &operation.resource.urn;
            if !self.known.options.loading {
                self.unloadable_operation(index, operation);
            }
            let message = format!("{} was interrupted, and how it ended is unknown", operation.kind);
            let finding =
                Finding::new(Rule::PendingOperation, message, format!("pending_operations[{index}]"));
            self.push(Finding { urn: Some(urn.clone()), pending: Some(index), ..finding });
        }
    }

    pub(super) fn unloadable_operation(&mut self, index: usize, operation: &Operation) {
        let urn = &operation.resource.urn;
        if let Some((message, original)) = unloadable(&operation.resource) {
            let path = format!("pending_operations[{index}].resource");
            let finding = Finding::new(Rule::PendingUnreadable, message, path).original(original);
            let urn = (!urn.is_empty()).then(|| urn.clone());
            self.push(Finding { urn, pending: Some(index), ..finding });
        }
    }

    pub(super) fn record(&mut self) {
        if let Some(record) = &self.known.snapshot.metadata.integrity_error {
            let message = format!("it was written although it was broken: {}", record.error);
            let finding = Finding::new(Rule::RecordedError, message, "metadata.integrity_error");
            self.push(finding);
        }
    }
}

/// Why a resource cannot be loaded as that of an operation, with Pulumi's words for it.
pub(crate) fn unloadable(resource: &Resource) -> Option<(String, String)> {
    let urn = &resource.urn;
    if urn.is_empty() {
        let original = "resource missing required 'urn' field";
        return Some(("the resource of the operation has no URN".to_owned(), original.to_owned()));
    }
    if resource.resource_type.is_empty() {
        let original = format!("resource '{urn}' missing required 'type' field");
        return Some(("the resource of the operation has no type".to_owned(), original));
    }
    let id = resource.id().filter(|_| !resource.custom)?;
    let message = format!("the resource of the operation is a component and has the identifier {id:?}");
    Some((message, format!("resource '{urn}' has 'custom' false but non-empty ID")))
}
