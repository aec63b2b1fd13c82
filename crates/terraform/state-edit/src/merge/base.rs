//! Finds the state that both sides began with.

use super::{MergeBase, MergeError};
use groundstate_statefile::File;

/// The state to compare both sides with.
pub(super) enum FoundBase<'a> {
    /// Both sides are the same.
    None,
    Stored,
    Other(&'a File),
}

/// Finds the base by lineage and serial.
///
/// An apply counts the serial up before it fails to store the state. So the stored state is the base if its serial is
/// lower than that of the other. With the same serial another program has used that number in the meantime, unless the
/// apply failed even earlier, which cannot be told; only a state older than both is safe then. One that is too old does
/// no harm: what both sides have in common since then is the same on both.
pub(super) fn find<'a>(
    stored: &File,
    errored: &File,
    base: MergeBase<'a>,
) -> Result<FoundBase<'a>, MergeError> {
    if stored.lineage != errored.lineage {
        let (stored, errored) = (stored.lineage.clone(), errored.lineage.clone());
        return Err(MergeError::Lineage { stored, errored });
    }
    match base {
        MergeBase::Given(base) if base.lineage != stored.lineage => {
            let (base, stored) = (base.lineage.clone(), stored.lineage.clone());
            Err(MergeError::BaseLineage { base, stored })
        }
        _ if stored.state == errored.state && stored.extra == errored.extra => Ok(FoundBase::None),
        // Neither side can come from a state that is younger than itself: what the other one did would be undone.
        MergeBase::Given(base) if base.serial > stored.serial.min(errored.serial) => {
            let (stored, errored) = (stored.serial, errored.serial);
            Err(MergeError::BaseYounger { base: base.serial, stored, errored })
        }
        MergeBase::Given(base) => Ok(FoundBase::Other(base)),
        MergeBase::Detect(_) if stored.serial < errored.serial => Ok(FoundBase::Stored),
        MergeBase::Detect(files) => {
            // The stored state is not older than the other one here.
            let older = |file: &&File| file.lineage == stored.lineage && file.serial < errored.serial;
            let youngest = files.iter().filter(older).max_by_key(|file| file.serial);
            let needed = MergeError::BaseNeeded { stored: stored.serial, errored: errored.serial };
            youngest.map(FoundBase::Other).ok_or(needed)
        }
    }
}
