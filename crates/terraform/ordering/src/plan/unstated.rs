//! References that a plan does not hold, taken from what the objects record.
//!
//! A plan prints the references of expressions, but neither those of local values, nor those of conditions and of
//! `replace_triggered_by`. What an object was recorded to depend on includes them all, so it stands in for them.

use std::collections::{BTreeSet, HashMap};

use groundstate_dag::CompactGraph;
use groundstate_states::addr::{ConfigResource, Module, ResourceMode};

use super::{MissingReferences, PlanNote, Planned};
use crate::input::{DepRef, ResourceConfig};

/// From where the references are taken that a plan does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FallbackSource {
    /// From what the objects of the resource record.
    OwnRecords,
    /// From what all objects record that depend on the data resource, which records nothing itself.
    UsersRecords,
    /// From nowhere.
    Nothing,
}

/// What objects record.
pub(super) type Records = HashMap<ConfigResource, BTreeSet<ConfigResource>>;

/// Adds recorded dependencies to the blocks whose references the plan does not hold, and says so.
///
/// A recorded dependency that would close a cycle with what the configuration says today is out of date, and left out.
pub(super) fn stand_in(planned: &mut Planned, records: &Records, wanted: Vec<(usize, MissingReferences)>) {
    let mut candidates: Vec<(usize, ConfigResource)> = Vec::new();
    let mut asked: BTreeSet<usize> = BTreeSet::new();
    for (block, what) in wanted {
        let addr = &planned.input.resources[block].addr;
        let (fallback, found) = of(addr, records);
        if asked.insert(block) {
            candidates.extend(found.into_iter().map(|other| (block, other)));
        }
        planned.notes.push(PlanNote::MissingReferences { resource: addr.clone(), what, fallback });
    }
    for (block, other) in sound(&planned.input.resources, candidates) {
        let dependencies = &mut planned.input.resources[block].dependencies;
        let reference = DepRef::Resource(other);
        if let Err(at) = dependencies.binary_search(&reference) {
            dependencies.insert(at, reference);
        }
    }
}

/// What stands in for the references of a resource.
fn of(addr: &ConfigResource, records: &Records) -> (FallbackSource, BTreeSet<ConfigResource>) {
    if addr.resource.mode == ResourceMode::Managed {
        return match records.get(addr) {
            Some(found) => {
                (FallbackSource::OwnRecords, found.iter().filter(|other| *other != addr).cloned().collect())
            }
            None => (FallbackSource::Nothing, BTreeSet::new()),
        };
    }
    // Records are transitive, so what the data resource needs is recorded by all that depend on it.
    let mut common: Option<BTreeSet<ConfigResource>> = None;
    for found in records.values().filter(|found| found.contains(addr)) {
        common = Some(match common {
            None => found.clone(),
            Some(common) => common.intersection(found).cloned().collect(),
        });
    }
    match common {
        None => (FallbackSource::Nothing, BTreeSet::new()),
        Some(mut common) => {
            common.retain(|other| {
                other != addr && !records.get(other).is_some_and(|found| found.contains(addr))
            });
            (FallbackSource::UsersRecords, common)
        }
    }
}

/// The candidates that close no cycle with the blocks and with each other.
fn sound(
    blocks: &[ResourceConfig],
    candidates: Vec<(usize, ConfigResource)>,
) -> Vec<(usize, ConfigResource)> {
    let places: HashMap<&ConfigResource, u32> =
        (0_u32..).zip(blocks).map(|(at, block)| (&block.addr, at)).collect();
    let mut modules: HashMap<&Module, u32> = HashMap::new();
    let mut edges: Vec<(u32, u32, ())> = Vec::new();
    for (from, block) in (0_u32..).zip(blocks) {
        for reference in &block.dependencies {
            match reference {
                DepRef::Resource(addr) => edges.extend(places.get(addr).map(|&to| (from, to, ()))),
                DepRef::Module(module) => {
                    let next = (blocks.len() + modules.len()) as u32;
                    edges.push((from, *modules.entry(module).or_insert(next), ()));
                }
            }
        }
    }
    for (to, block) in (0_u32..).zip(blocks) {
        let path = &block.addr.module;
        for depth in 1..=path.steps().len() {
            let outer: Module = path.steps().iter().take(depth).cloned().collect();
            edges.extend(modules.get(&outer).map(|&from| (from, to, ())));
        }
    }
    let added = candidates.iter().filter_map(|(from, other)| Some((*from as u32, *places.get(other)?, ())));
    edges.extend(added);
    let graph = CompactGraph::from_edges(blocks.len() + modules.len(), edges, |(), ()| {});
    let (component, _) = graph.components();
    let closes = |from: usize, other: &ConfigResource| {
        places.get(other).is_some_and(|&to| component[from] == component[to as usize])
    };
    candidates.into_iter().filter(|(from, other)| !closes(*from, other)).collect()
}
