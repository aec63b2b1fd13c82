//! Questions about who needs whom.
//!
//! Names repeat, so every answer is a list of indexes, and copies of one name are told apart.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use groundstate_dag::Graph;

use crate::dependency::DependencyKind;
use crate::resource::Resource;
use crate::urn::Urn;
use crate::urn_index::UrnIndex;

/// Who needs whom in a list of resources that is in order.
///
/// All answers are in the order of the list unless they say otherwise, and the same for the same list.
///
/// ```
/// use groundstate_pulumi_snapshot::{DependencyGraph, Resource, Snapshot, Urn};
///
/// let named = |name: &str| Resource::new(Urn::build("dev", "shop", "", "t:t:t", name), "t:t:t");
/// let mut web = named("web");
/// web.dependencies.push(named("network").urn);
/// let snapshot = Snapshot::new([named("network"), web, named("other")]);
///
/// let graph = DependencyGraph::new(&snapshot.resources)?;
/// assert_eq!(graph.only_depends_on(0), [1]);
/// assert_eq!(graph.dependencies_of(1), [0]);
/// # Ok::<(), groundstate_pulumi_snapshot::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DependencyGraph<'a> {
    index: UrnIndex<'a>,
    /// For each resource the latest one before it that has its parent's name.
    parents: Vec<Option<usize>>,
}

/// Why a list of resources has no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// No resource before this one has its parent's name.
    #[error("parent {parent:?} of {child:?} does not come before it; sort or repair the snapshot first")]
    ParentNotBefore {
        /// The resource.
        child: Urn,
        /// Its parent.
        parent: Urn,
    },
}

impl<'a> DependencyGraph<'a> {
    /// Finds the parent of each resource.
    ///
    /// # Errors
    ///
    /// A parent does not come before its child, which includes a resource that is its own ancestor.
    pub fn new(resources: &'a [Arc<Resource>]) -> Result<Self, GraphError> {
        let mut latest: HashMap<&str, usize> = HashMap::with_capacity(resources.len());
        let mut parents = Vec::with_capacity(resources.len());
        for (index, resource) in resources.iter().enumerate() {
            let parent = match resource.parent() {
                None => None,
                Some(parent) => match latest.get(parent.as_str()) {
                    Some(&found) => Some(found),
                    None => {
                        let child = resource.urn.clone();
                        return Err(GraphError::ParentNotBefore { child, parent: parent.clone() });
                    }
                },
            };
            parents.push(parent);
            latest.insert(resource.urn.as_str(), index);
        }
        Ok(Self { index: UrnIndex::new(resources), parents })
    }

