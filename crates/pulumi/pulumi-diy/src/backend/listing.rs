//! Lists of projects and stacks.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt};
use groundstate_blobs::Listed;
use groundstate_common::Timestamp;
use groundstate_pulumi_snapshot::{ProjectName, project_name};

use super::{Backend, folder, objects};
use crate::names::{is_checkpoint_file, stack_of_file};
use crate::stack::Checkpoint;
use crate::{Layout, Result, StackRef, Warning};

/// Which stacks are listed. The default lists all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFilter {
    /// Only those of this project.
    pub project: Option<ProjectName>,
    /// Only those with a tag of this name.
    pub tag_name: Option<String>,
    /// Only those with a tag of this value; with a name too, that tag has it.
    pub tag_value: Option<String>,
}

/// What a list says of a stack.
#[derive(Debug)]
#[non_exhaustive]
pub struct StackSummary {
    /// The project and the name of the stack.
    pub reference: StackRef,
    /// What its checkpoint says, or why that is not known. A damaged stack is listed too.
    pub details: Result<StackDetails>,
}

/// What a checkpoint says in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackDetails {
    /// When it was last updated, unless it never was.
    pub last_update: Option<Timestamp>,
    /// How many resources it has, unless it was never updated.
    pub resources: Option<usize>,
    /// What should not be so.
    pub warnings: Vec<Warning>,
}

impl StackFilter {
    /// Only stacks of this project.
    #[must_use]
    pub fn project(mut self, project: ProjectName) -> Self {
        self.project = Some(project);
        self
    }

    /// Only stacks with a tag of this name, of this value, or of both.
    #[must_use]
    pub fn tag(mut self, name: Option<String>, value: Option<String>) -> Self {
        (self.tag_name, self.tag_value) = (name, value);
        self
    }

    fn asks_for_tags(&self) -> bool {
        self.tag_name.is_some() || self.tag_value.is_some()
    }
}

impl Backend {
    /// The projects that have a folder, in the order of names; none in the layout without projects.
    ///
    /// # Errors
    ///
    /// Those of requests.
    pub async fn projects(&self) -> Result<Vec<ProjectName>> {
        if self.layout() == Layout::Legacy {
            return Ok(Vec::new());
        }
        let folder = folder(&**self.store(), Layout::STACKS).await?;
        let names =
            folder.folders.iter().filter_map(|name| name.strip_prefix(Layout::STACKS)?.strip_suffix('/'));
        Ok(names.filter_map(|name| project_name(name).ok()).collect())
    }

    /// The names of stacks, each once, by one list and without a look at any. Filters by tag are not looked at.
    ///
    /// # Errors
    ///
    /// Those of requests.
    pub async fn stack_names(&self, filter: &StackFilter) -> Result<Vec<StackRef>> {
        Ok(self.checkpoints(filter).await?.into_iter().map(|(name, _)| name).collect())
    }

    /// The keys that are called as checkpoints are and are those of no stack, because the name of the project or the stack in them is
    /// not a valid one. No list has them, and no move takes them along.
    ///
    /// # Errors
    ///
    /// Those of requests.
    pub async fn unlisted_checkpoints(&self) -> Result<Vec<String>> {
        let (files, is_listed): (_, fn(&str) -> bool) = match self.layout() {
            Layout::Legacy => (folder(&**self.store(), Layout::STACKS).await?.objects, |key| {
                flat_stack_of_key(key).is_some()
            }),
            Layout::Projects => {
                (objects(&**self.store(), Layout::STACKS).await?, |key| stack_of_key(key).is_some())
            }
        };
        let folders = if self.layout() == Layout::Legacy { 0 } else { 1 };
        let is_checkpoint = |key: &str| {
            let file = key.strip_prefix(Layout::STACKS);
            file.is_some_and(|file| file.matches('/').count() == folders && is_checkpoint_file(file))
        };
        let names = files.into_iter().map(|listed| listed.name);
        Ok(names.filter(|name| is_checkpoint(name) && !is_listed(name)).collect())
    }

