//! Random numbers from a seed, the same on every machine.

/// A generator with what tests ask of it.
#[derive(Clone, Debug)]
pub(crate) struct Rng(fastrand::Rng);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// The generator for one part of a run, so that parts do not shift each other's numbers.
    pub(crate) fn of(seed: u64, part: &str) -> Self {
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self::new(part.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, fold))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `limit`; zero when there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }

    /// True in `per_mille` of a thousand cases.
    pub(crate) fn chance(&mut self, per_mille: u16) -> bool {
        self.below(1000) < usize::from(per_mille)
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_same_seed_and_part_give_the_same_numbers() {
        let numbers = |seed, part| {
            let mut rng = Rng::of(seed, part);
            [(); 8].map(|()| rng.next())
        };
        assert_eq!(numbers(1, "a"), numbers(1, "a"));
        assert_ne!(numbers(1, "a"), numbers(2, "a"));
        assert_ne!(numbers(1, "a"), numbers(1, "b"));
    }

    #[test]
    fn numbers_stay_below_their_limit_and_reach_all_of_it() {
        let mut rng = Rng::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.below(5)] = true;
        }
        assert_eq!((seen, rng.below(0), rng.below(1)), ([true; 5], 0, 0));
        assert!(!rng.chance(0) && rng.chance(1000));
    }
}
