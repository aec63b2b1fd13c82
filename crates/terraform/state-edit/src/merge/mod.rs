//! Merging what an apply could not store: `errored.tfstate` with the stored state, over the state that both came from.

mod base;
mod unite;

use std::collections::HashSet;
use std::fmt;

use groundstate_states::addr::{AbsResourceInstance, ConfigResource};
use groundstate_states::{Generation, Lineage, Serial, State};

use crate::diff::{ChangeKind, Diff, Subject, diff};
use base::FoundBase;
use groundstate_statefile::File;
use unite::unite;

/// Where the state comes from that both sides began with.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MergeBase<'a> {
    /// It is found by lineage and serial: the stored state itself, if it is unchanged since, or the youngest of these
    /// that is older than both. Backups and older versions are what to give.
    Detect(&'a [File]),
    /// It is this one.
    Given(&'a File),
}

/// Which state turned out to be the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaseUsed {
    /// None is needed: both sides hold the same already.
    None,
    /// The stored state: no program has written since the apply began, so all that it did is taken.
    Stored,
    /// One that was given, with this serial.
    Other(Serial),
}

/// A merged state. It is written as any other change of the stored one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The state, with the lineage and layout of the stored one and the higher of both serials; its writer gives
    /// it the next one.
    pub file: File,
    /// What both sides were compared with.
    pub base: BaseUsed,
    /// What changes in the stored state, apart from the serial.
    pub changes: Diff,
    /// Dependencies on what only the other side removed, for a look by hand.
    pub dangling: Vec<Dangling>,
}

/// An object that depends on a resource which is not in the merged state, though one of the sides has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dangling {
    /// The object's instance.
    pub instance: AbsResourceInstance,
    /// Which of its objects.
    pub generation: Generation,
    /// What it depends on.
    pub dependency: ConfigResource,
}

/// Something that both sides changed, each in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// What it is.
    pub subject: Subject,
    /// What the stored state did to it.
    pub stored: ChangeKind,
    /// What the failed apply did to it.
    pub errored: ChangeKind,
}

/// Why a merge was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// The states have nothing to do with each other.
    #[error(
        "the stored state has lineage {:?} and the other one {:?}; they belong to different chains of snapshots, so \
         give the file that the failed apply of this state left", .stored.as_str(), .errored.as_str()
    )]
    Lineage {
        /// That of the stored state.
        stored: Lineage,
        /// That of the errored state.
        errored: Lineage,
    },
    /// The given base is of another lineage.
    #[error(
        "the base has lineage {:?} and the stored state {:?}; give a backup or an older version of this state",
        .base.as_str(), .stored.as_str()
    )]
    BaseLineage {
        /// That of the base.
        base: Lineage,
        /// That of the stored state.
        stored: Lineage,
    },
    /// Another program has written since, and the state that both came from is not known.
    #[error(
        "the stored state has serial {stored} and the other one {errored}, so another program has written since the apply \
         began; give the state that both came from, a backup or older version of a lower serial"
    )]
    BaseNeeded {
        /// That of the stored state.
        stored: Serial,
        /// That of the errored state.
        errored: Serial,
    },
    /// The given base is younger than one of the sides, so they do not both come from it.
    #[error(
        "the base has serial {base}, the stored state {stored} and the other one {errored}; give a state that is older \
         than both"
    )]
    BaseYounger {
        /// That of the base.
        base: Serial,
        /// That of the stored state.
        stored: Serial,
        /// That of the errored state.
        errored: Serial,
    },
    /// Both sides changed the same things.
    #[error("both sides changed {}; decide for each by hand which one is true", list(.0))]
    Conflicts(Vec<Conflict>),
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, stored, errored } = self;
        write!(f, "{subject} ({stored} in the stored state, {errored} by the failed apply)")
    }
}

fn list(conflicts: &[Conflict]) -> String {
    let shown: Vec<String> = conflicts.iter().take(10).map(Conflict::to_string).collect();
    match conflicts.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

/// Merges what an apply could not store into the stored state.
///
/// Each output, each instance with all its objects, and the provider of each resource is taken from the side that changed
/// it. Where both did, and not in the same way, nothing is merged. Results of checks are made anew by every run: those
/// of the stored state stay where both sides changed them.
///
/// ```
/// use groundstate_state_edit::{BaseUsed, MergeBase, merge_errored};
/// use groundstate_statefile::{DecodeOptions, decode};
///
/// let state = |serial, outputs| {
///     let text = format!(r#"{{"version": 4, "serial": {serial}, "lineage": "a", "outputs": {{{outputs}}}}}"#);
///     decode(text.as_bytes(), &DecodeOptions::default())
/// };
/// let stored = state(7, r#""x": {"value": "1", "type": "string"}"#)?;
/// let errored = state(8, r#""x": {"value": "2", "type": "string"}"#)?;
/// let merged = merge_errored(&stored, &errored, MergeBase::Detect(&[]))?;
/// assert_eq!(merged.base, BaseUsed::Stored);
/// assert_eq!(merged.changes.entries[0].subject.to_string(), "output.x");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// See [`MergeError`].
pub fn merge_errored(stored: &File, errored: &File, base: MergeBase<'_>) -> Result<Merged, MergeError> {
    let (used, origin) = match base::find(stored, errored, base)? {
        FoundBase::None => return Ok(finish(stored, errored, BaseUsed::None, stored.clone())),
        FoundBase::Stored => (BaseUsed::Stored, stored),
        FoundBase::Other(file) => (BaseUsed::Other(file.serial), file),
    };
    let (origin, ours) = (like(origin, stored), like(errored, stored));
    let mut file = unite(&origin, stored, &ours).map_err(MergeError::Conflicts)?;
    file.serial = stored.serial.max(errored.serial);
    Ok(finish(stored, errored, used, file))
}

/// A file with its providers as the product of the stored state completes them.
fn like(file: &File, stored: &File) -> File {
    let mut file = file.clone();
    file.state.complete_providers(stored.dialect.default_registry());
    file
}

fn finish(stored: &File, errored: &File, base: BaseUsed, file: File) -> Merged {
    let mut under_stored_serial = file.clone();
    under_stored_serial.serial = stored.serial;
    let changes = diff(stored, &under_stored_serial);
    let dangling = dangling(&file.state, [&stored.state, &errored.state]);
    Merged { file, base, changes, dangling }
}

/// Dependencies that one of the sides can follow and the merged state cannot.
fn dangling(merged: &State, sides: [&State; 2]) -> Vec<Dangling> {
    let configs = |state: &State| -> HashSet<ConfigResource> {
        let all = state.all_resources();
        all.map(|(module, name, _)| name.clone().absolute(module.clone()).to_config()).collect()
    };
    let there = configs(merged);
    let gone: HashSet<_> =
        sides.into_iter().flat_map(configs).filter(|config| !there.contains(config)).collect();
    let mut found = Vec::new();
    for (instance, generation, object) in merged.objects() {
        for dependency in object.dependencies.iter().filter(|config| gone.contains(config)) {
            found.push(Dangling { instance: instance.clone(), generation, dependency: dependency.clone() });
        }
    }
    found
}
