//! Pieces of a text with what comes in their place.

use std::fmt;
use std::io;
use std::ops::Range;

/// A change of a text: ranges, and what comes in their place.
///
/// ```
/// use groundstate_statefile::Document;
/// use groundstate_states::Serial;
///
/// let document = Document::open(br#"{"version": 4, "serial": 9}"#.to_vec())?;
/// let patches = document.edit().serial(Serial::new(10)).patches().expect("a serial can be stored");
/// let mut text = document.into_text();
/// patches.apply(&mut text);
/// assert_eq!(text, br#"{"version": 4, "serial": 10}"#);
/// # Ok::<(), groundstate_statefile::ReadError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Patches(Vec<(Range<usize>, Vec<u8>)>);

/// A run of text that stays as it is.
struct UnchangedRun {
    from: usize,
    to: usize,
    len: usize,
}

impl Patches {
    /// Ranges that do not overlap, in any order.
    pub(crate) fn new(mut patches: Vec<(Range<usize>, Vec<u8>)>) -> Self {
        patches.sort_by_key(|(range, _)| (range.start, range.end));
        Self(patches)
    }

    /// Writes the changed text.
    pub(crate) fn write_to<W: io::Write>(&self, text: &[u8], out: &mut W) -> io::Result<()> {
        let mut at = 0;
        for (range, new) in &self.0 {
            out.write_all(text.get(at..range.start).unwrap_or_default())?;
            out.write_all(new)?;
            at = range.end;
        }
        out.write_all(text.get(at..).unwrap_or_default())
    }

    /// Changes the text where it is, which takes no memory for a second one. It has to be the text the change was made
    /// for.
    pub fn apply(self, text: &mut Vec<u8>) {
        let old = text.len();
        let (runs, len) = self.runs(old);
        text.reserve_exact(len.saturating_sub(old));
        text.resize(len.max(old), 0);
        // Runs keep their order and do not overlap, before and after. So whatever goes left can go first, from the
        // left, and what goes right then has its way free from the right.
        for run in runs.iter().filter(|run| run.to < run.from) {
            run.shift(text);
        }
        for run in runs.iter().rev().filter(|run| run.to > run.from) {
            run.shift(text);
        }
        let mut at = 0;
        for (run, (_, new)) in runs.iter().zip(&self.0) {
            at += run.len;
            if let Some(place) = text.get_mut(at..at + new.len()) {
                place.copy_from_slice(new);
            }
            at += new.len();
        }
        text.truncate(len);
    }

    /// The runs between the patches with the one behind the last, and the length of the whole.
    fn runs(&self, old: usize) -> (Vec<UnchangedRun>, usize) {
        let mut runs = Vec::with_capacity(self.0.len() + 1);
        let (mut from, mut to) = (0, 0);
        for (range, new) in &self.0 {
            let len = range.start.min(old).saturating_sub(from);
            runs.push(UnchangedRun { from, to, len });
            to += len + new.len();
            from = range.end.min(old);
        }
        let len = old - from;
        runs.push(UnchangedRun { from, to, len });
        (runs, to + len)
    }
}

impl UnchangedRun {
    fn shift(&self, text: &mut [u8]) {
        let Self { from, to, len } = *self;
        if from + len <= text.len() && to + len <= text.len() {
            text.copy_within(from..from + len, to);
        }
    }
}

impl fmt::Debug for Patches {
    /// Shows where, and not what: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(range, new)| (range, new.len()))).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Patches;

    proptest! {
        #[test]
        fn changing_in_place_gives_what_writing_gives(
            text in proptest::collection::vec(any::<u8>(), 0..60),
            cuts in proptest::collection::btree_set(0..60_usize, 0..10),
            news in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 5),
        ) {
            let cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= text.len()).collect();
            let ranges = cuts.chunks_exact(2).map(|pair| pair[0]..pair[1]);
            let patches = Patches::new(ranges.zip(news).collect());
            let mut written = Vec::new();
            patches.write_to(&text, &mut written).unwrap();
            let mut changed = text;
            patches.apply(&mut changed);
            prop_assert_eq!(changed, written);
        }
    }

    #[test]
    fn insertions_at_both_ends_are_kept_in_order() {
        let patches = Patches::new(vec![(3..3, b"!".to_vec()), (0..0, b">>".to_vec()), (1..2, Vec::new())]);
        let mut text = b"abc".to_vec();
        patches.apply(&mut text);
        assert_eq!(text, b">>ac!");
    }
}
