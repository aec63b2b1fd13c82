//! A snapshot under repair, with the steps so far.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};

use super::choice::{Choice, Question, QuestionId, RepairOptions};
use super::step::{Action, RemoveReason, Step};
use crate::rewrite::{Renames, provider_names};
use crate::verify::Report;

/// A snapshot under repair.
pub(super) struct Work<'o> {
    pub(super) snapshot: Snapshot,
    /// For each resource its index in the snapshot that was given.
    pub(super) origins: Vec<Option<usize>>,
    /// For each pending operation its index in the snapshot that was given.
    pub(super) operations: Vec<usize>,
    pub(super) steps: Vec<Step>,
    pub(super) questions: Vec<Question>,
    pub(super) options: &'o RepairOptions,
    /// How many circles have been broken.
    pub(super) circles: usize,
    asked: HashSet<QuestionId>,
    /// The questions about resources that lose their parents, by the parents.
    pub(super) orphans: HashMap<Urn, QuestionId>,
    /// How many resources have each name.
    names: HashMap<Urn, usize>,
    /// New names that references do not follow yet, by the old ones.
    renamed: HashMap<Urn, Urn>,
}

impl<'o> Work<'o> {
    pub(super) fn new(snapshot: &Snapshot, options: &'o RepairOptions) -> Self {
        Self {
            snapshot: snapshot.clone(),
            origins: (0..snapshot.resources.len()).map(Some).collect(),
            operations: (0..snapshot.pending_operations.len()).collect(),
            steps: Vec::new(),
            questions: Vec::new(),
            options,
            circles: 0,
            asked: HashSet::new(),
            orphans: HashMap::new(),
            names: HashMap::new(),
            renamed: HashMap::new(),
        }
    }

    /// Does all repairs once, each on what the ones before it have left.
    pub(super) fn mend(&mut self) {
        self.count_names();
        self.values();
        self.magic();
        self.identities();
        self.snippets();
        self.unreferenceable_providers();
        self.follow();
        self.aliases();
        self.duplicates();
        self.follow();
        self.unknown_providers();
        self.references_to_itself();
        self.follow();
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
        self.question(id, text, choices, default, false)
    }

    /// The answer to a question without which the plan must not be carried out.
    pub(super) fn ask_openly(
        &mut self,
        id: QuestionId,
        text: String,
        choices: Vec<Choice>,
    ) -> Option<Choice> {
        self.question(id, text, choices, 0, true)
    }

