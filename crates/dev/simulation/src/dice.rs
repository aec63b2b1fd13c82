//! Choices: a tape of bytes that decides everything, so that a case is its tape and can be made smaller.

use std::cell::Cell;

/// Gives out choices. Behind the end of the tape every choice is the first one, which is the simplest.
#[derive(Debug)]
pub(crate) struct Dice<'a> {
    tape: &'a [u8],
    at: Cell<usize>,
}

impl<'a> Dice<'a> {
    pub(crate) fn new(tape: &'a [u8]) -> Self {
        Self { tape, at: Cell::new(0) }
    }

    fn byte(&self) -> u8 {
        let at = self.at.get();
        self.at.set(at + 1);
        self.tape.get(at).copied().unwrap_or(0)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&self, sides: usize) -> usize {
        if sides < 2 { 0 } else { usize::from(self.byte()) % sides }
    }

    /// Whether something happens that happens in so many cases of a hundred.
    pub(crate) fn chance(&self, percent: u8) -> bool {
        // Zero is the simplest choice, and so it means that nothing happens.
        u32::from(self.byte()) * 100 >= 256 * (100 - u32::from(percent)) && percent > 0
    }

    /// One of the elements, if there are any.
    pub(crate) fn pick<'t, T>(&self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { from.get(self.roll(from.len())) }
    }
}

/// A generator of tapes: the same seed and number always give the same tape.
#[derive(Clone, Debug)]
pub(crate) struct Tapes {
    state: u64,
}

impl Tapes {
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        Self { state: seed ^ number.wrapping_mul(0xd134_2543_de82_ef95) }
    }

    /// The next number, by the method called splitmix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn tape(&mut self, longest: usize) -> Vec<u8> {
        let length = self.next() as usize % longest;
        let mut tape = Vec::with_capacity(length + 8);
        while tape.len() < length {
            tape.extend(self.next().to_le_bytes());
        }
        tape.truncate(length);
        tape
    }
}