    /// The resources.
    pub fn resources(&self) -> &'a [Arc<Resource>] {
        self.index.resources()
    }

    /// The index of names.
    pub fn urn_index(&self) -> &UrnIndex<'a> {
        &self.index
    }

    fn after(&self, index: usize) -> impl Iterator<Item = (usize, &'a Resource)> {
        self.resources().iter().map(|resource| &**resource).enumerate().skip(index.saturating_add(1))
    }

    /// The resources that need the one at `index`, directly or through others, going by names: who names a name depends on
    /// every copy of it.
    ///
    /// Resources of the names in `ignore` are left out, with those that need the given one through them alone. Being a child
    /// counts only with `children`.
    pub fn depending_on(&self, index: usize, ignore: &HashSet<Urn>, children: bool) -> Vec<usize> {
        let Some(start) = self.index.resource(index) else { return Vec::new() };
        let mut names = HashSet::from([start.urn.as_str()]);
        let mut found = Vec::new();
        for (candidate, resource) in self.after(index) {
            if ignore.contains(&resource.urn) {
                continue;
            }
            let depends = resource
                .all_dependencies()
                .filter(|dependency| children || dependency.kind != DependencyKind::Parent)
                .any(|dependency| names.contains(dependency.urn.as_str()));
            if depends || provider_of(resource).is_some_and(|(urn, _)| names.contains(urn)) {
                found.push(candidate);
                names.insert(resource.urn.as_str());
            }
        }
        found
    }

    /// The resources that could not stay without the one at `index`: all copies of something they need are the given one or
    /// could not stay either.
    ///
    /// A provider is told from others of its name by its identifier.
    pub fn only_depends_on(&self, index: usize) -> Vec<usize> {
        self.only_depends_on_these(&BTreeSet::from([index]))
    }

    /// The resources besides the given ones that could not stay without them, as [`DependencyGraph::only_depends_on`] tells
    /// it for one.
    pub fn only_depends_on_these(&self, indexes: &BTreeSet<usize>) -> Vec<usize> {
        let mut fates = Fates::default();
        let mut found = Vec::new();
        for (candidate, resource) in self.resources().iter().enumerate() {
            if indexes.contains(&candidate) {
                fates.goes(resource);
            } else if fates.takes_along(resource) {
                fates.goes(resource);
                found.push(candidate);
            } else {
                fates.stays(resource);
            }
        }
        found
    }

    /// What the resource at `index` needs directly: its provider, its dependencies and its parent. A component among them,
    /// unless it is the parent alone, brings its children.
    pub fn dependencies_of(&self, index: usize) -> Vec<usize> {
        let Some(resource) = self.index.resource(index) else { return Vec::new() };
        let mut needed = HashSet::new();
        needed.extend(provider_of(resource).map(|(urn, _)| urn));
        let others = resource.all_dependencies().filter(|d| d.kind != DependencyKind::Parent);
        needed.extend(others.map(|dependency| dependency.urn.as_str()));
        let parent = resource.parent().map(Urn::as_str);
        let before = self.resources().iter().take(index);
        let components: HashSet<&str> = before
            .filter(|other| !other.custom && needed.contains(other.urn.as_str()))
            .map(|component| component.urn.as_str())
            .collect();
        let mut inside = vec![false; index];
        let mut found = Vec::new();
        for (before, other) in self.resources().iter().take(index).enumerate() {
            let direct = needed.contains(other.urn.as_str());
            let parent_is_inside = self.parents.get(before).copied().flatten().is_some_and(|at| inside[at]);
            let parent_named = other.parent().is_some_and(|urn| components.contains(urn.as_str()));
            let child = parent_is_inside || parent_named;
            inside[before] = child;
            if direct || child || parent == Some(other.urn.as_str()) {
                found.push(before);
            }
        }
        found
    }

    /// All that the resource at `index` needs, directly or through others, by provider, parent or dependency. Unknown
    /// names are passed over. Components bring the children that stand before the resource, unless they are only the
    /// parents of those that need them.
    pub fn transitive_dependencies_of(&self, index: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut entered = HashSet::new();
        let mut open = vec![index];
        let children = self.direct_children();
        while let Some(at) = open.pop() {
            let Some(resource) = self.index.resource(at) else { continue };
            let others = resource.all_dependencies().filter(|d| d.kind != DependencyKind::Parent);
            let named: HashSet<&Urn> = others.map(|dependency| dependency.urn).collect();
            for next in self.index.successors(at).filter(|next| *next != index) {
                if found.insert(next) {
                    open.push(next);
                }
                // Also of what was found before as a parent, or as the child of another component.
                let brings = |other: &Resource| !other.custom && named.contains(&other.urn);
                let mut inside =
                    Vec::from_iter(self.index.resource(next).filter(|r| brings(r)).map(|_| next));
                while let Some(component) = inside.pop() {
                    let is_new = entered.insert(component);
                    let below = children.get(component).filter(|_| is_new).into_iter().flatten();
                    for child in below.copied().filter(|child| *child < index) {
                        inside.push(child);
                        if found.insert(child) {
                            open.push(child);
                        }
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    fn direct_children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.parents.len()];
        for (child, parent) in self.parents.iter().enumerate() {
            if let Some(list) = parent.and_then(|parent| children.get_mut(parent)) {
                list.push(child);
            }
        }
        children
    }

    /// The resources below any copy of this name.
    pub fn children_of(&self, urn: &Urn) -> Vec<usize> {
        let mut inside = vec![false; self.parents.len()];
        for (index, resource) in self.resources().iter().enumerate() {
            let above = self.parents.get(index).copied().flatten();
            inside[index] = resource.parent() == Some(urn) || above.is_some_and(|parent| inside[parent]);
        }
        inside.iter().enumerate().filter_map(|(index, inside)| inside.then_some(index)).collect()
    }

    /// The parent of the resource at `index`, its parent, and so on, the nearest first.
    pub fn parents_of(&self, index: usize) -> Vec<usize> {
        let parent = |index: &usize| self.parents.get(*index).copied().flatten();
        std::iter::successors(parent(&index), parent).collect()
    }

    /// The edges from each resource to what it needs, names resolved as [`UrnIndex::resolve`] does. Node `n` is the resource
    /// at index `n`.
    pub fn to_dag(&self) -> Graph<usize> {
        dependency_dag(&self.index)
    }
}

/// The edges from each resource to what it needs, also for resources that are not in order.
///
/// Node `n` of the graph is the resource at index `n`.
pub fn dependency_dag(index: &UrnIndex<'_>) -> Graph<usize> {
    let count = index.resources().len();
    let mut graph = Graph::with_capacity(count);
    let nodes: Vec<_> = (0..count).map(|at| graph.add_node(at)).collect();
    for (at, &from) in nodes.iter().enumerate() {
        for next in index.successors(at) {
            if let Some(&to) = nodes.get(next) {
                graph.add_edge(from, to);
            }
        }
    }
    graph
}

/// URN and identifier of a resource's provider, if its reference can be read.
fn provider_of(resource: &Resource) -> Option<(&str, &str)> {
    resource.provider()?.split_text().ok()
}

/// How many of the copies of each name stay, and how many go.
#[derive(Default)]
struct Fates<'a> {
    names: HashMap<&'a str, Fate>,
    /// The same by name and identifier, for providers.
    providers: HashMap<(&'a str, &'a str), Fate>,
}

#[derive(Default)]
struct Fate {
    stays: bool,
    goes: bool,
}

impl Fate {
    fn all_go(&self) -> bool {
        self.goes && !self.stays
    }
}

impl<'a> Fates<'a> {
    fn of(&mut self, resource: &'a Resource, set: fn(&mut Fate)) {
        set(self.names.entry(resource.urn.as_str()).or_default());
        if resource.is_provider() {
            let id = resource.id().map_or(crate::UNKNOWN, |id| id.as_str());
            set(self.providers.entry((resource.urn.as_str(), id)).or_default());
        }
    }

    fn stays(&mut self, resource: &'a Resource) {
        self.of(resource, |fate| fate.stays = true);
    }

    fn goes(&mut self, resource: &'a Resource) {
        self.of(resource, |fate| fate.goes = true);
    }

    /// Whether the resource needs something of which no copy stays.
    fn takes_along(&self, resource: &Resource) -> bool {
        let gone = |urn: &Urn| self.names.get(urn.as_str()).is_some_and(Fate::all_go);
        let provider = provider_of(resource).and_then(|key| self.providers.get(&key));
        resource.all_dependencies().any(|dependency| gone(dependency.urn))
            || provider.is_some_and(Fate::all_go)
    }
}
