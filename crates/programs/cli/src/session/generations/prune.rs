//! Limits of backups: how many are kept, and how much room they take.

use std::fs;
use std::path::Path;

use tracing::debug;

use super::name::Generation;
use crate::input::packed;
use crate::session::files;

/// How many backups of a state are kept.
const KEEP: usize = 10;
/// How much room the backups of a state may take.
const MAX_BYTES: u64 = 512 << 20;
/// Sizes of backups that are worth compressing: smaller ones take a block anyway, larger ones a noticeable time.
const WORTH_PACKING: std::ops::RangeInclusive<u64> = 4097..=16 << 20;

/// Limits of the backups of one state. The newest backup is always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    keep: usize,
    max_bytes: u64,
}

impl Limits {
    pub(super) fn of_environment() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let keep = variable("GROUNDSTATE_BACKUP_KEEP").and_then(|text| text.trim().parse().ok());
        let max_bytes = variable("GROUNDSTATE_BACKUP_MAX_BYTES").and_then(|text| text.trim().parse().ok());
        Self { keep: keep.unwrap_or(KEEP), max_bytes: max_bytes.unwrap_or(MAX_BYTES) }
    }
}

/// Removes the backups beyond the limits, and compresses all but the newest. What cannot be removed makes no command fail.
pub(super) fn prune(all: &[Generation], limits: &Limits) {
    let mut room = limits.max_bytes;
    for (index, generation) in all.iter().enumerate() {
        let bytes = match index {
            0 => generation.bytes,
            _ => packed_size(generation),
        };
        let fits = room.checked_sub(bytes);
        if index > 0 && (index >= limits.keep || fits.is_none()) {
            remove(&generation.path);
            // No older one is kept either: backups without a gap are what `undo` goes back by.
            room = 0;
            continue;
        }
        room = fits.unwrap_or_default();
    }
}

/// Compresses a backup that is worth it. Returns the size of its file.
fn packed_size(generation: &Generation) -> u64 {
    if generation.is_packed() || !WORTH_PACKING.contains(&generation.bytes) {
        return generation.bytes;
    }
    let path = generation.packed_path();
    let packed = fs::read(&generation.path).and_then(|bytes| {
        // What the state itself compresses stays as it is.
        if crate::input::family::is_packed(&bytes) {
            return Ok(None);
        }
        let packed = packed::pack(&bytes)?;
        files::put(&path, &packed)?;
        Ok(Some(packed.len() as u64))
    });
    match packed {
        Ok(Some(bytes)) => {
            remove(&generation.path);
            bytes
        }
        Ok(None) => generation.bytes,
        Err(error) => {
            debug!(error = error.to_string(), "a backup was not compressed");
            generation.bytes
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        debug!(error = error.to_string(), "an old backup was not removed");
    }
}

#[cfg(test)]
mod tests {
    use super::{KEEP, Limits, MAX_BYTES};

    #[test]
    fn limits_come_from_the_environment() {
        assert_eq!(Limits::of(|_| None), Limits { keep: KEEP, max_bytes: MAX_BYTES });
        let set = |name: &str| Some(if name.ends_with("KEEP") { "3" } else { "1000" }.to_owned());
        assert_eq!(Limits::of(set), Limits { keep: 3, max_bytes: 1000 });
    }
}
