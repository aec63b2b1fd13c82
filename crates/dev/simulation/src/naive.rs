//! A replayer that applies the rules and nothing else, slowly; and the ways in which it can be wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_pulumi_integrity::normalize;
use groundstate_pulumi_journal::{Entry, EntryKind, OperationId, Target};
use groundstate_pulumi_snapshot::{
    Manifest, OperationType, Resource, SecretsProvider, Snapshot, Snippet, Urn,
};

/// What makes a snapshot of a base and the entries that are there, in any order.
pub type Replay = dyn Fn(&Snapshot, &[Arc<Entry>]) -> Result<Snapshot, String> + Sync;

/// One way to be wrong: a defect of the original, or of what is written about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// Names that `replaceWith` has are not brought up to date.
    ReplaceWithNotNormalized,
    /// Names that `viewOf` has are not brought up to date.
    ViewOfNotNormalized,
    /// Names are not brought up to date at all.
    NotNormalized,
    /// After a refresh, a parent may stand anywhere.
    ParentAnywhere,
    /// The place of the next new resource is not forgotten when the base is rebuilt.
    IndexKept,
    /// A reference to an unrecorded resource means the first new one.
    UnknownIsFirst,
    /// What a refresh or outputs replaced loses the mark of what waits for its deletion, or its replacement.
    MarksLost,
    /// Only the base can be spoken of.
    OldOnly,
    /// `deleteNew` takes away instead of marking.
    DeleteNewRemoves,
    /// A refresh takes away what it found, and keeps what is gone.
    RefreshInverted,
    /// Taking away the first of several skips the one after it.
    SkipsWhileRemoving,
    /// The base is not rebuilt when the journal says so.
    NotRebuilt,
    /// Entries count by their operations.
    OperationOrder,
    /// Entries count as they arrive.
    ArrivalOrder,
    /// Only entries that say so are of a refresh.
    RefreshUnnoticed,
    /// After a refresh, only plain dependencies are looked at.
    OnlyDependenciesRebuilt,
    /// The secrets manager is overlooked.
    NoSecretsManager,
    /// Snippets are overlooked.
    NoSnippets,
    /// Extensions are overlooked.
    NoExtensions,
    /// Another base is overlooked.
    NoWrite,
    /// Another base undoes what was said about secrets and snippets.
    WriteTakesBack,
    /// The state of an operation that failed counts.
    FailureCounts,
    /// An operation that failed stays pending.
    FailureStaysPending,
    /// Everything that a crash left pending stays.
    AllLeftPending,
    /// Nothing that a crash left pending stays.
    NoneLeftPending,
    /// Operations that are under way come in reverse.
    PendingReversed,
    /// What the beginning of an operation says is done at once.
    BeginCounts,
    /// New states stand behind the base.
    NewLast,
    /// A resource that was owned is forgotten as soon as it is only read.
    ReadForgets,
    /// Outputs make a new resource instead of replacing the one there is.
    OutputsAppended,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 30] = [
        Self::ReplaceWithNotNormalized,
        Self::ViewOfNotNormalized,
        Self::NotNormalized,
        Self::ParentAnywhere,
        Self::IndexKept,
        Self::UnknownIsFirst,
        Self::MarksLost,
        Self::OldOnly,
        Self::DeleteNewRemoves,
        Self::RefreshInverted,
        Self::SkipsWhileRemoving,
        Self::NotRebuilt,
        Self::OperationOrder,
        Self::ArrivalOrder,
        Self::RefreshUnnoticed,
        Self::OnlyDependenciesRebuilt,
        Self::NoSecretsManager,
        Self::NoSnippets,
        Self::NoExtensions,
        Self::NoWrite,
        Self::WriteTakesBack,
        Self::FailureCounts,
        Self::FailureStaysPending,
        Self::AllLeftPending,
        Self::NoneLeftPending,
        Self::PendingReversed,
        Self::BeginCounts,
        Self::NewLast,
        Self::ReadForgets,
        Self::OutputsAppended,
    ];
}

