//! Looking for what was left.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use groundstate_blobs::{Key, Listed};
use groundstate_common::Timestamp;
use groundstate_pulumi_snapshot::{project_name, stack_name};

use super::names::{Part, of_json, of_lock, of_stacks};
use super::{Leftover, LeftoverKind, Leftovers};
use crate::backend::{all_in_folder, all_objects};
use crate::lock::{found_lease, found_object};
use crate::{Backend, Compression, FoundLock, Layout, LockContent, Op, Result, StackRef};

/// What is younger may belong to a process that is at work.
const AT_WORK: Duration = Duration::from_secs(24 * 60 * 60);

/// How many bytes a lease has that is free: `{"token":N}`.
const FREE_LEASE: RangeInclusive<u64> = 11..=30;

pub(super) struct Scan<'b> {
    backend: &'b Backend,
    now: Timestamp,
    /// The only stack that is meant, if it is one.
    only: Option<&'b StackRef>,
    /// Those that have a checkpoint.
    stacks: BTreeSet<StackRef>,
    /// Those whose lease is in force.
    at_work: BTreeSet<StackRef>,
    all: Leftovers,
}

impl<'b> Scan<'b> {
    /// Begins with the files of all stacks.
    pub(super) async fn of_bucket(backend: &'b Backend) -> Result<Self> {
        Self::of(backend, None, Layout::STACKS).await
    }

    /// Begins with the files of one stack.
    pub(super) async fn of_stack(backend: &'b Backend, stack: &'b StackRef) -> Result<Self> {
        let checkpoint = backend.layout().checkpoint(stack);
        let prefix = checkpoint.strip_suffix("json").unwrap_or(&checkpoint);
        Self::of(backend, Some(stack), prefix).await
    }

    async fn of(backend: &'b Backend, only: Option<&'b StackRef>, prefix: &str) -> Result<Self> {
        let listed = all_objects(&**backend.store(), prefix).await?;
        let (stacks, at_work, all) = (BTreeSet::new(), BTreeSet::new(), Leftovers::default());
        let mut scan = Self { backend, now: backend.context().clock.now(), only, stacks, at_work, all };
        scan.files(&listed);
        Ok(scan)
    }

    pub(super) fn ended(mut self) -> Leftovers {
        self.all.found.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
        self.all
    }

    fn is_old(&self, modified: Option<Timestamp>) -> bool {
        modified.is_none_or(|at| self.now.duration_since(at).is_some_and(|age| age > AT_WORK))
    }

    fn is_meant(&self, stack: &StackRef) -> bool {
        self.only.is_none_or(|only| only == stack)
    }

    fn add(&mut self, kind: LeftoverKind, stack: Option<StackRef>, listed: &Listed) {
        self.all.found.push(Leftover::of(kind, stack, self.backend, listed));
    }

    /// Says something about an object that belongs to no stack, unless one stack is meant.
    fn add_foreign(&mut self, listed: &Listed) {
        if self.only.is_none() {
            self.add(LeftoverKind::ForeignObject, None, listed);
        }
    }

    fn files(&mut self, listed: &[Listed]) {
        let mut variants: BTreeMap<StackRef, Vec<&Listed>> = BTreeMap::new();
        for one in listed {
            if let Some((stack, Part::Checkpoint)) = of_stacks(&one.name) {
                if Compression::strip(&one.name).ends_with(".json") {
                    variants.entry(stack.clone()).or_default().push(one);
                }
                self.stacks.insert(stack);
            }
        }
        for (stack, variants) in variants.into_iter().filter(|(_, variants)| variants.len() > 1) {
            self.variants(&stack, &variants);
        }
        let mut copies: BTreeMap<StackRef, Leftover> = BTreeMap::new();
        for one in listed.iter().filter(|one| !one.name.ends_with(".attrs")) {
            if one.name.ends_with('/') {
                let stack = self.only.cloned();
                self.add(LeftoverKind::FolderMarker, stack, one);
                continue;
            }
            let Some((stack, part)) = of_stacks(&one.name) else {
                self.add_foreign(one);
                continue;
            };
            if !self.is_meant(&stack) {
                continue;
            }
            let is_orphan = !self.stacks.contains(&stack);
            match part {
                Part::Temporary if self.is_old(one.meta.last_modified) => {
                    self.add(LeftoverKind::TemporaryFile, Some(stack), one);
                }
                Part::Copy if is_orphan => {
                    let kind = LeftoverKind::CopiesWithoutStack;
                    let first = || Leftover::of(kind, Some(stack.clone()), self.backend, one);
                    copies.entry(stack.clone()).and_modify(|copies| copies.add(one)).or_insert_with(first);
                }
                Part::Tags if is_orphan => self.add(LeftoverKind::TagsWithoutStack, Some(stack), one),
                Part::Checkpoint | Part::Copy | Part::Tags | Part::Temporary => {}
            }
        }
        self.all.found.extend(copies.into_values());
    }

