//! Which places of a list are still taken.

/// The places of a list, of which some are gone, in order. Going over them costs what is left.
#[derive(Clone, Debug)]
pub(super) struct Alive {
    length: usize,
    /// The places that were left at the last look; all of them before.
    left: Option<Vec<usize>>,
    gone: usize,
}

impl Alive {
    pub(super) fn new(length: usize) -> Self {
        Self { length, left: None, gone: 0 }
    }

    /// How many places have to be gone over.
    pub(super) fn len(&self) -> usize {
        self.left.as_ref().map_or(self.length, Vec::len)
    }

    /// The places, and some more that are gone.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let all = if self.left.is_none() { 0..self.length } else { 0..0 };
        all.chain(self.left.iter().flatten().copied())
    }

    /// Takes note that one more is gone, and forgets such as soon as they are the larger part.
    pub(super) fn one_less(&mut self, is_gone: impl Fn(usize) -> bool) {
        self.gone += 1;
        if self.gone * 2 > self.len() {
            self.left = Some(self.iter().filter(|place| !is_gone(*place)).collect());
            self.gone = 0;
        }
    }
}

impl Default for Alive {
    fn default() -> Self {
        Self::new(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Alive;

    #[test]
    fn places_that_are_gone_are_forgotten_in_time() {
        let mut alive = Alive::new(10);
        for gone in 0..9_usize {
            alive.one_less(|place| place <= gone);
            let rest: Vec<usize> = alive.iter().filter(|place| *place > gone).collect();
            assert_eq!(rest, (gone + 1..10).collect::<Vec<_>>());
            assert!(alive.len() <= 2 * (9 - gone), "{} for {}", alive.len(), 9 - gone);
        }
    }
}
