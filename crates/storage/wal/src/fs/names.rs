//! The names of a journal's files, and which of them are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// What lies in the folder of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// The numbers of writers.
    pub(crate) writers: BTreeSet<u64>,
    /// The writers that have said which epoch counts. The newest is right.
    pub(crate) heads: BTreeSet<u64>,
    /// The epochs that have a base.
    pub(crate) bases: BTreeSet<u64>,
    /// The segments of each epoch, also of those without a base.
    pub(crate) segments: BTreeMap<u64, BTreeSet<u32>>,
    /// The writers that have left a file without a name.
    pub(crate) drafts: BTreeSet<u64>,
}

/// The file of a writer.
pub(crate) fn writer(number: u64) -> String {
    format!("writer-{number:016x}")
}

/// The file in which a writer says which epoch counts.
pub(crate) fn head(writer: u64) -> String {
    format!("head-{writer:016x}")
}

/// The file of an epoch's base.
pub(crate) fn base(epoch: u64) -> String {
    format!("{epoch:016x}.base")
}

/// The file of a segment.
pub(crate) fn segment(epoch: u64, number: u32) -> String {
    format!("{epoch:016x}-{number:08x}.log")
}

/// The name under which this writer prepares files.
pub(crate) fn draft(writer: u64) -> String {
    format!("new-{writer:016x}")
}

impl Listing {
    /// What is in this folder; nothing if it does not exist.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(error),
        };
        for entry in entries {
            if let Some(name) = entry?.file_name().to_str() {
                listing.add(name);
            }
        }
        Ok(listing)
    }

    /// The segments of an epoch, in order.
    pub(crate) fn segments(&self, epoch: u64) -> Vec<u32> {
        self.segments.get(&epoch).into_iter().flatten().copied().collect()
    }

    /// Whether there are records and nothing says that they count. A head goes only when a newer one is there, or with all records.
    pub(crate) fn is_headless(&self) -> bool {
        self.heads.is_empty() && !self.segments.is_empty()
    }

    fn add(&mut self, name: &str) {
        if let Some(number) = name.strip_prefix("writer-").and_then(wide) {
            self.writers.insert(number);
        } else if let Some(number) = name.strip_prefix("head-").and_then(wide) {
            self.heads.insert(number);
        } else if let Some(number) = name.strip_prefix("new-").and_then(wide) {
            self.drafts.insert(number);
        } else if let Some(epoch) = name.strip_suffix(".base").and_then(wide) {
            self.bases.insert(epoch);
        } else if let Some((epoch, number)) = segment_numbers(name) {
            self.segments.entry(epoch).or_default().insert(number);
        }
    }
}

fn segment_numbers(name: &str) -> Option<(u64, u32)> {
    let (epoch, number) = name.strip_suffix(".log")?.split_once('-')?;
    Some((wide(epoch)?, short(number)?))
}

fn wide(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

fn short(text: &str) -> Option<u32> {
    (text.len() == 8).then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{Listing, base, draft, head, segment, writer};

    #[test]
    fn names_are_understood_again_and_others_are_left_alone() {
        let mut listing = Listing::default();
        let names = [writer(7), head(6), base(2), base(3), segment(3, 1), segment(3, 0), draft(7)];
        for name in names.iter().map(String::as_str).chain(["notes.txt", "x.log", "writer-7", "1-2.log"]) {
            listing.add(name);
        }
        assert_eq!((listing.bases.last(), listing.segments(3)), (Some(&3), vec![0, 1]));
        assert_eq!(
            (listing.writers.last(), listing.heads.last(), listing.drafts.last()),
            (Some(&7), Some(&6), Some(&7))
        );
        assert!(listing.segments(2).is_empty());
    }
}
