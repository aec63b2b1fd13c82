//! A snapshot under repair, with the steps so far.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use groundstate_deployments::{Resource, Snapshot, Urn};

use super::choice::{Choice, Question, QuestionId, RepairOptions};
use super::step::{Action, RemoveReason, Step};
use crate::rewrite::{Renames, provider_names};
use crate::verify::Report;

/// A snapshot under repair.
pub(super) struct Work<'o> {
    pub(super) snapshot: Snapshot,
    /// For each resource its index in the snapshot that was given.
    pub(super) origins: Vec<Option<usize>>,
    pub(super) steps: Vec<Step>,
    pub(super) questions: Vec<Question>,
    pub(super) options: &'o RepairOptions,
    /// How many circles have been broken.
    pub(super) circles: usize,
}

impl<'o> Work<'o> {
    pub(super) fn new(snapshot: &Snapshot, options: &'o RepairOptions) -> Self {
        let origins = (0..snapshot.resources.len()).map(Some).collect();
        let (steps, questions) = (Vec::new(), Vec::new());
        Self { snapshot: snapshot.clone(), origins, steps, questions, options, circles: 0 }
    }

    /// Does all repairs once, each on what the ones before it have left.
    pub(super) fn mend(&mut self) {
        self.magic();
        self.identities();
        self.snippets();
        self.unreferenceable_providers();
        self.duplicates();
        self.unknown_providers();
        self.lost_parents();
        self.references_to_itself();
        self.cycles();
        self.order();
        self.missing();
    }

    pub(super) fn len(&self) -> usize {
        self.snapshot.resources.len()
    }

    /// The resource at an index that is known to be one.
    pub(super) fn at(&self, index: usize) -> Arc<Resource> {
        self.snapshot.resources.get(index).map(Arc::clone).unwrap_or_default()
    }

    pub(super) fn change(&mut self, index: usize, change: impl FnOnce(&mut Resource)) {
        if let Some(resource) = self.snapshot.resource_mut(index) {
            change(resource);
        }
    }

    /// Notes a step about the resource at an index, under the name it has now.
    pub(super) fn step(&mut self, index: usize, action: Action) {
        let resource = self.at(index);
        let origin = self.origins.get(index).copied().flatten();
        self.steps.push(Step {
            resource: origin,
            urn: resource.urn.clone(),
            delete: resource.delete,
            action,
        });
    }

    /// Notes a step about no resource.
    pub(super) fn step_beside(&mut self, action: Action) {
        self.steps.push(Step { resource: None, urn: Urn::default(), delete: false, action });
    }

    /// The answer to a question, which is asked once.
    pub(super) fn ask(
        &mut self,
        id: QuestionId,
        text: String,
        choices: Vec<Choice>,
        default: usize,
    ) -> Option<Choice> {
        let chosen = self.options.chosen(id, &choices).unwrap_or(default);
        let answer = choices.get(chosen).cloned();
        if !self.questions.iter().any(|question| question.id == id) {
            self.questions.push(Question { id, text, choices, default, chosen });
        }
        answer
    }

    /// The index in the given snapshot, for questions.
    pub(super) fn origin(&self, index: usize) -> usize {
        self.origins.get(index).copied().flatten().unwrap_or(usize::MAX)
    }

    /// Takes resources out, noting each.
    pub(super) fn remove(&mut self, gone: &BTreeSet<usize>, why: RemoveReason) {
        for &index in gone {
            self.step(index, Action::Remove(why));
        }
        let mut at = 0..;
        self.snapshot.resources.retain(|_| at.next().is_none_or(|index| !gone.contains(&index)));
        let mut at = 0..;
        self.origins.retain(|_| at.next().is_none_or(|index| !gone.contains(&index)));
    }

    /// Puts a resource that was not there before the one at an index.
    pub(super) fn insert(&mut self, index: usize, resource: Resource) {
        let index = index.min(self.len());
        self.snapshot.resources.insert(index, Arc::new(resource));
        self.origins.insert(index, None);
    }

    /// Whether a resource has the name.
    pub(super) fn is_taken(&self, urn: &Urn) -> bool {
        self.snapshot.locate(urn).next().is_some()
    }

    /// The name with a number behind it that nothing has.
    pub(super) fn free_name(&self, urn: &Urn) -> Urn {
        let names: HashSet<&str> =
            self.snapshot.resources.iter().map(|resource| resource.urn.as_str()).collect();
        // One of more numbers than there are names is free.
        let numbered = (2..=names.len() + 2).map(|number| Urn::from(format!("{urn}-{number}")));
        numbered.into_iter().find(|urn| !names.contains(urn.as_str())).unwrap_or_else(|| urn.clone())
    }

    /// Gives a resource another name, with all that can only mean this one.
    pub(super) fn rename(&mut self, index: usize, new: &Urn) {
        let old = self.at(index).urn.clone();
        if old == *new {
            return;
        }
        let alone = self.snapshot.locate(&old).count() == 1;
        if alone && !old.is_empty() {
            let providers = provider_names(&self.snapshot);
            let rename = |urn: &Urn| (*urn == old).then(|| new.clone());
            Renames::new(&rename, &providers).everywhere(&mut self.snapshot);
        } else {
            self.change(index, |resource| resource.urn = new.clone());
        }
    }

    /// The last resort: what is still in error goes.
    pub(super) fn remove_offenders(&mut self, report: &Report) {
        let errors = report.findings.iter().filter(|finding| finding.severity == crate::Severity::Error);
        let gone: BTreeSet<usize> = errors.filter_map(|finding| finding.resource).collect();
        self.remove(&gone, RemoveReason::Unrepairable);
    }
}