    /// The names of stacks in the order of the list, each once, with all that are checkpoints of it.
    async fn checkpoints(&self, filter: &StackFilter) -> Result<Vec<(StackRef, Vec<Listed>)>> {
        let (files, stack): (_, fn(&str) -> Option<StackRef>) = match self.layout() {
            Layout::Legacy => (folder(&**self.store(), Layout::STACKS).await?.objects, flat_stack_of_key),
            Layout::Projects => {
                let prefix = match &filter.project {
                    Some(project) => format!("{}{project}/", Layout::STACKS),
                    None => Layout::STACKS.to_owned(),
                };
                (objects(&**self.store(), &prefix).await?, stack_of_key)
            }
        };
        let mut places = BTreeMap::new();
        let mut found: Vec<(StackRef, Vec<Listed>)> = Vec::new();
        for listed in files {
            let Some(name) = stack(&listed.name) else { continue };
            let at = *places.entry(name.clone()).or_insert(found.len());
            match found.get_mut(at) {
                Some((_, checkpoints)) => checkpoints.push(listed),
                None => found.push((name, vec![listed])),
            }
        }
        Ok(found)
    }

    /// The stacks that pass the filter, with what their checkpoints say, in the order of names. As many requests run at a time
    /// as [`Options::workers`](crate::Options::workers) says. What cannot be read is listed with the reason; a stack that
    /// disappears meanwhile is not. The list is the only one: each stack costs one request more, and one with a filter by tag.
    ///
    /// # Errors
    ///
    /// Those of the list itself.
    pub async fn stacks(&self, filter: &StackFilter) -> Result<Vec<StackSummary>> {
        let names = self.checkpoints(filter).await?;
        let found = stream::iter(names).map(|(name, listed)| self.summary(name, listed, filter));
        let found: Vec<Option<StackSummary>> = found.buffered(self.options().workers.get()).collect().await;
        Ok(found.into_iter().flatten().collect())
    }

    async fn summary(
        &self,
        reference: StackRef,
        listed: Vec<Listed>,
        filter: &StackFilter,
    ) -> Option<StackSummary> {
        let stack = self.stack(&reference);
        if filter.asks_for_tags() {
            match stack.tags().await {
                Ok(tags) if tags.matches(filter.tag_name.as_deref(), filter.tag_value.as_deref()) => {}
                Ok(_) => return None,
                Err(error) => return Some(StackSummary { reference, details: Err(error) }),
            }
        }
        let read = match stack.select_among(&listed) {
            // A name like `s.yaml` is listed, and nothing is read by it, as with `pulumi`.
            Ok(selection) if selection.active.is_none() => stack.read().await,
            Ok(selection) => stack.read_selected(selection).await,
            Err(error) => Err(error),
        };
        let details = match read {
            Ok(Some(checkpoint)) => checkpoint.details(),
            Ok(None) => return None,
            Err(error) => Err(error),
        };
        Some(StackSummary { reference, details })
    }
}

impl Checkpoint {
    /// What it says in short.
    ///
    /// # Errors
    ///
    /// Those of [`decode`](Self::decode).
    pub fn details(&self) -> Result<StackDetails> {
        let file = self.decode()?;
        let warnings = self.warnings.clone();
        let Some(snapshot) = file.snapshot else {
            return Ok(StackDetails { warnings, ..StackDetails::default() });
        };
        // Go's zero time is that of a manifest without one.
        let last_update = Some(snapshot.manifest.time.instant()).filter(|time| time.seconds() > GO_ZERO);
        Ok(StackDetails { last_update, resources: Some(snapshot.resources.len()), warnings })
    }
}

/// The year 1, in seconds since 1970.
const GO_ZERO: i64 = -62_135_596_800;

/// The stack of a key of the layout with projects.
fn stack_of_key(key: &str) -> Option<StackRef> {
    let (project, file) = key.strip_prefix(Layout::STACKS)?.split_once('/')?;
    let stack = if file.contains('/') { None } else { stack_of_file(file) };
    Some(StackRef::new(project_name(project).ok()?, stack?))
}

/// The stack of a key of the layout without projects.
fn flat_stack_of_key(key: &str) -> Option<StackRef> {
    Some(StackRef::flat(stack_of_file(key.strip_prefix(Layout::STACKS)?)?))
}
