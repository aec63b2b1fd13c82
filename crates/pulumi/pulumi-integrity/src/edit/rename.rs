//! Giving a resource another name.

use groundstate_pulumi_snapshot::{Snapshot, Urn};

use crate::rewrite::{Renames, provider_names, sealed_in};

/// Why a resource cannot be renamed. The snapshot stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenameError {
    /// The name is no URN.
    #[error("The provided input URN is not valid")]
    Invalid(Urn),
    /// Nothing has the name.
    #[error("No such resource {:?} exists in the current state", .0.as_str())]
    Missing(Urn),
    /// Several resources have the name.
    #[error("The input URN ambiguously refers to multiple resources")]
    Ambiguous(Urn),
    /// Another resource has the new name.
    #[error("The chosen new urn for the state corresponds to an already existing resource")]
    Taken(Urn),
}

/// What renaming did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// The new URN.
    pub urn: Urn,
    /// How many resources changed: the renamed one and those that refer to it.
    pub changed: usize,
    /// Values that are encrypted, in which the old name may stand.
    pub sealed: usize,
}

/// Gives the resource of this URN another name, wherever its URN stands.
///
/// References follow in members, to providers, in properties, in pending operations and in snippets. Resources below keep
/// their names, because only types of parents stand in them. What does not refer to the resource is not touched.
/// Neither is what is encrypted: `groundstate_pulumi_deployment::rewrite_sealed_references` follows there.
///
/// # Errors
///
/// The URN means no resource or several, or the new one is another resource's.
pub fn rename(snapshot: &mut Snapshot, urn: &Urn, name: &str) -> Result<Renamed, RenameError> {
    if !urn.is_valid() {
        return Err(RenameError::Invalid(urn.clone()));
    }
    match snapshot.locate(urn).count() {
        0 => return Err(RenameError::Missing(urn.clone())),
        1 => {}
        _ => return Err(RenameError::Ambiguous(urn.clone())),
    }
    let new = urn.with_name(name);
    if new == *urn {
        return Ok(Renamed { urn: new, changed: 0, sealed: 0 });
    }
    if snapshot.locate(&new).next().is_some() {
        return Err(RenameError::Taken(new));
    }
    let providers = provider_names(snapshot);
    let rename = |candidate: &Urn| (candidate == urn).then(|| new.clone());
    let changed = Renames::new(&rename, &providers).everywhere(snapshot);
    Ok(Renamed { urn: new, changed, sealed: sealed_in(snapshot) })
}
