//! Repairs beside the resources: manifest, snippets, pending operations, the record of an error.

use std::collections::{BTreeSet, HashMap};

use groundstate_pulumi_snapshot::{Manifest, SnippetId};

use super::choice::{Choice, QuestionId};
use super::step::Action;
use super::work::Work;
use crate::pending::clear_pending;
use crate::verify::unloadable;

impl Work<'_> {
    pub(super) fn magic(&mut self) {
        if !self.snapshot.manifest.magic_is_right() {
            self.snapshot.manifest.magic = Manifest::magic_of(&self.snapshot.manifest.version).into();
            self.step_beside(Action::WriteMagic);
        }
    }

    /// Of two snippets of one UUID that say the same one goes; otherwise the second gets another UUID.
    pub(super) fn snippets(&mut self) {
        let mut first: HashMap<SnippetId, usize> = HashMap::new();
        let uuids: Vec<SnippetId> =
            self.snapshot.snippets.iter().map(|snippet| snippet.uuid.clone()).collect();
        let mut used: BTreeSet<SnippetId> = uuids.iter().cloned().collect();
        let mut gone = BTreeSet::new();
        for (index, uuid) in uuids.into_iter().enumerate() {
            let known = if uuid.is_empty() { Some(index) } else { first.get(&uuid).copied() };
            let Some(known) = known else {
                first.insert(uuid, index);
                continue;
            };
            if known != index && self.snapshot.snippets[known] == self.snapshot.snippets[index] {
                self.step_beside(Action::RemoveSnippet(index, uuid));
                gone.insert(index);
                continue;
            }
            let numbered = (index..).map(|number| SnippetId::from(format!("recovered-snippet-{number}")));
            if let Some(new) = numbered.into_iter().find(|new| !used.contains(new)) {
                used.insert(new.clone());
                self.step_beside(Action::NameSnippet(index, new.clone()));
                self.snapshot.snippets[index].uuid = new;
            }
        }
        let mut at = 0..;
        self.snapshot.snippets.retain(|_| at.next().is_none_or(|index| !gone.contains(&index)));
    }

    /// What Pulumi cannot load goes: while it is there, nothing of the snapshot can be used.
    pub(super) fn unloadable_operations(&mut self) {
        let operations = &self.snapshot.pending_operations;
        let is_gone = |at: &usize| operations.get(*at).is_some_and(|it| unloadable(&it.resource).is_some());
        let gone: BTreeSet<usize> = (0..operations.len()).filter(is_gone).collect();
        self.clear(&gone);
    }

    /// Operations may stay, so they are asked about, and the rule says what is done by default.
    pub(super) fn pending_operations(&mut self) {
        let mut cleared = BTreeSet::new();
        let operations = self.snapshot.pending_operations.clone();
        for (at, operation) in operations.iter().enumerate() {
            let index = self.operations.get(at).copied().unwrap_or(at);
            let default = usize::from(self.options.pending.clears(operation));
            let text = format!("{} {} was interrupted.", operation.kind, operation.resource.urn);
            let choices = vec![Choice::Leave, Choice::Clear];
            if self.ask(QuestionId::Pending(index), text, choices, default) == Some(Choice::Clear) {
                cleared.insert(at);
            }
        }
        self.clear(&cleared);
    }

    /// Takes operations out, noting each under the index that it had at first.
    pub(super) fn clear(&mut self, gone: &BTreeSet<usize>) {
        let cleared = clear_pending(&mut self.snapshot, gone.iter().copied());
        for (operation, &at) in cleared.iter().zip(gone) {
            let index = self.operations.get(at).copied().unwrap_or(at);
            self.step_beside(Action::ClearPending(index, operation.kind.clone()));
            if let Some(step) = self.steps.last_mut() {
                step.urn = operation.resource.urn.clone();
            }
        }
        let mut at = 0..;
        self.operations.retain(|_| at.next().is_none_or(|index| !gone.contains(&index)));
    }

    pub(super) fn forget_record(&mut self) {
        if self.snapshot.metadata.integrity_error.take().is_some() {
            self.step_beside(Action::ForgetRecord);
        }
    }
}