/// Replays entries one by one from the start, with a defect if one is given.
///
/// # Errors
///
/// Names in the result cannot be brought up to date.
pub fn naive(defect: Option<Defect>, base: &Snapshot, entries: &[Arc<Entry>]) -> Result<Snapshot, String> {
    let mut entries: Vec<&Entry> = entries.iter().map(|entry| &**entry).collect();
    match defect {
        Some(Defect::ArrivalOrder) => {}
        Some(Defect::OperationOrder) => entries.sort_by_key(|entry| (entry.operation_id, entry.sequence)),
        _ => entries.sort_by_key(|entry| entry.sequence),
    }
    let mut tables = Tables { base: base.clone(), defect, ..Tables::default() };
    for entry in entries {
        tables.apply(entry)?;
    }
    tables.generate()
}

/// The tables of a replay, by Pulumi's names.
#[derive(Default)]
struct Tables {
    defect: Option<Defect>,
    base: Snapshot,
    new: Vec<Resource>,
    op_index: BTreeMap<OperationId, usize>,
    index: usize,
    removed_new: BTreeSet<OperationId>,
    removed_old: BTreeSet<u64>,
    mark_delete: BTreeSet<u64>,
    mark_pending: BTreeSet<u64>,
    replaced_old: BTreeMap<u64, Resource>,
    incomplete: BTreeMap<OperationId, Entry>,
    has_refresh: bool,
    extensions: Snapshot,
    provider: Option<SecretsProvider>,
    snippets: Option<Vec<Snippet>>,
}

