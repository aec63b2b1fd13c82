//! Texts that repeat, held once.

use std::sync::Arc;

/// How many texts are remembered.
const SLOTS: usize = 4096;

/// Remembers the texts it gave out lately, so that names which repeat share their memory.
///
/// Each text has one slot and takes it from the one before: the worst that a hostile file can do is that nothing is shared.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    slots: Vec<Option<Arc<str>>>,
}

impl Interner {
    /// The text, shared with an earlier one if that is remembered.
    pub(crate) fn get(&mut self, text: &str) -> Arc<str> {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        // The remainder is below the number of slots, so there is one.
        let Some(slot) = self.slots.get_mut(hash(text.as_bytes()) % SLOTS) else { return text.into() };
        match slot {
            Some(known) if **known == *text => Arc::clone(known),
            _ => Arc::clone(slot.insert(text.into())),
        }
    }
}

/// Mixes eight bytes at a time; names are some hundred bytes long and differ near their ends.
fn hash(bytes: &[u8]) -> usize {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        state = (state.rotate_left(5) ^ u64::from_le_bytes(*eight)).wrapping_mul(PRIME);
        rest = tail;
    }
    for &byte in rest {
        state = (state.rotate_left(5) ^ u64::from(byte)).wrapping_mul(PRIME);
    }
    (state >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_their_memory_and_others_do_not() {
        let mut names = Interner::default();
        let first = names.get("urn:pulumi:s::p::t::n");
        assert!(Arc::ptr_eq(&first, &names.get("urn:pulumi:s::p::t::n")));
        for number in 0..3 * SLOTS {
            let text = format!("urn:pulumi:s::p::t::n{number}");
            assert_eq!(*names.get(&text), *text);
        }
        assert_eq!(*names.get(""), *"");
    }
}
