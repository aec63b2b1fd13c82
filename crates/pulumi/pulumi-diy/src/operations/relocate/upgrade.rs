//! Bringing the stacks of a bucket without projects into the layout with projects.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use groundstate_pulumi_snapshot::ProjectName;
use groundstate_pulumi_snapshot::project_name;

use super::{Intent, OP, RelocateOptions, Relocated};
use crate::{Backend, Error, ErrorKind, Holder, Layout, LockOptions, Result, Stack, StackRef};

/// A stack in no project.
#[derive(Debug)]
#[non_exhaustive]
pub struct LegacyStack {
    /// The project and the name that the stack gets.
    pub reference: StackRef,
    /// The project of its resources; none if it has no resources. The error says why it cannot be read.
    pub project: Result<Option<ProjectName>>,
}

/// How a bucket is upgraded. The default stops before the first write if a stack cannot be read, as `pulumi state upgrade` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpgradeOptions {
    /// The projects of stacks that have no resources, by the name of the stack.
    pub projects: BTreeMap<String, ProjectName>,
    /// Upgrades the others where a stack cannot be read.
    pub skip_unreadable: bool,
}

impl UpgradeOptions {
    /// Puts a stack without resources into this project.
    #[must_use]
    pub fn project(mut self, stack: impl Into<String>, project: ProjectName) -> Self {
        self.projects.insert(stack.into(), project);
        self
    }

    /// Upgrades the others where a stack cannot be read.
    #[must_use]
    pub fn skip_unreadable(mut self) -> Self {
        self.skip_unreadable = true;
        self
    }
}

/// An upgrade that was planned: what [`carry_out`](Self::carry_out) does. Made by [`Backend::upgrade`].
#[derive(Debug)]
#[must_use = "a plan upgrades nothing until it is carried out"]
pub struct Upgrade {
    backend: Backend,
    stacks: Vec<LegacyStack>,
}

/// What became of a stack.
#[derive(Debug)]
#[non_exhaustive]
pub enum UpgradedStack {
    /// It is in a project now.
    Moved(StackRef, Relocated),
    /// It has no resources, and no project was named for it.
    NoProject,
    /// It could not be read, is locked, or could not be moved.
    Failed(Error),
    /// The caller ended the upgrade before.
    NotReached,
}

/// What an upgrade did.
#[derive(Debug)]
#[non_exhaustive]
pub struct Upgraded {
    /// The bucket in its new layout.
    pub backend: Backend,
    /// The stacks that were in no project, in the order of names.
    pub stacks: Vec<(StackRef, UpgradedStack)>,
}

impl Backend {
    /// Plans to bring every stack that is in no project into one: that of its first resource. Works for buckets of the old layout, which
    /// [`Options::legacy_allowed`](crate::Options::legacy_allowed) opens, and for stacks that were left behind in one of the new layout.
    ///
    /// # Errors
    ///
    /// Unless they are to be skipped, that of the first stack that cannot be read; those of lists.
    pub async fn upgrade(&self, options: &UpgradeOptions) -> Result<Upgrade> {
        let backend = self.with_layout(Layout::Legacy);
        let mut stacks = Vec::new();
        for reference in backend.stack_names(&crate::StackFilter::default()).await? {
            let project = match options.projects.get(reference.stack().as_str()) {
                Some(project) => Ok(Some(project.clone())),
                None => backend.stack(&reference).project_of_resources().await,
            };
            match project {
                Err(error) if !options.skip_unreadable => return Err(error),
                project => stacks.push(LegacyStack { reference, project }),
            }
        }
        stacks.sort_by(|a, b| a.reference.cmp(&b.reference));
        Ok(Upgrade { backend, stacks })
    }
}

