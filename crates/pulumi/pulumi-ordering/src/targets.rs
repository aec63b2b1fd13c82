//! What of a stack is to be changed: targets, excludes, or everything.

use std::collections::{BTreeSet, HashSet};

use groundstate_pulumi_snapshot::Urn;

use crate::{RemovalReason, StackError, StackIndex, StackOptions};

/// Which resources may be changed and deleted.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    All,
    Targets {
        urns: HashSet<Urn>,
        /// What depends on a target is one, also if it is new.
        grows: bool,
    },
    Excludes {
        /// What was excluded, also as a dependent.
        seeds: HashSet<Urn>,
        /// That, and what it depends on.
        urns: HashSet<Urn>,
        grows: bool,
    },
}

impl Selection {
    pub(crate) fn new(index: &StackIndex<'_>, options: &StackOptions) -> Result<Self, StackError> {
        let StackOptions { targets, excludes, target_dependents, exclude_dependents, .. } = options;
        match (targets.is_empty(), excludes.is_empty()) {
            (true, true) => Ok(Self::All),
            (false, false) => Err(StackError::TargetsAndExcludes),
            (false, true) => {
                let urns = with_dependents(index, targets, *target_dependents);
                Ok(Self::Targets { urns, grows: *target_dependents })
            }
            (true, false) => {
                let seeds = with_dependents(index, excludes, *exclude_dependents);
                // What stays needs all that it refers to, dependents of excludes included.
                let mut urns = seeds.clone();
                let mut work: Vec<usize> = seeds.iter().flat_map(|urn| index.positions(urn)).collect();
                let mut seen: HashSet<usize> = work.iter().copied().collect();
                while let Some(at) = work.pop() {
                    urns.insert(index.resources()[at].urn.clone());
                    work.extend(index.needs(at).filter(|&place| seen.insert(place)));
                }
                Ok(Self::Excludes { seeds, urns, grows: *exclude_dependents })
            }
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Whether the resource of this name may be changed and deleted.
    pub(crate) fn has(&self, urn: &Urn) -> bool {
        match self {
            Self::All => true,
            Self::Targets { urns, .. } => urns.contains(urn),
            Self::Excludes { urns, .. } => !urns.contains(urn),
        }
    }

    /// Takes note of a goal, which may be selected because of what it refers to.
    pub(crate) fn register(&mut self, own: &Urn, refers: &[(RemovalReason, &Urn)]) {
        let refers = |to: &HashSet<Urn>| refers.iter().any(|(_, urn)| to.contains(*urn));
        match self {
            Self::Targets { urns, grows: true } if refers(urns) => {
                urns.insert(own.clone());
            }
            Self::Excludes { seeds, urns, grows: true } if refers(seeds) => {
                seeds.insert(own.clone());
                urns.insert(own.clone());
            }
            _ => {}
        }
    }

    /// What was selected and does not exist.
    pub(crate) fn unknown(
        options: &StackOptions,
        index: &StackIndex<'_>,
        registered: impl Fn(&Urn) -> bool,
    ) -> Vec<StackError> {
        let named = options.targets.iter().chain(&options.excludes);
        let unknown = named.filter(|urn| !index.contains(urn) && !registered(urn));
        unknown.map(|urn| StackError::UnknownTarget { urn: urn.clone() }).collect()
    }
}

fn with_dependents(index: &StackIndex<'_>, urns: &BTreeSet<Urn>, dependents: bool) -> HashSet<Urn> {
    let mut all: HashSet<Urn> = urns.iter().cloned().collect();
    if dependents {
        let starts = urns.iter().flat_map(|urn| index.positions(urn)).collect();
        let found = index.depending_on(&starts, &HashSet::new(), true);
        all.extend(found.into_iter().map(|at| index.resources()[at].urn.clone()));
    }
    all
}
