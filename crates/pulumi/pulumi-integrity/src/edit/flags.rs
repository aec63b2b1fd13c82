//! Marks of resources: protection and taint.

use std::collections::{BTreeSet, HashMap};

use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};

use super::closest;

/// A mark that can be set or cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flag {
    /// The resource must not be deleted.
    Protect(bool),
    /// The resource is to be replaced by the next update.
    Taint(bool),
}

/// Names that mean no resource. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", texts(.names))]
pub struct NotFound {
    /// The names, and those like them.
    pub names: Vec<(Urn, Vec<Urn>)>,
}

fn texts(names: &[(Urn, Vec<Urn>)]) -> String {
    let one = |(urn, _): &(Urn, Vec<Urn>)| {
        format!("No such resource {:?} exists in the current state", urn.as_str())
    };
    names.iter().map(one).collect::<Vec<_>>().join("\n")
}

impl Flag {
    fn set(self, resource: &mut Resource) {
        match self {
            Self::Protect(protect) => resource.protect = protect,
            Self::Taint(taint) => resource.taint = taint,
        }
    }

    fn is_set(self, resource: &Resource) -> bool {
        match self {
            Self::Protect(protect) => resource.protect == protect,
            Self::Taint(taint) => resource.taint == taint,
        }
    }
}

/// Sets a mark on the resources of these names, and tells how many there are.
///
/// Copies that wait for their deletion do not count; of several others of a name the last does.
///
/// # Errors
///
/// A name means no resource.
pub fn set_flag<'u>(
    snapshot: &mut Snapshot,
    urns: impl IntoIterator<Item = &'u Urn>,
    flag: Flag,
) -> Result<usize, NotFound> {
    let live = snapshot.indexed().filter(|(_, resource)| !resource.delete);
    let last: HashMap<&Urn, usize> = live.map(|(index, resource)| (&resource.urn, index)).collect();
    let mut indexes = BTreeSet::new();
    let mut names = Vec::new();
    for urn in urns {
        match last.get(urn) {
            Some(index) => {
                indexes.insert(*index);
            }
            None => names.push((urn.clone(), closest(snapshot, urn.as_str()))),
        }
    }
    if !names.is_empty() {
        return Err(NotFound { names });
    }
    set(snapshot, &indexes, flag);
    Ok(indexes.len())
}

/// Sets a mark on the resources at these indexes, whether they wait for their deletion or not, and tells how many there are.
pub fn set_flag_at(snapshot: &mut Snapshot, indexes: &BTreeSet<usize>, flag: Flag) -> usize {
    set(snapshot, indexes, flag);
    indexes.iter().filter(|index| snapshot.resource(**index).is_some()).count()
}

/// Sets a mark on all resources that do not wait for their deletion, and tells how many there are.
pub fn set_flag_everywhere(snapshot: &mut Snapshot, flag: Flag) -> usize {
    let live = snapshot.indexed().filter(|(_, resource)| !resource.delete);
    let indexes: BTreeSet<usize> = live.map(|(index, _)| index).collect();
    set(snapshot, &indexes, flag);
    indexes.len()
}

/// A resource that has the mark already is not copied.
fn set(snapshot: &mut Snapshot, indexes: &BTreeSet<usize>, flag: Flag) {
    for &index in indexes {
        if snapshot.resource(index).is_some_and(|resource| !flag.is_set(resource))
            && let Some(resource) = snapshot.resource_mut(index)
        {
            flag.set(resource);
        }
    }
}
