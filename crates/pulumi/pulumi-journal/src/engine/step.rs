//! Steps: what an engine does to one resource.

use std::fmt;

use groundstate_pulumi_snapshot::{Extension, ExtensionRef, OperationType};

use super::state::State;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StepKind {
    /// Nothing: the resource is as the program wants it.
    Same,
    /// Creates a resource.
    Create,
    /// Creates the resource that takes the place of another.
    CreateReplacement,
    /// Changes a resource.
    Update,
    /// Deletes a resource that is no longer in the program.
    Delete,
    /// Deletes a resource that has been, or will be, replaced.
    DeleteReplaced,
    /// Marks a replacement, and does nothing.
    Replace,
    /// Reads a resource that is managed elsewhere.
    Read,
    /// Reads one that takes the place of another.
    ReadReplacement,
    /// Finds out what a resource is now.
    Refresh,
    /// Forgets a resource that was read.
    Discard,
    /// Forgets a resource that was read and has been replaced.
    DiscardReplaced,
    /// Forgets a resource that was deleted in order to be replaced, and is not wanted any more.
    RemovePendingReplace,
    /// Takes over a resource.
    Import,
    /// Takes over a resource that takes the place of another.
    ImportReplacement,
    /// Makes a package by parameters.
    ExtendParameterize,
}

/// One step, with the states that it is about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// The state before, if there is one; for [`StepKind::ImportReplacement`] the one that is replaced.
    pub old: Option<State>,
    /// The state after, if there is one.
    pub new: Option<State>,
    /// A [`StepKind::Same`] of a resource that is absent because it was not selected: nothing is recorded.
    pub skipped_create: bool,
    /// A [`StepKind::Refresh`] that the program asked for, whose result counts at once.
    pub persisted: bool,
    /// The resource is a view of another one.
    pub view: bool,
    /// The resource is deleted although it is protected.
    pub ignore_protect: bool,
    /// The package of [`StepKind::ExtendParameterize`].
    pub extension: Option<(ExtensionRef, Extension)>,
}

impl Step {
    /// A step from one state to another.
    pub fn new(kind: StepKind, old: Option<&State>, new: Option<&State>) -> Self {
        Self {
            kind,
            old: old.cloned(),
            new: new.cloned(),
            skipped_create: false,
            persisted: false,
            view: false,
            ignore_protect: false,
            extension: None,
        }
    }

    /// A step of a resource that was not selected and is not there.
    pub fn skipped_create(new: &State) -> Self {
        Self { skipped_create: true, ..Self::new(StepKind::Same, None, Some(new)) }
    }

    /// Makes a package known.
    pub fn extend(reference: ExtensionRef, extension: Extension) -> Self {
        Self {
            extension: Some((reference, extension)),
            ..Self::new(StepKind::ExtendParameterize, None, None)
        }
    }

    /// Sets whether the result of a refresh counts at once.
    #[must_use]
    pub fn persisted(self, persisted: bool) -> Self {
        Self { persisted, ..self }
    }

    /// Sets whether the resource is a view.
    #[must_use]
    pub fn view(self, view: bool) -> Self {
        Self { view, ..self }
    }

    /// Sets whether protection is ignored.
    #[must_use]
    pub fn ignore_protect(self, ignore_protect: bool) -> Self {
        Self { ignore_protect, ..self }
    }
}

impl StepKind {
    /// The kind as Pulumi calls it, such as `create-replacement`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Create => "create",
            Self::CreateReplacement => "create-replacement",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::DeleteReplaced => "delete-replaced",
            Self::Replace => "replace",
            Self::Read => "read",
            Self::ReadReplacement => "read-replacement",
            Self::Refresh => "refresh",
            Self::Discard => "discard",
            Self::DiscardReplaced => "discard-replaced",
            Self::RemovePendingReplace => "remove-pending-replace",
            Self::Import => "import",
            Self::ImportReplacement => "import-replacement",
            Self::ExtendParameterize => "extend-parameterize",
        }
    }

    /// The operation that is pending while it runs.
    pub fn operation(self) -> Option<OperationType> {
        match self {
            Self::Create | Self::CreateReplacement => Some(OperationType::Creating),
            Self::Update => Some(OperationType::Updating),
            Self::Delete | Self::DeleteReplaced | Self::Discard | Self::DiscardReplaced => {
                Some(OperationType::Deleting)
            }
            Self::Read | Self::ReadReplacement => Some(OperationType::Reading),
            Self::Import | Self::ImportReplacement => Some(OperationType::Importing),
            Self::Same
            | Self::Replace
            | Self::Refresh
            | Self::RemovePendingReplace
            | Self::ExtendParameterize => None,
        }
    }

    /// Whether it takes a resource away.
    pub fn deletes(self) -> bool {
        self.operation() == Some(OperationType::Deleting)
    }

    /// Whether it may take away what is protected: what replaces it is there.
    pub fn may_delete_protected(self) -> bool {
        matches!(self, Self::DeleteReplaced | Self::DiscardReplaced)
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
