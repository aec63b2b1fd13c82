//! Numbers that look random and are the same each time.

/// A generator for inventing names and values.
#[derive(Clone, Debug)]
pub(crate) struct Rng(fastrand::Rng);

impl Rng {
    /// A generator of its own for each seed and topic, so that parts of a state do not depend on their order.
    pub(crate) fn new(seed: u64, topic: &str) -> Self {
        // FNV-1a over the topic; the first step of the generator mixes it further.
        let hash = topic.bytes().fold(0xcbf2_9ce4_8422_2325_u64 ^ seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(fastrand::Rng::with_seed(hash))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound.max(1))
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True so many times in a thousand.
    pub(crate) fn chance(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    /// One of the items.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// So many lowercase hexadecimal digits.
    pub(crate) fn hex(&mut self, digits: usize) -> String {
        let mut text = String::with_capacity(digits + 16);
        while text.len() < digits {
            text.push_str(&format!("{:016x}", self.next()));
        }
        text.truncate(digits);
        text
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }

    /// An identifier in the shape of a UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let digits = self.hex(32);
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
        parts.join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn equal_seeds_and_topics_give_equal_numbers() {
        let draw = |seed, topic| Rng::new(seed, topic).next();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    #[test]
    fn numbers_stay_in_their_bounds_and_reach_both_ends() {
        let mut rng = Rng::new(7, "bounds");
        let drawn: Vec<usize> = (0..1000).map(|_| rng.between(3, 6)).collect();
        assert_eq!(drawn.iter().min(), Some(&3));
        assert_eq!(drawn.iter().max(), Some(&6));
        assert_eq!(rng.below(0), 0);
        assert!(!rng.chance(0) && rng.chance(1000));
    }

    #[test]
    fn texts_have_the_length_that_was_asked_for() {
        let mut rng = Rng::new(7, "texts");
        for length in [0, 1, 16, 17, 40] {
            assert_eq!(rng.hex(length).len(), length);
            assert_eq!(rng.bytes(length).len(), length);
        }
        assert_eq!(rng.uuid().len(), 36);
    }
}