    /// Of several checkpoints those that do not count.
    fn variants(&mut self, stack: &StackRef, variants: &[&Listed]) {
        if !self.is_meant(stack) {
            return;
        }
        let newest = variants.iter().enumerate().max_by_key(|(at, one)| (one.meta.last_modified, *at));
        let Some((newest, active)) = newest else { return };
        for (_, one) in variants.iter().enumerate().filter(|(at, _)| *at != newest) {
            let found = Leftover::of(LeftoverKind::SecondVariant, Some(stack.clone()), self.backend, one);
            self.all.found.push(found.detail(format!("{} is newer and counts", active.name)));
        }
    }

    /// What is in a folder of locks or below it.
    pub(super) async fn locks(&mut self, folder: &str) {
        let listed = match all_objects(&**self.backend.store(), folder).await {
            Ok(listed) => listed,
            Err(error) => return self.all.failed.push(error),
        };
        let mut locks = Vec::new();
        for one in listed.into_iter().filter(|one| !one.name.ends_with(".attrs")) {
            let Some((stack, file)) = of_lock(Layout::LOCKS, &one.name) else {
                match one.name.ends_with('/') {
                    true => self.add(LeftoverKind::FolderMarker, None, &one),
                    false => self.add_foreign(&one),
                }
                continue;
            };
            if file.is_empty() {
                self.add(LeftoverKind::LockFolderMarker, Some(stack), &one);
            } else if !file.ends_with(".tmp") {
                locks.push((stack, one));
            } else if self.is_old(one.meta.last_modified) {
                self.add(LeftoverKind::TemporaryLock, Some(stack), &one);
            }
        }
        let backend = self.backend;
        let read = stream::iter(locks)
            .map(|(stack, one)| async { (stack, found_object(backend, one.name.clone()).await, one) });
        let read: Vec<_> = read.buffered(backend.options().workers.get()).collect().await;
        for (stack, lock, one) in read {
            match lock {
                Ok(Some(lock)) => self.lock(stack, &lock, &one),
                Ok(None) => {}
                Err(error) => self.all.failed.push(error),
            }
        }
    }

    fn lock(&mut self, stack: StackRef, lock: &FoundLock, listed: &Listed) {
        let kind = match &lock.content {
            LockContent::Unreadable(_) => LeftoverKind::UnreadableLock,
            _ if lock.is_expired(self.now) => LeftoverKind::ExpiredLock,
            _ if !self.stacks.contains(&stack) && self.is_old(listed.meta.last_modified) => {
                LeftoverKind::LockWithoutStack
            }
            _ => return,
        };
        let found = Leftover::of(kind, Some(stack), self.backend, listed);
        self.all.found.push(found.detail(lock.to_string()));
    }

    /// The leases of all stacks. Those that are free are told by their size.
    pub(super) async fn leases(&mut self) {
        let listed = match all_objects(&**self.backend.store(), Layout::LEASES).await {
            Ok(listed) => listed,
            Err(error) => return self.all.failed.push(error),
        };
        let taken = listed.into_iter().filter(|one| !FREE_LEASE.contains(&one.meta.size));
        let taken = taken.filter_map(|one| Some((of_json(Layout::LEASES, &one.name)?, one))).collect();
        self.read_leases(taken).await;
    }

    /// The lease of one stack.
    pub(super) async fn lease(&mut self, stack: &StackRef) {
        let key = self.backend.layout().lease(stack);
        match all_objects(&**self.backend.store(), &key).await {
            Ok(listed) => {
                let own = listed.into_iter().filter(|one| one.name == key);
                self.read_leases(own.map(|one| (stack.clone(), one)).collect()).await;
            }
            Err(error) => self.all.failed.push(error),
        }
    }

    async fn read_leases(&mut self, leases: Vec<(StackRef, Listed)>) {
        let backend = self.backend;
        let read = stream::iter(leases).map(|(stack, one)| async {
            let lease = match backend.key(Op::Lock, &one.name) {
                Ok(key) => found_lease(backend, &key).await,
                Err(error) => Err(error),
            };
            (stack, lease, one)
        });
        let read: Vec<_> = read.buffered(backend.options().workers.get()).collect().await;
        for (stack, lease, one) in read {
            match lease {
                Ok(Some(lease)) if matches!(lease.content, LockContent::Unreadable(_)) => {
                    self.lock(stack, &lease, &one);
                }
                Ok(Some(lease)) if lease.is_expired(self.now) => self.expired_lease(stack, &lease, &one),
                Ok(Some(_)) => drop(self.at_work.insert(stack)),
                Ok(None) => {}
                Err(error) => self.all.failed.push(error),
            }
        }
    }

    /// A lease goes with its lock, which is named already where it is there.
    fn expired_lease(&mut self, stack: StackRef, lease: &FoundLock, listed: &Listed) {
        let is_same = |found: &&Leftover| {
            found.kind == LeftoverKind::ExpiredLock && found.stack.as_ref() == Some(&stack)
        };
        if self.all.found.iter().find(is_same).is_none() {
            self.lock(stack, lease, listed);
        }
    }

