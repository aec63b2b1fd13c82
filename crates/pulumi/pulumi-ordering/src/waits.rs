//! Who waits for whom among deletions, in as many edges as the list has references.
//!
//! What depends on a component waits for nothing of it, but all that belongs to the component waits for what depends on it: a
//! product of both, for which barriers stand. A barrier is made at a place of the list and leads to what comes after it.

use std::collections::{BTreeSet, HashMap, HashSet};

use groundstate_pulumi_snapshot::UrnNumber;

use crate::condemned::Unit;
use crate::{RemovalReason, StackIndex};

/// The edges between units, and barriers behind them, with the number of barriers. The first of a pair waits for the second.
///
/// `unit_of` says for each entry of the list in which unit it goes, if it goes.
pub(crate) fn waits(
    index: &StackIndex<'_>,
    units: &[Unit],
    unit_of: &[Option<usize>],
) -> (Vec<(usize, usize)>, usize) {
    let mut sweep = Sweep {
        index,
        unit_of,
        edges: Vec::new(),
        next: units.len(),
        dependents: (0..index.names()).map(|_| None).collect(),
        around: (0..index.names()).map(|_| None).collect(),
        age: 0,
    };
    let mut belongs_to: HashMap<usize, HashSet<UrnNumber>> = HashMap::new();
    for (at, unit) in unit_of.iter().enumerate().rev().filter_map(|(at, unit)| Some((at, (*unit)?))) {
        // What stands behind this place and depends on what it belongs to has been met.
        if let Some(parent) = index.parent(at)
            && let Some(barrier) = sweep.around(parent)
        {
            sweep.edges.push((unit, barrier));
        }
        let own = &units[unit];
        let names = (!own.members.is_empty()).then(|| {
            let entries = std::iter::once(own.at).chain(own.members.iter().copied());
            &*belongs_to.entry(unit).or_insert_with(|| sweep.belongs_to(entries))
        });
        let refers = |number: UrnNumber| names.is_some_and(|names| names.contains(&number));
        let mut others = index.references(at).iter().filter(|one| one.reason != RemovalReason::Parent);
        if !others.any(|one| one.number.is_some_and(refers)) {
            sweep.depends(at, unit);
        } else {
            // A unit of several entries must not wait for itself by way of a barrier of what it belongs to.
            let others = index.dependencies_of(at).into_iter().filter_map(|on| unit_of[on]);
            sweep.edges.extend(others.filter(|on| *on != unit).map(|on| (on, unit)));
        }
    }
    sweep.edges.sort_unstable();
    sweep.edges.dedup();
    (sweep.edges, sweep.next - units.len())
}

/// A walk from the last entry of the list to the first.
struct Sweep<'s, 'a> {
    index: &'s StackIndex<'a>,
    unit_of: &'s [Option<usize>],
    edges: Vec<(usize, usize)>,
    /// The number of the next barrier.
    next: usize,
    /// For the name of a component the barrier before all that depends on it so far.
    dependents: Vec<Option<Dependents>>,
    /// For the name of a component the barrier before all that depends on it or on what it belongs to, and how old it is.
    around: Vec<Option<Around>>,
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

impl Sweep<'_, '_> {
    fn barrier(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Notes what an entry of a unit refers to.
    fn depends(&mut self, at: usize, unit: usize) {
        let index = self.index;
        let resources = index.resources();
        let (mut found, mut components) = (HashSet::new(), BTreeSet::new());
        for reference in index.references(at) {
            for place in index.meant(reference).take_while(|&place| place < at) {
                // Children of the own parent are siblings, and wait for each other only if they say so.
                let whole = found.insert(place)
                    && reference.reason != RemovalReason::Parent
                    && !resources[place].custom;
                if whole {
                    components.extend(reference.number.filter(|number| !index.children(*number).is_empty()));
                }
                if let Some(on) = self.unit_of[place].filter(|on| *on != unit) {
                    self.edges.push((on, unit));
                }
            }
        }
        for component in components {
            self.depends_on(component, unit);
        }
    }

    /// Notes that a unit depends on all of a component.
    fn depends_on(&mut self, component: UrnNumber, unit: usize) {
        let known = self.dependents[component.index()].as_ref().map(|known| (known.barrier, known.used));
        let barrier = match known {
            Some((barrier, false)) => barrier,
            _ => {
                let barrier = self.barrier();
                if let Some((older, _)) = known {
                    self.edges.push((barrier, older));
                }
                self.dependents[component.index()] = Some(Dependents { barrier, used: false });
                self.age += 1;
                barrier
            }
        };
        self.edges.push((barrier, unit));
    }

    /// The barrier before all that depends on a component so far, or on one that it belongs to.
    fn around(&mut self, component: UrnNumber) -> Option<usize> {
        let (mut seen, mut open) = (HashSet::new(), vec![(component, false)]);
        while let Some((name, leaving)) = open.pop() {
            if leaving {
                self.renew(name);
            } else if !self.is_current(name) && seen.insert(name) {
                // What lies around is known before what lies in it.
                open.push((name, true));
                open.extend(self.outer(name).into_iter().map(|outer| (outer, false)));
            }
        }
        self.around[component.index()].as_ref().and_then(|known| known.barrier)
    }

    fn is_current(&self, name: UrnNumber) -> bool {
        self.around[name.index()].as_ref().is_some_and(|known| known.age == self.age)
    }

    /// The names of all that these entries belong to, directly or not.
    fn belongs_to(&self, entries: impl Iterator<Item = usize>) -> HashSet<UrnNumber> {
        let mut names = HashSet::new();
        let mut work: Vec<UrnNumber> = entries.filter_map(|at| self.index.parent(at)).collect();
        while let Some(name) = work.pop() {
            if names.insert(name) {
                work.extend(self.outer(name));
            }
        }
        names
    }

    /// The names of what a name belongs to.
    fn outer(&self, name: UrnNumber) -> Vec<UrnNumber> {
        let mut parents = Vec::new();
        for parent in self.index.all_of(name).filter_map(|place| self.index.parent(place)) {
            if !parents.contains(&parent) {
                parents.push(parent);
            }
        }
        parents
    }

    fn renew(&mut self, name: UrnNumber) {
        let barrier_of = |outer: UrnNumber| self.around[outer.index()].as_ref()?.barrier;
        let mut of: Vec<usize> = self.outer(name).into_iter().filter_map(barrier_of).collect();
        if let Some(own) = &mut self.dependents[name.index()] {
            own.used = true;
            of.push(own.barrier);
        }
        of.sort_unstable();
        of.dedup();
        let age = self.age;
        if let Some(known) = self.around[name.index()].as_mut().filter(|known| known.of == of) {
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
        self.around[name.index()] = Some(Around { age, barrier, of });
    }
}