impl Stack {
    /// The project of the first resource; none if there is no resource.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound), [`Broken`](ErrorKind::Broken) for a name that no project can have, and those of
    /// [`read`](Self::read).
    pub async fn project_of_resources(&self) -> Result<Option<ProjectName>> {
        let read = self.read().await?.ok_or_else(|| self.failed(ErrorKind::NotFound, OP))?;
        let Some(snapshot) = read.decode()?.snapshot else { return Ok(None) };
        let Some(first) = snapshot.resources.first() else { return Ok(None) };
        let named = project_name(first.urn.project());
        named.map(Some).map_err(|error| {
            let failure = self.failed(ErrorKind::Broken, OP).because(error.to_string());
            failure.next_step("repair the stack, or name a project for it").with_source(error)
        })
    }
}

impl Upgrade {
    /// The stacks that are in no project, in the order of names.
    pub fn stacks(&self) -> &[LegacyStack] {
        &self.stacks
    }

    /// Plans the move of one of the stacks without writing anything: the name that it gets, or the error for which
    /// [`carry_out`](Self::carry_out) would leave it where it is. `None` if its project is not known.
    ///
    /// # Errors
    ///
    /// Errors of a move, above all `Exists` for a name that another stack has.
    pub async fn planned(&self, stack: &LegacyStack) -> Result<Option<StackRef>> {
        let Ok(Some(project)) = &stack.project else { return Ok(None) };
        let to = StackRef::new(project.clone(), stack.reference.stack().clone());
        let target = self.backend.with_layout(Layout::Projects).stack(&to);
        let source = self.backend.stack(&stack.reference);
        let relocation = source.relocation(&target, RelocateOptions::default().force()).await?;
        drop(relocation);
        Ok(Some(to))
    }

    /// Gives the bucket its new layout, then moves one stack after the other under its locks. What cannot be moved stays where it is, with
    /// the reason; another upgrade goes on. `before` is told of each stack before it is moved, and may end the upgrade there.
    ///
    /// # Errors
    ///
    /// That of writing the new layout down; nothing was moved then.
    pub async fn carry_out(
        self,
        holder: &Holder,
        locks: &LockOptions,
        mut before: impl FnMut(&StackRef) -> ControlFlow<()> + Send,
    ) -> Result<Upgraded> {
        self.backend.write_layout().await?;
        let backend = self.backend.with_layout(Layout::Projects);
        let (mut done, mut is_ended) = (Vec::new(), false);
        for LegacyStack { reference, project } in self.stacks {
            is_ended = is_ended || before(&reference).is_break();
            let outcome = match project {
                _ if is_ended => UpgradedStack::NotReached,
                Err(error) => UpgradedStack::Failed(error),
                Ok(None) => UpgradedStack::NoProject,
                Ok(Some(project)) => {
                    let to = StackRef::new(project, reference.stack().clone());
                    match move_stack(&self.backend, &backend, (&reference, &to), holder, locks).await {
                        Ok(relocated) => UpgradedStack::Moved(to, relocated),
                        Err(error) => UpgradedStack::Failed(error),
                    }
                }
            };
            done.push((reference, outcome));
        }
        finish(&self.backend, &backend).await?;
        Ok(Upgraded { backend, stacks: done })
    }
}

async fn move_stack(
    from: &Backend,
    to: &Backend,
    (old, new): (&StackRef, &StackRef),
    holder: &Holder,
    locks: &LockOptions,
) -> Result<Relocated> {
    let (source, target) = (from.stack(old), to.stack(new));
    let held = source.lock_with(&target, holder, locks).await?;
    let moved = async {
        let plan = source.relocation(&target, RelocateOptions::default().force()).await?;
        plan.carry_out(&held).await
    };
    let moved = moved.await;
    let released = held.release().await;
    let mut moved = moved?;
    if let Err(error) = released {
        moved.warnings.push(error.to_string());
    }
    Ok(moved)
}

/// Removes the records of moves that were killed after everything else was done.
async fn finish(from: &Backend, to: &Backend) -> Result<()> {
    for intent in Intent::all(to).await? {
        let Ok(old) = StackRef::legacy(&intent.from) else { continue };
        let Ok(new) = to.reference(&intent.to, None) else { continue };
        let target = to.stack(&new);
        if !from.stack(&old).exists().await? && target.exists().await? {
            Intent::remove(&target).await?;
        }
    }
    Ok(())
}