    /// What processes began that do not run any more, by the objects in the folder `root` whose names begin with `prefix`.
    pub(super) async fn begun(&mut self, root: &str, prefix: &str, kind: LeftoverKind) {
        match all_objects(&**self.backend.store(), prefix).await {
            Ok(listed) => {
                for one in listed {
                    let stack = of_json(root, &one.name).filter(|stack| self.is_meant(stack));
                    if let Some(stack) = stack.filter(|stack| !self.at_work.contains(stack)) {
                        self.add(kind, Some(stack), &one);
                    }
                }
            }
            Err(error) => self.all.failed.push(error),
        }
    }

    /// The folders below `root` whose stack does not exist.
    pub(super) async fn copies_without_stack(&mut self, root: &str, kind: LeftoverKind) {
        let backend = self.backend;
        let store = &**backend.store();
        let projects = match all_in_folder(store, root).await {
            Ok(top) => top.folders,
            Err(error) => return self.all.failed.push(error),
        };
        let read =
            stream::iter(projects).map(|project| async { (all_in_folder(store, &project).await, project) });
        let read: Vec<_> = read.buffered(backend.options().workers.get()).collect().await;
        for (inner, project) in read {
            let inner = match inner {
                Ok(inner) => inner,
                Err(error) => {
                    self.all.failed.push(error);
                    continue;
                }
            };
            let name = |folder: &str, above: &str| {
                folder
                    .strip_prefix(above)
                    .and_then(|name| name.strip_suffix('/'))
                    .unwrap_or_default()
                    .to_owned()
            };
            let parent = name(&project, root);
            // Objects right in it are of a stack without a project.
            if let Some(stack) = stack_name(&parent).ok().map(StackRef::flat) {
                let objects = inner.objects.iter().filter(|one| !one.name.ends_with('/'));
                self.add_folder(kind, stack, &project, objects);
            }
            for folder in &inner.folders {
                let of = (project_name(&parent), stack_name(&name(folder, &project)));
                let (Ok(parent), Ok(stack)) = of else { continue };
                let stack = StackRef::new(parent, stack);
                if !self.stacks.contains(&stack) {
                    match all_objects(store, folder).await {
                        Ok(listed) => self.add_folder(kind, stack, folder, listed.iter()),
                        Err(error) => self.all.failed.push(error),
                    }
                }
            }
        }
    }

    /// One finding for all that a folder of a missing stack has.
    fn add_folder<'l>(
        &mut self,
        kind: LeftoverKind,
        stack: StackRef,
        folder: &str,
        mut listed: impl Iterator<Item = &'l Listed>,
    ) {
        let first = listed.next().filter(|_| !self.stacks.contains(&stack));
        let Some(first) = first else { return };
        let mut found = Leftover::of(kind, Some(stack), self.backend, first);
        listed.for_each(|one| found.add(one));
        (found.key, found.place) = (folder.to_owned(), self.backend.place(folder));
        self.all.found.push(found);
    }

    /// What is in the folder of the history or of the backups of one stack; `kind` is that of the whole if the stack does not exist.
    pub(super) async fn copies_of(&mut self, stack: &StackRef, folder: &str, kind: LeftoverKind) {
        let listed = match all_in_folder(&**self.backend.store(), folder).await {
            Ok(inner) => inner.objects,
            Err(error) => return self.all.failed.push(error),
        };
        if !self.stacks.contains(stack) {
            return self.add_folder(kind, stack.clone(), folder, listed.iter());
        }
        let stem =
            |name: &str, ending: &str| Compression::strip(name).strip_suffix(ending).map(str::to_owned);
        let entries: BTreeSet<String> =
            listed.iter().filter_map(|one| stem(&one.name, ".history.json")).collect();
        for one in &listed {
            let state = stem(&one.name, ".checkpoint.json");
            let is_old = self.is_old(one.meta.last_modified);
            if one.name.ends_with('/') {
                self.add(LeftoverKind::FolderMarker, Some(stack.clone()), one);
            } else if Key::parse(&one.name).is_err() {
                self.add(LeftoverKind::ForeignObject, Some(stack.clone()), one);
            } else if one.name.ends_with(".tmp") && is_old {
                self.add(LeftoverKind::TemporaryFile, Some(stack.clone()), one);
            } else if state.is_some_and(|state| !entries.contains(&state)) && is_old {
                self.add(LeftoverKind::StateWithoutEntry, Some(stack.clone()), one);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FREE_LEASE;
    use crate::lock::LeaseObject;

    #[test]
    fn only_free_leases_have_their_size() {
        let size = |text: &str| u64::try_from(text.len()).unwrap_or_default();
        for token in [0, 1, 1_800_000_000, u64::MAX] {
            let free = serde_json::to_string(&LeaseObject { token, holder: None }).unwrap_or_default();
            assert!(FREE_LEASE.contains(&size(&free)), "{free}");
        }
        let least = r#"{"token":0,"holder":{"id":"","pid":0}}"#;
        assert!(!FREE_LEASE.contains(&size(least)) && !FREE_LEASE.contains(&0));
    }
}