impl Tables {
    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), String> {
        let operation = entry.operation_id;
        match entry.kind {
            EntryKind::Begin => {
                self.incomplete.insert(operation, entry.clone());
                if self.has(Defect::BeginCounts)
                    && let Some(pending) =
                        entry.operation.as_ref().filter(|op| op.kind == OperationType::Creating)
                {
                    self.new.push((*pending.resource).clone());
                }
            }
            EntryKind::Success => self.success(entry),
            EntryKind::RefreshSuccess => {
                self.incomplete.remove(&operation);
                self.has_refresh |= !self.has(Defect::RefreshUnnoticed);
                self.replace(entry);
            }
            EntryKind::Failure => {
                let begun = self.incomplete.get(&operation).and_then(|begun| begun.operation.clone());
                if self.has(Defect::FailureCounts) {
                    self.new.extend(begun.map(|operation| (*operation.resource).clone()));
                }
                if !self.has(Defect::FailureStaysPending) {
                    self.incomplete.remove(&operation);
                }
            }
            EntryKind::Outputs if self.has(Defect::OutputsAppended) => {
                self.new.extend(entry.state.as_ref().map(|state| (**state).clone()));
            }
            EntryKind::Outputs if entry.state.is_some() => self.replace(entry),
            EntryKind::Write if !self.has(Defect::NoWrite) => {
                self.base = entry.new_snapshot.as_deref().cloned().unwrap_or_default();
                if !self.has(Defect::WriteTakesBack) {
                    self.said();
                }
            }
            EntryKind::SecretsManager if !self.has(Defect::NoSecretsManager) => {
                self.provider = entry.secrets_provider.as_deref().cloned();
                self.said();
            }
            EntryKind::Snippets if !self.has(Defect::NoSnippets) => {
                self.snippets = Some(entry.snippets.clone());
                self.said();
            }
            EntryKind::ExtensionParameterize if !self.has(Defect::NoExtensions) => {
                if let (Some(reference), Some(extension)) = (&entry.extension_ref, &entry.extension) {
                    self.extensions.extensions.insert(reference.clone(), (**extension).clone());
                }
            }
            EntryKind::RebuiltBaseState if !self.has(Defect::NotRebuilt) => self.rebuilt()?,
            _ => {}
        }
        Ok(())
    }

    /// What was said about secrets and snippets holds for another base too.
    fn said(&mut self) {
        let known = &mut self.base.secrets_provider;
        if let Some(said) = &self.provider
            && !known.as_ref().is_some_and(|known| known.kind == said.kind && known.state == said.state)
        {
            *known = Some(said.clone());
        }
        if let Some(snippets) = &self.snippets {
            self.base.snippets.clone_from(snippets);
        }
    }

    fn success(&mut self, entry: &Entry) {
        let operation = entry.operation_id;
        let begun = self.incomplete.remove(&operation).and_then(|begun| begun.operation);
        if let Some(state) = &entry.state {
            self.new.push((**state).clone());
            self.op_index.insert(operation, self.index);
            self.index += 1;
        }
        match entry.removed {
            Some(Target::Old(index)) => {
                self.removed_old.insert(index);
            }
            Some(Target::New(known)) if !self.has(Defect::OldOnly) => {
                self.removed_new.insert(known);
            }
            _ => {}
        }
        let reads = begun.is_some_and(|begun| begun.kind == OperationType::Reading);
        match entry.deleted {
            Some(Target::Old(index)) if reads && self.has(Defect::ReadForgets) => {
                self.removed_old.insert(index);
            }
            Some(Target::Old(index)) => {
                self.mark_delete.insert(index);
            }
            Some(Target::New(known)) if self.has(Defect::DeleteNewRemoves) => {
                self.removed_new.insert(known);
            }
            Some(Target::New(known)) => self.mark_new(known, |resource| resource.delete = true),
            None => {}
        }
        match entry.pending_replacement {
            Some(Target::Old(index)) => {
                self.mark_pending.insert(index);
            }
            Some(Target::New(known)) => self.mark_new(known, |resource| resource.pending_replacement = true),
            None => {}
        }
        self.has_refresh |= entry.is_refresh;
    }

    fn mark_new(&mut self, operation: OperationId, mark: impl FnOnce(&mut Resource)) {
        if self.has(Defect::OldOnly) {
            return;
        }
        if let Some(resource) = self.position(operation).and_then(|at| self.new.get_mut(at)) {
            mark(resource);
        }
    }

    fn position(&self, operation: OperationId) -> Option<usize> {
        let known = self.op_index.get(&operation).copied();
        known.or_else(|| self.has(Defect::UnknownIsFirst).then_some(0))
    }

    /// The state that is named becomes that of the entry, or goes if there is none.
    fn replace(&mut self, entry: &Entry) {
        let inverted = self.has(Defect::RefreshInverted) && entry.kind == EntryKind::RefreshSuccess;
        let state = entry.state.as_ref().filter(|_| !inverted);
        match (entry.removed, state) {
            (Some(Target::Old(index)), Some(state)) => {
                self.replaced_old.insert(index, (**state).clone());
            }
            (Some(Target::Old(_)), None) if inverted && entry.state.is_none() => {}
            (Some(Target::Old(index)), None) => {
                self.removed_old.insert(index);
            }
            (Some(Target::New(_)), _) if self.has(Defect::OldOnly) => {}
            (Some(Target::New(known)), Some(state)) => {
                let state = (**state).clone();
                if let Some(slot) = self.position(known).and_then(|at| self.new.get_mut(at)) {
                    // Marks are the state's own here.
                    *slot = Resource {
                        delete: slot.delete || state.delete,
                        pending_replacement: slot.pending_replacement || state.pending_replacement,
                        ..state
                    };
                }
            }
            (Some(Target::New(known)), None) => {
                self.removed_new.insert(known);
            }
            (None, _) => {}
        }
    }

    fn rebuilt(&mut self) -> Result<(), String> {
        let base = self.generate()?;
        let left = self.base.pending_operations.clone();
        let index = if self.has(Defect::IndexKept) { self.index } else { 0 };
        *self = Self {
            base: Snapshot { pending_operations: left, ..base },
            defect: self.defect,
            index,
            incomplete: std::mem::take(&mut self.incomplete),
            has_refresh: self.has_refresh,
            provider: self.provider.take(),
            snippets: self.snippets.take(),
            ..Self::default()
        };
        Ok(())
    }

    fn generate(&self) -> Result<Snapshot, String> {
        let mut resources = self.resources();
        if self.has_refresh {
            self.rebuild(&mut resources);
        }
        let mut running: Vec<_> =
            self.incomplete.values().filter_map(|entry| entry.operation.clone()).collect();
        if self.has(Defect::PendingReversed) {
            running.reverse();
        }
        let left = self.base.pending_operations.iter().filter(|operation| match self.defect {
            Some(Defect::AllLeftPending) => true,
            Some(Defect::NoneLeftPending) => false,
            _ => operation.kind == OperationType::Creating,
        });
        let mut extensions = self.extensions.extensions.clone();
        extensions.extend(self.base.extensions.clone());
        let mut snapshot = Snapshot {
            manifest: Manifest::default(),
            resources: resources.into_iter().map(Arc::new).collect(),
            pending_operations: running.into_iter().chain(left.cloned()).collect(),
            extensions,
            ..self.base.clone()
        };
        self.normalized(&mut snapshot)?;
        Ok(snapshot)
    }

    fn resources(&self) -> Vec<Resource> {
        let removed: BTreeSet<usize> =
            self.removed_new.iter().filter_map(|operation| self.position(*operation)).collect();
        let mut new = self.new.clone();
        if self.has(Defect::SkipsWhileRemoving) {
            for at in removed {
                if at < new.len() {
                    new.remove(at);
                }
            }
        } else {
            let mut at = 0;
            new.retain(|_| {
                at += 1;
                !removed.contains(&(at - 1))
            });
        }
        let mut old = Vec::new();
        for (index, resource) in (0_u64..).zip(&self.base.resources) {
            if self.removed_old.contains(&index) {
                continue;
            }
            let replaced = self.replaced_old.get(&index);
            let mut resource = replaced.unwrap_or(resource).clone();
            if replaced.is_none() || !self.has(Defect::MarksLost) {
                resource.delete |= self.mark_delete.contains(&index);
                resource.pending_replacement |= self.mark_pending.contains(&index);
            }
            old.push(resource);
        }
        if self.has(Defect::NewLast) { [old, new].concat() } else { [new, old].concat() }
    }

    /// Rebuilding dependencies, as Pulumi calls it.
    fn rebuild(&self, resources: &mut [Resource]) {
        let everyone: BTreeSet<Urn> = resources.iter().map(|resource| resource.urn.clone()).collect();
        let mut seen: BTreeSet<Urn> = BTreeSet::new();
        for resource in resources {
            let known = |urn: &Urn| seen.contains(urn);
            resource.dependencies.retain(known);
            if !self.has(Defect::OnlyDependenciesRebuilt) {
                resource.property_dependencies.retain(|_, urns| {
                    urns.iter_mut().for_each(|urns| urns.retain(known));
                    urns.as_ref().is_some_and(|urns| !urns.is_empty())
                });
                resource.replace_with.retain(known);
                resource.deleted_with = resource.deleted_with.take().filter(known);
                let parents = if self.has(Defect::ParentAnywhere) { &everyone } else { &seen };
                resource.parent = resource.parent.take().filter(|urn| parents.contains(urn));
            }
            seen.insert(resource.urn.clone());
            seen.extend(resource.aliases.iter().cloned());
        }
    }

    fn normalized(&self, snapshot: &mut Snapshot) -> Result<(), String> {
        if self.has(Defect::NotNormalized) {
            return Ok(());
        }
        let before: Vec<Arc<Resource>> = snapshot.resources.clone();
        normalize(snapshot).map_err(|error| error.to_string())?;
        for (resource, before) in snapshot.resources.iter_mut().zip(before) {
            if self.has(Defect::ReplaceWithNotNormalized) {
                Arc::make_mut(resource).replace_with.clone_from(&before.replace_with);
            }
            if self.has(Defect::ViewOfNotNormalized) {
                Arc::make_mut(resource).view_of.clone_from(&before.view_of);
            }
        }
        Ok(())
    }
}
