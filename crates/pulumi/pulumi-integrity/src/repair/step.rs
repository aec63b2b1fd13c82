//! The steps of a repair: what each does, as data and in words.

use std::fmt;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{OperationType, ProviderRef, ResourceId, SnippetId, TypeToken, Urn};

use crate::reference::Reference;

/// One step of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The index of the resource in the snapshot that is repaired; none for what is added, and for what is not a resource.
    pub resource: Option<usize>,
    /// The name of the resource at that point of the repair; empty if the step is about no resource.
    pub urn: Urn,
    /// Whether the resource waits for its deletion.
    pub delete: bool,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Writes the magic that belongs to the version.
    WriteMagic,
    /// Gives a type to a resource that has none, or one that cannot be used.
    SetType(TypeToken),
    /// Gives a name to a resource that has none, and protects it.
    Name(Urn),
    /// Gives another name to a resource, with all that refers to it.
    Rename(Urn),
    /// Leaves a resource the name that does not match its parent, because another one has the right name.
    KeepName {
        /// The name it does not get.
        taken: Urn,
    },
    /// Says that a provider manages the resource.
    MakeCustom,
    /// Takes the identifier of a component away.
    DropId(ResourceId),
    /// Takes the resource out of the snapshot.
    Remove(RemoveReason),
    /// Says that the resource waits for its deletion.
    MarkDeleted,
    /// Gives the resource another provider.
    UseProvider {
        /// The provider it had.
        from: ProviderRef,
        /// The one it gets.
        to: ProviderRef,
    },
    /// Takes the provider of a resource away.
    DropProvider(ProviderRef),
    /// Adds a provider of which nothing is known but its name and identifier.
    AddProvider(ProviderRef),
    /// Lets the references to a name that the state does not have follow the resource that has it as an alias.
    FollowAlias {
        /// The name it had.
        from: Urn,
        /// The name it has.
        to: Urn,
    },
    /// Takes a reference away.
    DropReference(Reference, DropReason),
    /// Gives the resource another parent, or none.
    Reparent {
        /// The parent it had.
        from: Urn,
        /// The one it gets.
        to: Option<Urn>,
        /// What makes the reference useless.
        why: DropReason,
    },
    /// Moves the resource up or down in the order.
    Move {
        /// The resource that comes after it then.
        before: Option<Urn>,
    },
    /// Gives a UUID to the snippet at this index.
    NameSnippet(usize, SnippetId),
    /// Removes the snippet at this index, which stands there twice.
    RemoveSnippet(usize, SnippetId),
    /// Forgets the pending operation at this index.
    ClearPending(usize, OperationType),
    /// Removes the record of an integrity error.
    ForgetRecord,
    /// Takes a value out that cannot be loaded. Its path is that of a finding, without the resource: `inputs.tags[0]`.
    DropValue(String),
    /// Takes more such values out than are named one by one, of this member.
    DropMoreValues(usize, &'static str),
    /// Removes a secrets provider of this type.
    DropSecretsProvider(Arc<str>),
}

/// Why a resource is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveReason {
    /// Another resource of its name is kept.
    Duplicate,
    /// It has no name.
    Nameless,
    /// No other repair leaves a sound snapshot.
    Unrepairable,
}

/// Why a reference is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// It leads nowhere.
    Missing,
    /// It leads to the resource itself.
    Itself,
    /// It closes a circle.
    Cycle,
}

impl Action {
    /// A word that names the kind of step, for reports that programs read.
    pub fn name(&self) -> &'static str {
        match self {
            Self::WriteMagic => "write-magic",
            Self::SetType(_) => "set-type",
            Self::Name(_) => "name",
            Self::Rename(_) => "rename",
            Self::KeepName { .. } => "keep-name",
            Self::MakeCustom => "make-custom",
            Self::DropId(_) => "drop-id",
            Self::Remove(_) => "remove",
            Self::MarkDeleted => "mark-deleted",
            Self::UseProvider { .. } => "use-provider",
            Self::DropProvider(_) => "drop-provider",
            Self::AddProvider(_) => "add-provider",
            Self::FollowAlias { .. } => "follow-alias",
            Self::DropReference(..) => "drop-reference",
            Self::Reparent { .. } => "reparent",
            Self::Move { .. } => "move",
            Self::NameSnippet(..) => "name-snippet",
            Self::RemoveSnippet(..) => "remove-snippet",
            Self::ClearPending(..) => "clear-pending",
            Self::ForgetRecord => "forget-record",
            Self::DropValue(_) | Self::DropMoreValues(..) => "drop-value",
            Self::DropSecretsProvider(_) => "drop-secrets-provider",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.urn.is_empty() {
            write!(f, "{}{}: ", self.urn, if self.delete { " (deleted)" } else { "" })?;
        }
        write!(f, "{}", self.action)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WriteMagic => f.write_str("write the magic that belongs to the version"),
            Self::SetType(token) => write!(f, "set the type {token}"),
            Self::Name(urn) => write!(f, "name the resource {urn}, and protect it"),
            Self::Rename(urn) => write!(f, "rename to {urn}"),
            Self::KeepName { taken } => write!(f, "keep the name, because {taken} is another resource"),
            Self::MakeCustom => f.write_str("mark as managed by its provider"),
            Self::DropId(id) => write!(f, "remove the identifier {id:?} of the component"),
            Self::Remove(why) => write!(f, "remove the resource, {why}"),
            Self::MarkDeleted => {
                f.write_str("mark for deletion, because another resource of the name is kept")
            }
            Self::UseProvider { from, to } => write!(f, "take the provider {to} in place of {from}"),
            Self::DropProvider(from) => write!(f, "remove the provider {from}"),
            Self::AddProvider(reference) => write!(f, "add the provider {reference}"),
            Self::FollowAlias { from, to } => {
                write!(f, "refer to {to} in place of {from}, which is one of its aliases")
            }
            Self::DropReference(reference, why) => {
                write!(f, "remove {} [{}], {why}", reference.urn, reference.kind)
            }
            Self::Reparent { from, to: Some(to), why } => {
                write!(f, "take the parent {to} in place of {from}, {why}")
            }
            Self::Reparent { from, to: None, why } => write!(f, "remove {from} [parent], {why}"),
            Self::Move { before: Some(before) } => write!(f, "move before {before}"),
            Self::Move { before: None } => f.write_str("move to the end"),
            Self::NameSnippet(at, uuid) => write!(f, "give the snippet at {at} the UUID {uuid}"),
            Self::RemoveSnippet(at, uuid) => {
                write!(f, "remove the snippet at {at}, which says what the other of {uuid} says")
            }
            Self::ClearPending(at, kind) => write!(f, "forget the pending operation at {at} ({kind})"),
            Self::ForgetRecord => f.write_str("remove the record of an integrity error"),
            Self::DropValue(path) => write!(f, "remove the value {path}, which cannot be loaded"),
            Self::DropMoreValues(count, member) => {
                write!(f, "remove {count} more values of {member} that cannot be loaded")
            }
            Self::DropSecretsProvider(kind) => write!(f, "remove the secrets provider {kind:?}"),
        }
    }
}

impl fmt::Display for RemoveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duplicate => "because another one of the name is kept",
            Self::Nameless => "because it has no name",
            Self::Unrepairable => "because nothing else leaves a sound snapshot",
        })
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "which is not there",
            Self::Itself => "which is the resource itself",
            Self::Cycle => "which closes a circle",
        })
    }
}
