//! The destruction of a whole stack: what is removed, what waits for what, and what stays because something is protected.

mod build;
mod picture;
mod query;
mod reason;
mod render;

use std::collections::HashMap;

use groundstate_pulumi_snapshot::Snapshot;
use groundstate_schedule::WaitGraph;

use super::{StackEntry, StackError, StackOptions, Urn, entries_of};

pub use query::{Explanation, RemovalAffected, RemovalReference, RemovalStep};
pub use reason::{RemovalReason, RemovalReasons};

/// The removal of every entry of a stack, or of those that are selected, without a program.
///
/// Removals are numbered by their place in [`removals`](Self::removals), from the last entry of the list to the first, which
/// is an order in which they can be done one after another wherever the list allows it.
///
/// ```
/// use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};
/// use groundstate_pulumi_ordering::{Destruction, StackOptions};
///
/// let named = |name: &str| Resource { custom: true, ..Resource::new(Urn::build("dev", "shop", "", "t:t:t", name), "t:t:t") };
/// let mut web = named("web");
/// web.dependencies.push(named("network").urn);
/// let snapshot = Snapshot::new([named("network"), web]);
///
/// let destruction = Destruction::of(&snapshot, &StackOptions::default()).map_err(|errors| errors[0].clone())?;
/// let names = destruction.order().into_iter().map(|node| destruction.label(node)).collect::<Vec<_>>();
/// assert_eq!(names, ["urn:pulumi:dev::shop::t:t:t::web (delete)", "urn:pulumi:dev::shop::t:t:t::network (delete)"]);
/// # Ok::<(), groundstate_pulumi_ordering::StackError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Destruction {
    entries: Vec<StackEntry>,
    removals: Vec<Removal>,
    labels: Vec<String>,
    by_urn: HashMap<Urn, Vec<usize>>,
    graph: WaitGraph<RemovalReasons>,
}

/// The removal of one entry, and of those that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// Its place in the list of entries.
    pub entry: usize,
    /// The places of the entries that its deletion takes along.
    pub members: Vec<usize>,
    /// What happens.
    pub kind: RemovalKind,
    /// It cannot happen, since something protected needs it.
    pub blocked: bool,
}

/// What the removal of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RemovalKind {
    /// The provider deletes the object.
    Delete,
    /// The provider deletes an object that was replaced before.
    DeleteReplaced,
    /// A component leaves the list; it has no object.
    Component,
    /// What was only read leaves the list, and is managed elsewhere.
    External,
    /// The entry leaves the list, and the object stays.
    Retain,
    /// The entry leaves the list, and the object was deleted before.
    Pending,
    /// The entry leaves the list, since the deletion of another object takes its object along.
    TakenAlong,
    /// Nothing: it is protected.
    Protected,
}

impl Destruction {
    /// The destruction of what a snapshot holds.
    ///
    /// # Errors
    ///
    /// All damages of the list, or what is wrong with the selection.
    pub fn of(snapshot: &Snapshot, options: &StackOptions) -> Result<Self, Vec<StackError>> {
        Self::plan(entries_of(snapshot), options)
    }

    /// The destruction of the entries of a list.
    ///
    /// # Errors
    ///
    /// All damages of the list, or what is wrong with the selection.
    pub fn plan(entries: Vec<StackEntry>, options: &StackOptions) -> Result<Self, Vec<StackError>> {
        build::build(entries, options)
    }

    /// All entries of the list, removed or not.
    #[must_use]
    pub fn entries(&self) -> &[StackEntry] {
        &self.entries
    }

    /// The removals, from the last entry of the list to the first.
    #[must_use]
    pub fn removals(&self) -> &[Removal] {
        &self.removals
    }

    /// The name of the entry that is removed.
    ///
    /// # Panics
    ///
    /// When there is no such removal.
    #[must_use]
    pub fn urn(&self, node: usize) -> &Urn {
        &self.entries[self.removals[node].entry].urn
    }

    /// The name and what happens; no two removals have the same.
    ///
    /// # Panics
    ///
    /// When there is no such removal.
    #[must_use]
    pub fn label(&self, node: usize) -> &str {
        &self.labels[node]
    }

    /// The removals of the entries of this name, old objects and those that go with others included.
    #[must_use]
    pub fn removals_of(&self, urn: &Urn) -> &[usize] {
        self.by_urn.get(urn).map_or(&[], Vec::as_slice)
    }

    /// The same without the edges that follow from others.
    #[must_use]
    pub fn reduced(self) -> Self {
        // Where groups stand for pairs, writing the pairs out would take more than it saves.
        let reduced = if self.has_groups() { self.graph.reduced_compactly() } else { self.graph.reduced() };
        let graph = reduced.unwrap_or_else(|| self.graph.clone());
        Self { graph, ..self }
    }

    /// At most how many edges there are, without listing them.
    #[must_use]
    pub fn edge_bound(&self) -> u64 {
        self.graph.edge_bound()
    }
}

impl RemovalKind {
    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::DeleteReplaced => "delete-replaced",
            Self::Component => "remove-component",
            Self::External => "remove-external",
            Self::Retain => "retain",
            Self::Pending => "remove-pending",
            Self::TakenAlong => "taken-along",
            Self::Protected => "protected",
        }
    }

    /// What happens, in words.
    fn action(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::DeleteReplaced => "delete the old one",
            Self::Component => "remove",
            Self::External => "remove, managed elsewhere",
            Self::Retain => "remove, the object stays",
            Self::Pending => "remove, deleted before",
            Self::TakenAlong => "remove, goes with another",
            Self::Protected => "protected",
        }
    }
}
