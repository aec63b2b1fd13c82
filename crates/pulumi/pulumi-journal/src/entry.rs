//! Entries: what a journal holds.

use std::fmt;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{
    Extension, ExtensionRef, Extra, Operation, Resource, SecretsProvider, Snapshot, Snippet,
};

use crate::ids::{OperationId, SequenceId};

/// The version of entries that is read and written.
pub const ENTRY_VERSION: u64 = 1;

/// One entry of a journal.
///
/// Plain data, and flat like its text: which members a kind uses stands at [`EntryKind`], and others are carried along.
/// `Debug` shows no inputs or outputs; `Display` is the short form for tables and messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// What it tells.
    pub kind: EntryKind,
    /// Its place among the entries.
    pub sequence: SequenceId,
    /// The operation it belongs to.
    pub operation_id: OperationId,
    /// The state that is not in the snapshot any more.
    pub removed: Option<Target>,
    /// The state that is deleted, and waits for its replacement.
    pub pending_replacement: Option<Target>,
    /// The state that is replaced, and waits for its deletion.
    pub deleted: Option<Target>,
    /// The state that is new.
    pub state: Option<Arc<Resource>>,
    /// What is under way from now on.
    pub operation: Option<Operation>,
    /// The operation was part of a refresh, so that others may refer to what is gone.
    pub is_refresh: bool,
    /// Who encrypts secrets from now on.
    pub secrets_provider: Option<Box<SecretsProvider>>,
    /// All snippets there are from now on.
    pub snippets: Vec<Snippet>,
    /// The snapshot that takes the place of the base.
    pub new_snapshot: Option<Box<Snapshot>>,
    /// The reference by which resources name the extension.
    pub extension_ref: Option<ExtensionRef>,
    /// A package that was made by parameters.
    pub extension: Option<Box<Extension>>,
    /// A text in the resources is not UTF-8, although it cannot be seen where it is encrypted.
    pub requires_byte_string: bool,
    /// Members that are not understood.
    pub extra: Extra,
}

/// What an entry tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// An operation begins, and its [`operation`](Entry::operation), if it has one, is pending from now on.
    #[default]
    Begin,
    /// It succeeded: its [`state`](Entry::state) is new, and others are removed or marked.
    Success,
    /// It failed, and nothing changes.
    Failure,
    /// A refresh succeeded: the [`removed`](Entry::removed) state has become the new one, or is gone if there is none.
    RefreshSuccess,
    /// The [`removed`](Entry::removed) state, which stays where it is, has other outputs.
    Outputs,
    /// The base is another one from the start.
    Write,
    /// Secrets are encrypted by [another manager](Entry::secrets_provider).
    SecretsManager,
    /// All that was told so far is the base of what follows.
    RebuiltBaseState,
    /// There is another [`extension`](Entry::extension).
    ExtensionParameterize,
    /// The [`snippets`](Entry::snippets) are these, or none any more.
    Snippets,
    /// A kind that is not known. It can be read and written, but not replayed.
    Unknown(u64),
}

/// The state that an entry speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The resource at this index of the base.
    Old(u64),
    /// The resource that this operation recorded.
    New(OperationId),
}

impl Entry {
    /// An entry that says nothing but what and when.
    pub fn new(
        kind: EntryKind,
        sequence: impl Into<SequenceId>,
        operation_id: impl Into<OperationId>,
    ) -> Self {
        Self { kind, sequence: sequence.into(), operation_id: operation_id.into(), ..Self::default() }
    }

    /// What the entry speaks of, with what is done to it.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        [self.removed, self.pending_replacement, self.deleted].into_iter().flatten()
    }

    /// The resources that the entry carries: its state, that of its operation, those of its snapshot.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        let snapshot = self.new_snapshot.iter().flat_map(|snapshot| {
            let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
            snapshot.resources.iter().chain(pending)
        });
        let operation = self.operation.iter().map(|operation| &operation.resource);
        self.state.iter().chain(operation).chain(snapshot)
    }
}

impl EntryKind {
    /// The number that stands for it.
    pub fn number(self) -> u64 {
        match self {
            Self::Begin => 0,
            Self::Success => 1,
            Self::Failure => 2,
            Self::RefreshSuccess => 3,
            Self::Outputs => 4,
            Self::Write => 5,
            Self::SecretsManager => 6,
            Self::RebuiltBaseState => 7,
            Self::ExtensionParameterize => 8,
            Self::Snippets => 9,
            Self::Unknown(number) => number,
        }
    }

    /// The kind of a number.
    pub fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Begin,
            1 => Self::Success,
            2 => Self::Failure,
            3 => Self::RefreshSuccess,
            4 => Self::Outputs,
            5 => Self::Write,
            6 => Self::SecretsManager,
            7 => Self::RebuiltBaseState,
            8 => Self::ExtensionParameterize,
            9 => Self::Snippets,
            other => Self::Unknown(other),
        }
    }

    /// The kind in words, such as `begin` or `refresh-success`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::RefreshSuccess => "refresh-success",
            Self::Outputs => "outputs",
            Self::Write => "write",
            Self::SecretsManager => "secrets-manager",
            Self::RebuiltBaseState => "rebuilt-base-state",
            Self::ExtensionParameterize => "extension-parameterize",
            Self::Snippets => "snippets",
            Self::Unknown(_) => "invalid",
        }
    }

    /// Whether an operation is over with it.
    pub fn ends_operation(self) -> bool {
        matches!(self, Self::Success | Self::Failure | Self::RefreshSuccess)
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}): {}", self.sequence, self.operation_id, self.kind)?;
        let targets = [
            ("remove", self.removed),
            ("removePendingReplacement", self.pending_replacement),
            ("delete", self.deleted),
        ];
        for (name, target) in targets {
            match target {
                Some(Target::Old(index)) => write!(f, ", {name}Old:{index}")?,
                Some(Target::New(operation)) => write!(f, ", {name}New:{operation}")?,
                None => {}
            }
        }
        if let Some(state) = &self.state {
            write!(f, ", state({})", state.urn)?;
        }
        if let Some(operation) = &self.operation {
            write!(f, ", operation({})", operation.kind)?;
        }
        if self.is_refresh {
            f.write_str(", isRefresh")?;
        }
        if let Some(provider) = &self.secrets_provider {
            write!(f, ", secretsProvider({})", provider.kind)?;
        }
        if self.new_snapshot.is_some() {
            f.write_str(", +snap")?;
        }
        if !self.snippets.is_empty() {
            write!(f, ", snippets({})", self.snippets.len())?;
        }
        Ok(())
    }
}
