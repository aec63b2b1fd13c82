//! The destruction of a whole stack: what is removed, what waits for what, and what stays because something is protected.

mod build;
mod picture;
mod query;
mod reason;
mod render;

use std::collections::HashMap;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};
use groundstate_schedule::WaitGraph;

use crate::planner::check;
use crate::views::is_view;
use crate::{StackError, StackOptions, without_views};

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
    resources: Vec<Arc<Resource>>,
    /// The name of each resource's provider.
    providers: Vec<Option<Urn>>,
    removals: Vec<Removal>,
    labels: Vec<String>,
    by_urn: HashMap<Urn, Vec<usize>>,
    graph: WaitGraph<RemovalReasons>,
}

/// The removal of one entry, and of those that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
        let list = without_views(snapshot);
        check(&list).map_err(|errors| at_places(snapshot, errors))?;
        build::build(list, options)
    }

    /// All resources but views, removed or not.
    #[must_use]
    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
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
        &self.resources[self.removals[node].entry].urn
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

    /// How many nodes and edges a drawing has. Where whole groups wait for whole groups, further nodes stand for the pairs.
    #[must_use]
    pub fn written_size(&self) -> (usize, usize) {
        let groups = self.graph.written_barriers() as usize;
        (self.removals.len() + groups, self.graph.written_edges().count())
    }

    /// At most how many edges there are, without listing them.
    #[must_use]
    pub fn edge_bound(&self) -> u64 {
        self.graph.edge_bound()
    }
}

/// Errors about a list without views, with the places that resources have in the snapshot.
fn at_places(snapshot: &Snapshot, mut errors: Vec<StackError>) -> Vec<StackError> {
    let places: Vec<usize> =
        snapshot.indexed().filter(|(_, resource)| !is_view(resource)).map(|(at, _)| at).collect();
    for error in &mut errors {
        if let StackError::Integrity(finding) = error
            && let Some(at) = finding.resource.and_then(|at| Some((at, *places.get(at)?)))
        {
            let (listed, place) = at;
            finding.resource = Some(place);
            finding.path = finding.path.replacen(&format!("[{listed}]"), &format!("[{place}]"), 1);
        }
    }
    errors
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
