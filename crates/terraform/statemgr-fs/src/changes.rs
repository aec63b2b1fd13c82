//! What a new state changes in a file, found before the file is marked.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::files::read_at;
use crate::in_place::NewState;
use crate::journal::HEADER;

/// How much is compared at a time. Blocks end at multiples of it, so that file systems can share what is copied.
const BLOCK: u64 = 256 * 1024;
/// After how many changed blocks in a row all that follows counts as changed: what has moved differs everywhere.
const MOVED: u32 = 4;

/// Everything behind the mark.
pub(crate) fn all(new: NewState<'_>) -> Vec<Range<u64>> {
    std::iter::once(HEADER as u64..new.len()).filter(|range| !range.is_empty()).collect()
}

/// What differs behind the mark between `file` and `new`, in order.
pub(crate) fn changes(file: &File, new: NewState<'_>) -> io::Result<Vec<Range<u64>>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let (mut at, mut in_a_row) = (HEADER as u64, 0);
    while at < new.len() {
        let end = ((at / BLOCK + 1) * BLOCK).min(new.len());
        // Blocks are small enough for any `usize`.
        let len = usize::try_from(end - at).unwrap_or(usize::MAX);
        let (old_block, new_block) = (read_at(file, at, len)?, new.part(at, len)?);
        match difference(&old_block, &new_block) {
            None => in_a_row = 0,
            Some(_) if in_a_row == MOVED => {
                found.push(at..new.len());
                break;
            }
            Some(range) => {
                in_a_row += 1;
                found.push(at + range.start as u64..at + range.end as u64);
            }
        }
        at = end;
    }
    Ok(found)
}

/// Where `new` is not as `old`, from the first byte to the last.
fn difference(old: &[u8], new: &[u8]) -> Option<Range<usize>> {
    if old == new {
        return None;
    }
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = if old.len() == new.len() {
        new.len() - old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
    } else {
        new.len()
    };
    // A new block that is the beginning of the old one changes nothing but the length.
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{BLOCK, changes};
    use crate::files::{copy_range, read_at, write_at};
    use crate::in_place::NewState;
    use crate::journal::HEADER;

    fn file(bytes: &[u8]) -> File {
        let file = tempfile::tempfile().unwrap();
        write_at(&file, 0, bytes).unwrap();
        file
    }

    fn found(old: &[u8], new: &[u8]) -> Vec<std::ops::Range<u64>> {
        let (old, source) = (file(old), file(new));
        let state = NewState::File { file: &source, offset: 0, len: new.len() as u64 };
        let found = changes(&old, state).unwrap();
        assert_eq!(changes(&old, NewState::Memory(new)).unwrap(), found);
        for range in &found {
            copy_range(&source, range.start, &old, range.start, range.end - range.start).unwrap();
        }
        old.set_len(state.len()).unwrap();
        let written = read_at(&old, 0, new.len() + 1).unwrap();
        assert!(written.len() == new.len() && written[HEADER..] == new[HEADER..], "{found:?}");
        found
    }

    #[test]
    fn only_what_differs_is_written() {
        let block = BLOCK as usize;
        let old: Vec<u8> = (0..12 * block).map(|at| (at * 31 / 8) as u8).collect();
        assert_eq!(found(&old, &old), []);
        let mut new = old.clone();
        new[3] ^= 1;
        assert_eq!(found(&old, &new), [], "the sector of the mark is written in any case");
        for at in [1000, 1003, 2 * block, 5 * block - 1] {
            new[at] ^= 1;
        }
        let block = BLOCK;
        assert_eq!(found(&old, &new), [1000..1004, 2 * block..2 * block + 1, 5 * block - 1..5 * block]);
        new.truncate(9 * BLOCK as usize + 7);
        assert_eq!(found(&old, &new).len(), 3, "what is cut off is not written");
        new.extend(&old[9 * BLOCK as usize..]);
        assert_eq!(found(&old, &new).last(), Some(&(12 * block..12 * block + 7)));
    }

    #[test]
    fn what_has_moved_is_written_to_the_end() {
        let old: Vec<u8> = (0..10 * BLOCK as usize).map(|at| (at % 251) as u8).collect();
        let mut new = old.clone();
        new.insert(1000, b'x');
        let found = found(&old, &new);
        assert_eq!(found.len(), 5, "{found:?}");
        assert_eq!((found[0].start, found[4].clone()), (1000, 4 * BLOCK..10 * BLOCK + 1));
    }
}
