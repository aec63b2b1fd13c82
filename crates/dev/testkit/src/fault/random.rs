//! Random numbers that a seed repeats (SplitMix64).

/// The state of the generator.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number from 0 to below 1.
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        // 53 bits are what the type holds exactly.
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_repeats_its_numbers_and_they_are_spread() {
        let numbers = |seed| -> Vec<f64> {
            let mut random = Random::new(seed);
            (0..1000).map(|_| random.next()).collect()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        let below_half = numbers(7).into_iter().filter(|number| *number < 0.5).count();
        assert!((400..600).contains(&below_half), "{below_half}");
    }
}
