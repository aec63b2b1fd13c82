//! Steps: what is done to one resource of a stack at once.

use std::fmt;

use groundstate_pulumi_snapshot::Urn;

/// The number of a step in its graph. Smaller ones start first when both may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub(crate) usize);

impl StepId {
    /// The number, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StepKind {
    /// Nothing: the entry is taken over as the goal has it, or as it was if it was not selected.
    Same,
    /// Makes a new object.
    Create,
    /// Changes the object.
    Update,
    /// Reads an object that is managed elsewhere.
    Read,
    /// Makes the object that replaces another.
    CreateReplacement,
    /// Marks a replacement, and does nothing.
    Replace,
    /// Deletes the old object of a replacement.
    DeleteReplaced,
    /// Deletes an object that nothing wants.
    Delete,
    /// Removes the entry of an object that is deleted already.
    RemovePending,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// To which resource.
    #[cfg_attr(feature = "serde", serde(with = "crate::serialization::urn"))]
    pub urn: Urn,
    /// The goal that it serves, by its place among the registered ones.
    pub goal: Option<usize>,
    /// The entry of the old list that it is about.
    pub entry: Option<usize>,
    /// Entries that leave the list, or become pending, together with that one.
    pub members: Vec<usize>,
    /// Whether a provider has to be called. Where not, success is certain.
    pub calls_provider: bool,
    /// The entry is protected, so the step is refused in place of being run.
    pub refused: bool,
    /// The replacement deletes first, so that the old entry is pending while the new object is made.
    pub delete_first: bool,
    /// The old entry is dropped without deleting its object, which this stack does not manage any more.
    pub drops_old: bool,
    /// Old entries stay in the list until the end, marked as pending, since others still refer to them.
    pub keeps_entry: bool,
    /// The entry was not selected, and is taken over as it was.
    pub keeps_old: bool,
    /// It belongs to the end, after all goals.
    pub is_final: bool,
}

impl Step {
    pub(crate) fn new(kind: StepKind, urn: &Urn) -> Self {
        Self {
            kind,
            urn: urn.clone(),
            goal: None,
            entry: None,
            members: Vec::new(),
            calls_provider: false,
            refused: false,
            delete_first: false,
            drops_old: false,
            keeps_entry: false,
            keeps_old: false,
            is_final: false,
        }
    }

    /// Every entry of the old list that the step is about.
    pub fn entries(&self) -> impl Iterator<Item = usize> + '_ {
        self.entry.into_iter().chain(self.members.iter().copied())
    }

    /// Whether what refers to the goal may go on after this step.
    #[must_use]
    pub fn completes(&self) -> bool {
        use StepKind::{Create, CreateReplacement, Read, Same, Update};
        matches!(self.kind, Same | Create | Update | Read | CreateReplacement)
    }

    /// Whether it takes something away.
    #[must_use]
    pub fn deletes(&self) -> bool {
        matches!(self.kind, StepKind::DeleteReplaced | StepKind::Delete | StepKind::RemovePending)
    }
}

impl StepKind {
    /// The name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Create => "create",
            Self::Update => "update",
            Self::Read => "read",
            Self::CreateReplacement => "create-replacement",
            Self::Replace => "replace",
            Self::DeleteReplaced => "delete-replaced",
            Self::Delete => "delete",
            Self::RemovePending => "remove-pending",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.urn, self.kind.name())
    }
}
