//! Giving a stack, or its project, another name.

use std::sync::Arc;

use groundstate_pulumi_snapshot::{ProviderRefError, Resource, Snapshot, Urn};

use crate::rewrite::{Renames, provider_names, sealed_in};

/// How a stack is renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenameStack {
    /// The name it has.
    pub old_stack: Arc<str>,
    /// The project that is meant; all of them if there is none.
    pub old_project: Option<Arc<str>>,
    /// The name it gets.
    pub new_stack: Arc<str>,
    /// The project it gets; the one it has if there is none.
    pub new_project: Option<Arc<str>>,
    /// References to providers that cannot be read stay as they are, with a warning.
    pub force: bool,
}

/// What renaming a stack did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackRenamed {
    /// How many resources changed.
    pub changed: usize,
    /// References that could not be read.
    pub warnings: Vec<String>,
    /// Values that are encrypted. Old names may stand in them until [`RenameStack::urn`] is given to
    /// [`rewrite_sealed_references`](groundstate_pulumi_deployment::rewrite_sealed_references) with the keys.
    pub sealed: usize,
}

/// Why a stack cannot be renamed. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenameStackError {
    /// A reference to a provider cannot be read.
    #[error("parsing provider reference for {:?}: {source}", .urn.as_str())]
    Provider {
        /// The resource that refers to the provider, under its new name.
        urn: Urn,
        /// What is wrong with the reference.
        source: ProviderRefError,
    },
}

impl RenameStack {
    /// From one name to another, whatever the projects.
    pub fn new(old: impl Into<Arc<str>>, new: impl Into<Arc<str>>) -> Self {
        let (old_stack, new_stack) = (old.into(), new.into());
        Self { old_stack, new_stack, old_project: None, new_project: None, force: false }
    }

    /// Sets the project that is meant.
    #[must_use]
    pub fn old_project(mut self, project: impl Into<Arc<str>>) -> Self {
        self.old_project = Some(project.into());
        self
    }

    /// Sets the project that the stack gets.
    #[must_use]
    pub fn new_project(mut self, project: impl Into<Arc<str>>) -> Self {
        self.new_project = Some(project.into());
        self
    }

    /// Sets whether references that cannot be read are only warned of.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// The name that a resource of the stack gets; nothing if it is of another one. The root is called after the stack.
    pub fn urn(&self, urn: &Urn) -> Option<Urn> {
        let project = self.old_project.as_deref().filter(|project| !project.is_empty());
        if !urn.is_valid()
            || urn.stack() != &*self.old_stack
            || project.is_some_and(|name| urn.project() != name)
        {
            return None;
        }
        let project = self.new_project.as_deref().filter(|project| !project.is_empty());
        let project = project.unwrap_or_else(|| urn.project());
        Some(match urn.is_root_stack() {
            true => Urn::root_stack(&self.new_stack, project),
            false => Urn::build(&self.new_stack, project, "", urn.qualified_type(), urn.name()),
        })
    }

    fn warning(&self, resource: &Resource) -> Result<Option<String>, RenameStackError> {
        let Some(Err(source)) = resource.provider().map(|reference| reference.split_text()) else {
            return Ok(None);
        };
        let urn = self.urn(&resource.urn).unwrap_or_else(|| resource.urn.clone());
        match self.force {
            true => Ok(Some(format!("parsing provider reference for {:?}: {source}", urn.as_str()))),
            false => Err(RenameStackError::Provider { urn, source }),
        }
    }
}

/// Gives all resources of a stack the names they have in a stack of another name, wherever one stands.
///
/// That is in members and aliases, in references to providers, in properties and the secrets among them that can be read,
/// in pending operations and in snippets. Names of other stacks and projects stay. Encrypted values are counted, and not
/// looked into.
///
/// # Errors
///
/// A reference to a provider cannot be read.
pub fn rename_stack(snapshot: &mut Snapshot, to: &RenameStack) -> Result<StackRenamed, RenameStackError> {
    let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    let warnings = snapshot.resources.iter().chain(pending).map(|resource| to.warning(resource));
    let warnings = warnings.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
    let providers = provider_names(snapshot);
    let changed = Renames::new(&|urn: &Urn| to.urn(urn), &providers).everywhere(snapshot);
    Ok(StackRenamed { changed, warnings, sealed: sealed_in(snapshot) })
}
