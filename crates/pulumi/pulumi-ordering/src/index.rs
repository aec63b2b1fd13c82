//! Who depends on whom in a list, by index and not by rescanning it.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{Relation, StackEntry, Urn};

/// A list with what is needed to ask about it. Entries are named by their position.
#[derive(Clone, Debug)]
pub struct StackIndex<'a> {
    entries: &'a [StackEntry],
    by_urn: HashMap<&'a Urn, Vec<usize>>,
    children: HashMap<&'a Urn, Vec<usize>>,
    waiters: HashMap<&'a Urn, Vec<usize>>,
}

impl<'a> StackIndex<'a> {
    /// Indexes a list.
    #[must_use]
    pub fn new(entries: &'a [StackEntry]) -> Self {
        let mut by_urn: HashMap<_, Vec<_>> = HashMap::new();
        let mut children: HashMap<_, Vec<_>> = HashMap::new();
        let mut waiters: HashMap<_, Vec<_>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            by_urn.entry(&entry.urn).or_default().push(at);
            if let Some(parent) = &entry.parent {
                children.entry(parent).or_default().push(at);
            }
            let names: HashSet<&Urn> = entry.references().map(|(_, urn)| urn).collect();
            for urn in names {
                waiters.entry(urn).or_default().push(at);
            }
        }
        Self { entries, by_urn, children, waiters }
    }

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &'a [StackEntry] {
        self.entries
    }

    /// The live entry of this name.
    #[must_use]
    pub fn live(&self, urn: &Urn) -> Option<usize> {
        self.positions(urn).iter().copied().find(|&at| !self.entries[at].delete)
    }

    /// Every entry of this name, old ones and the live one.
    #[must_use]
    pub fn positions(&self, urn: &Urn) -> &[usize] {
        self.by_urn.get(urn).map_or(&[], Vec::as_slice)
    }

    /// Every entry that refers to this name in any way, in the order of the list.
    #[must_use]
    pub fn waiters(&self, urn: &Urn) -> &[usize] {
        self.waiters.get(urn).map_or(&[], Vec::as_slice)
    }

    /// Whether anything belongs to this name.
    pub(crate) fn has_children(&self, urn: &Urn) -> bool {
        self.children.contains_key(urn)
    }

    /// The entries behind any of these that depend on them, directly or not, in the order of the list. What is ignored
    /// does not count, and neither does what depends only on that. Children count as dependents if that is asked for.
    #[must_use]
    pub fn depending_on(
        &self,
        starts: &BTreeSet<usize>,
        ignore: &HashSet<usize>,
        include_children: bool,
    ) -> Vec<usize> {
        let Some(&first) = starts.first() else { return Vec::new() };
        let mut urns: HashSet<&Urn> = HashSet::new();
        let mut found = Vec::new();
        for (at, entry) in self.entries.iter().enumerate().skip(first) {
            if starts.contains(&at) {
                urns.insert(&entry.urn);
                continue;
            }
            let counts = |relation| relation != Relation::Parent || include_children;
            if !ignore.contains(&at)
                && entry.references().any(|(relation, urn)| counts(relation) && urns.contains(urn))
            {
                urns.insert(&entry.urn);
                found.push(at);
            }
        }
        found
    }

    /// The entries before this one that have to be deleted after it: whatever it refers to, old and live, and of
    /// components that it refers to also what belongs to them.
    #[must_use]
    pub fn dependencies_of(&self, at: usize) -> BTreeSet<usize> {
        let (mut found, mut entered) = (BTreeSet::new(), BTreeSet::new());
        for (relation, urn) in self.entries[at].references() {
            for &place in self.positions(urn).iter().take_while(|&&place| place < at) {
                // Children of the own parent are siblings, and wait for each other only if they say so.
                if found.insert(place) && relation != Relation::Parent && !self.entries[place].custom {
                    self.add_children(place, at, &mut found, &mut entered);
                }
            }
        }
        found
    }

    /// Everything that this entry needs, directly or not. A name of both an old entry and the live one means the old one
    /// to an entry that is old itself, and the live one to others.
    #[must_use]
    pub fn transitive_dependencies_of(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut work = vec![at];
        while let Some(next) = work.pop() {
            work.extend(self.needs(next).filter(|place| found.insert(*place)));
        }
        found
    }

    /// What an entry refers to, each name resolved to one entry before it.
    pub(crate) fn needs(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.entries[at].references().filter_map(move |(_, urn)| self.resolve(at, urn))
    }

    /// The entry that a name means to another entry: an old one to an entry that is old itself, the live one to others,
    /// and failing that whichever comes before it.
    #[must_use]
    pub fn resolve(&self, at: usize, urn: &Urn) -> Option<usize> {
        let before = || self.positions(urn).iter().copied().take_while(|&place| place < at);
        let old = self.entries[at].delete;
        before().find(|&place| self.entries[place].delete == old).or_else(|| before().next())
    }

    /// Adds what belongs to an entry, directly or not. A child that was found before, as a dependency of its own, still
    /// brings its children.
    fn add_children(
        &self,
        component: usize,
        before: usize,
        found: &mut BTreeSet<usize>,
        entered: &mut BTreeSet<usize>,
    ) {
        let mut work = vec![component];
        while let Some(next) = work.pop() {
            if entered.insert(next) {
                let children = self.children.get(&self.entries[next].urn).map_or(&[][..], Vec::as_slice);
                let children = children.iter().take_while(|&&child| child < before);
                work.extend(children.inspect(|&&child| {
                    found.insert(child);
                }));
            }
        }
    }
}
