//! Who waits for whom among deletions, in as many edges as the list has references.
//!
//! What depends on a component waits for nothing of it, but all that belongs to the component waits for what depends on it: a
//! product of both, for which barriers stand. A barrier is made at a place of the list and leads to what comes after it.

use std::collections::{BTreeSet, HashMap, HashSet};

use groundstate_pulumi_snapshot::Urn;

use crate::condemned::Unit;
use crate::{RemovalReason, StackIndex};

/// The edges between units, and barriers behind them, with the number of barriers. The first of a pair waits for the second.
pub(crate) fn waits(
    index: &StackIndex<'_>,
    units: &[Unit],
    unit_of: &HashMap<usize, usize>,
) -> (Vec<(usize, usize)>, usize) {
    let mut sweep = Sweep {
        index,
        unit_of,
        edges: BTreeSet::new(),
        next: units.len(),
        dependents: HashMap::new(),
        around: HashMap::new(),
        age: 0,
    };
    let mut belongs_to: HashMap<usize, HashSet<&Urn>> = HashMap::new();
    let mut places: Vec<usize> = unit_of.keys().copied().collect();
    places.sort_unstable_by(|a, b| b.cmp(a));
    for at in places {
        let unit = unit_of[&at];
        // What stands behind this place and depends on what it belongs to has been met.
        if let Some(parent) = index.resources()[at].parent()
            && let Some(barrier) = sweep.around(parent)
        {
            sweep.edges.insert((unit, barrier));
        }
        let own = &units[unit];
        let names = (!own.members.is_empty()).then(|| {
            let entries = std::iter::once(own.at).chain(own.members.iter().copied());
            &*belongs_to.entry(unit).or_insert_with(|| sweep.belongs_to(entries))
        });
        let refers = |urn| names.is_some_and(|names| names.contains(urn));
        let mut others = index.references(at).filter(|(reason, _)| *reason != RemovalReason::Parent);
        if !others.any(|(_, urn)| refers(urn)) {
            sweep.depends(at, unit);
        } else {
            // A unit of several entries must not wait for itself by way of a barrier of what it belongs to.
            let others = index.dependencies_of(at).into_iter().filter_map(|on| unit_of.get(&on));
            sweep.edges.extend(others.filter(|on| **on != unit).map(|on| (*on, unit)));
        }
    }
    (sweep.edges.into_iter().collect(), sweep.next - units.len())
}

/// A walk from the last entry of the list to the first.
struct Sweep<'s, 'a> {
    index: &'s StackIndex<'a>,
    unit_of: &'s HashMap<usize, usize>,
    edges: BTreeSet<(usize, usize)>,
    /// The number of the next barrier.
    next: usize,
    /// For the name of a component the barrier before all that depends on it so far.
    dependents: HashMap<&'a Urn, Dependents>,
    /// For the name of a component the barrier before all that depends on it or on what it belongs to, and how old it is.
    around: HashMap<&'a Urn, Around>,
    /// How often the barriers of dependents have changed.
    age: usize,
}

struct Dependents {
    barrier: usize,
    /// Something waits for the barrier, so that it must not lead to more.
    used: bool,
}

struct Around {
    age: usize,
    barrier: Option<usize>,
    /// What the barrier leads to.
    of: Vec<usize>,
}

impl<'a> Sweep<'_, 'a> {
    fn barrier(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Notes what an entry of a unit refers to.
    fn depends(&mut self, at: usize, unit: usize) {
        let index = self.index;
        let resources = index.resources();
        let (mut found, mut components) = (HashSet::new(), BTreeSet::new());
        for (reason, urn) in index.references(at) {
            for place in index.positions(urn).take_while(|&place| place < at) {
                // Children of the own parent are siblings, and wait for each other only if they say so.
                let whole =
                    found.insert(place) && reason != RemovalReason::Parent && !resources[place].custom;
                if whole && index.has_children(urn) {
                    components.insert(urn);
                }
                if let Some(&on) = self.unit_of.get(&place).filter(|on| **on != unit) {
                    self.edges.insert((on, unit));
                }
            }
        }
        for urn in components {
            self.depends_on(urn, unit);
        }
    }

    /// Notes that a unit depends on all of a component.
    fn depends_on(&mut self, component: &'a Urn, unit: usize) {
        let known = self.dependents.get(component).map(|known| (known.barrier, known.used));
        let barrier = match known {
            Some((barrier, false)) => barrier,
            _ => {
                let barrier = self.barrier();
                if let Some((older, _)) = known {
                    self.edges.insert((barrier, older));
                }
                self.dependents.insert(component, Dependents { barrier, used: false });
                self.age += 1;
                barrier
            }
        };
        self.edges.insert((barrier, unit));
    }

    /// The barrier before all that depends on a component so far, or on one that it belongs to.
    fn around(&mut self, component: &'a Urn) -> Option<usize> {
        // What lies around is known before what lies in it.
        let (mut seen, mut open) = (HashSet::new(), vec![(component, false)]);
        while let Some((urn, leaving)) = open.pop() {
            if leaving {
                self.renew(urn);
            } else if self.around.get(urn).is_none_or(|known| known.age != self.age) && seen.insert(urn) {
                open.push((urn, true));
                open.extend(self.outer(urn).into_iter().map(|outer| (outer, false)));
            }
        }
        self.around.get(component).and_then(|known| known.barrier)
    }

    /// The names of all that these entries belong to, directly or not.
    fn belongs_to(&self, entries: impl Iterator<Item = usize>) -> HashSet<&'a Urn> {
        let resources = self.index.resources();
        let mut names = HashSet::new();
        let mut work: Vec<&Urn> = entries.filter_map(|at| resources[at].parent()).collect();
        while let Some(urn) = work.pop() {
            if names.insert(urn) {
                work.extend(self.outer(urn));
            }
        }
        names
    }

    /// The names of what a name belongs to.
    fn outer(&self, urn: &Urn) -> Vec<&'a Urn> {
        let resources = self.index.resources();
        let mut parents: Vec<&Urn> = Vec::new();
        for place in self.index.positions(urn) {
            if let Some(parent) = resources[place].parent()
                && !parents.contains(&parent)
            {
                parents.push(parent);
            }
        }
        parents
    }

    fn renew(&mut self, urn: &'a Urn) {
        let mut of: Vec<usize> =
            self.outer(urn).into_iter().filter_map(|outer| self.around.get(outer)?.barrier).collect();
        if let Some(own) = self.dependents.get_mut(urn) {
            own.used = true;
            of.push(own.barrier);
        }
        of.sort_unstable();
        of.dedup();
        let age = self.age;
        if let Some(known) = self.around.get_mut(urn).filter(|known| known.of == of) {
            known.age = age;
            return;
        }
        let barrier = match of.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => {
                let several = several.to_vec();
                let barrier = self.barrier();
                self.edges.extend(several.into_iter().map(|on| (barrier, on)));
                Some(barrier)
            }
        };
        self.around.insert(urn, Around { age, barrier, of });
    }
}