    pub(super) fn question(
        &mut self,
        id: QuestionId,
        text: String,
        choices: Vec<Choice>,
        default: usize,
        needs_answer: bool,
    ) -> Option<Choice> {
        let answered = self.options.chosen(id, &choices);
        let chosen = answered.unwrap_or(default);
        let answer = choices.get(chosen).cloned();
        if self.asked.insert(id) {
            let open = needs_answer && answered.is_none();
            self.questions.push(Question { id, text, choices, default, chosen, open });
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
        for &index in gone {
            let urn = self.at(index).urn.clone();
            self.uncount(&urn);
        }
        let mut at = 0..;
        self.snapshot.resources.retain(|_| at.next().is_none_or(|index| !gone.contains(&index)));
        let mut at = 0..;
        self.origins.retain(|_| at.next().is_none_or(|index| !gone.contains(&index)));
    }

    /// Puts resources that were not there before those at the given indexes, which ascend.
    pub(super) fn insert(&mut self, added: Vec<(usize, Resource)>) {
        let mut added = added.into_iter().peekable();
        let resources = std::mem::take(&mut self.snapshot.resources);
        let origins = std::mem::take(&mut self.origins);
        for (index, (resource, origin)) in resources.into_iter().zip(origins).enumerate() {
            while let Some((_, new)) = added.next_if(|(before, _)| *before <= index) {
                self.append(new);
            }
            self.snapshot.resources.push(resource);
            self.origins.push(origin);
        }
        added.for_each(|(_, new)| self.append(new));
    }

    fn append(&mut self, new: Resource) {
        self.count(new.urn.clone());
        self.snapshot.resources.push(Arc::new(new));
        self.origins.push(None);
    }

    /// Whether a resource has the name, or had it before references followed.
    pub(super) fn is_taken(&self, urn: &Urn) -> bool {
        self.names.contains_key(urn) || self.renamed.contains_key(urn)
    }

    /// The name with a number behind it that nothing has.
    pub(super) fn free_name(&self, urn: &Urn) -> Urn {
        let mut numbered = (2_u64..).map(|number| Urn::from(format!("{urn}-{number}")));
        numbered.find(|urn| !self.is_taken(urn)).unwrap_or_else(|| urn.clone())
    }

    /// Gives a resource another name. What can only mean this one follows later, all at once.
    pub(super) fn rename(&mut self, index: usize, new: &Urn) {
        let old = self.at(index).urn.clone();
        if old == *new {
            return;
        }
        self.change(index, |resource| resource.urn = new.clone());
        self.uncount(&old);
        self.count(new.clone());
        if !old.is_empty() && !self.names.contains_key(&old) {
            self.renamed.insert(old, new.clone());
        }
    }

    /// Lets references follow the resources that have been renamed.
    pub(super) fn follow(&mut self) {
        if self.renamed.is_empty() {
            return;
        }
        let renamed = std::mem::take(&mut self.renamed);
        let mut providers = provider_names(&self.snapshot);
        providers.extend(renamed.keys().cloned());
        Renames::new(&|urn: &Urn| renamed.get(urn).cloned(), &providers).everywhere(&mut self.snapshot);
    }

    /// Pruning gives names at the end of a round, so each round counts anew.
    fn count_names(&mut self) {
        self.names = HashMap::with_capacity(self.len());
        for index in 0..self.len() {
            self.count(self.at(index).urn.clone());
        }
    }

    fn count(&mut self, urn: Urn) {
        *self.names.entry(urn).or_default() += 1;
    }

    fn uncount(&mut self, urn: &Urn) {
        if let Some(count) = self.names.get_mut(urn) {
            *count -= 1;
            if *count == 0 {
                self.names.remove(urn);
            }
        }
    }

    /// The last resort: what is still in error goes.
    pub(super) fn remove_offenders(&mut self, report: &Report) {
        let errors = || report.findings.iter().filter(|finding| finding.severity == crate::Severity::Error);
        self.remove(&errors().filter_map(|finding| finding.resource).collect(), RemoveReason::Unrepairable);
        self.clear(&errors().filter_map(|finding| finding.pending).collect());
    }
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_snapshot::{Operation, OperationType};

    use super::*;
    use crate::verify::{VerifyOptions, verify};

    #[test]
    fn what_no_repair_mends_goes_and_what_is_only_warned_about_stays() {
        let named = |name: &str| Resource::new(Urn::build("s", "p", "", "t:t:T", name), "t:t:T");
        let (mut broken, mut warned) = (named("broken"), named("warned"));
        broken.dependencies.push(named("gone").urn);
        warned.view_of = Some(named("gone").urn);
        let mut snapshot = Snapshot::new([broken, warned]);
        snapshot.pending_operations = [Resource::default(), named("interrupted")]
            .map(|resource| Operation::new(resource, OperationType::Creating))
            .into();
        let options = RepairOptions::default();
        let mut work = Work::new(&snapshot, &options);
        work.remove_offenders(&verify(&snapshot, &VerifyOptions::default()));
        assert_eq!(work.snapshot.resources, snapshot.resources[1..]);
        assert_eq!(work.snapshot.pending_operations, snapshot.pending_operations[1..]);
        let told: Vec<String> = work.steps.iter().map(|step| step.action.to_string()).collect();
        let removed = "remove the resource, because nothing else leaves a sound snapshot";
        assert_eq!(told, [removed, "forget the pending operation at 0 (creating)"]);
    }
}
